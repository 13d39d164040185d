-- When the transport events of a container were last read again although its list of them had not changed.
-- Placeholders {{data}}, {{sync}}, {{analytics}}, {{datasync}} are the schema names derived from TRACKING_SCHEMA.

create table {{sync}}.transport_event_checks (
    container_id text collate "C" not null,
    checked_at timestamptz not null default now(),
    constraint transport_event_checks_pkey primary key (container_id)
);

comment on table {{sync}}.transport_event_checks is
    'One row per container whose transport events were read again to see whether one changed under its id. A container without a row was read when it was first seen.';
comment on column {{sync}}.transport_event_checks.container_id is 'Container; containers.';
comment on column {{sync}}.transport_event_checks.checked_at is
    'When they were last read again, on the database''s clock. UTC.';
