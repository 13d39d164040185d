-- Clocks that lines of invoices are for
--
-- One row per line of dd_invoices, as known at as_of(). The base of invoice_days and
-- invoice_shares.
--
-- The container is the one with the number of the line and, where the line names one, the bill of
-- lading: with or without the SCAC before it, in upper or lower case, ignoring all signs except
-- letters and digits. Of several journeys under one number the view takes one that is known to have
-- that bill of lading, then the last whose clock for the charge started by the first charged day.
-- Without a clock container_id is null, and unmatched says why: unknown_container (no container
-- with the number), other_bill_of_lading (none of its journeys has it), never_charged (the journey
-- is known, and the charge lacks a clock: it has not begun, and its begin is unknown).
-- charge is that of the line. clock_charge is demurrage where one merged clock has both charges of
-- the line.
--
-- Cost: the clocks of one container for each line.

create view {{parts}}.invoice_clocks as
select
    invoice.issuer,
    invoice.invoice_number,
    invoice.line_number,
    clock.container_id,
    clock.shipment_id,
    clock.pod_terminal_id,
    invoice.container_number,
    clock.shipping_line_scac,
    clock.pod_terminal,
    clock.place,
    invoice.charge,
    clock.charge as clock_charge,
    case
        when not journeys.is_known then 'unknown_container'
        when journeys.container_ids is null then 'other_bill_of_lading'
        when clock.container_id is null then 'never_charged'
    end as unmatched,
    clock.rule_name,
    clock.free_days as rule_free_days,
    clock.currency_code as rule_currency_code,
    clock.time_zone,
    clock.days_over,
    invoice.amount,
    invoice.currency_code,
    invoice.daily_rate,
    invoice.issued_on,
    invoice.charged_from_on,
    invoice.charged_to_on,
    clock.clock_on,
    clock.last_free_on
from {{analytics}}.dd_invoices as invoice
-- The letters and digits of the bill of lading, and the same without a SCAC before them.
cross join lateral (

    select
        written.bill,
        regexp_replace(written.bill, '^[A-Z]{4}', '') as bare_bill
    from (
        select
            nullif(
                regexp_replace(
                    upper(invoice.bill_of_lading_number collate "C"), '[^A-Z0-9]', '', 'g'
                ),
                ''
            ) as bill
    ) as written

) as claimed
-- Journeys under the number, except those of another bill of lading.
cross join lateral (

    select
        count(*) > 0 as is_known,
        array_agg(container.container_id) filter (where compared.is_named is not false)
            as container_ids,
        array_agg(compared.is_named) filter (where compared.is_named is not false)
            as are_named
    from {{data}}.containers as container
    left join {{data}}.shipments as shipment
        on shipment.shipment_id = container.shipment_id
    cross join lateral (

        -- Null if the line or the shipment lacks it.
        select
            bool_or(
                claimed.bill in (known.bill, regexp_replace(known.bill, '^[A-Z]{4}', ''))
                or claimed.bare_bill = known.bill
            ) as is_named
        from (
            select
                regexp_replace(upper(number collate "C"), '[^A-Z0-9]', '', 'g') as bill
            from unnest(array[shipment.bill_of_lading_number, shipment.normalized_number])
                as one (number)
        ) as known
        where known.bill <> ''

    ) as compared
    where container.number = invoice.container_number

) as journeys
left join lateral (

    select
        made.container_id,
        made.shipment_id,
        made.pod_terminal_id,
        made.place,
        made.charge,
        made.shipping_line_scac,
        made.pod_terminal,
        made.rule_name,
        made.free_days,
        made.clock_on,
        made.last_free_on,
        made.days_over,
        made.time_zone,
        made.currency_code
    from unnest(journeys.container_ids, journeys.are_named)
        as journey (container_id, is_named)
    cross join lateral (

        select
            clock.container_id,
            clock.shipment_id,
            clock.pod_terminal_id,
            clock.place,
            clock.charge,
            clock.shipping_line_scac,
            clock.pod_terminal,
            clock.rule_name,
            clock.free_days,
            clock.clock_on,
            clock.last_free_on,
            clock.days_over,
            clock.time_zone,
            clock.currency_code
        from {{analytics}}.charge_clocks as clock
        where clock.container_id = journey.container_id
            and (
                clock.charge = invoice.charge
                -- A merged clock has both charges of the line.
                or clock.charge = 'demurrage'
                and clock.until = 'empty_return'
                and invoice.charge = 'detention'
            )
        -- Forces a look-up of one container instead of a join with all clocks.
        offset 0

    ) as made
    order by
        journey.is_named desc nulls last,
        coalesce(made.clock_on, made.last_free_on) <= invoice.charged_from_on desc nulls last,
        coalesce(made.clock_on, made.last_free_on) desc nulls last,
        made.container_id,
        made.place
    limit 1

) as clock
    on true;
