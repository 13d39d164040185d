-- Days past the last free day of a clock, and what each adds to its charge.
--
-- Of `clock`, a row of charge_clocks: days_before, weekend, off_days; of `span`: days_over and
-- last_free_on; of `tariff`: the row of free_time_costs. charged_days says how days are counted.
-- A part, so that charged_days looks up what was known once for a clock, and not for each of its
-- days.
select
    past.day_over,
    past.charged_on,
    past.is_working_day,
    case
        when not past.is_charged then tariff.no_amount
        when clock.days_before + past.charged_days >= tariff.from_days[1]
            then
                {{analytics}}.charge_for(
                    past.charged_days,
                    clock.days_before,
                    tariff.from_days,
                    tariff.daily_rates,
                    tariff.once_rates,
                    tariff.costs_before,
                    tariff.minimum,
                    tariff.cap
                )
                - coalesce(
                    {{analytics}}.charge_for(
                        past.charged_days - 1,
                        clock.days_before,
                        tariff.from_days,
                        tariff.daily_rates,
                        tariff.once_rates,
                        tariff.costs_before,
                        tariff.minimum,
                        tariff.cap
                    ),
                    0
                )
                + tariff.no_amount
    end as charge_amount
from (
    select
        day.over as day_over,
        named.charged_on,
        worked.is_working_day,
        counted.is_charged,
        (count(*) filter (where counted.is_charged) over (order by day.over))::integer
            as charged_days
    from generate_series(1, span.days_over) as day (over)
    cross join lateral (
        select span.last_free_on + day.over as charged_on
    ) as named
    cross join lateral (
        select
            extract(isodow from named.charged_on) <> all(coalesce(clock.weekend, array[6, 7]))
            and not exists (
                select
                from {{analytics}}.holidays as holiday
                where holiday.calendar = any(clock.off_days)
                    and holiday.holiday_on = named.charged_on
            ) as is_working_day
    ) as worked
    cross join lateral (
        select tariff.charged = 'calendar' or worked.is_working_day as is_charged
    ) as counted
) as past
