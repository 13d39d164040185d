-- Attributes of the source as they were last seen, so that one which vanished from all records is noticed.
-- Placeholders {{data}}, {{sync}}, {{analytics}}, {{datasync}} are the schema names derived from TRACKING_SCHEMA.

create table {{sync}}.seen_attributes (
    stream text not null,
    attribute text collate "C" not null,
    sync_run_id bigint,
    first_seen_at timestamptz not null default now(),
    constraint seen_attributes_pkey primary key (stream, attribute)
);

comment on table {{sync}}.seen_attributes is
    'One row per stream and attribute that its records carry. One that is in no record of a '
    'complete pass is taken out and noted in schema_drift.';
comment on column {{sync}}.seen_attributes.stream is
    'Stream.';
comment on column {{sync}}.seen_attributes.attribute is
    'Attribute, or relationships.<name>, as the source calls it.';
comment on column {{sync}}.seen_attributes.sync_run_id is
    'Run that saw it first; sync_runs.';
comment on column {{sync}}.seen_attributes.first_seen_at is
    'First sighting. UTC.';
