-- The schemas, and the bookkeeping of a run: where it stands, who may write, who may ask the
-- service, what is missing, what is to be refetched, and what could not be stored.
-- Placeholders {{data}}, {{sync}}, {{analytics}}, {{asOf}}, {{stored}}, {{datasync}} are the schema
-- names derived from TRACKING_SCHEMA.

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
    coerced bigint not null default 0,
    outcome text not null default 'running',
    detail text,
    started_at timestamptz not null default now(),
    finished_at timestamptz,
    pass_began_at timestamptz,
    pass_scope text,
    constraint sync_run_streams_pkey primary key (sync_run_id, stream),
    constraint sync_run_streams_pass_scope_check check (pass_scope in ('whole', 'changing'))
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
comment on column {{sync}}.sync_run_streams.coerced is
    'Records, new or compared with their row, with a value that could not be stored as sent.';
comment on column {{sync}}.sync_run_streams.outcome is
    'running, complete, incomplete, failed, not_entitled or aborted.';
comment on column {{sync}}.sync_run_streams.detail is
    'Why the outcome is not complete.';
comment on column {{sync}}.sync_run_streams.started_at is
    'Start. UTC.';
comment on column {{sync}}.sync_run_streams.finished_at is
    'End. UTC.';

comment on column {{sync}}.sync_run_streams.pass_began_at is
    'When the first request of the pass that showed the stream was about to be sent: the rows are '
    'at least so new. Earlier than the run where it went on with the pass of a run that was cut '
    'off. Null: no pass showed it. UTC.';
comment on column {{sync}}.sync_run_streams.pass_scope is
    'whole: the pass read the whole list. changing: only what can still change. Null: no pass.';

create table {{sync}}.checkpoints (
    stream text not null,
    scope text not null,
    sync_run_id bigint references {{sync}}.sync_runs (sync_run_id),
    position jsonb,
    pass_started_at timestamptz,
    completed_at timestamptz,
    updated_at timestamptz not null default now(),
    completed_pass_started_at timestamptz,
    completed_pass_began_at timestamptz,
    constraint checkpoints_pkey primary key (stream, scope),
    constraint checkpoints_scope_check check (scope in ('whole', 'changing'))
);

comment on table {{sync}}.checkpoints is
    'One row per stream and scope: the point a run resumes from, together with pass_positions.';
comment on column {{sync}}.checkpoints.stream is
    'Stream.';
comment on column {{sync}}.checkpoints.scope is
    'whole: passes over the whole list. changing: passes over what can still change.';
comment on column {{sync}}.checkpoints.sync_run_id is
    'Run that wrote it; sync_runs.';
comment on column {{sync}}.checkpoints.position is
    'Where the pass under way stands: page, page size, digests of some of its records. After a '
    'complete pass, what it found.';
comment on column {{sync}}.checkpoints.pass_started_at is
    'When the pass under way began, on the source''s clock; null when none is. UTC.';
comment on column {{sync}}.checkpoints.completed_at is
    'When the last complete pass ended. UTC.';
comment on column {{sync}}.checkpoints.updated_at is
    'Last write. UTC.';
comment on column {{sync}}.checkpoints.completed_pass_started_at is
    'When the last complete pass began, on the source''s clock: nothing older may change a row. '
    'UTC.';
comment on column {{sync}}.checkpoints.completed_pass_began_at is
    'The same instant on the clock of the database: just before its first request. UTC.';

create unlogged table {{sync}}.pass_positions (
    stream text not null,
    scope text not null,
    sync_run_id bigint not null,
    pass_started_at timestamptz not null,
    position jsonb not null,
    updated_at timestamptz not null default now(),
    constraint pass_positions_pkey primary key (stream, scope)
);

comment on table {{sync}}.pass_positions is
    'One row per stream and scope: where its pass came to after its checkpoint, over pages that '
    'changed nothing. Counts only with the checkpoint of the same run and pass. Unlogged: empty '
    'after a crash of the database.';
