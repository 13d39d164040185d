-- The rule of free_time_rules that applies to a charge: of several, the one that names most.
--
-- Of `asked`, which the view names: of_charge, reported_on, the day that the one who charges
-- reports, and of stay_facts: place, terminal_names, shipping_line_scac, place_locode,
-- equipment_type, equipment_length, equipment_height, customer_name, ref_numbers, tags,
-- departed_on, started_on, arrived_on, berthed_on, available_on.
-- by_rule_on is the day of the rule, null if it does not name free days; last_free_on is that day
-- or the reported one, as the rule says. off_days and weekend: the calendars whose holidays are not
-- working days there, and the days of the week.
-- charge_clocks says how rules are chosen and counted. A part and not a function, because the nodes
-- of a distributed warehouse cannot run a function that reads a table.
select
    rule.rule_name,
    rule.currency_code,
    rule.free_days,
    rule.first_day,
    rule.counts,
    rule.tier_counts,
    rule.charged,
    rule.until,
    rule.minimum,
    rule.cap,
    rule.holiday_calendar,
    rule.clock_on,
    rule.reported,
    nobody_works.off_days,
    nobody_works.weekend,
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
        candidate.first_day,
        candidate.counts,
        candidate.tier_counts,
        candidate.charged,
        case candidate.starts_with when 'gate_out' then 'empty_return' else candidate.until end
            as until,
        candidate.minimum,
        candidate.cap,
        candidate.holiday_calendar,
        candidate.reported,
        began.clock_on
    from {{analytics}}.free_time_rules as candidate
    cross join lateral (
        select
            case candidate.starts_with
                when 'arrival' then asked.arrived_on
                when 'berth' then asked.berthed_on
                when 'available' then asked.available_on
                else asked.started_on
            end as clock_on
    ) as began
    cross join lateral (
        select
            case candidate.valid_by when 'departure' then asked.departed_on else began.clock_on end
                as held_on
    ) as compared
    -- Named, because the compared value has the collation of its column, which can differ.
    where candidate.charge = asked.of_charge collate "C"
        and (candidate.place is null or candidate.place = asked.place)
        and (candidate.terminal is null or candidate.terminal = any(asked.terminal_names))
        and (
            candidate.shipping_line_scac is null
            or candidate.shipping_line_scac = asked.shipping_line_scac
        )
        and (candidate.locode is null or candidate.locode = asked.place_locode)
        and (candidate.equipment_type is null or candidate.equipment_type = asked.equipment_type)
        and (
            candidate.equipment_length is null
            or candidate.equipment_length = asked.equipment_length
        )
        and (
            candidate.equipment_height is null
            or candidate.equipment_height = asked.equipment_height
        )
        and (candidate.customer is null or candidate.customer = asked.customer_name)
        and (candidate.tag is null or candidate.tag = any(asked.tags))
        and (candidate.ref is null or candidate.ref = any(asked.ref_numbers))
        and (candidate.valid_from is null or candidate.valid_from <= compared.held_on)
        and (candidate.valid_to is null or candidate.valid_to >= compared.held_on)
    order by
        num_nonnulls(
            candidate.terminal,
            candidate.shipping_line_scac,
            candidate.place,
            candidate.locode,
            candidate.equipment_type,
            candidate.equipment_length,
            candidate.equipment_height,
            candidate.customer,
            candidate.tag,
            candidate.ref
        ) desc,
        candidate.ref is null,
        candidate.customer is null,
        candidate.terminal is null,
        candidate.shipping_line_scac is null,
        candidate.locode is null,
        candidate.valid_from desc nulls last,
        candidate.rule_name
    limit 1
) as rule
cross join lateral (
    select
        array_remove(array_agg(own.calendar) || rule.holiday_calendar, null) as off_days,
        coalesce(
            min(own.weekend) filter (where own.calendar = rule.holiday_calendar),
            min(own.weekend) filter (where own.place = any(asked.terminal_names)),
            min(own.weekend),
            array[6, 7]
        ) as weekend
    from {{analytics}}.working_calendars as own
    where own.calendar = rule.holiday_calendar
        or own.place = any(asked.terminal_names)
        or own.place = asked.place_locode
) as nobody_works
cross join lateral (
    select
        case
            when rule.counts = 'calendar' or rule.free_days = 0
                then rule.clock_on + rule.free_days - rule.first_day
            else (
                select rule.clock_on + later.days
                from generate_series(1 - rule.first_day, 4 * rule.free_days + 60) as later (days)
                where extract(isodow from rule.clock_on + later.days)
                    <> all(nobody_works.weekend)
                    and not exists (
                        select
                        from {{analytics}}.holidays as holiday
                        where holiday.calendar = any(nobody_works.off_days)
                            and holiday.holiday_on = rule.clock_on + later.days
                    )
                order by later.days
                offset rule.free_days - 1
                limit 1
            )
        end as by_rule_on
    -- Planned once, and not for each use of the day.
    offset 0
) as counted
