-- Invoices: where a dispute is made, and an index over the lines of a container.
-- Placeholders {{data}}, {{sync}}, {{analytics}}, {{asOf}}, {{stored}}, {{datasync}} are the schema
-- names derived from TRACKING_SCHEMA.

alter table {{analytics}}.dd_invoices add column dispute_url text;

comment on column {{analytics}}.dd_invoices.dispute_url is
    'Web address, or where a QR code leads to, that says what a dispute needs. 46 CFR 541.6 (d).';
comment on column {{analytics}}.dd_invoices.container_number is
    'Container that is charged for: capital letters and digits alone, as `invoices import` stores '
    'it.';
comment on column {{analytics}}.dd_invoices.amount is
    'Amount claimed; negative in a credit note. 46 CFR 541.6 (c).';

-- invoice_audit: other lines that claim a day of the same container.
create index dd_invoices_container_number_idx
    on {{analytics}}.dd_invoices using hash (container_number);