comment on column {{sync}}.pass_positions.stream is 'Stream.';
comment on column {{sync}}.pass_positions.scope is 'Scope of the pass; as in checkpoints.';
comment on column {{sync}}.pass_positions.sync_run_id is 'Run of the pass; sync_runs.';
comment on column {{sync}}.pass_positions.pass_started_at is
    'When the pass began, on the source''s clock. UTC.';
comment on column {{sync}}.pass_positions.position is
    'Where the pass stands; as in checkpoints.';
comment on column {{sync}}.pass_positions.updated_at is 'Last write. UTC.';

create table {{sync}}.absences (
    stream text not null,
    row_key text collate "C" not null,
    missed_passes integer not null,
    first_missed_at timestamptz not null default now(),
    last_missed_at timestamptz not null default now(),
    sync_run_id bigint,
    error text,
    not_before timestamptz,
    constraint absences_pkey primary key (stream, row_key)
);

comment on table {{sync}}.absences is
    'One row per live row that complete passes did not show. After two it is asked for by id; a '
    '404 makes it a tombstone.';
comment on column {{sync}}.absences.stream is 'Stream of the row.';
comment on column {{sync}}.absences.row_key is 'Key of the row.';
comment on column {{sync}}.absences.missed_passes is
    'Complete passes in a row that did not show it.';
comment on column {{sync}}.absences.first_missed_at is 'End of the first of these passes. UTC.';
comment on column {{sync}}.absences.last_missed_at is 'End of the last of these passes. UTC.';
comment on column {{sync}}.absences.sync_run_id is 'Run of the last of these passes; sync_runs.';
comment on column {{sync}}.absences.error is
    'Why asking for it found out nothing; null while it was not asked for.';
comment on column {{sync}}.absences.not_before is
    'It is not asked for again before then; null: the next pass that misses it asks. UTC.';

create table {{sync}}.transport_event_checks (
    container_id text collate "C" not null,
    checked_at timestamptz not null default now(),
    constraint transport_event_checks_pkey primary key (container_id)
);

comment on table {{sync}}.transport_event_checks is
    'One row per container whose transport events were refetched to see whether one changed under '
    'its id. A container without a row was read when it was first seen.';
comment on column {{sync}}.transport_event_checks.container_id is 'Container; containers.';
comment on column {{sync}}.transport_event_checks.checked_at is
    'When they were last refetched, on the database''s clock. UTC.';

create table {{sync}}.event_lists_in_doubt (
    container_id text collate "C" not null,
    doubted_at timestamptz not null default now(),
    constraint event_lists_in_doubt_pkey primary key (container_id)
);

comment on table {{sync}}.event_lists_in_doubt is
    'One row per container of which a transport event was written by itself, without the container''s '
    'list. The next run compares both and deletes the row.';
comment on column {{sync}}.event_lists_in_doubt.container_id is 'Container; containers.';
comment on column {{sync}}.event_lists_in_doubt.doubted_at is
    'When that was last so, on the database''s clock. UTC.';

create table {{sync}}.derivations (
    derivation text collate "C" not null,
    text_hash text not null,
    begun_at timestamptz not null default now(),
    derived_up_to text collate "C",
    finished_at timestamptz,
    constraint derivations_pkey primary key (derivation)
);

comment on table {{sync}}.derivations is
    'What rows that are made of other rows were made by. A run that finds other functions, or zone '
    'data that give another day, makes them anew before it reads the service.';
comment on column {{sync}}.derivations.derivation is
    'What is derived: container_children, that is deadlines, holds and fees with their intervals.';
comment on column {{sync}}.derivations.text_hash is
    'Hash of the functions that derive.';
comment on column {{sync}}.derivations.begun_at is
    'When they were last begun to be made anew. UTC.';
comment on column {{sync}}.derivations.derived_up_to is
    'Container up to which they are made anew; null before the first and after the last.';
