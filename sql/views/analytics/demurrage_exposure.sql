-- Costs of overdue containers
--
-- One row per container and stay past its last free day, as known at as_of(): overdue, gone
-- (out_late), or past it and unknown, because the service no longer tracks it. Days over, fee and
-- estimate of an unknown stay are null; only fees_by_currency shows the last listed fees. See
-- container_stays for the stays, the binding day and the zones.
--
-- days_over: calendar days at the place past the binding day, to today or to the day it went out;
-- the day after the last free day is day 1, the day of going out counts.
--
-- Fees are those listed now, of any type, by currency; currencies are never added together. A fee
-- of 0 is not said: the service lists it before an amount was calculated. They belong to the stay
-- where the container is or was last: at the ramp those of the ramp, and if it lists none those of
-- the port's terminal, whose list the service also fills there. A fee without a currency takes the
-- currency of the other fees, if they have only one; else it is in the terminal's own, shown as
-- `local`. A `total` line is never added to the lines it sums: the amount is the greater of the sum
-- of the lines and the total, because a total above its lines contains unlisted lines.
-- is_total_different marks a difference, or a total without a currency over lines in several
-- currencies, which is left out. fees_unreadable counts fees whose amount cannot be read and which
-- are therefore missing, fees_negative counts fees below zero, which are in the sums as listed.
-- fee_amount and fee_currency_code repeat the amount if there is exactly one currency.
-- Terminals stop listing fees soon after a container has left, so a container that went out late
-- may have been charged although it shows no fee.
--
-- The estimate is the cost of storage and demurrage of the stay by free_time_rules, each from its
-- own last free day on (charge_clocks): the terminal's storage can run while the line's demurrage
-- does not. Detention is not in it.
-- days_without_rate: days over of those charges without a tier. The estimate is never added to the
-- fees. Null if no rule applies to a charge that is past its day.

create view {{analytics}}.demurrage_exposure as
with

overdue as (

    select
        stay.container_id,
        stay.shipment_id,
        stay.pod_terminal_id,
        stay.terminal_id,
        stay.container_number,
        stay.bill_of_lading_number,
        stay.shipping_line_scac,
        stay.pod_terminal,
        stay.place,
        stay.equipment_type,
        stay.equipment_length,
        stay.state,
        stay.binding_source,
        stay.tracking_stopped_reason,
        stay.days_over,
        stay.is_zone_known,
        stay.binding_on,
        stay.terminal_on,
        stay.line_on,
        stay.rail_on,
        stay.today_on,
        stay.out_on,
        stay.place_locode,
        stay.pod_discharged_at,
        stay.reported_on,
        stay.started_on,
        stay.arrived_on
    from {{analytics}}.container_stays as stay
    where stay.state in ('overdue', 'out_late')
        or stay.state = 'unknown'
        and stay.has_begun
        and not stay.has_ended
        and stay.binding_on < stay.today_on

),

-- At the ramp the list of the ramp, else that of the port's terminal, which the service also fills
-- there. Never both: they can list one fee twice.
listed as (

    select
        fee.container_id,
        case when journey.has_reached_ramp then 'ramp' else fee.place end as place,
        fee.amount,
        fee.is_total,
        fee.currency_code,
        journey.has_reached_ramp
        and fee.place = 'port'
        and bool_or(fee.place = 'ramp' and fee.amount is distinct from 0)
            over (partition by fee.container_id) as is_of_other_list
    from {{analytics}}.known_fees as fee
    inner join {{analytics}}.journeys as journey
        on journey.container_id = fee.container_id

),

fee_lines as (

    select
        fee.container_id,
        fee.place,
        fee.amount,
        fee.is_total,
        coalesce(
            fee.currency_code,
            case
                when min(fee.currency_code) over (partition by fee.container_id, fee.place)
                    = max(fee.currency_code) over (partition by fee.container_id, fee.place)
                    then min(fee.currency_code) over (partition by fee.container_id, fee.place)
            end,
            'local'
        ) as currency_code,
        fee.is_total
        and fee.currency_code is null
        and coalesce(
            min(fee.currency_code) over (partition by fee.container_id, fee.place)
            < max(fee.currency_code) over (partition by fee.container_id, fee.place),
            false
        ) as is_unplaced
    from listed as fee
    where not fee.is_of_other_list

),

