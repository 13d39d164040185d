-- Raw events: what carriers said about a container, read on request (TRACKING_RAW_EVENTS).
-- Placeholders {{data}}, {{sync}}, {{analytics}}, {{asOf}}, {{stored}}, {{datasync}} are the schema
-- names derived from TRACKING_SCHEMA.

create table {{data}}.raw_events (
    raw_event_id text collate "C" not null,
    event text,
    original_event text,
    voyage_number text,
    location_name text,
    location_locode text,
    vessel_name text,
    vessel_imo text,
    timezone text,
    "timestamp" timestamptz,
    actual_at timestamptz,
    estimated_at timestamptz,
    created_at timestamptz,
    actual_on date,
    estimated_on date,
    estimated boolean,
    "index" integer,
    container_id text collate "C",
    attributes jsonb,
    location_id text collate "C",
    location_type text,
    vessel_id text collate "C",
    _observed_at timestamptz not null,
    _first_seen_at timestamptz not null,
    _changed_at timestamptz not null,
    _fingerprint text collate "C",
    _deleted_at timestamptz,
    _sync_run_id bigint,
    _unmapped jsonb,
    _coercions jsonb,
    _digest text collate "C",
    constraint raw_events_pkey primary key (raw_event_id)
);

create index raw_events_container_id_idx on {{data}}.raw_events (container_id);

comment on table {{data}}.raw_events is
    'One row per event that a carrier told of, unverified, planned ones included. Empty unless '
    'TRACKING_RAW_EVENTS is on. The service marks them as deprecated since August 2026.';
comment on column {{data}}.raw_events.raw_event_id is
    'The service''s id of the raw event.';
comment on column {{data}}.raw_events.event is
    'Event in the service''s words. From attributes.event.';
comment on column {{data}}.raw_events.original_event is
    'Event in the carrier''s words. From attributes.original_event.';
comment on column {{data}}.raw_events.voyage_number is
    'Voyage. From attributes.voyage_number.';
comment on column {{data}}.raw_events.location_name is
    'Name of the place. From attributes.location_name.';
comment on column {{data}}.raw_events.location_locode is
    'UN/LOCODE of the place. From attributes.location_locode.';
comment on column {{data}}.raw_events.vessel_name is
    'Name of the vessel. From attributes.vessel_name.';
comment on column {{data}}.raw_events.vessel_imo is
    'IMO number of the vessel. From attributes.vessel_imo.';
comment on column {{data}}.raw_events.timezone is
    'Time zone of the event, IANA; where it is null, timestamp is the local wall time, written as '
    'UTC. From attributes.timezone.';
comment on column {{data}}.raw_events."timestamp" is
    'When it happened or is expected. UTC. From attributes.timestamp.';
comment on column {{data}}.raw_events.actual_at is
    'Deprecated: see timestamp. UTC. From attributes.actual_at.';
comment on column {{data}}.raw_events.estimated_at is
    'Deprecated: see timestamp. UTC. From attributes.estimated_at.';
comment on column {{data}}.raw_events.created_at is
    'When the service learnt of it. UTC. From attributes.created_at.';
comment on column {{data}}.raw_events.actual_on is
    'Deprecated: see timestamp. From attributes.actual_on.';
comment on column {{data}}.raw_events.estimated_on is
    'Deprecated: see timestamp. From attributes.estimated_on.';
comment on column {{data}}.raw_events.estimated is
    'True for an event that is planned or expected. From attributes.estimated.';
comment on column {{data}}.raw_events."index" is
    'Place among the raw events of the container. From attributes.index.';
comment on column {{data}}.raw_events.container_id is
    'Container that was asked for; containers.';
comment on column {{data}}.raw_events.attributes is
    'All attributes as they were sent.';
comment on column {{data}}.raw_events.location_id is
    'Place of the event. From relationships.location.';
comment on column {{data}}.raw_events.location_type is
    'Resource type of the place. From relationships.location.';
comment on column {{data}}.raw_events.vessel_id is
    'Vessel of the event; vessels. From relationships.vessel.';
comment on column {{data}}.raw_events._observed_at is
    'When the source can have known this: start of the request on the source''s clock, or '
    'the notification''s own time. A row never goes back behind it. UTC.';
comment on column {{data}}.raw_events._first_seen_at is
    '_observed_at of the first sighting. UTC.';
comment on column {{data}}.raw_events._changed_at is
    '_observed_at of the last material change: any column but our own, time stamps of '
    'checking, lists of ids and _unmapped. UTC.';
comment on column {{data}}.raw_events._fingerprint is
    'Hash of the record as last written; equal hashes mean that nothing has to be written.';
comment on column {{data}}.raw_events._deleted_at is
    'Tombstone: when the record was found gone at the source; null while it lives. UTC.';
comment on column {{data}}.raw_events._sync_run_id is
    'The run that last wrote this row; sync_runs in the bookkeeping schema.';
comment on column {{data}}.raw_events._unmapped is
    'Everything the source sent that has no column, by attribute name; other parts of the '
    'record as relationships.<name>, links.<name>, record.<name>; an attribute with a dot '
    'in its name as attributes.<name>.';
comment on column {{data}}.raw_events._coercions is
    'Values not stored as sent, by column (or _unmapped): why, and the original as JSON text.';
comment on column {{data}}.raw_events._digest is
    'Hash of the bytes the record was last written from: lets an unchanged record be recognised '
    'without parsing. Null until a run records it.';

create table {{sync}}.raw_event_reads (
    container_id text collate "C" not null,
    changed_at timestamptz not null,
    event_ids_hash text,
    constraint raw_event_reads_pkey primary key (container_id)
);

comment on table {{sync}}.raw_event_reads is
    'One row per container whose raw events were read.';
comment on column {{sync}}.raw_event_reads.container_id is
    'Container; containers.';
comment on column {{sync}}.raw_event_reads.changed_at is
    'containers._changed_at at that time: the raw events are read again when it differs. UTC.';
comment on column {{sync}}.raw_event_reads.event_ids_hash is
    'Hash of the events that the container named at that time: they are read again when it differs.';
