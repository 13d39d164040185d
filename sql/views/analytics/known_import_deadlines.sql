-- Last free days that the source has now
--
-- One row per container and kind of deadline that the source has now. The base of the other views: of the schema for questions as of an instant it
-- is the file of the same name in as_of/, with the same columns. Volatile attributes have no history and are left out.

create view {{analytics}}.known_import_deadlines as
select
    live.container_id,
    live.kind,
    live.deadline_at,
    live.time_zone,
    live.local_date
from {{data}}.container_import_deadlines as live;

comment on view {{analytics}}.known_import_deadlines is
    'One row per container and kind of deadline, as it is now.';
comment on column {{analytics}}.known_import_deadlines.container_id is
    'Container; containers.';
comment on column {{analytics}}.known_import_deadlines.kind is
    'Which deadline: pickup_lfd (coalesced by the service), pickup_lfd_terminal, '
    'pickup_lfd_rail, pickup_lfd_line.';
comment on column {{analytics}}.known_import_deadlines.deadline_at is
    'The deadline as an instant, mostly local midnight of the day; null when the source '
    'sent a bare date. UTC.';
comment on column {{analytics}}.known_import_deadlines.time_zone is
    'IANA time zone that applies to this kind of deadline; null: the instant is local '
    'wall time marked as UTC.';
comment on column {{analytics}}.known_import_deadlines.local_date is
    'The last free day as a calendar day at the place; null when the zone is not known to '
    'the time zone database.';