comment on column {{sync}}.derivations.finished_at is
    'When all were made; null while some are not. UTC.';

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

create unlogged table {{sync}}.request_budget (
    account text collate "C" not null,
    requested_at timestamptz[] not null default '{}',
    sync_requests integer[] not null default '{}',
    other_requests integer[] not null default '{}',
    refetch_asked_at timestamptz,
    paused_until timestamptz,
    constraint request_budget_pkey primary key (account)
);

comment on table {{sync}}.request_budget is
    'Requests of the last minute, shared by all processes of an account. Unlogged: empty after a '
    'crash of the database.';
comment on column {{sync}}.request_budget.account is
    'Account the budget belongs to: a hash of the service''s address and the key, neither of which '
    'can be read from it.';
comment on column {{sync}}.request_budget.requested_at is
    'Instants of the last minute''s requests in order, on the database''s clock; those within a '
    'tenth of a second are one. UTC.';
comment on column {{sync}}.request_budget.sync_requests is
    'Requests of backfill and sync at each of these instants.';
comment on column {{sync}}.request_budget.other_requests is
    'Other requests, such as refetches after a notification, at each of these instants.';
comment on column {{sync}}.request_budget.refetch_asked_at is
    'When somebody last asked for a refetch; for a while afterwards a share is kept for refetches. '
    'UTC.';
comment on column {{sync}}.request_budget.paused_until is
    'No request before this instant: the service''s Retry-After. UTC.';

create table {{sync}}.source_account (
    is_only boolean not null default true,
    address text not null,
    salt bytea not null,
    key_hash bytea not null,
    accepted_at timestamptz not null default now(),
    constraint source_account_pkey primary key (is_only),
    constraint source_account_is_one check (is_only)
);

comment on table {{sync}}.source_account is
    'The account of the service that this warehouse is filled from, at most one: records of '
    'another are refused until --accept-account.';
comment on column {{sync}}.source_account.is_only is
    'Always true: there is one row at most.';
comment on column {{sync}}.source_account.address is
    'Address of the service; without the port where it is on this machine.';
comment on column {{sync}}.source_account.salt is
    'Random bytes that the hash of the key is made with.';
comment on column {{sync}}.source_account.key_hash is
    'Slow salted hash (scrypt) of the key: shows that it is another one, and not what it is.';
comment on column {{sync}}.source_account.accepted_at is
    'When this account was first seen, or last accepted. UTC.';

-- A function, because a request should cost one round trip and no planning: as one plain statement
-- it took several times as long.
create function {{sync}}.ask_for_request(
    asking_account text,
    purpose text,
    wanted integer,
    per_window integer,
    sync_per_window integer,
    window_length interval,
    grain interval,
    reserve_kept interval,
    longest_pause interval,
    out granted integer,
    out wait_ms double precision
)
language plpgsql
set search_path = pg_catalog
as $function$
declare
    budget {{sync}}.request_budget;
    instant timestamptz;
    oldest integer := 1;
    newest integer;
    is_sync boolean := purpose = 'sync';
    is_sync_limited boolean;
    is_clock_put_back boolean := false;
    requests bigint;
    syncs bigint;
    free_at timestamptz;
