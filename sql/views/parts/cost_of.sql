-- What days over cost by the tiers of a rule, and how many of them have a rate.
--
-- Of `owed`, which the view names: of_rule, days_over, and days_now, today as a day over, negative
-- while free days are left; with it, what one, seven and fourteen more days make of it. A part for
-- the reason that rule_of names.
select
    coalesce(sum(tier.daily_rate * charged.days), 0) as amount,
    coalesce(sum(charged.days), 0)::integer as rated_days,
    case when owed.days_now is not null then coalesce(sum(tier.daily_rate * charged.days_1), 0) end
        as one_day_amount,
    case when owed.days_now is not null then coalesce(sum(tier.daily_rate * charged.days_7), 0) end
        as seven_days_amount,
    case when owed.days_now is not null then coalesce(sum(tier.daily_rate * charged.days_14), 0) end
        as fourteen_days_amount
from (
    -- Each holds up to the next one of its rule, so no day has two.
    select
        one.from_day,
        one.daily_rate,
        lead(one.from_day) over (order by one.from_day) - 1 as to_day
    from {{analytics}}.free_time_tiers as one
    where one.rule_name = owed.of_rule
        and (owed.days_over > 0 or owed.days_now is not null)
) as tier
cross join lateral (
    select
        greatest(least(tier.to_day, owed.days_over) - tier.from_day + 1, 0) as days,
        greatest(least(tier.to_day, owed.days_now + 1) - tier.from_day + 1, 0) as days_1,
        greatest(least(tier.to_day, owed.days_now + 7) - tier.from_day + 1, 0) as days_7,
        greatest(least(tier.to_day, owed.days_now + 14) - tier.from_day + 1, 0) as days_14
) as charged
