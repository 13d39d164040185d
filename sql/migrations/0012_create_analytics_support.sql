-- What the views of the analytics schema stand on: the one clock, the zones PostgreSQL knows, tariffs of the user, and what views
-- are installed.
-- Placeholders {{data}}, {{sync}}, {{analytics}}, {{asOf}}, {{datasync}} are the schema names derived from TRACKING_SCHEMA.

-- The only place where a view takes "now" from. One expression, so that the planner puts it in place.
create function {{analytics}}.as_of() returns timestamptz
language sql stable parallel safe
return pg_catalog.now();

comment on function {{analytics}}.as_of() is
    'The instant the views of this schema answer for: now.';

-- The views of the analytics schema stand here a second time, on what was known at an instant instead of on what is known now. In one schema
-- they would need both, and PostgreSQL has no statistics for a union of two tables: plans a hundred times as slow (docs/decisions/0013).
create schema {{asOf}};

comment on schema {{asOf}} is
    'The views of the analytics schema again, of what was known at the instant that the setting tracking_sync.as_of of the session names.';

create function {{asOf}}.as_of() returns timestamptz
language sql stable parallel safe
return coalesce(
    nullif(pg_catalog.current_setting('tracking_sync.as_of', true), '')::timestamptz,
    pg_catalog.now()
);

comment on function {{asOf}}.as_of() is
    'The instant the views of this schema answer for: the setting tracking_sync.as_of of the '
    'session, else now.';

create table {{analytics}}.time_zones (
    name text collate "C" not null,
    constraint time_zones_pkey primary key (name)
);

comment on table {{analytics}}.time_zones is
    'Time zones this PostgreSQL knows; filled when views are installed. A zone that is not here '
    'is never converted, so a bad name breaks no view.';
comment on column {{analytics}}.time_zones.name is
    'IANA name of the zone, as in pg_timezone_names.';

create table {{analytics}}.demurrage_tariffs (
    demurrage_tariff_id bigint generated always as identity,
    terminal_id text collate "C",
    shipping_line_scac text,
    equipment_type text,
    equipment_length integer,
    from_day integer not null,
    to_day integer,
    daily_rate numeric not null,
    currency_code text not null,
    valid_from date,
    valid_to date,
    note text,
    constraint demurrage_tariffs_pkey primary key (demurrage_tariff_id),
    constraint demurrage_tariffs_has_an_owner check (
        terminal_id is not null or shipping_line_scac is not null
    ),
    constraint demurrage_tariffs_days_are_in_order check (
        from_day >= 1 and (to_day is null or to_day >= from_day)
    ),
    constraint demurrage_tariffs_rate_is_not_negative check (daily_rate >= 0)
);

comment on table {{analytics}}.demurrage_tariffs is
    'Filled by the user, never by the connector: what a terminal or a shipping line charges for '
    'each day past the last free day. Empty: no estimates.';
comment on column {{analytics}}.demurrage_tariffs.demurrage_tariff_id is
    'Number of the line of the tariff.';
comment on column {{analytics}}.demurrage_tariffs.terminal_id is
    'Terminal that charges; terminals. Null: any terminal of the shipping line.';
comment on column {{analytics}}.demurrage_tariffs.shipping_line_scac is
    'SCAC of the shipping line that charges. Null: any line at the terminal.';
comment on column {{analytics}}.demurrage_tariffs.equipment_type is
    'Equipment it holds for: dry, reefer and so on. Null: any.';
comment on column {{analytics}}.demurrage_tariffs.equipment_length is
    'Length it holds for, in feet. Null: any.';
comment on column {{analytics}}.demurrage_tariffs.from_day is
    'First day over that is charged at this rate; the day after the last free day is 1.';
comment on column {{analytics}}.demurrage_tariffs.to_day is
    'Last day over that is charged at this rate. Null: no end.';
comment on column {{analytics}}.demurrage_tariffs.daily_rate is
    'Amount for each calendar day, in currency_code.';
comment on column {{analytics}}.demurrage_tariffs.currency_code is
    'ISO 4217 code of the rate.';
comment on column {{analytics}}.demurrage_tariffs.valid_from is
    'First last-free day the line holds for. Null: no beginning.';
comment on column {{analytics}}.demurrage_tariffs.valid_to is
    'Last last-free day the line holds for. Null: no end.';
comment on column {{analytics}}.demurrage_tariffs.note is
    'Where the tariff was published; for people.';

create table {{sync}}.installed_views (
    schema_name text collate "C" not null,
    view_name text collate "C" not null,
    kind text not null,
    position integer not null,
    checksum text not null,
    installed_at timestamptz not null default now(),
    constraint installed_views_pkey primary key (schema_name, view_name)
);

comment on table {{sync}}.installed_views is
    'One row per view that this program created: what it may replace or drop.';
comment on column {{sync}}.installed_views.schema_name is
    'Schema of the view.';
comment on column {{sync}}.installed_views.view_name is
    'Name of the view.';
comment on column {{sync}}.installed_views.kind is
    'view or materialized view.';
comment on column {{sync}}.installed_views.position is
    'Place in the order of creation: a view stands after those it reads from.';
comment on column {{sync}}.installed_views.checksum is
    'SHA-256 of the file it was made from.';
comment on column {{sync}}.installed_views.installed_at is
    'When it was created or replaced. UTC.';
