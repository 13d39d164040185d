-- What the schema of stored views stands on, and indexes for views of the analytics schema that read few rows of a table.
-- Placeholders {{data}}, {{sync}}, {{analytics}}, {{stored}} are the schema names derived from TRACKING_SCHEMA.

create schema {{stored}};

comment on schema {{stored}} is
    'Views of the other schemas whose whole answer is large, as they stood when a run last stored them: for reports on a large account that read everything. Where nothing is stored they are the views themselves. See stored_views of the analytics schema.';

-- Unlogged, as are the tables that hold the rows: after a crash of the database all of them are empty, and the views are read as they are until a
-- run has stored them again.
create unlogged table {{sync}}.stored_views (
    view_name text collate "C" not null,
    slot text not null,
    stored_at timestamptz not null,
    sync_run_id bigint,
    rows bigint not null,
    took_ms bigint not null,
    constraint stored_views_pkey primary key (view_name)
);

comment on table {{sync}}.stored_views is
    'One row per view that is stored: which of its two tables holds the rows. Unlogged: empty after a crash of the database.';
comment on column {{sync}}.stored_views.view_name is 'View in the schema of stored views.';
comment on column {{sync}}.stored_views.slot is
    'a or b: the table that is read; the other one is empty, or being filled.';
comment on column {{sync}}.stored_views.stored_at is 'What instant the rows are of. UTC.';
comment on column {{sync}}.stored_views.sync_run_id is
    'The latest run before it; sync_runs. Null: there was none.';
comment on column {{sync}}.stored_views.rows is 'How many rows.';
comment on column {{sync}}.stored_views.took_ms is 'How long it took to store them, in milliseconds.';

-- transshipments: containers that came or went by feeder, which few do.
create index transport_events_feeders_idx
    on {{data}}.transport_events (container_id)
    where event in (
        'container.transport.feeder_arrived',
        'container.transport.feeder_discharged',
        'container.transport.feeder_loaded',
        'container.transport.feeder_departed'
    );

-- eta_changes: versions of shipments that had lost their ETA.
create index shipment_history_without_eta_idx
    on {{data}}.shipment_history (shipment_id)
    where pod_eta_at is null;

-- shipment_arrivals: shipments of which the service does not say the first ETA.
create index shipments_without_original_eta_idx
    on {{data}}.shipments (shipment_id)
    where pod_original_eta_at is null;

-- data_quality: what a terminal reported in the last thirty days.
create index transport_events_terminal_reports_idx
    on {{data}}.transport_events (terminal_id, created_at)
    where data_source = 'terminal' and terminal_type = 'terminal';

-- demurrage_exposure: the lines of a long tariff that may hold for a container.
create index demurrage_tariffs_terminal_idx
    on {{analytics}}.demurrage_tariffs (terminal_id);
