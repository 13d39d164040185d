-- Lines of invoices beside the facts we know
--
-- One row per line of dd_invoices, as known at as_of(). The container is the one with the number of
-- the line and, where the line names one, the bill of lading: with or without the SCAC before it,
-- in upper or lower case, ignoring all signs except letters and digits. Of several journeys under
-- one number the view takes one that is known to have that bill of lading, then the last whose
-- clock for the charge started by the first charged day. container_id is null if there is none.
--
-- days_claimed: charged_from_on to charged_to_on, both included.
-- days_ours: the claimed days that charge_days has for the charge, that is past its last free day
-- and before it ended. If the state of the clock is unknown, our columns are null, and no reason
-- follows from them.
-- days_without_rate: days of ours without a tier of the rule, such as days before the first tier.
-- The rules do not say whether they are free or what they cost: for free days write a tier with the
-- rate 0. amount_ours is the charge by the rules for the other days of ours, null if none has a
-- rate. difference_amount is the claim above it, if the currencies are equal and every day of ours
-- has a rate.
-- days_unavailable: days of ours on which the terminal reported the container as not available;
-- null if availability was not reported on any of them.
-- days_unknown: days of ours without a report of availability.
-- days_on_hold: days of ours with a hold.
-- available_seen_on: the first day on which we saw that the container is available at the place.
-- Null unless the look before said that it was not: it may have been available unseen. A negative
-- amount is a credit note. It does not claim days: amount_ours is 0, and of the reasons below only
-- negative_amount and the three about the container apply.
--
-- reasons, each a point to check and to dispute with demurrage_evidence:
--   unknown_container   no container with the number
--   other_bill_of_lading   the container is known, and none of its journeys has the bill of lading
--   never_charged       the journey is known, and the charge lacks a clock: it has not begun, and
--                       its begin is unknown
--   negative_amount     a credit note: it belongs to another line
--   charged_twice       another line, of any issuer, claims a day of the same container and charge:
--                       also_charged_text. A container is at one place at a time, so the place
--                       is not compared
--   outside_period      claimed days outside of ours: free time, before it began, after it ended
--   not_available, on_hold   days_unavailable, days_on_hold
--   wrong_availability  available_on is before available_seen_on
--   wrong_free_time     free_to_on differs from the known last free day, free_days are fewer than
--                       the rule gives, or free_from_on is before the day on which the clock
--                       started. A later free_from_on is fine: weekends and that day may not count
--   wrong_rate          more is claimed than the rules charge: by the daily rate over the days of
--                       ours that have a rate, or, without a daily rate, by the amount, where all
--                       days claimed are ours and have one
--   wrong_sum           the amount is not days_claimed times the line's own daily rate
--   other_currency      the rule has another currency
--   missing_items       the line lacks items that 46 CFR 541.6 requires: missing_items
--   late_issue          issued more than 30 days after the last day charged: 46 CFR 541.7
-- Whether a reason holds is for a person to decide: two looks are hours apart, and only invoices
-- under United States rules need the items and the 30 days.

create view {{analytics}}.invoice_audit as
with

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
        invoice.free_days,
        invoice.free_from_on,
        invoice.free_to_on,
        invoice.available_on,
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
        clock.free_days as rule_free_days,
        clock.clock_on,
        clock.last_free_on,
        clock.currency_code = invoice.currency_code as is_same_currency,
        journeys.is_known,
        journeys.container_ids,
        invoice.charged_to_on - invoice.charged_from_on + 1 as days_claimed,
        ours.days,
        ours.rated,
        ours.unavailable,
        ours.unknown,
        ours.on_hold,
        case
            when clock.currency_code = invoice.currency_code
                then case when invoice.amount < 0 or ours.days = 0 then 0 else ours.amount end
        end as amount_ours,
        seen.available_seen_on,
        also.lines_text as also_charged_text,
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
                case when invoice.dispute_url is null then 'dispute_url' end,
                case when invoice.dispute_within is null then 'dispute_within' end,
                case when invoice.certification is null then 'certification' end
            ],
            null
        ) as missing_items
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
                and clock.charge = invoice.charge
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
        on true
    left join lateral (

        select
            count(*)::integer as days,
            count(day.charge_amount)::integer as rated,
            -- Zero days are zero unavailable days; days without a report are unknown.
            case
                when count(*) = 0 or count(day.was_available) > 0
                    then (count(*) filter (where day.was_available is false))::integer
            end as unavailable,
            (count(*) filter (where day.was_available is null))::integer as unknown,
            (count(*) filter (where cardinality(day.holds) > 0))::integer as on_hold,
            sum(day.charge_amount) as amount
        from {{analytics}}.charge_days as day
        where day.container_id = clock.container_id
            and day.place = clock.place
            and day.charge = invoice.charge
            and day.charged_on between invoice.charged_from_on and invoice.charged_to_on

    ) as ours
        on clock.days_over is not null
    left join lateral (

        select
            case
                when sight.was_available is false
                    then (sight.valid_from at time zone clock.time_zone)::date
            end as available_seen_on
        from (
            select
                version.valid_from,
                said.is_available,
                lag(said.is_available) over (order by version.valid_from) as was_available
            from {{data}}.container_history as version
            cross join lateral (

                select
                    case clock.place
                        when 'port'
                            then
                                case
                                    when version.availability_known is not false
                                        then version.available_for_pickup
                                end
                        -- Before it left the port, the status is that of the port.
                        when 'ramp'
                            then
                                case
                                    when coalesce(
                                        version.pod_rail_departed_at,
                                        version.ind_ata_at,
                                        version.ind_rail_unloaded_at
                                    ) is not null
                                        then version.current_status = 'available'
                                end
                    end as is_available

            ) as said
            where version.container_id = clock.container_id
                and version.valid_from <= {{analytics}}.as_of()
        ) as sight
        where sight.is_available
        order by sight.valid_from
        limit 1

    ) as seen
        on true
    left join lateral (

        select
            string_agg(
                concat_ws(' ', other.issuer, other.invoice_number, other.line_number),
                ', ' order by other.issuer, other.invoice_number, other.line_number
            ) as lines_text
        from {{analytics}}.dd_invoices as other
        where other.container_number = invoice.container_number
            and other.charge = invoice.charge
            and other.charged_from_on <= invoice.charged_to_on
            and other.charged_to_on >= invoice.charged_from_on
            and other.amount > 0
            and (other.issuer, other.invoice_number, other.line_number)
                <> (invoice.issuer, invoice.invoice_number, invoice.line_number)

    ) as also
        on invoice.amount > 0

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
    line.also_charged_text,
    line.rule_name,
    line.currency_code,
    customer.customer_name,
    customer.ref_numbers_text,
    customer.tags_text,
    customer.custom_fields,
    line.days_claimed,
    line.days as days_ours,
    case when line.rule_name is not null then line.days - line.rated end as days_without_rate,
    line.unavailable as days_unavailable,
    line.unknown as days_unknown,
    line.on_hold as days_on_hold,
    line.amount,
    line.amount_ours,
    case
        when line.days = line.rated or line.amount < 0 then line.amount - line.amount_ours
    end as difference_amount,
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
    line.issued_on
