-- Costs of each rule by the number of days
--
-- One row per rule of free_time_rules. The base of charge_clocks, charged_days and the estimate in
-- demurrage_exposure: the costs of all tiers before each tier, so that a cost is one look into a
-- list, however many days are charged.
--
-- from_days has the first day of each tier. Up to a day d of tier n, in the order of the lists, the
-- rule charges costs_before[n] + once_rates[n] + daily_rates[n] * (d - from_days[n] + 1): a tier
-- has a rate for each day, or one that is charged once, and 0 for the other. charge_clocks says
-- what counts as a day.
-- no_amount: 0, with as many decimals as the rates. minimum and cap are those of the rule.

create view {{parts}}.free_time_costs as
select
    rule.rule_name,
    rule.charged,
    rule.tier_counts,
    rule.first_day,
    rule.minimum,
    rule.cap,
    tier.from_days,
    tier.daily_rates,
    tier.once_rates,
    tier.costs_before,
    coalesce(tier.no_amount, 0) as no_amount
from {{analytics}}.free_time_rules as rule
-- One rule at a time, so that a question about a few containers reads the tiers of their rules.
left join lateral (

    select
        array_agg(step.from_day order by step.from_day) as from_days,
        array_agg(step.each_day order by step.from_day) as daily_rates,
        array_agg(step.once order by step.from_day) as once_rates,
        array_agg(step.before order by step.from_day) as costs_before,
        0 * sum(step.daily_rate) as no_amount
    from (
        select
            one.from_day,
            one.daily_rate,
            one.once,
            one.each_day,
            coalesce(
                sum(one.once + one.each_day * one.days) over (
                    order by one.from_day
                    rows between unbounded preceding and 1 preceding
                ),
                0
            )
            -- With the decimals of all of them, as added up.
            + 0 * sum(one.daily_rate) over () as before
        from (
            select
                each.from_day,
                each.daily_rate,
                case each.per when 'period' then each.daily_rate else 0 end as once,
                case each.per when 'period' then 0 else each.daily_rate end as each_day,
                lead(each.from_day) over (order by each.from_day) - each.from_day as days
            from {{analytics}}.free_time_tiers as each
            where each.rule_name = rule.rule_name
        ) as one
    ) as step

) as tier
    on true;
