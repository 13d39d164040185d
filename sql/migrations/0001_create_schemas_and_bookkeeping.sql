-- The schemas, and the bookkeeping of the connector: runs, checkpoints, lease, budget, inbox, quarantine.
-- Placeholders {{data}}, {{sync}}, {{analytics}}, {{datasync}} are the schema names derived from TRACKING_SCHEMA.

create schema if not exists {{data}};

comment on schema {{data}} is
    'Container and shipment tracking: one table per resource type, kept equal to the '
    'tracking service.';

create schema if not exists {{sync}};

comment on schema {{sync}} is
    'Bookkeeping of tracking-sync: runs, checkpoints, webhook inbox, quarantine. Not for reports.';

create schema if not exists {{analytics}};

comment on schema {{analytics}} is
    'Views that answer questions about shipments and containers.';

create schema if not exists {{datasync}};

comment on schema {{datasync}} is
    'Views with the table and column names of the service''s own warehouse export.';

create table {{sync}}.sync_runs (
    sync_run_id bigint generated always as identity,
    command text not null,
    options jsonb,
    started_at timestamptz not null default now(),
    finished_at timestamptz,
    outcome text not null default 'running',
    exit_code integer,
    error_code text,
    error_message text,
    requests bigint not null default 0,
    host text,
    pid integer,
    program_version text,
    constraint sync_runs_pkey primary key (sync_run_id)
);

comment on table {{sync}}.sync_runs is
    'One row per execution of a command that reads the service.';
comment on column {{sync}}.sync_runs.sync_run_id is
    'Number of the run.';
comment on column {{sync}}.sync_runs.command is
    'backfill, sync or another command.';
comment on column {{sync}}.sync_runs.options is
    'Narrowing and other options of the run; never a secret.';
comment on column {{sync}}.sync_runs.started_at is
    'Start, on the database''s clock. UTC.';
comment on column {{sync}}.sync_runs.finished_at is
    'End, on the database''s clock; null while it runs, or when it was killed. UTC.';
comment on column {{sync}}.sync_runs.outcome is
    'running, complete, incomplete, failed or aborted.';
comment on column {{sync}}.sync_runs.exit_code is
    'Exit code of the command.';
comment on column {{sync}}.sync_runs.error_code is
    'Class of the error that ended the run.';
comment on column {{sync}}.sync_runs.error_message is
    'What went wrong and what to do.';
comment on column {{sync}}.sync_runs.requests is
    'Requests made to the service, every attempt counted.';
comment on column {{sync}}.sync_runs.host is
    'Host the run was on.';
comment on column {{sync}}.sync_runs.pid is
    'Process id of the run on its host.';
comment on column {{sync}}.sync_runs.program_version is
    'Version of tracking-sync.';

create table {{sync}}.sync_run_streams (
    sync_run_id bigint not null references {{sync}}.sync_runs (sync_run_id),
    stream text not null,
    pages bigint not null default 0,
    requests bigint not null default 0,
    fetched bigint not null default 0,
    inserted bigint not null default 0,
    updated bigint not null default 0,
    unchanged bigint not null default 0,
    stale bigint not null default 0,
    duplicate bigint not null default 0,
    quarantined bigint not null default 0,
    tombstoned bigint not null default 0,
    outcome text not null default 'running',
    detail text,
    started_at timestamptz not null default now(),
    finished_at timestamptz,
    constraint sync_run_streams_pkey primary key (sync_run_id, stream)
);

comment on table {{sync}}.sync_run_streams is
    'One row per run and stream. fetched = inserted + updated + unchanged + stale + '
    'duplicate + quarantined.';
comment on column {{sync}}.sync_run_streams.sync_run_id is
    'Run; sync_runs.';
comment on column {{sync}}.sync_run_streams.stream is
    'Stream: one resource type as something we sync.';
comment on column {{sync}}.sync_run_streams.pages is
    'List pages read.';
comment on column {{sync}}.sync_run_streams.requests is
    'Requests made for this stream, every attempt counted.';
comment on column {{sync}}.sync_run_streams.fetched is
    'Records seen, included ones counted with their own stream.';
comment on column {{sync}}.sync_run_streams.inserted is
    'Rows new in the warehouse.';
comment on column {{sync}}.sync_run_streams.updated is
    'Rows changed.';
comment on column {{sync}}.sync_run_streams.unchanged is
    'Records equal to their row; nothing was written.';
comment on column {{sync}}.sync_run_streams.stale is
    'Records older than their row; not applied.';
comment on column {{sync}}.sync_run_streams.duplicate is
    'Repeated sightings within the run.';
comment on column {{sync}}.sync_run_streams.quarantined is
    'Records set aside.';
comment on column {{sync}}.sync_run_streams.tombstoned is
    'Rows marked as gone at the source.';
comment on column {{sync}}.sync_run_streams.outcome is
    'running, complete, incomplete, failed, not_entitled or aborted.';
