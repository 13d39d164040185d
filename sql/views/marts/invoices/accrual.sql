-- Demurrage, storage and detention by month: incurred, invoiced, credited and paid
--
-- One row per month, charge, customer, shipping line, terminal and currency, as known at as_of().
-- The month is that of the charged day at the place, never that of the invoice.
--
-- incurred_amount: what the user's rules charge for the days of the month (charged_days). A day of
-- a charge costs once, in its own month; days_incurred counts the days past the last free day, days
-- that the rule does not charge included; days_without_rate counts the days without a rate: of a
-- clock without a rule they have a row without a currency.
-- invoiced_amount, credited_amount, paid_amount: lines above zero, credit notes as positive
-- numbers, and payments, spread evenly over the days of the line (invoice_shares). A credit note
-- that belongs to a line is in the months of that line. days_invoiced counts the days of containers
-- that a line above zero names, each once however many lines name it.
-- Lines whose container is not known have a row without customer, line and terminal. An invoice of
-- detention is shown under demurrage where one merged clock has both.
-- So the amounts of all rows add up to those of charged_days and dd_invoices, by currency.
--
-- not_invoiced_amount: incurred less what was invoiced and not credited, where that is above zero:
-- what to accrue. Null where it cannot be told: days lack a rate; lines of the same month, charge,
-- customer, line and terminal are in another currency; or there are lines, and some of these days
-- lack a rule, so that nobody knows which days the lines pay for.
-- An amount is null where no day has a rate, nothing was invoiced, credited or said to be paid.
-- Rules, invoices and payments are the present ones, also in an answer as of an instant.
--
-- Cost: the clocks of all containers, and for each line those of one.

create view {{analytics}}.accrual as
with

entries as (

    select
        day.container_id as container_key,
        day.charge,
        day.customer_name,
        day.shipping_line_scac,
        day.pod_terminal_id,
        day.pod_terminal,
        day.currency_code,
        true as is_incurred,
        day.charge_amount as incurred_amount,
        null::numeric as invoiced_amount,
        null::numeric as credited_amount,
        null::numeric as paid_amount,
        day.charged_on
    from {{parts}}.clock_days as day

    union all

    select
        coalesce(share.container_id, share.container_number) as container_key,
        share.charge,
        share.customer_name,
        share.shipping_line_scac,
        share.pod_terminal_id,
        share.pod_terminal,
        share.currency_code,
        false as is_incurred,
        null as incurred_amount,
        share.invoiced_amount,
        share.credited_amount,
        share.paid_amount,
        share.charged_on
    from {{parts}}.invoice_shares as share

),

months as (

    select
        date_trunc('month', entry.charged_on::timestamp)::date as month_on,
        entry.charge,
        entry.customer_name,
        entry.shipping_line_scac,
        entry.pod_terminal_id,
        entry.pod_terminal,
        entry.currency_code,
        count(distinct entry.container_key)::integer as containers,
        (count(*) filter (where entry.is_incurred))::integer as days_incurred,
        (
            count(distinct (entry.container_key, entry.charged_on))
                filter (where entry.invoiced_amount is not null)
        )::integer as days_invoiced,
        (count(*) filter (where entry.is_incurred and entry.incurred_amount is null))::integer
            as days_without_rate,
        sum(entry.incurred_amount) as incurred_amount,
        sum(entry.invoiced_amount) as invoiced_amount,
        sum(entry.credited_amount) as credited_amount,
        sum(entry.paid_amount) as paid_amount
    from entries as entry
    group by
        date_trunc('month', entry.charged_on::timestamp)::date,
        entry.charge,
        entry.customer_name,
        entry.shipping_line_scac,
        entry.pod_terminal_id,
        entry.pod_terminal,
        entry.currency_code

),

compared as (

    select
        month.month_on,
        month.charge,
        month.customer_name,
        month.shipping_line_scac,
        month.pod_terminal_id,
        month.pod_terminal,
        month.currency_code,
        month.containers,
        month.days_incurred,
        month.days_invoiced,
        month.days_without_rate,
        month.incurred_amount,
        month.invoiced_amount,
        month.credited_amount,
        month.paid_amount,
        month.incurred_amount
        - coalesce(month.invoiced_amount, 0)
        + coalesce(month.credited_amount, 0) as open_amount,
        month.days_without_rate = 0
        and count(*) filter (where month.days_invoiced > 0) over same
            = case when month.days_invoiced > 0 then 1 else 0 end
        and (
            month.days_invoiced = 0
            or count(*) filter (where month.currency_code is null) over same = 0
        ) as is_told
    from months as month
    window same as (
        partition by
            month.month_on,
            month.charge,
            month.customer_name,
            month.shipping_line_scac,
            month.pod_terminal_id
    )

)

select
    month.month_on,
    month.charge,
    month.customer_name,
    month.shipping_line_scac,
    month.pod_terminal_id,
    month.pod_terminal,
    month.currency_code,
    month.containers,
    month.days_incurred,
    month.days_invoiced,
    month.days_without_rate,
    month.incurred_amount,
    month.invoiced_amount,
    month.credited_amount,
    month.paid_amount,
    case when month.is_told and month.open_amount > 0 then month.open_amount end
        as not_invoiced_amount
from compared as month
order by
    month.month_on desc,
    month.charge,
    month.customer_name,
    month.shipping_line_scac,
    month.pod_terminal,
    month.pod_terminal_id,
    month.currency_code;
