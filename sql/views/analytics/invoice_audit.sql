-- What an invoice claims, beside what was known
--
-- One row per line of dd_invoices, as known at as_of(). The container is the one with the number of
-- the line and, where the line names one, the bill of lading; of several journeys under one number
-- the last whose clock for the charge started by the first day charged. container_id is null where
-- there is none.
--
-- days_claimed: charged_from_on to charged_to_on, both included. days_ours: those of them that
-- charge_days has for the charge, that is past its last free day and before it ended; amount_ours
-- what the rules charge for them, null without a rate for any. days_unavailable: days of ours on
-- which the terminal said that the box is not available; days_on_hold: days of ours on which a hold
-- stood. difference_amount is what is claimed above ours, where the currencies are equal.
--
-- reasons, each one to look into and to dispute with demurrage_evidence:
--   unknown_container   no container with the number
--   never_charged       the container is known, and the charge has no clock: it has not begun, and
--                       nobody says when it would
--   outside_period      days claimed that are none of ours: free time, before it began, after it
--                       ended
--   not_available, on_hold   days_unavailable, days_on_hold
--   wrong_free_time     free_to_on is not the last free day as known
--   wrong_rate          more is claimed than the rules charge
--   wrong_sum           the amount is not days_claimed times the line's own daily rate
--   other_currency      the rule has another currency
--   missing_items       what 46 CFR 541.6 asks for and the line does not say: missing_items
--   late_issue          issued more than 30 days after the last day charged: 46 CFR 541.7
-- Whether a reason holds is for a person to decide: two looks are hours apart, and only invoices
-- under United States rules need the items and the 30 days.

create view {{analytics}}.invoice_audit as
with

clocks as (

    select
        invoice.issuer,
        invoice.invoice_number,
        invoice.line_number,
        matched.container_id,
        matched.shipment_id,
        matched.pod_terminal_id,
        matched.place,
        matched.shipping_line_scac,
        matched.pod_terminal,
        matched.rule_name,
        matched.last_free_on,
        matched.currency_code
    from {{analytics}}.dd_invoices as invoice
    cross join lateral (

        select
            clock.container_id,
            clock.shipment_id,
            clock.pod_terminal_id,
            clock.place,
            clock.shipping_line_scac,
            clock.pod_terminal,
            clock.rule_name,
            clock.last_free_on,
            clock.currency_code
        from {{data}}.containers as container
        cross join lateral (

            select
                made.container_id,
                made.shipment_id,
                made.pod_terminal_id,
                made.place,
                made.shipping_line_scac,
                made.pod_terminal,
                made.rule_name,
                made.last_free_on,
                made.clock_on,
                made.currency_code,
                made.bill_of_lading_number
            from {{analytics}}.charge_clocks as made
            where made.container_id = container.container_id
                and made.charge = invoice.charge
            -- Keeps it a look-up of one container, and not a join with all clocks.
            offset 0

        ) as clock
        where container.number = invoice.container_number
            and (
                invoice.bill_of_lading_number is null
                or clock.bill_of_lading_number is null
                or clock.bill_of_lading_number = invoice.bill_of_lading_number
            )
        order by
            coalesce(clock.clock_on, clock.last_free_on) <= invoice.charged_from_on desc nulls last,
            coalesce(clock.clock_on, clock.last_free_on) desc nulls last,
            clock.container_id,
            clock.place
        limit 1

    ) as matched

),

