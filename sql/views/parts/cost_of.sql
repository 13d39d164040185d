-- Cost of days over by the tiers of a rule, and how many of these days have a rate.
--
-- Of `owed`, which the view names: of_rule, days_over, and days_now, today as a day over, negative
-- while free days are left; with it, the cost after one, seven and fourteen more days. All null
-- without a rule or without days over. A part and not a function, see rule_of.
--
-- The cost is that of all tiers before the last reached one, plus the days in that one. The rows
-- that are read depend on the rule alone, so that PostgreSQL keeps them for the next clock of the
-- rule.
select
    coalesce(
        tier.costs_before[reached.tier]
        + tier.daily_rates[reached.tier]
        * (owed.days_over - tier.from_days[reached.tier] + 1),
        charged.none
    ) as amount,
    coalesce(owed.days_over - tier.from_days[least(reached.tier, 1)] + 1, charged.none)::integer
        as rated_days,
    coalesce(
        tier.costs_before[reached.tier_1]
        + tier.daily_rates[reached.tier_1]
        * (owed.days_now + 1 - tier.from_days[reached.tier_1] + 1),
        running.none
    ) as one_day_amount,
    coalesce(
        tier.costs_before[reached.tier_7]
        + tier.daily_rates[reached.tier_7]
        * (owed.days_now + 7 - tier.from_days[reached.tier_7] + 1),
        running.none
    ) as seven_days_amount,
    coalesce(
        tier.costs_before[reached.tier_14]
        + tier.daily_rates[reached.tier_14]
        * (owed.days_now + 14 - tier.from_days[reached.tier_14] + 1),
        running.none
    ) as fourteen_days_amount
from (
    select
        array_agg(step.from_day order by step.from_day) as from_days,
        array_agg(step.daily_rate order by step.from_day) as daily_rates,
        array_agg(step.cost_before order by step.from_day) as costs_before
    from (
        select
            one.from_day,
            one.daily_rate,
            coalesce(
                sum(one.daily_rate * one.days) over (
                    order by one.from_day
                    rows between unbounded preceding and 1 preceding
                ),
                0
            )
            -- With the decimals of all of them, as added up.
            + 0 * sum(one.daily_rate) over () as cost_before
        from (
            select
                each.from_day,
                each.daily_rate,
                lead(each.from_day) over (order by each.from_day) - each.from_day as days
            from {{analytics}}.free_time_tiers as each
            where each.rule_name = owed.of_rule
        ) as one
    ) as step
) as tier
cross join lateral (
    select
        width_bucket(owed.days_over, tier.from_days) as tier,
        width_bucket(owed.days_now + 1, tier.from_days) as tier_1,
        width_bucket(owed.days_now + 7, tier.from_days) as tier_7,
        width_bucket(owed.days_now + 14, tier.from_days) as tier_14
) as reached
cross join lateral (
    -- Where no tier is reached.
    select
        case
            when owed.of_rule is not null and owed.days_over is not null
                then coalesce(tier.costs_before[1], 0)
        end as none
) as charged
cross join lateral (
    select case when owed.days_now is not null then charged.none end as none
) as running
