-- The rule of free_time_rules that applies to a charge: of several, the one that names most.
--
-- Of `asked`, which the view names: of_charge, of_place, of_terminal (every name of the terminal),
-- of_line, of_locode, of_equipment_type, of_equipment_length, started_on, arrived_on and
-- reported_on, the day that the one who charges reports. by_rule_on is the day of the rule, null if
-- it does not name free days; last_free_on is that day or the reported one, as the rule says.
-- charge_clocks says how rules are chosen and counted. A part and not a function, because the nodes
-- of a distributed warehouse cannot run a function that reads a table.
select
    rule.rule_name,
    rule.currency_code,
    rule.free_days,
    rule.counts,
    rule.holiday_calendar,
    rule.clock_on,
    rule.reported,
    counted.by_rule_on,
    case rule.reported
        when 'ignored' then counted.by_rule_on
        when 'earlier' then least(asked.reported_on, counted.by_rule_on)
        when 'later' then greatest(asked.reported_on, counted.by_rule_on)
        else coalesce(asked.reported_on, counted.by_rule_on)
    end as last_free_on
from (
    -- In the order of free_time_rules_rank_idx, up to the first that applies.
    select
        candidate.rule_name,
        candidate.currency_code,
        candidate.free_days,
        candidate.counts,
        candidate.holiday_calendar,
        candidate.reported,
        began.clock_on
    from {{analytics}}.free_time_rules as candidate
    cross join lateral (
        select
            case candidate.starts_with when 'arrival' then asked.arrived_on else asked.started_on end
                as clock_on
    ) as began
    -- Named, because the compared value has the collation of its column, which can differ.
    where candidate.charge = asked.of_charge collate "C"
        and (candidate.place is null or candidate.place = asked.of_place)
        and (candidate.terminal is null or candidate.terminal = any(asked.of_terminal))
        and (
            candidate.shipping_line_scac is null
            or candidate.shipping_line_scac = asked.of_line
        )
        and (candidate.locode is null or candidate.locode = asked.of_locode)
        and (
            candidate.equipment_type is null
            or candidate.equipment_type = asked.of_equipment_type
        )
        and (
            candidate.equipment_length is null
            or candidate.equipment_length = asked.of_equipment_length
        )
        and (candidate.valid_from is null or candidate.valid_from <= began.clock_on)
        and (candidate.valid_to is null or candidate.valid_to >= began.clock_on)
    order by
        num_nonnulls(
            candidate.terminal,
            candidate.shipping_line_scac,
            candidate.place,
            candidate.locode,
            candidate.equipment_type,
            candidate.equipment_length
        ) desc,
        candidate.terminal is null,
        candidate.shipping_line_scac is null,
        candidate.locode is null,
        candidate.valid_from desc nulls last,
        candidate.rule_name
    limit 1
) as rule
cross join lateral (
    select
        case
            when rule.counts = 'calendar' or rule.free_days = 0
                then rule.clock_on + rule.free_days
            else (
                select rule.clock_on + later.days
                from generate_series(1, 3 * rule.free_days + 60) as later (days)
                where extract(isodow from rule.clock_on + later.days) < 6
                    and not exists (
                        select
                        from {{analytics}}.holidays as holiday
                        where holiday.calendar = rule.holiday_calendar
                            and holiday.holiday_on = rule.clock_on + later.days
                    )
                order by later.days
                offset rule.free_days - 1
                limit 1
            )
        end as by_rule_on
) as counted