audited as (

    select
        invoice.issuer,
        invoice.invoice_number,
        invoice.line_number,
        invoice.charge,
        invoice.container_number,
        invoice.bill_of_lading_number,
        invoice.amount,
        invoice.currency_code,
        invoice.daily_rate,
        invoice.free_to_on,
        invoice.charged_from_on,
        invoice.charged_to_on,
        invoice.issued_on,
        clock.container_id,
        clock.shipment_id,
        clock.pod_terminal_id,
        clock.place,
        clock.shipping_line_scac,
        clock.pod_terminal,
        clock.rule_name,
        clock.last_free_on,
        clock.currency_code as currency_ours,
        exists (
            select
            from {{data}}.containers as container
            where container.number = invoice.container_number
        ) as is_known,
        invoice.charged_to_on - invoice.charged_from_on + 1 as days_claimed,
        ours.days,
        ours.unavailable,
        ours.on_hold,
        ours.amount as amount_ours,
        array_remove(
            array[
                case when invoice.bill_of_lading_number is null then 'bill_of_lading_number' end,
                case when invoice.port_of_discharge is null then 'port_of_discharge' end,
                case when invoice.billed_because is null then 'billed_because' end,
                case when invoice.issued_on is null then 'issued_on' end,
                case when invoice.due_on is null then 'due_on' end,
                case when invoice.free_days is null then 'free_days' end,
                case when invoice.free_from_on is null then 'free_from_on' end,
                case when invoice.free_to_on is null then 'free_to_on' end,
                case
                    when invoice.available_on is null and invoice.charge <> 'detention'
                        then 'available_on'
                end,
                case when invoice.rule_reference is null then 'rule_reference' end,
                case when invoice.daily_rate is null then 'daily_rate' end,
                case when invoice.dispute_contact is null then 'dispute_contact' end,
                case when invoice.dispute_within is null then 'dispute_within' end,
                case when invoice.certification is null then 'certification' end
            ],
            null
        ) as missing_items
    from {{analytics}}.dd_invoices as invoice
    left join clocks as clock
        on clock.issuer = invoice.issuer
        and clock.invoice_number = invoice.invoice_number
        and clock.line_number = invoice.line_number
    left join lateral (

        select
            count(*)::integer as days,
            (count(*) filter (where day.was_available is false))::integer as unavailable,
            (count(*) filter (where cardinality(day.holds) > 0))::integer as on_hold,
            sum(day.charge_amount) as amount
        from {{analytics}}.charge_days as day
        where day.container_id = clock.container_id
            and day.place = clock.place
            and day.charge = invoice.charge
            and day.charged_on between invoice.charged_from_on and invoice.charged_to_on

    ) as ours
        on clock.container_id is not null

)

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
    doubt.reasons,
    nullif(array_to_string(doubt.reasons, ', '), '') as reasons_text,
    line.missing_items,
    nullif(array_to_string(line.missing_items, ', '), '') as missing_items_text,
    line.rule_name,
    line.currency_code,
    customer.customer_name,
    customer.ref_numbers_text,
    customer.tags_text,
    customer.custom_fields,
    line.days_claimed,
    line.days as days_ours,
    line.unavailable as days_unavailable,
    line.on_hold as days_on_hold,
    line.amount,
    case when line.currency_code = line.currency_ours then line.amount_ours end as amount_ours,
    case
        when line.currency_code = line.currency_ours then line.amount - line.amount_ours
    end as difference_amount,
    line.free_to_on,
    line.last_free_on,
    line.charged_from_on,
    line.charged_to_on,
    line.issued_on
from audited as line
cross join lateral (

    select
        array_remove(
            array[
                case
                    when not line.is_known then 'unknown_container'
                    when line.container_id is null then 'never_charged'
                end,
                case when line.days < line.days_claimed then 'outside_period' end,
                case when line.unavailable > 0 then 'not_available' end,
                case when line.on_hold > 0 then 'on_hold' end,
                case when line.free_to_on <> line.last_free_on then 'wrong_free_time' end,
                case
                    when line.currency_code = line.currency_ours
                        and line.daily_rate * line.days > line.amount_ours
                        then 'wrong_rate'
                end,
                case when line.daily_rate * line.days_claimed <> line.amount then 'wrong_sum' end,
                case when line.currency_code <> line.currency_ours then 'other_currency' end,
                case when cardinality(line.missing_items) > 0 then 'missing_items' end,
                case when line.issued_on > line.charged_to_on + 30 then 'late_issue' end
            ],
            null
        ) as reasons

) as doubt
left join {{analytics}}.container_customers as customer
    on customer.container_id = line.container_id;