from audited as line
cross join lateral (

    select
        array_remove(
            array[
                case
                    when not line.is_known then 'unknown_container'
                    when line.container_ids is null then 'other_bill_of_lading'
                    when line.container_id is null then 'never_charged'
                end,
                case when line.amount < 0 then 'negative_amount' end
            ]
            || case
                when line.amount >= 0
                    then
                        array[
                            case when line.also_charged_text is not null then 'charged_twice' end,
                            case when line.days < line.days_claimed then 'outside_period' end,
                            case when line.unavailable > 0 then 'not_available' end,
                            case when line.on_hold > 0 then 'on_hold' end,
                            case
                                when line.available_on < line.available_seen_on
                                    then 'wrong_availability'
                            end,
                            case
                                when line.free_to_on <> line.last_free_on
                                    or line.free_days < line.rule_free_days
                                    or line.free_from_on < line.clock_on
                                    then 'wrong_free_time'
                            end,
                            case
                                when line.daily_rate * line.rated > line.amount_ours
                                    then 'wrong_rate'
                                when line.daily_rate is null
                                    and line.days_claimed = line.rated
                                    and line.amount > line.amount_ours
                                    then 'wrong_rate'
                            end,
                            case
                                when line.daily_rate * line.days_claimed <> line.amount
                                    then 'wrong_sum'
                            end,
                            case when not line.is_same_currency then 'other_currency' end,
                            case
                                when cardinality(line.missing_items) > 0 then 'missing_items'
                            end,
                            case
                                when line.issued_on > line.charged_to_on + 30 then 'late_issue'
                            end
                        ]
            end,
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
    'Bill of lading that the line names, as it is written there.';
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
comment on column {{analytics}}.invoice_audit.also_charged_text is
    'Other lines that claim a day of the same container and charge, parted by ", ": issuer, '
    'invoice, line.';
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
    'Those of them that are past the last free day and before the end; null where the clock is '
    'unknown.';
comment on column {{analytics}}.invoice_audit.days_without_rate is
    'Days of ours that no tier of the rule holds for; null without a rule.';
comment on column {{analytics}}.invoice_audit.days_unavailable is
    'Days of ours on which the terminal said that it is not available; null where nobody said '
    'of any of them.';
comment on column {{analytics}}.invoice_audit.days_unknown is
    'Days of ours on which nobody said whether it is available.';
comment on column {{analytics}}.invoice_audit.days_on_hold is
    'Days of ours with a hold.';
comment on column {{analytics}}.invoice_audit.amount is
    'Amount claimed. Negative: a credit note.';
comment on column {{analytics}}.invoice_audit.amount_ours is
    'What the rules charge for the days of ours that have a rate; 0 for a credit note. Null in '
    'another currency and where no day has a rate.';
comment on column {{analytics}}.invoice_audit.difference_amount is
    'The claim above ours; null where a day of ours lacks a rate.';
comment on column {{analytics}}.invoice_audit.free_days is
    'Free days that the line names.';
comment on column {{analytics}}.invoice_audit.rule_free_days is
    'Free days that the rule gives; null where it takes the reported day.';
comment on column {{analytics}}.invoice_audit.free_from_on is
    'First free day that the line names.';
comment on column {{analytics}}.invoice_audit.clock_on is
    'Day on which the clock started, as the rule says. Calendar day at the place.';
comment on column {{analytics}}.invoice_audit.free_to_on is
    'Last free day that the line names.';
comment on column {{analytics}}.invoice_audit.last_free_on is
    'Last free day as known. Calendar day at the place.';
comment on column {{analytics}}.invoice_audit.available_on is
    'Day on which it became available, as the line says.';
comment on column {{analytics}}.invoice_audit.available_seen_on is
    'First day on which we saw that it is available; null where the look before did not say '
    'that it is not. Calendar day at the place.';
comment on column {{analytics}}.invoice_audit.charged_from_on is
    'First day charged.';
comment on column {{analytics}}.invoice_audit.charged_to_on is
    'Last day charged.';
comment on column {{analytics}}.invoice_audit.issued_on is
    'Date of the invoice.';