begin
    loop
        select
            stored.account,
            stored.requested_at,
            stored.sync_requests,
            stored.other_requests,
            stored.refetch_asked_at,
            stored.paused_until
        into budget
        from {{sync}}.request_budget as stored
        where stored.account = asking_account
        for update;

        exit when found;

        insert into {{sync}}.request_budget (account)
        values (asking_account)
        on conflict (account) do nothing;
    end loop;

    -- Read only now: while the row is locked, instants are in the order of the grants.
    instant := clock_timestamp();

    -- What is older than the window is over.
    newest := cardinality(budget.requested_at);
    while oldest <= newest
        and budget.requested_at[oldest] <= instant - window_length - grain
    loop
        oldest := oldest + 1;
    end loop;
    budget.requested_at := budget.requested_at[oldest:];
    budget.sync_requests := budget.sync_requests[oldest:];
    budget.other_requests := budget.other_requests[oldest:];
    newest := cardinality(budget.requested_at);

    -- Instants in the future are from before the clock was put back. They count as now, or they
    -- would never be over.
    for position in reverse newest .. 1 loop
        exit when budget.requested_at[position] <= instant;
        budget.requested_at[position] := instant;
        is_clock_put_back := true;
    end loop;
    if budget.paused_until > instant + longest_pause then
        budget.paused_until := null;
    end if;

    if purpose = 'refetch' then
        budget.refetch_asked_at := instant;
    end if;
    is_sync_limited := is_sync
        and coalesce(budget.refetch_asked_at > instant - reserve_kept, false);

    select coalesce(sum(used.syncs), 0), coalesce(sum(used.syncs + used.others), 0)
    into syncs, requests
    from unnest(budget.sync_requests, budget.other_requests) as used (syncs, others);

    granted := case
        when budget.paused_until > instant then 0
        else greatest(
            least(
                wanted,
                per_window - requests,
                case when is_sync_limited then sync_per_window - syncs end
            ),
            0
        )
    end;

    if granted > 0 then
        if newest = 0 or budget.requested_at[newest] <= instant - grain then
            newest := newest + 1;
            budget.requested_at[newest] := instant;
            budget.sync_requests[newest] := 0;
            budget.other_requests[newest] := 0;
        end if;
        requests := requests + granted;
        if is_sync then
            syncs := syncs + granted;
            budget.sync_requests[newest] := budget.sync_requests[newest] + granted;
        else
            budget.other_requests[newest] := budget.other_requests[newest] + granted;
        end if;
    end if;

    -- Who was refused writes nothing, unless there is something that others must know.
    if granted > 0 or purpose = 'refetch' or is_clock_put_back then
        update {{sync}}.request_budget as stored
        set
            requested_at = budget.requested_at,
            sync_requests = budget.sync_requests,
            other_requests = budget.other_requests,
            refetch_asked_at = budget.refetch_asked_at,
            paused_until = budget.paused_until
        where stored.account = asking_account;
    end if;

    -- The next request of this kind: when enough of the oldest will be over, and no pause stands.
    free_at := greatest(instant, budget.paused_until);
    oldest := 1;
    while requests >= per_window or (is_sync_limited and syncs >= sync_per_window) loop
        free_at := greatest(free_at, budget.requested_at[oldest] + window_length + grain);
        requests := requests
            - budget.sync_requests[oldest] - budget.other_requests[oldest];
        syncs := syncs - budget.sync_requests[oldest];
        oldest := oldest + 1;
    end loop;
    wait_ms := extract(epoch from free_at - instant) * 1000;
end
$function$;

comment on function {{sync}}.ask_for_request is
    'Grants and counts requests of an account, as many of those wanted as there is room for, and '
    'says in how many milliseconds to ask again. '
    'For tracking-sync.';

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

create table {{sync}}.refetch_queue (
    resource_type text collate "C" not null,
    resource_id text collate "C" not null,
    reason text not null,
    requested_at timestamptz not null default now(),
    not_before timestamptz,
    attempts integer not null default 0,
    error text,
    generation bigint not null default 1,
    claimed_until timestamptz,
    claimed_by text,
    constraint refetch_queue_pkey primary key (resource_type, resource_id)
);

comment on table {{sync}}.refetch_queue is
    'Records to refetch by id, because what we have of them cannot be trusted.';
comment on column {{sync}}.refetch_queue.resource_type is
    'Type of the resource. transport_events: the list of events of the container of that id. '
    'webhook_notification: a notification that came without what it is about.';
comment on column {{sync}}.refetch_queue.resource_id is
    'Id of the resource.';
comment on column {{sync}}.refetch_queue.reason is
    'Why it is refetched.';
