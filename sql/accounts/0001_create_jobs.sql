-- What workers do for accounts, and when: one row for each job of each account. Workers take what
-- is due from here; the lease of each warehouse decides who writes.
create table {{sync}}.jobs (
    account_name text not null,
    job_name text not null,
    rhythm text not null,
    due_at timestamptz not null,
    asked_at timestamptz,
    worker text,
    take_number bigint not null default 0,
    taken_at timestamptz,
    seen_at timestamptz,
    ended_at timestamptz,
    succeeded_at timestamptz,
    problem text,
    failures integer not null default 0,
    constraint jobs_pkey primary key (account_name, job_name)
);

create index jobs_due_at_idx on {{sync}}.jobs (due_at);

comment on table {{sync}}.jobs is 'One row per job of an account, for workers to take.';
comment on column {{sync}}.jobs.account_name is 'Name of the account in the configuration file.';
comment on column {{sync}}.jobs.job_name is 'What is done, such as sync or inbox.';
comment on column {{sync}}.jobs.rhythm is 'Cron expression and time zone, or seconds, that due_at follows.';
comment on column {{sync}}.jobs.due_at is 'When a worker is to take it; stays while it is held. UTC.';
comment on column {{sync}}.jobs.asked_at is 'Asked for out of turn since it was taken last; null if not. UTC.';
comment on column {{sync}}.jobs.worker is 'The worker that holds it; null if none does.';
comment on column {{sync}}.jobs.take_number is 'Rises each time it is taken: who lost it cannot end it.';
comment on column {{sync}}.jobs.taken_at is 'When it was taken last. UTC.';
comment on column {{sync}}.jobs.seen_at is 'Last sign of life of the worker that holds it. UTC.';
comment on column {{sync}}.jobs.ended_at is 'When it ended last, well or not. UTC.';
comment on column {{sync}}.jobs.succeeded_at is 'When the last one that ended well was taken. UTC.';
comment on column {{sync}}.jobs.problem is 'Why the last one failed; null if it did not.';
comment on column {{sync}}.jobs.failures is 'Failures since the last one that ended well.';
