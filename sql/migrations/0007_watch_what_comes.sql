-- What is read again, and what each pass brought.
-- Placeholders {{data}}, {{sync}}, {{analytics}}, {{asOf}}, {{stored}}, {{datasync}} are the schema
-- names derived from TRACKING_SCHEMA.

create table {{sync}}.reference_checks (
    resource_type text not null,
    resource_id text collate "C" not null,
    due_at timestamptz not null,
    constraint reference_checks_pkey primary key (resource_type, resource_id)
);

comment on table {{sync}}.reference_checks is
    'When ports, metro areas, terminals, rail terminals and vessels are to be read again: nothing '
    'says that one has changed.';
comment on column {{sync}}.reference_checks.resource_type is 'Type, as the source names it.';
comment on column {{sync}}.reference_checks.resource_id is 'Id at the source.';
comment on column {{sync}}.reference_checks.due_at is
    'When the next sync compares the row by value. Within six days, spread. UTC.';

create table {{sync}}.pass_shares (
    table_name text not null,
    column_name text not null,
    passed_at timestamptz not null default now(),
    records bigint not null,
    filled bigint not null,
    constraint pass_shares_pkey primary key (table_name, column_name, passed_at)
);

comment on table {{sync}}.pass_shares is
    'How full each column was after a complete pass over the lists, for 90 days: a column that '
    'stops coming raises an alert. At most one pass an hour.';
comment on column {{sync}}.pass_shares.table_name is 'Table of the data schema.';
comment on column {{sync}}.pass_shares.column_name is
    'Column; empty for the table as a whole.';
comment on column {{sync}}.pass_shares.passed_at is 'When the run ended that read the lists. UTC.';
comment on column {{sync}}.pass_shares.records is
    'Records that the pass showed, or live rows where the table has no list of its own.';
comment on column {{sync}}.pass_shares.filled is
    'Those of them that have a value in the column, as far as the source still sends it. Of a table '
    'as a whole: its records; no more than 50 are counted where it has no list.';