comment on column {{sync}}.refetch_queue.requested_at is
    'When it was queued. UTC.';
comment on column {{sync}}.refetch_queue.not_before is
    'Not before this instant. UTC.';
comment on column {{sync}}.refetch_queue.attempts is
    'Attempts so far.';
comment on column {{sync}}.refetch_queue.error is
    'Why the last attempt failed.';
comment on column {{sync}}.refetch_queue.generation is
    'Rises each time it is queued anew: only a read that began after the last time answers it.';
comment on column {{sync}}.refetch_queue.claimed_until is
    'Somebody is reading it, and nobody else does before this instant. UTC.';
comment on column {{sync}}.refetch_queue.claimed_by is
    'Who is reading it: sync or refetch.';

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
    'First run that recorded it; sync_runs.';
comment on column {{sync}}.schema_drift.first_seen_at is
    'First sighting. UTC.';
comment on column {{sync}}.schema_drift.last_seen_at is
    'Last sighting. UTC.';

create table {{sync}}.seen_attributes (
    stream text not null,
    attribute text collate "C" not null,
    sync_run_id bigint,
    first_seen_at timestamptz not null default now(),
    constraint seen_attributes_pkey primary key (stream, attribute)
);

comment on table {{sync}}.seen_attributes is
    'One row per stream and attribute that its records carry. One that is in no record of a '
    'complete pass is taken out and recorded in schema_drift.';
comment on column {{sync}}.seen_attributes.stream is
    'Stream.';
comment on column {{sync}}.seen_attributes.attribute is
    'Attribute, or relationships.<name>, as the source calls it.';
comment on column {{sync}}.seen_attributes.sync_run_id is
    'Run that saw it first; sync_runs.';
comment on column {{sync}}.seen_attributes.first_seen_at is
    'First sighting. UTC.';

create table {{sync}}.alerts (
    alert_id bigint generated always as identity,
    kind text not null,
    alert_key text collate "C" not null,
    name text not null,
    severity text,
    sentence text not null,
    details jsonb,
    first_seen_at timestamptz not null,
    seen_at timestamptz not null,
    opened_at timestamptz,
    closed_at timestamptz,
    opening_digest_on date,
    closing_digest_on date,
    constraint alerts_pkey primary key (alert_id),
    constraint alerts_kind_check check (kind in ('operations', 'exceptions'))
);

comment on table {{sync}}.alerts is
    'One row per alert, from its opening to its closing; one that comes again is another row.';
comment on column {{sync}}.alerts.alert_id is
    'Number of the alert.';
comment on column {{sync}}.alerts.kind is
    'operations: of this program, told at once. exceptions: of containers, told in the digest.';
comment on column {{sync}}.alerts.alert_key is
    'What it is about: its name, with the webhook or container where there are several. Open once.';
comment on column {{sync}}.alerts.name is
    'Name of the alert as in the rules for Prometheus, or the exception.';
comment on column {{sync}}.alerts.severity is
    'high, medium or low for exceptions; null for operations.';
comment on column {{sync}}.alerts.sentence is
    'What is the matter and what to do, as it was last seen.';
comment on column {{sync}}.alerts.details is
    'For exceptions: ids and numbers of the container, since when, and what it costs.';
comment on column {{sync}}.alerts.first_seen_at is
    'First sighting. UTC.';
comment on column {{sync}}.alerts.seen_at is
    'Last sighting. UTC.';
comment on column {{sync}}.alerts.opened_at is
    'When it was opened; null while it has to last longer before anybody is told. UTC.';
comment on column {{sync}}.alerts.closed_at is
    'When it was over; null while it is open. UTC.';
comment on column {{sync}}.alerts.opening_digest_on is
    'Digest that told of its opening; alert_digests.';
comment on column {{sync}}.alerts.closing_digest_on is
    'Digest that told of its closing; alert_digests.';

create unique index alerts_open_once_idx
on {{sync}}.alerts (kind, alert_key)
where closed_at is null;

