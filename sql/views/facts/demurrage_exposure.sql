-- Costs of overdue containers
--
-- One row per container and stay past its last free day, as known at as_of(), of a box under two
-- shipments under one of them (tracked_twice): overdue, gone
-- (out_late), or past it and unknown, because the service no longer tracks it. Days over, fee and
-- estimate of an unknown stay are null; only fees_by_currency shows the last listed fees. See
-- container_stays for the stays, the binding day and the zones.
--
-- days_over: calendar days at the place past the binding day, to today or to the day it went out;
-- the day after the last free day is day 1, the day of going out counts.
--
-- Fees are those listed now, by currency; currencies are never added together. See listed_fees for
-- which fees belong to the stay, and how a total counts.
-- fee_amount and fee_currency_code repeat the amount if there is exactly one currency.
-- Terminals stop listing fees soon after a container has left, so a container that went out late
-- may have been charged although it shows no fee.
--
-- The estimate is the cost of storage and demurrage of the stay by free_time_rules, each from its
-- own last free day on (charge_clocks): the terminal's storage can run while the line's demurrage
-- does not. Detention is not in it, and a merged clock counts up to the day it went out.
-- days_without_rate: days over of those charges without a tier. The estimate is never added to the
-- fees. Null if no rule applies to a charge that is past its day, or none of its days has a rate.
-- has_rule: a rule for storage or demurrage applies to the stay, whether past its day or not.

create view {{analytics}}.demurrage_exposure as
-- Planned by itself, see known_milestones.
with apart as (select)
select
    stay.container_id,
    stay.shipment_id,
    stay.pod_terminal_id,
    stay.container_number,
    stay.bill_of_lading_number,
    stay.shipping_line_scac,
    stay.pod_terminal,
    stay.place,
    stay.equipment_type,
    stay.equipment_length,
    stay.customer_name,
    stay.ref_numbers_text,
    stay.tags_text,
    stay.custom_fields,
    stay.state,
    stay.binding_source,
    stay.tracking_stopped_reason,
    stay.days_over,
    fee.fees_by_currency,
    case when stay.state <> 'unknown' then fee.fee_amount end as fee_amount,
    case when stay.state <> 'unknown' then fee.fee_currency_code end as fee_currency_code,
    coalesce(fee.is_total_different, false) as is_total_different,
    coalesce(fee.fees_unreadable, 0) as fees_unreadable,
    coalesce(fee.fees_negative, 0) as fees_negative,
    estimate.estimates_by_currency,
    estimate.estimate_amount,
    estimate.estimate_currency_code,
    estimate.days_without_rate,
    estimate.has_rule,
    stay.mode,
    stay.time_zone,
    stay.wall_zone,
    stay.is_zone_known,
    stay.binding_on,
    stay.started_on,
    stay.out_on,
    stay.today_on,
    stay.end_at,
    stay.pod_discharged_at
from {{parts}}.overdue_stays as stay
-- Looked up one by one: few containers are past their day, and fewer have fees.
left join lateral (

    select
        jsonb_object_agg(listed.currency_code, listed.amount)
            filter (where listed.amount is not null) as fees_by_currency,
        case when count(*) = 1 then min(listed.amount) end as fee_amount,
        case when count(*) = 1 then min(listed.currency_code) end as fee_currency_code,
        bool_or(listed.is_total_different) as is_total_different,
        sum(listed.unreadable)::integer as fees_unreadable,
        sum(listed.negative)::integer as fees_negative
    from {{parts}}.listed_fees as listed
    where listed.container_id = stay.container_id
        and listed.place = stay.place
        -- At the ramp the port's list belongs to the ramp.
        and (stay.place = 'ramp' or not stay.has_reached_ramp)

) as fee
    on true
left join lateral (

    select
        jsonb_object_agg(by_currency.currency_code, by_currency.amount)
            filter (where by_currency.amount is not null) as estimates_by_currency,
        case when count(by_currency.amount) = 1 then min(by_currency.amount) end
            as estimate_amount,
        case
            when count(by_currency.amount) = 1
                then min(by_currency.currency_code) filter (where by_currency.amount is not null)
        end as estimate_currency_code,
        sum(by_currency.days_without_rate)::integer as days_without_rate,
        count(*) > 0 as has_rule
    from (
        select
            rule.currency_code,
            sum(cost.amount) as amount,
            sum(cost.charged_days - cost.rated_days) as days_without_rate
        from (
            values
                (
                    'storage',
                    case stay.place when 'ramp' then stay.rail_on else stay.terminal_on end
                ),
                ('demurrage', stay.line_on)
        ) as charge (charge, reported_on)
        cross join lateral (

            select
                charge.charge as of_charge,
                charge.reported_on,
                stay.place,
                stay.terminal_names,
                stay.shipping_line_scac,
                stay.place_locode,
                stay.equipment_type,
                stay.equipment_length,
                stay.equipment_height,
                stay.customer_name,
                stay.ref_numbers,
                stay.tags,
                stay.departed_on,
                stay.started_on,
                stay.arrived_on,
                stay.berthed_on,
                stay.available_on

        ) as asked
        cross join lateral (

            {{fragment rule_of}}

        ) as rule
        cross join lateral (

            select
                coalesce(
                    rule.last_free_on,
                    case when rule.reported <> 'ignored' then stay.reported_on end
                ) as last_free_on

        ) as decided
        cross join lateral (

            select
                rule.off_days,
                rule.weekend,
                rule.clock_on,
                decided.last_free_on,
                case
                    when stay.state <> 'unknown'
                        and coalesce(stay.out_on, stay.today_on) > decided.last_free_on
                        then coalesce(stay.out_on, stay.today_on) - decided.last_free_on
                end as days_over,
                null::integer as days_now

        ) as owed
        inner join {{parts}}.free_time_costs as tariff
            on tariff.rule_name = rule.rule_name
        left join lateral (

            {{fragment cost_of}}

        ) as cost
            on true
        where not (
                charge.charge = 'demurrage'
                and stay.place = 'ramp'
                and stay.is_merged_from_port
            )
        group by rule.currency_code
    ) as by_currency

) as estimate
    on true;
