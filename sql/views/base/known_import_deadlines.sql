-- Last free days as known at an instant
--
-- One row per container and kind of deadline that the source had then. The base of other views.
-- Volatile attributes are left out, because their history is not kept.
--
-- The lines after "now" make the view of the schema analytics, the lines after "as of" the view of
-- the schema as_of.

create view {{parts}}.known_import_deadlines as
select
    record.container_id,
    record.kind,
    record.place,
    record.deadline_at,
    record.time_zone,
    record.local_date
-- now:
from {{data}}.container_import_deadlines as record;
-- as of:
from {{data}}.container_import_deadline_history as record
where record.valid_from <= {{analytics}}.as_of()
    and (record.valid_to is null or record.valid_to > {{analytics}}.as_of());
-- end
