-- Days of invoices beside the facts we know of each
--
-- One row per line of dd_invoices and day from charged_from_on to charged_to_on, both included, as
-- known at as_of(). The base of invoices, which sums them.
--
-- See invoice_clocks for the clock of a line, and what unmatched says where there is none.
--
-- is_ours: charged_days has the day for the charge, that is past its last free day and before it
-- ended. If the days of the clock are unknown it is null, and so is what follows from it.
-- was_free_then: a day of ours that was free by the last free day that the charging party reported
-- at the end of that very day (last_free_seen_on of charged_days), and which it moved back later.
-- Null where it reported none.
-- rule_amount: what the rule charges for a day of ours; null for a day without a rate.
-- claimed_amount: what the line claims for the day: its daily rate, or the day's share of the
-- amount where the line lacks a daily rate or claims less than the rate for its days. The days
-- never add up to more than the amount. Null in a credit note (an amount below zero), which claims
-- no day.
-- is_charged_before: another line claims the day of the same container and charge, of any issuer,
-- and that line came first: by the day it was issued, then by issuer, invoice number and line. A
-- container is at one place at a time, so the place is not compared. A line that credit notes took
-- back (invoice_balances) claims no day. also_charged_text names all other lines that claim a day
-- of this one, first or not.
--
-- cause: why the day of a claim is disputable as a whole; a day has one, the first of:
--   charged_twice   is_charged_before
--   outside_period  not ours: free time, before it began, after it ended
--   was_free_then   was_free_then
--   not_available   reported as not available, by the terminal or at the ramp by the status
--   on_hold         with a hold
-- Null: none that we know of, or a credit note. Silence about availability is none.
--
-- Cost: the clocks of one container for each line, and a look into three histories for each of its
-- charged days.

create view {{analytics}}.invoice_days as
select
    invoice.invoice_number,
    invoice.line_number,
    invoice.issuer,
    invoice.container_id,
    invoice.shipment_id,
    invoice.pod_terminal_id,
    invoice.container_number,
    invoice.shipping_line_scac,
    invoice.pod_terminal,
    invoice.place,
    invoice.charge,
    invoice.unmatched,
    also.lines_text as also_charged_text,
    invoice.rule_name,
    invoice.rule_free_days,
    invoice.time_zone,
    day.cause,
    day.is_ours,
    day.is_charged_before,
    day.was_free_then,
    day.was_available,
    day.is_on_hold,
    invoice.currency_code,
    day.claimed_amount,
    invoice.rule_currency_code,
    day.rule_amount,
    day.charged_on,
    invoice.clock_on,
    invoice.last_free_on
from {{parts}}.invoice_clocks as invoice
left join lateral (

    select
        string_agg(
            concat_ws(' ', other.issuer, other.invoice_number, other.line_number),
            ', ' order by other.issuer, other.invoice_number, other.line_number
        ) as lines_text,
        range_agg(daterange(other.charged_from_on, other.charged_to_on, '[]')) filter (
            where (
                coalesce(other.issued_on, 'infinity'),
                other.issuer,
                other.invoice_number,
                other.line_number
            ) < (
                coalesce(invoice.issued_on, 'infinity'),
                invoice.issuer,
                invoice.invoice_number,
                invoice.line_number
            )
        ) as days_before
    from {{parts}}.invoice_balances as other
    where other.container_number = invoice.container_number
        and other.charge = invoice.charge
        and other.charged_from_on <= invoice.charged_to_on
        and other.charged_to_on >= invoice.charged_from_on
        and other.amount > 0
        and other.net_amount > 0
        and (other.issuer, other.invoice_number, other.line_number)
            <> (invoice.issuer, invoice.invoice_number, invoice.line_number)

) as also
    on invoice.amount > 0
cross join lateral (

    select
        fact.charged_on,
        fact.is_ours,
        fact.is_charged_before,
        fact.was_free_then,
        fact.was_available,
        fact.is_on_hold,
        fact.rule_amount,
        case
            when invoice.amount < 0 then null
            when invoice.daily_rate * fact.days <= invoice.amount then invoice.daily_rate
            -- Rounded so that the shares add up to the amount.
            else round(invoice.amount * fact.number / fact.days, fact.decimals)
                - round(invoice.amount * (fact.number - 1) / fact.days, fact.decimals)
        end as claimed_amount,
        case
            when invoice.amount < 0 then null
            when fact.is_charged_before then 'charged_twice'
            when not fact.is_ours then 'outside_period'
            when fact.was_free_then then 'was_free_then'
            when not fact.was_available then 'not_available'
            when fact.is_on_hold then 'on_hold'
        end as cause
    from (
        select
            claimed.number,
            named.charged_on,
            invoice.charged_to_on - invoice.charged_from_on + 1 as days,
            greatest(scale(invoice.amount), 2) as decimals,
            case when invoice.days_over is not null then ours.charged_on is not null end as is_ours,
            coalesce(named.charged_on <@ also.days_before, false) as is_charged_before,
            ours.last_free_seen_on >= named.charged_on as was_free_then,
            ours.was_available,
            ours.charge_amount as rule_amount,
            case
                when invoice.days_over is not null
                    then coalesce(cardinality(ours.holds) > 0, false)
            end as is_on_hold
        from generate_series(1, invoice.charged_to_on - invoice.charged_from_on + 1)
            as claimed (number)
        cross join lateral (
            select invoice.charged_from_on + claimed.number - 1 as charged_on
        ) as named
        left join (
            select
                charged.charged_on,
                charged.last_free_seen_on,
                charged.was_available,
                charged.holds,
                charged.charge_amount
            from {{analytics}}.charged_days as charged
            where charged.container_id = invoice.container_id
                and charged.place = invoice.place
                and charged.charge = invoice.clock_charge
                and charged.charged_on between invoice.charged_from_on and invoice.charged_to_on
        ) as ours
            on ours.charged_on = named.charged_on
    ) as fact
    -- The charged days are read once for a line, and not for each of its days.
    offset 0

) as day;
