-- Last free days as known at an instant
--
-- One row per container and kind of deadline that the source had then. The base of other views.
-- Volatile attributes are left out, because their history is not kept.
--
-- The lines after "now" make the view of the schema analytics, the lines after "as of" the view of
-- the schema as_of.

create view {{analytics}}.known_import_deadlines as
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

comment on view {{analytics}}.known_import_deadlines is
    'One row per container and kind of deadline, as known at as_of().';
comment on column {{analytics}}.known_import_deadlines.container_id is
    'Container; containers.';
comment on column {{analytics}}.known_import_deadlines.kind is
    'Which deadline: pickup_lfd (coalesced by the service), pickup_lfd_terminal, '
    'pickup_lfd_rail, pickup_lfd_line; with .original, .current, .calculated or .unified the day '
    'of that name that the source says beside; other names of import_deadlines as sent.';
comment on column {{analytics}}.known_import_deadlines.place is
    'Where the day applies: port or ramp.';
comment on column {{analytics}}.known_import_deadlines.deadline_at is
    'The deadline as an instant, mostly local midnight of the day; null when the source '
    'sent a bare date. UTC.';
comment on column {{analytics}}.known_import_deadlines.time_zone is
    'IANA time zone that applies to this kind of deadline; null: the instant is local '
    'wall time marked as UTC.';
comment on column {{analytics}}.known_import_deadlines.local_date is
    'The last free day as a calendar day at the place; null when the zone is not known to '
    'the time zone database.';