comment on column {{sync}}.sync_run_streams.detail is
    'Why the outcome is not complete.';
comment on column {{sync}}.sync_run_streams.started_at is
    'Start. UTC.';
comment on column {{sync}}.sync_run_streams.finished_at is
    'End. UTC.';

create table {{sync}}.checkpoints (
    stream text not null,
    sync_run_id bigint references {{sync}}.sync_runs (sync_run_id),
    position jsonb,
    pass_started_at timestamptz,
    is_contiguous boolean not null default true,
    completed_at timestamptz,
    updated_at timestamptz not null default now(),
    constraint checkpoints_pkey primary key (stream)
);

comment on table {{sync}}.checkpoints is
    'One row per stream: the point a run resumes from.';
comment on column {{sync}}.checkpoints.stream is
    'Stream.';
comment on column {{sync}}.checkpoints.sync_run_id is
    'Run that wrote it; sync_runs.';
comment on column {{sync}}.checkpoints.position is
    'Where the walk stands: page number and link.';
comment on column {{sync}}.checkpoints.pass_started_at is
    'When the pass over the stream began. UTC.';
comment on column {{sync}}.checkpoints.is_contiguous is
    'False once a page of the pass was missed; such a pass proves nothing about absence.';
comment on column {{sync}}.checkpoints.completed_at is
    'When the last complete pass ended. UTC.';
comment on column {{sync}}.checkpoints.updated_at is
    'Last write. UTC.';

create table {{sync}}.lease (
    lease_name text not null,
    holder text,
    fencing_token bigint not null default 0,
    acquired_at timestamptz,
    heartbeat_at timestamptz,
    constraint lease_pkey primary key (lease_name)
);

comment on table {{sync}}.lease is
    'The right to write: one holder at a time.';
comment on column {{sync}}.lease.lease_name is
    'What is held.';
comment on column {{sync}}.lease.holder is
    'Host, process and command of the holder.';
comment on column {{sync}}.lease.fencing_token is
    'Rises with every holder; a writer with an older token commits nothing.';
comment on column {{sync}}.lease.acquired_at is
    'When the holder took it. UTC.';
comment on column {{sync}}.lease.heartbeat_at is
    'Last sign of life of the holder. UTC.';

create table {{sync}}.request_budget (
    account text not null,
    requested_at timestamptz[] not null default '{}',
    paused_until timestamptz,
    updated_at timestamptz not null default now(),
    constraint request_budget_pkey primary key (account)
);

comment on table {{sync}}.request_budget is
    'Requests of the last minute, shared by all processes of an account.';
comment on column {{sync}}.request_budget.account is
    'Account the budget belongs to.';
comment on column {{sync}}.request_budget.requested_at is
    'Requests of the last 60 seconds, on the database''s clock. UTC.';
comment on column {{sync}}.request_budget.paused_until is
    'No request before this instant: the service''s Retry-After. UTC.';
comment on column {{sync}}.request_budget.updated_at is
    'Last write. UTC.';

create table {{sync}}.source_capabilities (
    capability text not null,
    is_supported boolean not null,
    detail jsonb,
    checked_at timestamptz not null default now(),
    constraint source_capabilities_pkey primary key (capability)
);

comment on table {{sync}}.source_capabilities is
    'What the service was found to understand; tried again from time to time.';
comment on column {{sync}}.source_capabilities.capability is
    'For example the includes of a list.';
comment on column {{sync}}.source_capabilities.is_supported is
    'Whether the service does it.';
comment on column {{sync}}.source_capabilities.detail is
    'What was asked and what was taken.';
comment on column {{sync}}.source_capabilities.checked_at is
    'When it was last tried. UTC.';

create table {{sync}}.webhook_notifications (
    notification_id text collate "C" not null,
    event text,
    webhook_id text,
    created_at timestamptz,
    received_at timestamptz not null default now(),
    deliveries integer not null default 1,
    headers jsonb,
    body bytea,
    state text not null default 'received',
    attempts integer not null default 0,
    next_attempt_at timestamptz,
    processed_at timestamptz,
    error text,
    constraint webhook_notifications_pkey primary key (notification_id)
);

comment on table {{sync}}.webhook_notifications is
    'The inbox: one row per webhook notification, stored before it is answered and before '
    'it is applied.';
comment on column {{sync}}.webhook_notifications.notification_id is
    'The service''s id of the notification (data.id).';
comment on column {{sync}}.webhook_notifications.event is
    'Event of the notification.';
comment on column {{sync}}.webhook_notifications.webhook_id is
    'Webhook it was sent for.';
comment on column {{sync}}.webhook_notifications.created_at is
    'When the service made it. UTC.';
comment on column {{sync}}.webhook_notifications.received_at is
    'When it was first received. UTC.';
comment on column {{sync}}.webhook_notifications.deliveries is
    'How often it was delivered.';
comment on column {{sync}}.webhook_notifications.headers is
    'Headers of the first delivery, without secrets.';
