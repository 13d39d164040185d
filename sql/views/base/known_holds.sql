-- Holds as known at an instant
--
-- One row per hold that was on a container then. The base of other views. Volatile attributes are
-- left out, because their history is not kept.
--
-- The lines after "now" make the view of the schema analytics, the lines after "as of" the view of
-- the schema as_of.

create view {{parts}}.known_holds as
select
    record.container_id,
    record.hold_key,
    record.place,
    record.name,
    record.status,
    record.description,
    record.detail
-- now:
from {{data}}.container_holds as record;
-- as of:
from {{data}}.container_hold_history as record
where record.valid_from <= {{analytics}}.as_of()
    and (record.valid_to is null or record.valid_to > {{analytics}}.as_of());
-- end