comment on view {{analytics}}.invoice_audit is
    'One row per line of a demurrage, storage or detention invoice: what it claims, what our '
    'days and rules say, and the reasons to look into.';
comment on column {{analytics}}.invoice_audit.invoice_number is
    'Number of the invoice.';
comment on column {{analytics}}.invoice_audit.line_number is
    'Line of the invoice.';
comment on column {{analytics}}.invoice_audit.issuer is
    'Who bills.';
comment on column {{analytics}}.invoice_audit.container_id is
    'The service''s id of the container; null where it is not known.';
comment on column {{analytics}}.invoice_audit.shipment_id is
    'Shipment; shipments.';
comment on column {{analytics}}.invoice_audit.pod_terminal_id is
    'Terminal at the port of discharge; terminals.';
comment on column {{analytics}}.invoice_audit.container_number is
    'Container that is charged for.';
comment on column {{analytics}}.invoice_audit.bill_of_lading_number is
    'Bill of lading that the line names.';
comment on column {{analytics}}.invoice_audit.shipping_line_scac is
    'SCAC of the shipping line.';
comment on column {{analytics}}.invoice_audit.pod_terminal is
    'Terminal at the port of discharge: short name, else name.';
comment on column {{analytics}}.invoice_audit.place is
    'port, ramp, or out for detention.';
comment on column {{analytics}}.invoice_audit.charge is
    'demurrage, storage or detention.';
comment on column {{analytics}}.invoice_audit.reasons is
    'Reasons to look into; see the header of the view. Empty: none.';
comment on column {{analytics}}.invoice_audit.reasons_text is
    'The same as one text.';
comment on column {{analytics}}.invoice_audit.missing_items is
    'What 46 CFR 541.6 asks for and the line does not say.';
comment on column {{analytics}}.invoice_audit.missing_items_text is
    'The same as one text.';
comment on column {{analytics}}.invoice_audit.rule_name is
    'Rule that holds; free_time_rules. Null: none.';
comment on column {{analytics}}.invoice_audit.currency_code is
    'Currency of the amounts.';
comment on column {{analytics}}.invoice_audit.customer_name is
    'Customer of the shipment.';
comment on column {{analytics}}.invoice_audit.ref_numbers_text is
    'Reference numbers of container and shipment, parted by ", ".';
comment on column {{analytics}}.invoice_audit.tags_text is
    'Tags of the shipment, parted by ", ".';
comment on column {{analytics}}.invoice_audit.custom_fields is
    'Custom fields of container and shipment: slug and value. Null: none.';
comment on column {{analytics}}.invoice_audit.days_claimed is
    'Days that the line charges.';
comment on column {{analytics}}.invoice_audit.days_ours is
    'Those of them that are past the last free day and before the end.';
comment on column {{analytics}}.invoice_audit.days_unavailable is
    'Days of ours on which the terminal said that it is not available.';
comment on column {{analytics}}.invoice_audit.days_on_hold is
    'Days of ours on which a hold stood.';
comment on column {{analytics}}.invoice_audit.amount is
    'Amount claimed.';
comment on column {{analytics}}.invoice_audit.amount_ours is
    'What the rules charge for the days of ours; null in another currency and without a rate.';
comment on column {{analytics}}.invoice_audit.difference_amount is
    'What is claimed above ours.';
comment on column {{analytics}}.invoice_audit.free_to_on is
    'Last free day that the line names.';
comment on column {{analytics}}.invoice_audit.last_free_on is
    'Last free day as known. Calendar day at the place.';
comment on column {{analytics}}.invoice_audit.charged_from_on is
    'First day charged.';
comment on column {{analytics}}.invoice_audit.charged_to_on is
    'Last day charged.';
comment on column {{analytics}}.invoice_audit.issued_on is
    'Date of the invoice.';
