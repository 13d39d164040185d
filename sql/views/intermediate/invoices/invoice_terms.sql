-- Terms of each line of an invoice
--
-- One row per line of dd_invoices: its own last day to dispute, and the items of 46 CFR 541.6 that
-- it lacks. dispute_within is read as a number of days after the issue or as a date; any other text
-- says no day, and so does a date that no calendar has.

create view {{parts}}.invoice_terms as
select
    invoice.issuer,
    invoice.invoice_number,
    invoice.line_number,
    invoice.charge,
    invoice.container_number,
    invoice.bill_of_lading_number,
    invoice.port_of_discharge,
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
    case
        when invoice.amount >= 0
            then coalesce(within.last_on, invoice.issued_on + within.number_of_days)
    end as dispute_within_on,
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
cross join lateral (

    select
        substring(
            invoice.dispute_within
            from '(?i)^\s*(?:within\s+)?([0-9]{1,3})\s*(?:(?:calendar\s+)?days?\M.*)?$'
        )::integer as number_of_days,
        -- Null for a day that no calendar has, which would be an error as a date.
        case
            when extract(month from counted.last_on) = date.parts[2]::integer
                then counted.last_on
        end as last_on
    from (
        select
            regexp_match(
                invoice.dispute_within,
                '^\s*((?:19|20|21)[0-9]{2})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])\s*$'
            ) as parts
    ) as date
    cross join lateral (
        select
            make_date(date.parts[1]::integer, date.parts[2]::integer, 1)
            + (date.parts[3]::integer - 1) as last_on
    ) as counted

) as within;
