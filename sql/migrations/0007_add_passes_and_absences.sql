-- Passes and absences: when the last complete pass over a list began, and which rows were in no page of complete passes.
-- Placeholders {{data}}, {{sync}}, {{analytics}}, {{datasync}} are the schema names derived from TRACKING_SCHEMA.

alter table {{sync}}.checkpoints add column completed_pass_started_at timestamptz;

comment on column {{sync}}.checkpoints.completed_pass_started_at is
    'When the last complete pass began, on the source''s clock: nothing older may change a row. UTC.';
comment on column {{sync}}.checkpoints.pass_started_at is
    'When the pass under way began, on the source''s clock; null when none is. UTC.';
comment on column {{sync}}.checkpoints.position is
    'Where the pass under way stands: page, page size, digests of some of its records. After a complete pass, what it found.';

create table {{sync}}.absences (
    stream text not null,
    row_key text collate "C" not null,
    missed_passes integer not null,
    first_missed_at timestamptz not null default now(),
    last_missed_at timestamptz not null default now(),
    sync_run_id bigint,
    constraint absences_pkey primary key (stream, row_key)
);

comment on table {{sync}}.absences is
    'One row per live row that complete passes did not show. After two it is asked for by id; a 404 makes it a tombstone.';
comment on column {{sync}}.absences.stream is 'Stream of the row.';
comment on column {{sync}}.absences.row_key is 'Key of the row.';
comment on column {{sync}}.absences.missed_passes is
    'Complete passes in a row that did not show it.';
comment on column {{sync}}.absences.first_missed_at is 'End of the first of these passes. UTC.';
comment on column {{sync}}.absences.last_missed_at is 'End of the last of these passes. UTC.';
comment on column {{sync}}.absences.sync_run_id is 'Run of the last of these passes; sync_runs.';
