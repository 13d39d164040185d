-- Changes of holds, fees and last free days, in words
--
-- One row per hold, fee or last free day of timeline that came, went or changed after the first
-- look at the container. Shifts are days of a last free day, amounts those of a fee.

create view {{parts}}.list_changes as
select
    happened.container_id,
    happened.topic as change,
    case
        when happened.topic <> 'last free day' then happened.subject
        when happened.subject = 'pickup_lfd' then 'service'
        else replace(happened.subject, 'pickup_lfd_', '')
    end as subject,
    case
        when happened.topic <> 'fee' then happened.from_value
        when happened.kind <> 'fee listed' then coalesce(
            happened.from_value || coalesce(' ' || happened.detail, ''), 'amount not said'
        )
    end as from_value,
    case
        when happened.topic <> 'fee' then happened.to_value
        when happened.kind <> 'fee removed' then coalesce(
            happened.to_value || coalesce(' ' || happened.detail, ''), 'amount not said'
        )
    end as to_value,
    case
        when happened.topic = 'fee'
            then case sign(fee.change_amount) when 1 then 'worse' when -1 then 'better' end
        when happened.topic = 'last free day'
            then case sign(day.shift_days) when 1 then 'better' when -1 then 'worse' end
        when happened.kind = 'hold cleared' then 'better'
        when happened.from_value is not distinct from happened.to_value then null
        when happened.kind = 'hold placed' or happened.from_value = 'pending' then 'worse'
        when happened.to_value = 'pending' then 'better'
    end as effect,
    day.shift_days,
    fee.change_amount,
    case when fee.change_amount is not null then happened.detail end as change_currency_code,
    happened.source,
    happened.learned_at
from {{analytics}}.timeline as happened
cross join lateral (

    -- Both amounts are of one currency: it is part of what tells fees apart.
    select
        case happened.kind
            when 'fee listed' then happened.to_value::numeric
            when 'fee removed' then -happened.from_value::numeric
            when 'fee changed' then happened.to_value::numeric - happened.from_value::numeric
        end as change_amount

) as fee
cross join lateral (

    -- A day that could not be worked out is shown as the instant that was sent. Another zone of
    -- the same instant moves nothing.
    select
        case
            when happened.kind = 'last free day moved'
                and happened.from_value like '____-__-__'
                and happened.to_value like '____-__-__'
                then happened.to_value::date - happened.from_value::date
        end as shift_days

) as day
where happened.topic in ('hold', 'fee', 'last free day')
    and not happened.is_first_sight;
