-- Costs with other free days than those of the rule
--
-- One row per charge, shipping line, terminal, rule and currency, as known at as_of(): clocks that
-- ended in the last 365 days, as they were and with 4, 7 or 10 free days instead, all else of the
-- rule equal. To negotiate free time with a line or a terminal. See free_time_variants for the
-- clocks and for what moves with the number.
--
-- free_days is the rule's own number; null where it takes the reported day.
-- amount: what the rule charges for the clocks as they were. …_days_amount: what it would have
-- charged; fewer free days never cost less. …_savings_amount: amount less that; negative where
-- fewer free days are tried than were given.
-- Days without a rate cost nothing in any of the amounts: where days_without_rate, those of the
-- clocks as they were, is not 0, the amounts are too low. An amount is null where no clock has one.
-- A clock that ended within its free days counts too, because with fewer it would have cost.
-- containers counts each container once, and the days used are null below 10 of them.
--
-- Cost: of charge_clocks, and four times the cost of a clock for each that ended.

create view {{analytics}}.free_time_value as
with

lines as (

    select
        variant.charge,
        variant.shipping_line_scac,
        variant.pod_terminal_id,
        variant.pod_terminal,
        variant.rule_name,
        variant.currency_code,
        count(distinct variant.container_id)::integer as containers,
        min(variant.free_days) filter (where variant.is_own) as free_days,
        percentile_cont(array[0.5, 0.8]) within group (order by variant.days_used)
            filter (where variant.is_own) as days_used,
        sum(variant.days_over) filter (where variant.is_own) as days_over,
        sum(variant.days_without_rate) filter (where variant.is_own) as days_without_rate,
        sum(variant.amount) filter (where variant.is_own) as amount,
        sum(variant.amount) filter (where not variant.is_own and variant.free_days = 4)
            as four_days_amount,
        sum(variant.amount) filter (where not variant.is_own and variant.free_days = 7)
            as seven_days_amount,
        sum(variant.amount) filter (where not variant.is_own and variant.free_days = 10)
            as ten_days_amount
    from {{parts}}.free_time_variants as variant
    group by
        variant.charge,
        variant.shipping_line_scac,
        variant.pod_terminal_id,
        variant.pod_terminal,
        variant.rule_name,
        variant.currency_code

)

select
    line.charge,
    line.shipping_line_scac,
    line.pod_terminal_id,
    line.pod_terminal,
    line.rule_name,
    line.currency_code,
    line.containers,
    line.free_days,
    case when line.containers >= 10 then round(line.days_used[1]::numeric, 1) end
        as median_days_used,
    case when line.containers >= 10 then round(line.days_used[2]::numeric, 1) end
        as p80_days_used,
    line.days_over::integer as days_over,
    line.days_without_rate::integer as days_without_rate,
    line.amount,
    line.four_days_amount,
    line.seven_days_amount,
    line.ten_days_amount,
    line.amount - line.four_days_amount as four_days_savings_amount,
    line.amount - line.seven_days_amount as seven_days_savings_amount,
    line.amount - line.ten_days_amount as ten_days_savings_amount
from lines as line
order by
    line.amount desc nulls last,
    line.charge,
    line.shipping_line_scac,
    line.pod_terminal,
    line.pod_terminal_id,
    line.rule_name;
