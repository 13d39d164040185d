-- Days of each line of an invoice, counted and added up
--
-- One row per line of dd_invoices: of its days (invoice_days) how many are ours, have a rate, were
-- free, not available or on hold, and the amounts by cause. A count is null where it is null on
-- each day.

create view {{parts}}.invoice_sums as
select
    day.issuer,
    day.invoice_number,
    day.line_number,
    day.container_id,
    day.shipment_id,
    day.pod_terminal_id,
    day.place,
    day.shipping_line_scac,
    day.pod_terminal,
    day.unmatched,
    day.also_charged_text,
    day.rule_name,
    day.rule_free_days,
    day.rule_currency_code,
    day.time_zone,
    day.clock_on,
    day.last_free_on,
    count(*)::integer as days_claimed,
    -- Null where they are null on each day.
    sum(day.is_ours::integer)::integer as days,
    count(day.rule_amount)::integer as rated,
    sum(day.was_free_then::integer)::integer as free_then,
    sum((not day.was_available)::integer)::integer as unavailable,
    sum((day.is_ours and day.was_available is null)::integer)::integer as unknown,
    sum(day.is_on_hold::integer)::integer as on_hold,
    sum(day.rule_amount) as rule_amount,
    sum(day.claimed_amount) as claimed_amount,
    coalesce(sum(day.claimed_amount) filter (where day.cause is not null), 0)
        as caused_amount,
    sum(day.claimed_amount) filter (where day.cause = 'charged_twice') as twice_amount,
    sum(day.claimed_amount) filter (where day.cause = 'outside_period') as outside_amount,
    sum(day.claimed_amount) filter (where day.cause = 'was_free_then')
        as free_then_amount,
    sum(day.claimed_amount) filter (where day.cause = 'not_available')
        as unavailable_amount,
    sum(day.claimed_amount) filter (where day.cause = 'on_hold') as on_hold_amount,
    sum(day.claimed_amount - day.rule_amount) filter (where day.cause is null)
        as above_rule_amount
from {{analytics}}.invoice_days as day
group by
    day.issuer,
    day.invoice_number,
    day.line_number,
    day.container_id,
    day.shipment_id,
    day.pod_terminal_id,
    day.place,
    day.shipping_line_scac,
    day.pod_terminal,
    day.unmatched,
    day.also_charged_text,
    day.rule_name,
    day.rule_free_days,
    day.rule_currency_code,
    day.time_zone,
    day.clock_on,
    day.last_free_on;
