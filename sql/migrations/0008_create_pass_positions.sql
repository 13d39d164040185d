-- How far a pass has come over pages that changed nothing.
-- Unlogged: a sync of a quiet account moves this once a page, and in the log that would be nearly all that such a sync writes. After a crash of the
-- database the table is empty, and a pass goes on from its checkpoint, a few pages earlier.
-- Placeholders {{data}}, {{sync}}, {{analytics}}, {{datasync}} are the schema names derived from TRACKING_SCHEMA.

create unlogged table {{sync}}.pass_positions (
    stream text not null,
    sync_run_id bigint not null,
    pass_started_at timestamptz not null,
    position jsonb not null,
    updated_at timestamptz not null default now(),
    constraint pass_positions_pkey primary key (stream)
);

comment on table {{sync}}.pass_positions is
    'One row per stream: where its pass came to after its checkpoint, over pages that changed nothing. Counts only with the checkpoint of the same run and pass. Unlogged: empty after a crash of the database.';
comment on column {{sync}}.pass_positions.stream is 'Stream.';
comment on column {{sync}}.pass_positions.sync_run_id is 'Run of the pass; sync_runs.';
comment on column {{sync}}.pass_positions.pass_started_at is
    'When the pass began, on the source''s clock. UTC.';
comment on column {{sync}}.pass_positions.position is
    'Where the pass stands; as in checkpoints.';
comment on column {{sync}}.pass_positions.updated_at is 'Last write. UTC.';
comment on table {{sync}}.checkpoints is
    'One row per stream: the point a run resumes from, together with pass_positions.';