-- Every fee with the amounts of its currency. A window and not a grouping: after a grouping the
-- planner always expects 200 containers with fees, and may compare each container with all of them.
fees_by_currency as (

    select
        fee.container_id,
        fee.place,
        fee.currency_code,
        fee.amount is null as is_unreadable,
        fee.amount < 0 as is_negative,
        fee.is_unplaced,
        sum(fee.amount) filter (where not fee.is_total) over by_currency as lines,
        max(fee.amount) filter (where fee.is_total and not fee.is_unplaced) over by_currency
            as total
    from fee_lines as fee
    where fee.amount is distinct from 0
    window by_currency as (partition by fee.container_id, fee.place, fee.currency_code)

),

fees as (

    select
        fee.container_id,
        fee.place,
        jsonb_object_agg(fee.currency_code, greatest(fee.lines, fee.total))
            filter (where coalesce(fee.lines, fee.total) is not null) as fees_by_currency,
        case
            when min(fee.currency_code) = max(fee.currency_code)
                then min(greatest(fee.lines, fee.total))
        end as fee_amount,
        case
            when min(fee.currency_code) = max(fee.currency_code) then min(fee.currency_code)
        end as fee_currency_code,
        coalesce(bool_or(fee.lines <> fee.total or fee.is_unplaced), false) as is_total_different,
        (count(*) filter (where fee.is_unreadable))::integer as fees_unreadable,
        (count(*) filter (where fee.is_negative))::integer as fees_negative
    from fees_by_currency as fee
    group by fee.container_id, fee.place

)

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
    customer.customer_name,
    customer.ref_numbers_text,
    customer.tags_text,
    customer.custom_fields,
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
    stay.is_zone_known,
    stay.binding_on,
    stay.out_on,
    stay.pod_discharged_at
from overdue as stay
left join fees as fee
    on fee.container_id = stay.container_id
    and fee.place = stay.place
left join {{data}}.terminals as terminal
    on terminal.terminal_id = stay.terminal_id
left join {{data}}.rail_terminals as ramp
    on ramp.rail_terminal_id = stay.terminal_id
left join lateral (

    select
        jsonb_object_agg(by_currency.currency_code, by_currency.amount) as estimates_by_currency,
        case when count(*) = 1 then min(by_currency.amount) end as estimate_amount,
        case when count(*) = 1 then min(by_currency.currency_code) end as estimate_currency_code,
        sum(by_currency.days_without_rate)::integer as days_without_rate
    from (
        select
            rule.currency_code,
            sum(cost.amount) as amount,
            sum(past.days_over - cost.rated_days) as days_without_rate
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
                stay.place as of_place,
                array[
                    stay.terminal_id,
                    terminal.firms_code,
                    terminal.nickname,
                    terminal.name,
                    ramp.firms_code,
                    ramp.nickname,
                    ramp.name
                ] as of_terminal,
                stay.shipping_line_scac as of_line,
                stay.place_locode as of_locode,
                stay.equipment_type as of_equipment_type,
                stay.equipment_length as of_equipment_length,
                stay.started_on,
                stay.arrived_on,
                charge.reported_on

        ) as asked
        cross join lateral (

            {{part rule_of}}

        ) as rule
        cross join lateral (

            select
                greatest(
                    coalesce(stay.out_on, stay.today_on)
                    - coalesce(
                        rule.last_free_on,
                        case when rule.reported <> 'ignored' then stay.reported_on end
                    ),
                    0
                ) as days_over

        ) as past
        cross join lateral (

            select rule.rule_name as of_rule, past.days_over, null::integer as days_now

        ) as owed
        cross join lateral (

            {{part cost_of}}

        ) as cost
        where stay.state <> 'unknown'
            and past.days_over > 0
        group by rule.currency_code
    ) as by_currency

) as estimate
    on true
left join {{analytics}}.container_customers as customer
    on customer.container_id = stay.container_id;

comment on view {{analytics}}.demurrage_exposure is
    'One row per container and stay past its last free day, as known at as_of(): days over, '
    'fees listed now, and an estimate where rules are filled in.';
comment on column {{analytics}}.demurrage_exposure.container_id is
    'The service''s id of the container.';
