-- Clocks with other numbers of free days
--
-- One row per container, place, charge and number of free days that is tried: the rule's own, and
-- 4, 7 and 10, as known at as_of(). The base of free_time_value. Of charge_clocks it takes those
-- with a rule whose start, end and last free day are known, and which ended in the 365 days up to
-- the day of as_of() in UTC.
--
-- All else of the rule stays: what starts and ends the clock, the days that count as free, which
-- days are charged, its tiers, minimum and cap. The cost is made of the same parts as the amount of
-- charge_clocks, so that of the rule's own free days is that amount.
-- last_free_on: the day of charge_clocks, moved by as many calendar days as the day of the rule
-- moves. So a day that was reported later than that of the rule, as an extension, stays as much
-- later. Where the rule names no free days and takes the reported day, the free days that are tried
-- count from the start of the clock instead, and the row of its own lacks a number.
-- days_used: days from the start to the end as the rule counts free days, by calendar or working
-- days, that of the start as first_day says; null if it ended before it started.
-- amount: null where no day over has a rate; without a day over 0.

create view {{parts}}.free_time_variants as
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
    clock.currency_code,
    clock.customer_name,
    clock.ref_numbers_text,
    clock.tags_text,
    clock.custom_fields,
    tried.is_own,
    tried.free_days,
    used.days_used,
    owed.days_over,
    cost.charged_days - cost.rated_days as days_without_rate,
    cost.amount,
    clock.clock_on,
    owed.last_free_on,
    clock.ended_on
from {{analytics}}.charge_clocks as clock
inner join {{parts}}.free_time_costs as tariff
    on tariff.rule_name = clock.rule_name
-- The first working days from the start on, listed once for a clock and not for each number.
cross join lateral (

    select
        array(
            select clock.clock_on + later.days
            from generate_series(
                1 - clock.first_day, 4 * greatest(clock.free_days, 10) + 60
            ) as later (days)
            where clock.counts = 'working'
                and extract(isodow from clock.clock_on + later.days) <> all(clock.weekend)
                and not exists (
                    select
                    from {{analytics}}.holidays as holiday
                    where holiday.calendar = any(clock.off_days)
                        and holiday.holiday_on = clock.clock_on + later.days
                )
            order by later.days
            limit greatest(clock.free_days, 10)
        ) as working_days
    offset 0

) as listed
cross join lateral (

    select
        case
            when clock.ended_on < clock.clock_on then null
            when clock.counts = 'calendar' then clock.ended_on - clock.clock_on + clock.first_day
            else (
                select count(*)::integer
                from generate_series(
                    1 - clock.first_day, clock.ended_on - clock.clock_on
                ) as later (days)
                where extract(isodow from clock.clock_on + later.days) <> all(clock.weekend)
                    and not exists (
                        select
                        from {{analytics}}.holidays as holiday
                        where holiday.calendar = any(clock.off_days)
                            and holiday.holiday_on = clock.clock_on + later.days
                    )
            )
        end as days_used
    offset 0

) as used
cross join (
    values (true, null), (false, 4), (false, 7), (false, 10)
) as number (is_own, free_days)
cross join lateral (

    select
        number.is_own,
        counted.free_days,
        case
            when counted.free_days is null then clock.last_free_on
            when clock.free_days is null then counted.by_rule_on
            else clock.last_free_on + (counted.by_rule_on - clock.by_rule_on)
        end as last_free_on
    from (
        select
            given.free_days,
            case
                when clock.counts = 'calendar' or given.free_days = 0
                    then clock.clock_on + given.free_days - clock.first_day
                else listed.working_days[given.free_days]
            end as by_rule_on
        from (
            select coalesce(number.free_days, clock.free_days) as free_days
        ) as given
    ) as counted

) as tried
-- Computed once for a number, and not for each of the amounts.
cross join lateral (

    select
        clock.off_days,
        clock.weekend,
        clock.clock_on,
        tried.last_free_on,
        greatest(clock.ended_on - tried.last_free_on, 0) as days_over,
        null::integer as days_now
    offset 0

) as owed
left join lateral (

    {{fragment cost_of}}

) as cost
    on true
where clock.clock_on is not null
    and clock.last_free_on is not null
    and clock.ended_on > ({{analytics}}.as_of() at time zone 'UTC')::date - 365;
