-- Charge of a rule for the days past a last free day, and how many of them have a rate.
--
-- Of `owed`, which the view names: off_days and weekend of the rule (rule_of), clock_on,
-- last_free_on, days_over, and days_now, today as a day over, negative while free days are left;
-- with it, the cost after one, seven and fourteen more days. Of `tariff`: the row of
-- free_time_costs. All null without a rule or without days over. charge_clocks says how days are
-- counted. A part and not a function, see rule_of.
select
    day.charged_days,
    day.days_before,
    greatest(day.days_before + day.charged_days - tariff.from_days[1] + 1, 0)
    - greatest(day.days_before - tariff.from_days[1] + 1, 0) as rated_days,
    {{analytics}}.charge_for(
        day.charged_days,
        day.days_before,
        tariff.from_days,
        tariff.daily_rates,
        tariff.once_rates,
        tariff.costs_before,
        tariff.minimum,
        tariff.cap
    ) + tariff.no_amount as amount,
    {{analytics}}.charge_for(
        day.charged_in_1,
        day.days_before,
        tariff.from_days,
        tariff.daily_rates,
        tariff.once_rates,
        tariff.costs_before,
        tariff.minimum,
        tariff.cap
    ) + tariff.no_amount as one_day_amount,
    {{analytics}}.charge_for(
        day.charged_in_7,
        day.days_before,
        tariff.from_days,
        tariff.daily_rates,
        tariff.once_rates,
        tariff.costs_before,
        tariff.minimum,
        tariff.cap
    ) + tariff.no_amount as seven_days_amount,
    {{analytics}}.charge_for(
        day.charged_in_14,
        day.days_before,
        tariff.from_days,
        tariff.daily_rates,
        tariff.once_rates,
        tariff.costs_before,
        tariff.minimum,
        tariff.cap
    ) + tariff.no_amount as fourteen_days_amount
from (
    -- Each day is charged.
    select
        owed.days_over as charged_days,
        case when owed.days_now is not null then greatest(owed.days_now + 1, 0) end
            as charged_in_1,
        case when owed.days_now is not null then greatest(owed.days_now + 7, 0) end
            as charged_in_7,
        case when owed.days_now is not null then greatest(owed.days_now + 14, 0) end
            as charged_in_14,
        case
            when tariff.tier_counts = 'over' then 0
            -- Below 0 where the clock starts after it: those days lack a number.
            else owed.last_free_on - owed.clock_on + tariff.first_day
        end as days_before
    where tariff.charged = 'calendar'
        and owed.days_over is not null
    union all
    -- Working days are charged: they are counted one by one.
    select
        (count(*) filter (where each.day_over between 1 and owed.days_over))::integer,
        case
            when owed.days_now is not null
                then (count(*) filter (where each.day_over between 1 and owed.days_now + 1))
        end::integer,
        case
            when owed.days_now is not null
                then (count(*) filter (where each.day_over between 1 and owed.days_now + 7))
        end::integer,
        case
            when owed.days_now is not null
                then (count(*) filter (where each.day_over between 1 and owed.days_now + 14))
        end::integer,
        case
            when tariff.tier_counts = 'over' then 0
            when owed.clock_on is not null
                then (count(*) filter (where each.day_over < 1))
                    - (
                        count(*) filter (
                            where each.day_over between 1
                                and owed.clock_on - tariff.first_day - owed.last_free_on
                        )
                    )
        end::integer
    from generate_series(
        case
            when tariff.tier_counts = 'start' and owed.clock_on <= owed.last_free_on
                then owed.clock_on - owed.last_free_on + 1 - tariff.first_day
            else 1
        end,
        greatest(
            owed.days_over,
            owed.days_now + 14,
            owed.clock_on - tariff.first_day - owed.last_free_on
        )
    ) as each (day_over)
    where extract(isodow from owed.last_free_on + each.day_over) <> all(owed.weekend)
        and not exists (
            select
            from {{analytics}}.holidays as holiday
            where holiday.calendar = any(owed.off_days)
                and holiday.holiday_on = owed.last_free_on + each.day_over
        )
    having tariff.charged = 'working'
        and owed.days_over is not null
) as day