comment on column {{sync}}.webhook_notifications.body is
    'Raw bytes of the first delivery; null after the retention time.';
comment on column {{sync}}.webhook_notifications.state is
    'received, processed, ignored, foreign or dead.';
comment on column {{sync}}.webhook_notifications.attempts is
    'Attempts to apply it.';
comment on column {{sync}}.webhook_notifications.next_attempt_at is
    'Not before this instant. UTC.';
comment on column {{sync}}.webhook_notifications.processed_at is
    'When it was applied. UTC.';
comment on column {{sync}}.webhook_notifications.error is
    'Why the last attempt failed.';

create table {{sync}}.refetch_queue (
    resource_type text collate "C" not null,
    resource_id text collate "C" not null,
    reason text not null,
    requested_at timestamptz not null default now(),
    not_before timestamptz,
    attempts integer not null default 0,
    error text,
    constraint refetch_queue_pkey primary key (resource_type, resource_id)
);

comment on table {{sync}}.refetch_queue is
    'Records to be read again by id, because what we have of them cannot be trusted.';
comment on column {{sync}}.refetch_queue.resource_type is
    'Type of the resource.';
comment on column {{sync}}.refetch_queue.resource_id is
    'Id of the resource.';
comment on column {{sync}}.refetch_queue.reason is
    'Why it is to be read again.';
comment on column {{sync}}.refetch_queue.requested_at is
    'When it was queued. UTC.';
comment on column {{sync}}.refetch_queue.not_before is
    'Not before this instant. UTC.';
comment on column {{sync}}.refetch_queue.attempts is
    'Attempts so far.';
comment on column {{sync}}.refetch_queue.error is
    'Why the last attempt failed.';

create table {{sync}}.quarantine (
    quarantine_id bigint generated always as identity,
    stream text not null,
    resource_type text,
    record_id text,
    reason text not null,
    pointer text not null,
    payload text not null,
    payload_hash text collate "C" not null,
    source text not null,
    sync_run_id bigint,
    sightings bigint not null default 1,
    first_seen_at timestamptz not null default now(),
    last_seen_at timestamptz not null default now(),
    constraint quarantine_pkey primary key (quarantine_id),
    constraint quarantine_payload_is_kept_once unique (stream, payload_hash)
);

comment on table {{sync}}.quarantine is
    'Records set aside with their reason; the rest of their page was stored.';
comment on column {{sync}}.quarantine.quarantine_id is
    'Number of the entry.';
comment on column {{sync}}.quarantine.stream is
    'Stream the record came in.';
comment on column {{sync}}.quarantine.resource_type is
    'Type the record claims, if any.';
comment on column {{sync}}.quarantine.record_id is
    'Id the record claims, if any.';
comment on column {{sync}}.quarantine.reason is
    'Why it could not be stored.';
comment on column {{sync}}.quarantine.pointer is
    'JSON pointer into the record to what is wrong.';
comment on column {{sync}}.quarantine.payload is
    'The record as JSON text; what PostgreSQL cannot store stands as \u escapes.';
comment on column {{sync}}.quarantine.payload_hash is
    'Hash of the payload: the same record is kept once.';
comment on column {{sync}}.quarantine.source is
    'Path of the request, or the notification, it came from.';
comment on column {{sync}}.quarantine.sync_run_id is
    'Run that saw it last; sync_runs.';
comment on column {{sync}}.quarantine.sightings is
    'How often it was seen.';
comment on column {{sync}}.quarantine.first_seen_at is
    'First sighting. UTC.';
comment on column {{sync}}.quarantine.last_seen_at is
    'Last sighting. UTC.';

create table {{sync}}.schema_drift (
    stream text not null,
    kind text not null,
    name text not null,
    detail text,
    sync_run_id bigint,
    first_seen_at timestamptz not null default now(),
    last_seen_at timestamptz not null default now(),
    constraint schema_drift_pkey primary key (stream, kind, name)
);

comment on table {{sync}}.schema_drift is
    'Attributes and values of the source that this version does not know, and known ones '
    'that vanished.';
comment on column {{sync}}.schema_drift.stream is
    'Stream.';
comment on column {{sync}}.schema_drift.kind is
    'new_attribute, vanished_attribute, new_value or new_type.';
comment on column {{sync}}.schema_drift.name is
    'Attribute, value or type.';
comment on column {{sync}}.schema_drift.detail is
    'What was seen, shortened.';
comment on column {{sync}}.schema_drift.sync_run_id is
    'Run that noted it first; sync_runs.';
comment on column {{sync}}.schema_drift.first_seen_at is
    'First sighting. UTC.';
comment on column {{sync}}.schema_drift.last_seen_at is
    'Last sighting. UTC.';

create index sync_runs_started_at_idx on {{sync}}.sync_runs (started_at desc);

create index webhook_notifications_state_idx
    on {{sync}}.webhook_notifications (next_attempt_at, received_at)
    where state = 'received';

create index refetch_queue_not_before_idx on {{sync}}.refetch_queue (not_before);
