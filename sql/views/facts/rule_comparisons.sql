-- Our last free days beside the reported ones
--
-- One row per container, place and charge with a rule of free_time_rules that names free days, and
-- a last free day that somebody reports, as known at as_of(): how a rule would agree with the other
-- side, and where the other side gave more or less than the contract. See charge_clocks for the
-- choice of the rule and its day.
--
-- compared_on: the day that the charging party reports (terminal, line or railway); where none of
-- them reports a day for the stay, the one that the service picks. days_apart: that day minus the
-- day of the rule, in calendar days; positive where it is later.
--
-- difference, the first of:
--   unknown_start    the day on which the clock starts is unknown, and so is the day of the rule
--   same             none
--   first_day        it agrees if the day of the start counts, or does not (first_day)
--   working_days     it agrees if the free days are working days, by the rule's calendars
--   calendar_days    it agrees if they are calendar days
--   more_days        it is later: an extension, or other free days
--   fewer_days       it is earlier

create view {{analytics}}.rule_comparisons as
select
    clock.container_id,
    clock.shipment_id,
    clock.pod_terminal_id,
    clock.container_number,
    clock.bill_of_lading_number,
    clock.shipping_line_scac,
    clock.pod_terminal,
    clock.place,
    clock.charge,
    clock.rule_name,
    case
        when clock.clock_on is null then 'unknown_start'
        when compared.days_apart = 0 then 'same'
        when compared.days_apart = 2 * clock.first_day - 1 then 'first_day'
        when clock.counts = 'calendar' and worked.days = clock.free_days then 'working_days'
        when clock.counts = 'working'
            and clock.compared_on - clock.clock_on + clock.first_day = clock.free_days
            then 'calendar_days'
        when compared.days_apart > 0 then 'more_days'
        else 'fewer_days'
    end as difference,
    compared.days_apart,
    clock.counts,
    clock.customer_name,
    clock.ref_numbers_text,
    clock.tags_text,
    clock.custom_fields,
    clock.free_days,
    clock.clock_on,
    clock.by_rule_on,
    clock.compared_on
from {{analytics}}.charge_clocks as clock
cross join lateral (

    select clock.compared_on - clock.by_rule_on as days_apart

) as compared
-- Working days of the other side's free time, where its last day is one.
left join lateral (

    select
        case
            when bool_or(off.is_working and off.day_on = clock.compared_on)
                then (count(*) filter (where off.is_working))::integer
        end as days
    from (
        select
            day.day_on,
            extract(isodow from day.day_on) <> all(clock.weekend)
            and not exists (
                select
                from {{analytics}}.holidays as holiday
                where holiday.calendar = any(clock.off_days)
                    and holiday.holiday_on = day.day_on
            ) as is_working
        from (
            select clock.clock_on - clock.first_day + later.days as day_on
            from generate_series(
                1, least(clock.compared_on - clock.clock_on + clock.first_day, 1500)
            ) as later (days)
        ) as day
    ) as off

) as worked
    on clock.counts = 'calendar'
where clock.free_days is not null
    and clock.compared_on is not null;
