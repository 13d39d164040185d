-- Lines of invoices beside the facts we know
--
-- One row per line of dd_invoices, as known at as_of(): what it claims, what is wrong with it, and
-- how much of it is disputable. invoice_days says which container a line is taken for, and decides
-- for each day whether it is ours, what it costs and why it is disputable.
--
-- days_claimed: charged_from_on to charged_to_on, both included.
-- days_ours: the claimed days that charged_days has for the charge, that is past its last free day
-- and before it ended. If the state of the clock is unknown, our columns are null.
-- days_without_rate: days of ours without a tier of the rule, such as days before the first tier.
-- The rules do not say whether they are free or what they cost: for free days write a tier with the
-- rate 0. amount_ours is the charge by the rules for the other days of ours, null if none has a
-- rate. difference_amount is the claim above it, if the currencies are equal and every day of ours
-- has a rate.
-- days_free_then: days of ours that were free by the last free day that the charging party reported
-- at the end of that very day, and moved back later; null if it reported none on any of them.
-- days_unavailable: days of ours on which the container was reported as not available
-- (was_available of charged_days); null if availability was not reported on any of them.
-- days_unknown: days of ours without a report of availability.
-- days_on_hold: days of ours with a hold.
-- available_seen_on: the first day on which we saw that the container is available at the place.
-- Null unless the look before said that it was not: it may have been available unseen. A negative
-- amount is a credit note. It does not claim days: amount_ours is 0, and of the reasons below only
-- negative_amount and the three about the container apply.
-- dispute_by_on: the last day to ask for mitigation. By the line's own dispute_within: a date as
-- 2026-12-20, or days from issued_on as "30", "30 days" or "within 30 calendar days from receipt"
-- (counted from the issue, which is never too late). Else, under United States rules, 30 days from
-- issued_on, the least that 46 CFR 541.8 gives. Null if neither says a day, and for a credit note.
-- days_left: from today to dispute_by_on, negative once it has passed. Today is the day of as_of()
-- at the place of the charge, in UTC where its zone is not known.
-- net_amount: the amount with the credit notes that belong to the line (invoice_balances).
--
-- reasons, each a point to check and to dispute with evidence. Reasons with a * have an
-- amount; the others do not, and make a line `check`.
--   unknown_container   no container with the number
--   other_bill_of_lading   the container is known, and none of its journeys has the bill of lading
--   never_charged       the journey is known, and the charge lacks a clock: it has not begun, and
--                       its begin is unknown
--   negative_amount *   a credit note: 0 where it belongs to another line, else without an amount
--   charged_twice *     another line, of any issuer, claims a day of the same container and charge:
--                       also_charged_text. The days that a line before this one claims; the first
--                       line has the reason without an amount
--   outside_period *    claimed days outside of ours: free time, before it began, after it ended
--   was_free_then *     days_free_then: the last free day was moved back after they began
--   not_available *, on_hold *   days_unavailable, days_on_hold
--   wrong_availability  available_on is before available_seen_on
--   wrong_free_time     free_to_on differs from the known last free day, free_days are fewer than
--                       the rule gives, or free_from_on is before the day on which the clock
--                       started. A later free_from_on is fine: weekends and that day may not count
--   wrong_rate *        more is claimed than the rules charge: by the daily rate over the days of
--                       ours that have a rate, or, without a daily rate, by the amount, where all
--                       days claimed are ours and have one. The claim above the rules, over the
--                       days without a cause of their own
--   wrong_sum *         the amount is not days_claimed times the line's own daily rate: what it is
--                       above that
--   other_currency      the rule has another currency
--   missing_items *     the line lacks items that 46 CFR 541.6 requires: missing_items
--   late_issue *        issued more than 30 days after the last day charged: 46 CFR 541.7
--   not_checked: clock unknown   the charge has a clock, and its days are not known: no zone, no
--                       last free day, no end, or tracking has stopped
--   not_checked: no rate   days of ours without a rate, so that their amount cannot be compared
--
-- Each day and each unit of money counts once. A day counts as a whole, as claimed, for its one
-- cause (invoice_days: charged_twice, outside_period, was_free_then, not_available, on_hold); then
-- comes wrong_rate over the other days, then wrong_sum.
-- Under United States rules an invoice that lacks an item (46 CFR 541.5) or is issued late (541.7)
-- need not be paid at all: the rest of the amount counts for late_issue, else for missing_items. An
-- empty cell counts as missing: import what the invoice says. These rules hold where the port of
-- discharge of the shipment, else the UN/LOCODE that the line names, is in the United States or its
-- territories; not for the storage of a railway. Where the port is unknown both reasons have no
-- amount; elsewhere they are not told. An NVOCC may pass an invoice on 30 days later.
-- credited: what was given back, as a negative amount, up to the other causes.
--
-- disputable_by_cause: amount by cause; its total is disputable_amount, never above net_amount.
-- verdict:
--   dispute   disputable_amount is above 0; at least that, if a reason without an amount holds too
--   check     no cause has an amount, and a reason without one holds: disputable_amount is null
--   pay       all was compared, and nothing is disputable, or nothing is left to pay:
--             disputable_amount is 0
-- Silence of the terminal (days_unknown) speaks neither for the line nor against it.
-- Whether a reason holds is for a person to decide: two looks are hours apart.

