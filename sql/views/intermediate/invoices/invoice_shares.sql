-- Amounts of invoices by the day that they are for
--
-- One row per line of dd_invoices and day from charged_from_on to charged_to_on, both included, as
-- known at as_of(), without the credit notes that belong to a line: its row has them. The
-- base of accrual. See invoice_clocks for the container of a line and invoice_balances for the line
-- of a credit note.
--
-- An amount is spread evenly over the days and rounded so that the shares add up to it exactly:
-- invoiced_amount of a line above zero, what is credited to it, and what was paid of it. A credit
-- note that belongs to no line is spread over its own days. A line of 0 has no
-- row. The daily rate of the line does not count here.
-- charge: a merged clock has both charges of the line, and an invoice of its detention is under
-- demurrage, the charge of the clock.
-- An amount is null where nothing was invoiced, credited or said to be paid.

create view {{parts}}.invoice_shares as
select
    line.issuer,
    line.invoice_number,
    line.line_number,
    clock.container_id,
    clock.shipment_id,
    clock.pod_terminal_id,
    line.container_number,
    clock.shipping_line_scac,
    clock.pod_terminal,
    coalesce(clock.clock_charge, line.charge) as charge,
    customer.customer_name,
    line.currency_code,
    round(
        whole.invoiced_amount * day.number / whole.days,
        greatest(scale(whole.invoiced_amount), 2)
    )
    - round(
        whole.invoiced_amount * (day.number - 1) / whole.days,
        greatest(scale(whole.invoiced_amount), 2)
    ) as invoiced_amount,
    round(
        whole.credited_amount * day.number / whole.days,
        greatest(scale(whole.credited_amount), 2)
    )
    - round(
        whole.credited_amount * (day.number - 1) / whole.days,
        greatest(scale(whole.credited_amount), 2)
    ) as credited_amount,
    round(
        whole.paid_amount * day.number / whole.days,
        greatest(scale(whole.paid_amount), 2)
    )
    - round(
        whole.paid_amount * (day.number - 1) / whole.days,
        greatest(scale(whole.paid_amount), 2)
    ) as paid_amount,
    line.charged_from_on + day.number - 1 as charged_on
from {{parts}}.invoice_balances as line
inner join {{analytics}}.dd_invoices as said
    on said.issuer = line.issuer
    and said.invoice_number = line.invoice_number
    and said.line_number = line.line_number
inner join {{parts}}.invoice_clocks as clock
    on clock.issuer = line.issuer
    and clock.invoice_number = line.invoice_number
    and clock.line_number = line.line_number
left join {{analytics}}.container_customers as customer
    on customer.container_id = clock.container_id
cross join generate_series(1, line.charged_to_on - line.charged_from_on + 1) as day (number)
cross join lateral (

    select
        case when line.amount > 0 then line.amount end as invoiced_amount,
        case when line.amount > 0 then nullif(line.credited_amount, 0) else -line.amount end
            as credited_amount,
        said.paid_amount,
        line.charged_to_on - line.charged_from_on + 1 as days

) as whole
where line.credited_line_number is null
    and line.amount <> 0;
