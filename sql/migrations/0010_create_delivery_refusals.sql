-- Deliveries that were refused, so that `check` tells of them when the log is gone.
create table {{sync}}.delivery_refusals (
    reason text collate "C" not null,
    refused bigint not null,
    first_at timestamptz not null default now(),
    last_at timestamptz not null default now(),
    constraint delivery_refusals_pkey primary key (reason)
);

comment on table {{sync}}.delivery_refusals is
    'One row per reason for which the receiver refused deliveries.';
comment on column {{sync}}.delivery_refusals.reason is
    'What was wrong: signature, length, path and so on, as in the metric webhook_deliveries_total.';
comment on column {{sync}}.delivery_refusals.refused is
    'How many, since the first. A count that a process had not written when it ended is lost.';
comment on column {{sync}}.delivery_refusals.first_at is
    'When the first was refused. UTC.';
comment on column {{sync}}.delivery_refusals.last_at is
    'When the last was noted. UTC.';
