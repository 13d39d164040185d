-- Fees that are listed now, by stay and currency
--
-- One row per container, place (port, ramp) and currency of the fees known at as_of(), of any type.
-- The base of demurrage_exposure and costs.
--
-- A fee of 0 is not said: the service lists it before an amount was calculated. At the port the
-- fees are those of the port's list; at the ramp those of the ramp's, and if it lists none those of
-- the port's, which the service also fills there. Never both: they can list one fee twice. Leave
-- out the row of the port for a container that has reached its ramp.
--
-- A fee without a currency takes the currency of the other fees, if they have only one; else it is
-- in the terminal's own, shown as `local`. A `total` line is never added to the lines it sums: the
-- amount is the greater of the sum of the lines and the total, because a total above its lines
-- contains unlisted lines. is_total_different marks a difference, or a total without a currency
-- over lines in several currencies, which is left out. unreadable counts fees whose amount cannot
-- be read and which are therefore missing, negative counts fees below zero, which are in the amount
-- as listed.

create view {{parts}}.listed_fees as
select
    fee.container_id,
    fee.place,
    fee.currency_code,
    greatest(fee.lines, fee.total) as amount,
    coalesce(fee.lines <> fee.total or fee.has_unplaced, false) as is_total_different,
    fee.unreadable,
    fee.negative
from (
    select
        line.container_id,
        line.place,
        line.code as currency_code,
        sum(line.amount) filter (where not line.is_total) as lines,
        max(line.amount) filter (where line.is_total and not line.is_unplaced) as total,
        bool_or(line.is_unplaced) as has_unplaced,
        count(*) filter (where line.amount is null) as unreadable,
        count(*) filter (where line.amount < 0) as negative
    from (
        select
            one.container_id,
            one.place,
            one.amount,
            one.is_total,
            coalesce(
                one.currency_code,
                case when one.first_code = one.last_code then one.first_code end,
                'local'
            ) as code,
            one.is_total
            and one.currency_code is null
            and coalesce(one.first_code < one.last_code, false) as is_unplaced
        from (
            select
                known.container_id,
                known.place,
                known.amount,
                known.is_total,
                known.currency_code,
                min(known.currency_code) over of_stay as first_code,
                max(known.currency_code) over of_stay as last_code
            from (
                select
                    fee.container_id,
                    stay.place,
                    fee.amount,
                    fee.is_total,
                    fee.currency_code,
                    fee.place = 'port'
                    and bool_or(fee.place = 'ramp' and fee.amount is distinct from 0)
                        over (partition by fee.container_id, stay.place) as is_of_other_list
                from {{parts}}.known_fees as fee
                cross join (values ('port'), ('ramp')) as stay (place)
                where fee.place = 'port'
                    or stay.place = 'ramp'
            ) as known
            where not known.is_of_other_list
            window of_stay as (partition by known.container_id, known.place)
        ) as one
        where one.amount is distinct from 0
    ) as line
    group by line.container_id, line.place, line.code
) as fee;
