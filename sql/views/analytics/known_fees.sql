-- Fees as known at an instant
--
-- One row per fee that was on a container then. The base of other views. Volatile attributes are
-- left out, because their history is not kept.
--
-- The lines after "now" make the view of the schema analytics, the lines after "as of" the view of
-- the schema as_of.

create view {{analytics}}.known_fees as
select
    record.container_id,
    record.fee_key,
    record.place,
    record.type,
    record.amount,
    record.currency_code,
    record.description,
    coalesce(record.type = 'total', false) as is_total
-- now:
from {{data}}.container_fees as record;
-- as of:
from {{data}}.container_fee_history as record
where record.valid_from <= {{analytics}}.as_of()
    and (record.valid_to is null or record.valid_to > {{analytics}}.as_of());
-- end

comment on view {{analytics}}.known_fees is
    'One row per fee that is listed for a container, as known at as_of().';
comment on column {{analytics}}.known_fees.container_id is
    'Container; containers.';
comment on column {{analytics}}.known_fees.fee_key is
    'Distinguishes the fees of one container: by place, type and currency, then by position.';
comment on column {{analytics}}.known_fees.place is
    'Where it is charged: port or ramp.';
comment on column {{analytics}}.known_fees.type is
    'demurrage, exam, extended_dwell_time, other, total; other values are kept.';
comment on column {{analytics}}.known_fees.amount is
    'Amount in the currency, exact.';
comment on column {{analytics}}.known_fees.currency_code is
    'ISO 4217 code; null: local currency, not said.';
comment on column {{analytics}}.known_fees.description is
    'The words of the facility on the fee.';
comment on column {{analytics}}.known_fees.is_total is
    'True for a line that sums others: never add it to them.';
