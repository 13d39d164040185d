-- What was paid of a line, and when: accrual lays it beside what was incurred and invoiced.
alter table {{analytics}}.dd_invoices
    add column paid_amount numeric,
    add column paid_on date,
    add constraint dd_invoices_paid_amount_is_of_a_claim check (
        paid_amount >= 0 and (amount > 0 or paid_amount = 0)
    ),
    add constraint dd_invoices_paid_on_has_an_amount check (
        paid_on is null or paid_amount is not null
    );

comment on column {{analytics}}.dd_invoices.paid_amount is
    'What was paid of the line, in its currency; 0: nothing. Null: not said, and of a credit note, '
    'which lowers what is to be paid.';
comment on column {{analytics}}.dd_invoices.paid_on is
    'Day of the payment, of several the last. Null: not said.';