create view {{analytics}}.invoices as
select
    line.invoice_number,
    line.line_number,
    line.issuer,
    line.container_id,
    line.shipment_id,
    line.pod_terminal_id,
    line.container_number,
    line.bill_of_lading_number,
    line.shipping_line_scac,
    line.pod_terminal,
    line.place,
    line.charge,
    judged.verdict,
    coalesce(doubt.reasons, '{}') as reasons,
    array_to_string(doubt.reasons, ', ') as reasons_text,
    line.missing_items,
    nullif(array_to_string(line.missing_items, ', '), '') as missing_items_text,
    line.also_charged_text,
    line.rule_name,
    line.currency_code,
    customer.customer_name,
    customer.ref_numbers_text,
    customer.tags_text,
    customer.custom_fields,
    line.dispute_by_on
    - ({{analytics}}.as_of() at time zone coalesce(line.time_zone, 'UTC'))::date as days_left,
    line.days_claimed,
    line.days as days_ours,
    case when line.rule_name is not null then line.days - line.rated end as days_without_rate,
    line.free_then as days_free_then,
    line.unavailable as days_unavailable,
    line.unknown as days_unknown,
    line.on_hold as days_on_hold,
    line.amount,
    line.net_amount,
    line.amount_ours,
    case
        when line.days = line.rated or line.amount < 0 then line.amount - line.amount_ours
    end as difference_amount,
    case judged.verdict when 'dispute' then due.amount when 'pay' then 0 end as disputable_amount,
    case
        when judged.verdict <> 'check'
            then coalesce(doubt.amounts, '{}')
                || case
                    when due.credited_amount > 0
                        then jsonb_build_object('credited', -due.credited_amount)
                    else '{}'
                end
    end as disputable_by_cause,
    line.free_days,
    line.rule_free_days,
    line.free_from_on,
    line.clock_on,
    line.free_to_on,
    line.last_free_on,
    line.available_on,
    line.available_seen_on,
    line.charged_from_on,
    line.charged_to_on,
    line.issued_on,
    line.dispute_by_on
from {{parts}}.invoice_claims as line
-- Null where the reason does not hold.
cross join lateral (

    select
        case
            when line.daily_rate * line.rated > line.amount_ours
                or line.daily_rate is null
                and line.days_claimed = line.rated
                and line.amount > line.amount_ours
                then greatest(line.above_rule_amount, 0)
        end as rate_amount,
        case
            when line.daily_rate * line.days_claimed <> line.amount
                then line.amount - line.claimed_amount
        end as sum_amount,
        line.is_us is not false and line.issued_on > line.charged_to_on + 30 as is_late

) as above
-- The amount that an invoice which need not be paid at all adds to the other causes.
cross join lateral (

    select
        case
            when line.is_us
                then line.amount
                    - line.caused_amount
                    - coalesce(above.rate_amount, 0)
                    - coalesce(above.sum_amount, 0)
        end as amount

) as rest
cross join lateral (

    select
        array_agg(reason.reason order by reason.position) as reasons,
        bool_or(reason.amount is null) as is_open,
        jsonb_object_agg(reason.reason, reason.amount) filter (where reason.amount > 0) as amounts,
        coalesce(sum(reason.amount), 0) as amount
    from (
        -- An amount of null is not known; one of 0 is known, or counts for another cause.
        values
            (1, line.unmatched, line.unmatched is not null, null::numeric),
            (
                2,
                'negative_amount',
                line.amount < 0,
                case when line.net_amount = 0 then 0 end
            ),
            (3, 'charged_twice', line.also_charged_text is not null, line.twice_amount),
            (
                4,
                'outside_period',
                line.days < line.days_claimed,
                coalesce(line.outside_amount, 0)
            ),
            (5, 'was_free_then', line.free_then > 0, coalesce(line.free_then_amount, 0)),
            (6, 'not_available', line.unavailable > 0, coalesce(line.unavailable_amount, 0)),
            (7, 'on_hold', line.on_hold > 0, coalesce(line.on_hold_amount, 0)),
            (8, 'wrong_availability', line.available_on < line.available_seen_on, null),
            (
                9,
                'wrong_free_time',
                line.free_to_on <> line.last_free_on
                or line.free_days < line.rule_free_days
                or line.free_from_on < line.clock_on,
                null
            ),
            (10, 'wrong_rate', above.rate_amount is not null, above.rate_amount),
            (11, 'wrong_sum', above.sum_amount is not null, above.sum_amount),
            (12, 'other_currency', not line.is_same_currency, null),
            (
                13,
                'missing_items',
                line.is_us is not false and cardinality(line.missing_items) > 0,
                case when above.is_late then 0 * rest.amount else rest.amount end
            ),
            (14, 'late_issue', above.is_late, rest.amount),
            (
                15,
                'not_checked: clock unknown',
                line.container_id is not null and line.days is null,
                null
            ),
            (16, 'not_checked: no rate', line.rated < line.days, null)
    ) as reason (position, reason, holds, amount)
    where reason.holds
        -- A credit note claims nothing that could be wrong.
        and (line.amount >= 0 or reason.position <= 2)

) as doubt
cross join lateral (

    select
        doubt.amount - taken.credited_amount as amount,
        taken.credited_amount
    from (select least(line.credited_amount, doubt.amount) as credited_amount) as taken

) as due
cross join lateral (

    select
        case
            when due.amount > 0 then 'dispute'
            when doubt.is_open and (line.net_amount > 0 or line.amount < 0) then 'check'
            else 'pay'
        end as verdict

) as judged
left join {{analytics}}.container_customers as customer
    on customer.container_id = line.container_id;
