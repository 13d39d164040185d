-- Fees as known at an instant
--
-- One row per fee that was on a container then. The base of other views. Volatile attributes are
-- left out, because their history is not kept.
--
-- The lines after "now" make the view of the schema analytics, the lines after "as of" the view of
-- the schema as_of.

create view {{parts}}.known_fees as
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