comment on column {{analytics}}.demurrage_exposure.shipment_id is
    'Shipment; shipments.';
comment on column {{analytics}}.demurrage_exposure.pod_terminal_id is
    'Terminal at the port of discharge; terminals.';
comment on column {{analytics}}.demurrage_exposure.container_number is
    'Container number; used again on later journeys.';
comment on column {{analytics}}.demurrage_exposure.bill_of_lading_number is
    'Bill of lading number of the shipment.';
comment on column {{analytics}}.demurrage_exposure.shipping_line_scac is
    'SCAC of the shipping line.';
comment on column {{analytics}}.demurrage_exposure.pod_terminal is
    'Terminal at the port of discharge: short name, else name.';
comment on column {{analytics}}.demurrage_exposure.place is
    'Which stay: port or ramp.';
comment on column {{analytics}}.demurrage_exposure.equipment_type is
    'dry, reefer, open top, flat rack, bulk, tank, hard top; other values are kept.';
comment on column {{analytics}}.demurrage_exposure.equipment_length is
    'Length in feet.';
comment on column {{analytics}}.demurrage_exposure.customer_name is
    'Customer of the shipment.';
comment on column {{analytics}}.demurrage_exposure.ref_numbers_text is
    'Reference numbers of container and shipment, parted by ", ".';
comment on column {{analytics}}.demurrage_exposure.tags_text is
    'Tags of the shipment, parted by ", ".';
comment on column {{analytics}}.demurrage_exposure.custom_fields is
    'Custom fields of container and shipment: slug and value. Null: none.';
comment on column {{analytics}}.demurrage_exposure.state is
    'not_started, none, upcoming, due_today, overdue, out_in_time, out_late or unknown.';
comment on column {{analytics}}.demurrage_exposure.binding_source is
    'Whose day binds: terminal, line, rail, service where no source says one, or rule; null '
    'without a day.';
comment on column {{analytics}}.demurrage_exposure.tracking_stopped_reason is
    'Why the service stopped asking the shipping line; null while it asks.';
comment on column {{analytics}}.demurrage_exposure.days_over is
    'Calendar days past the binding day, to today or to the day it went out; null unless '
    'overdue or out_late.';
comment on column {{analytics}}.demurrage_exposure.fees_by_currency is
    'Fees listed now, added up by currency; `local`: no currency said.';
comment on column {{analytics}}.demurrage_exposure.fee_amount is
    'The fees, where they are in exactly one currency; null in the state unknown.';
comment on column {{analytics}}.demurrage_exposure.fee_currency_code is
    'Currency of fee_amount.';
comment on column {{analytics}}.demurrage_exposure.is_total_different is
    'Whether a total differs from the sum of its lines: the amount is the greater one; or lacks a '
    'currency and its lines have several: it is left out.';
comment on column {{analytics}}.demurrage_exposure.fees_negative is
    'Fees below zero, in the sums as they are listed.';
comment on column {{analytics}}.demurrage_exposure.fees_unreadable is
    'Fees whose amount cannot be read; they are missing in the amounts.';
comment on column {{analytics}}.demurrage_exposure.estimates_by_currency is
    'What storage and demurrage cost by free_time_rules, by currency.';
comment on column {{analytics}}.demurrage_exposure.estimate_amount is
    'The estimate, where it is in exactly one currency.';
comment on column {{analytics}}.demurrage_exposure.estimate_currency_code is
    'Currency of estimate_amount.';
comment on column {{analytics}}.demurrage_exposure.days_without_rate is
    'Days over of its charges that no tier of a rule holds for; null where no rule holds.';
comment on column {{analytics}}.demurrage_exposure.is_zone_known is
    'Whether the zone of the place was sent and PostgreSQL knows it; false with a time_zone: '
    'that of the port itself.';
comment on column {{analytics}}.demurrage_exposure.binding_on is
    'Earliest last free day that applies to the stay. Calendar day at the place.';
comment on column {{analytics}}.demurrage_exposure.out_on is
    'Day it went out. Calendar day at the place; null while it is in, or nobody said when.';
comment on column {{analytics}}.demurrage_exposure.pod_discharged_at is
    'Discharge at the port of discharge, as sent; it can be an instant to come. UTC.';