create index alerts_untold_idx
on {{sync}}.alerts (kind)
where opening_digest_on is null or (closed_at is not null and closing_digest_on is null);

create table {{sync}}.alert_digests (
    digest_on date not null,
    made_at timestamptz not null,
    opened bigint not null,
    closed bigint not null,
    open bigint not null,
    constraint alert_digests_pkey primary key (digest_on)
);

comment on table {{sync}}.alert_digests is
    'One row per day whose digest of exceptions was made, also where there was nothing to tell.';
comment on column {{sync}}.alert_digests.digest_on is
    'Local day, in TRACKING_CRON_TIME_ZONE.';
comment on column {{sync}}.alert_digests.made_at is
    'When it was made. UTC.';
comment on column {{sync}}.alert_digests.opened is
    'Exceptions opened since the digest before.';
comment on column {{sync}}.alert_digests.closed is
    'Exceptions closed since the digest before.';
comment on column {{sync}}.alert_digests.open is
    'Exceptions open when it was made.';

create table {{sync}}.alert_messages (
    message_id uuid not null default gen_random_uuid(),
    channel text not null,
    event text not null,
    alert_id bigint references {{sync}}.alerts (alert_id) on delete cascade,
    digest_on date references {{sync}}.alert_digests (digest_on) on delete cascade,
    content jsonb not null,
    state text not null default 'waiting',
    attempts integer not null default 0,
    created_at timestamptz not null,
    next_attempt_at timestamptz not null,
    claimed_at timestamptz,
    sent_at timestamptz,
    error text,
    constraint alert_messages_pkey primary key (message_id),
    constraint alert_messages_alert_is_told_once unique (channel, alert_id, event),
    constraint alert_messages_digest_is_sent_once unique (channel, digest_on),
    constraint alert_messages_event_check check (event in ('opened', 'closed', 'digest')),
    constraint alert_messages_state_check check (
        state in ('waiting', 'sending', 'sent', 'in_doubt', 'given_up')
    )
);

comment on table {{sync}}.alert_messages is
    'One row per message and channel: what is to be sent, and what became of it.';
comment on column {{sync}}.alert_messages.message_id is
    'Stands in the message, so that a receiver can tell one from another.';
comment on column {{sync}}.alert_messages.channel is
    'webhook, slack, teams or mail.';
comment on column {{sync}}.alert_messages.event is
    'opened or closed: of one alert. digest: of a day.';
comment on column {{sync}}.alert_messages.alert_id is
    'Alert it is about; alerts.';
comment on column {{sync}}.alert_messages.digest_on is
    'Day of the digest; alert_digests.';
comment on column {{sync}}.alert_messages.content is
    'What it says, before it takes the form of its channel.';
comment on column {{sync}}.alert_messages.state is
    'waiting: to be sent. sending: a process sends it. sent: the receiver took it. in_doubt: it may '
    'have arrived, and is not sent again. given_up: refused too often.';
comment on column {{sync}}.alert_messages.attempts is
    'Attempts so far.';
comment on column {{sync}}.alert_messages.created_at is
    'When it was made. UTC.';
comment on column {{sync}}.alert_messages.next_attempt_at is
    'Not before this instant. UTC.';
comment on column {{sync}}.alert_messages.claimed_at is
    'When the last attempt began. UTC.';
comment on column {{sync}}.alert_messages.sent_at is
    'When the receiver took it. UTC.';
comment on column {{sync}}.alert_messages.error is
    'Why the last attempt failed.';

create index alert_messages_unsent_idx
on {{sync}}.alert_messages (channel, next_attempt_at)
where state in ('waiting', 'sending');

create index alert_messages_alert_id_idx on {{sync}}.alert_messages (alert_id);

create index sync_runs_started_at_idx on {{sync}}.sync_runs (started_at desc);

create index refetch_queue_not_before_idx on {{sync}}.refetch_queue (not_before);
