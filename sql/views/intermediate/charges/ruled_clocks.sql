-- Clocks with the rule that holds and the last free day
--
-- One row per container, place and charge of started_clocks that somebody charges: a rule holds,
-- the charging party reports a day, or it is detention. charge_clocks says how the rule is chosen,
-- which day counts, and when a merged clock of the line is the only one.

create view {{parts}}.ruled_clocks as
select
    clock.container_id,
    clock.shipment_id,
    clock.pod_terminal_id,
    clock.container_number,
    clock.bill_of_lading_number,
    clock.shipping_line_scac,
    clock.pod_terminal,
    clock.customer_name,
    clock.ref_numbers_text,
    clock.tags_text,
    clock.custom_fields,
    clock.time_zone,
    clock.today_on,
    clock.picked_up_on,
    clock.left_on,
    clock.has_reached_ramp,
    clock.is_out,
    clock.place,
    clock.charge,
    rule.rule_name,
    rule.currency_code,
    rule.free_days,
    rule.first_day,
    rule.counts,
    rule.holiday_calendar,
    rule.off_days,
    rule.weekend,
    rule.clock_on,
    rule.by_rule_on,
    clock.compared_on,
    ended.until,
    case when ended.until = 'empty_return' then clock.is_returned else clock.has_ended end
        as has_ended,
    case when ended.until = 'empty_return' then clock.returned_on else clock.out_on end
        as ended_on,
    case
        when ended.until = 'empty_return' then clock.is_tracking_stopped
        else clock.is_untold
    end as is_untold,
    coalesce(decided.last_free_on, decided.other_on) as last_free_on,
    case
        when decided.last_free_on is null and decided.other_on is null then null
        when decided.last_free_on is null then clock.other_source
        when rule.reported = 'ignored' then 'rule'
        when decided.last_free_on = clock.reported_on then clock.reporter
        else 'rule'
    end as last_free_source
from {{parts}}.started_clocks as clock
-- Computed once for a clock, and not for each rule that is looked at.
cross join lateral (

    select
        clock.charge as of_charge,
        clock.reported_on,
        clock.place,
        clock.terminal_names,
        clock.shipping_line_scac,
        clock.place_locode,
        clock.equipment_type,
        clock.equipment_length,
        clock.equipment_height,
        clock.customer_name,
        clock.ref_numbers,
        clock.tags,
        clock.departed_on,
        clock.started_on,
        clock.arrived_on,
        clock.berthed_on,
        clock.available_on
    offset 0

) as asked
left join lateral (

    {{fragment rule_of}}

) as rule
    on true
cross join lateral (

    select
        case
            when rule.rule_name is null then clock.reported_on
            else rule.last_free_on
        end as last_free_on,
        case when rule.reported is distinct from 'ignored' then clock.other_on end as other_on

) as decided
cross join lateral (

    select
        coalesce(
            rule.until, case clock.place when 'out' then 'empty_return' else 'out' end
        ) as until

) as ended
where (
        rule.rule_name is not null
        or clock.reported_on is not null
        or clock.charge = 'detention'
    )
    -- A merged clock of the line is the only one.
    and case clock.charge
        when 'detention' then not clock.is_merged
        when 'demurrage' then clock.place = 'port' or not clock.is_merged_from_port
        else true
    end;
