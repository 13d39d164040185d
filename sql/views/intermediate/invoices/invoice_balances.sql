-- Lines of invoices with their credit notes
--
-- One row per line of dd_invoices; the base of invoice_days and invoices.
--
-- A credit note (an amount below zero) belongs to one line of the same issuer, container number,
-- charge and currency: a line with its invoice number, else a line that it shares a day with. Of
-- several it takes the line of its own invoice, then of its own amount, then with the most days in
-- common, then the first that was issued. So it counts once, and the net amounts add up to the
-- amounts: net_amount is that of the line with its credit notes, 0 for a credit note that belongs
-- to a line, and the amount for the other credit notes. It is at or below 0 where a line was taken
-- back.

create view {{parts}}.invoice_balances as
with

-- Looked up for a line, and not made of all invoices for each.
credits as not materialized (

    select
        credit.issuer,
        credit.invoice_number,
        credit.line_number,
        credit.container_number,
        credit.charge,
        credit.amount,
        credited.invoice_number as credited_invoice_number,
        credited.line_number as credited_line_number
    from {{analytics}}.dd_invoices as credit
    cross join lateral (

        select
            line.invoice_number,
            line.line_number
        from {{analytics}}.dd_invoices as line
        cross join lateral (

            select
                line.invoice_number = credit.invoice_number as is_of_invoice,
                least(line.charged_to_on, credit.charged_to_on)
                - greatest(line.charged_from_on, credit.charged_from_on)
                + 1 as days

        ) as common
        where line.container_number = credit.container_number
            and line.charge = credit.charge
            and line.issuer = credit.issuer
            and line.currency_code = credit.currency_code
            and line.amount > 0
            and (common.is_of_invoice or common.days > 0)
        order by
            common.is_of_invoice desc,
            line.amount = -credit.amount desc,
            common.days desc,
            line.issued_on nulls last,
            line.invoice_number,
            line.line_number
        limit 1

    ) as credited
    where credit.amount < 0

)

select
    line.issuer,
    line.invoice_number,
    line.line_number,
    line.container_number,
    line.charge,
    own.credited_invoice_number,
    own.credited_line_number,
    line.currency_code,
    line.amount,
    given.amount as credited_amount,
    case when own.credited_line_number is null then line.amount - given.amount else 0 end
        as net_amount,
    line.charged_from_on,
    line.charged_to_on,
    line.issued_on
from {{analytics}}.dd_invoices as line
cross join lateral (

    select coalesce(sum(-credit.amount), 0) as amount
    from credits as credit
    where credit.container_number = line.container_number
        and credit.charge = line.charge
        and credit.issuer = line.issuer
        and credit.credited_invoice_number = line.invoice_number
        and credit.credited_line_number = line.line_number

) as given
left join lateral (

    select
        credit.credited_invoice_number,
        credit.credited_line_number
    from credits as credit
    where credit.issuer = line.issuer
        and credit.invoice_number = line.invoice_number
        and credit.line_number = line.line_number

) as own
    on line.amount < 0;
