-- Webhooks: which are ours, and the inbox of their notifications. Then what the views stand on: the
-- one clock, tariffs of the user, what is installed and stored, and indexes.
-- Placeholders {{data}}, {{sync}}, {{analytics}}, {{asOf}}, {{stored}}, {{datasync}} are the schema
-- names derived from TRACKING_SCHEMA.

create table {{sync}}.webhooks (
    webhook_id text collate "C" not null,
    url text,
    is_active boolean,
    events text[],
    is_ours boolean not null,
    checked_at timestamptz not null default now(),
    alert text,
    constraint webhooks_pkey primary key (webhook_id)
);

comment on table {{sync}}.webhooks is
    'One row per webhook of the account, as the service listed it last. Only notifications of our '
    'own ones are applied.';
comment on column {{sync}}.webhooks.webhook_id is
    'Webhook; TRACKING_WEBHOOK_URL itself in the row that says that no webhook ever sent there.';
comment on column {{sync}}.webhooks.url is 'Address it sends to.';
comment on column {{sync}}.webhooks.is_active is
    'Whether the service sends to it; false also where it is no longer listed. Null: the service '
    'does not say.';
comment on column {{sync}}.webhooks.events is
    'Events it is subscribed to. Null: the service does not say.';
comment on column {{sync}}.webhooks.is_ours is
    'Whether its notifications are applied: named in TRACKING_WEBHOOK_IDS, else sending to '
    'TRACKING_WEBHOOK_URL, else any of the account. Stays true when it is no longer listed, '
    'because its late deliveries are still ours.';
comment on column {{sync}}.webhooks.checked_at is 'When the service listed it last. UTC.';
comment on column {{sync}}.webhooks.alert is 'What keeps its notifications from us, if anything.';

create table {{sync}}.webhook_notifications (
    notification_id text collate "C" not null,
    event text,
    webhook_id text,
    created_at timestamptz,
    received_at timestamptz not null default now(),
    headers jsonb,
    body bytea,
    state text not null default 'received',
    attempts integer not null default 0,
    next_attempt_at timestamptz,
    processed_at timestamptz,
    error text,
    observed_at timestamptz not null default now(),
    reference_type text,
    reference_id text,
    constraint webhook_notifications_pkey primary key (notification_id)
);

comment on table {{sync}}.webhook_notifications is
    'The inbox: one row per webhook notification, stored before it is answered and before '
    'it is applied.';
comment on column {{sync}}.webhook_notifications.notification_id is
    'The service''s id of the notification (data.id), or sha256:<hash of the body> where data.id '
    'cannot be read.';
comment on column {{sync}}.webhook_notifications.event is
    'Event of the notification.';
comment on column {{sync}}.webhook_notifications.webhook_id is
    'Webhook it was sent for.';
comment on column {{sync}}.webhook_notifications.created_at is
    'When the service made it. UTC.';
comment on column {{sync}}.webhook_notifications.received_at is
    'When it was first received. UTC.';
comment on column {{sync}}.webhook_notifications.headers is
    'Headers of the first delivery, without secrets.';
comment on column {{sync}}.webhook_notifications.body is
    'Raw bytes of the first delivery; null after the retention time.';
comment on column {{sync}}.webhook_notifications.state is
    'received: waits to be applied. processed: applied. ignored: holds nothing we keep. '
    'foreign: of another webhook, or a sample. unresolved: what it is about could not be read. '
    'dead: could not be read or applied; see error.';
comment on column {{sync}}.webhook_notifications.attempts is
    'Attempts to apply it.';
comment on column {{sync}}.webhook_notifications.next_attempt_at is
    'Not before this instant. UTC.';
comment on column {{sync}}.webhook_notifications.processed_at is
    'When it was applied. UTC.';
comment on column {{sync}}.webhook_notifications.error is
    'Why the last attempt failed.';
comment on column {{sync}}.webhook_notifications.observed_at is
    'When the source can have known what it says: created_at, but never later than received_at; '
    'received_at where created_at is missing or not an instant. UTC.';
comment on column {{sync}}.webhook_notifications.reference_type is
    'Type of the record it is about (relationships.reference_object).';
comment on column {{sync}}.webhook_notifications.reference_id is
    'Id of the record it is about (relationships.reference_object).';

create index webhook_notifications_state_idx
    on {{sync}}.webhook_notifications (next_attempt_at, received_at)
    where state = 'received';

-- The queue itself has its index: (next_attempt_at, received_at) where state = 'received'.
create index webhook_notifications_open_idx
    on {{sync}}.webhook_notifications (state, received_at)
    where state in ('received', 'unresolved', 'dead');

-- The only place where a view takes "now" from. One expression, so that the planner puts it in
-- place.
create function {{analytics}}.as_of() returns timestamptz
language sql stable parallel safe
return pg_catalog.now();

comment on function {{analytics}}.as_of() is
    'The instant the views of this schema answer for: now.';

-- The views of the analytics schema stand here a second time, on what was known at an instant
-- instead of on what is known now. In one schema they would need both, and PostgreSQL has no
-- statistics for a union of two tables: plans a hundred times as slow (docs/decisions/0013).
create schema {{asOf}};

comment on schema {{asOf}} is
    'The views of the analytics schema again, of what was known at the instant that the setting '
    'tracking_sync.as_of of the session names.';

create function {{asOf}}.as_of() returns timestamptz
language sql stable parallel safe
return coalesce(
    nullif(pg_catalog.current_setting('tracking_sync.as_of', true), '')::timestamptz,
    pg_catalog.now()
);

comment on function {{asOf}}.as_of() is
    'The instant the views of this schema answer for: the setting tracking_sync.as_of of the '
    'session, else now.';

create schema {{stored}};

comment on schema {{stored}} is
    'The large views of the other schemas as they were last stored: for reports on a large account '
    'that read everything. Where nothing is stored they are the views themselves. Their ages are '
    'in stored_views of the analytics schema.';

create table {{analytics}}.free_time_rules (
    rule_name text collate "C" not null,
    charge text not null,
    shipping_line_scac text,
    terminal text,
    locode text,
    place text,
    equipment_type text,
    equipment_length integer,
    free_days integer,
    counts text not null default 'calendar',
    holiday_calendar text,
    starts_with text not null,
    currency_code text not null,
    valid_from date,
    valid_to date,
    note text,
    constraint free_time_rules_pkey primary key (rule_name),
    constraint free_time_rules_charge_is_known check (
        charge in ('demurrage', 'storage', 'detention')
    ),
    constraint free_time_rules_place_is_known check (place in ('port', 'ramp')),
    constraint free_time_rules_counts_is_known check (counts in ('calendar', 'working')),
    constraint free_time_rules_starts_with_its_charge check (
        case
            when charge = 'detention' then starts_with = 'gate_out'
            else starts_with in ('arrival', 'discharge')
        end
    ),
    constraint free_time_rules_free_days_are_few check (free_days between 0 and 365)
);

comment on table {{analytics}}.free_time_rules is
    'Filled by the user, by `tracking-sync rules import` or SQL: who gives how many free days, and '
    'in which currency it charges the days after them (free_time_tiers). Of the rules that hold '
    'for a container the one that names most counts. Empty: no costs by rule.';
comment on column {{analytics}}.free_time_rules.rule_name is
    'Name of the rule, by which answers show it.';
comment on column {{analytics}}.free_time_rules.charge is
    'demurrage (the line''s), storage (the terminal''s) or detention (the line''s, outside): '
    'charges stand side by side, each with a rule of its own.';
comment on column {{analytics}}.free_time_rules.shipping_line_scac is
    'SCAC of the shipping line it holds for. Null: any.';
comment on column {{analytics}}.free_time_rules.terminal is
    'Terminal or rail terminal it holds for: id, FIRMS code, nickname or name. Null: any.';
comment on column {{analytics}}.free_time_rules.locode is
    'UN/LOCODE of the port or of the inland ramp it holds for. Null: any.';
comment on column {{analytics}}.free_time_rules.place is
    'port or ramp: the stay it holds for. Null: both. Detention has none.';
comment on column {{analytics}}.free_time_rules.equipment_type is
    'Equipment it holds for: dry, reefer and so on. Null: any.';
comment on column {{analytics}}.free_time_rules.equipment_length is
    'Length it holds for, in feet. Null: any.';
comment on column {{analytics}}.free_time_rules.free_days is
    'Free days after the day on which the clock starts. Null: the last free day that the service '
    'reports.';
comment on column {{analytics}}.free_time_rules.counts is
    'calendar: each day is a free day. working: Saturdays, Sundays and holidays are not counted.';
comment on column {{analytics}}.free_time_rules.holiday_calendar is
    'Calendar of holidays; holidays. Null: none but the weekends.';
comment on column {{analytics}}.free_time_rules.starts_with is
    'What starts the clock. discharge: the start of the stay. arrival: that of the vessel at the '
    'port. gate_out: the full container leaves (detention).';
comment on column {{analytics}}.free_time_rules.currency_code is
    'ISO 4217 code of its tiers.';
comment on column {{analytics}}.free_time_rules.valid_from is
    'First day on which a clock starts that it holds for. Null: no beginning.';
comment on column {{analytics}}.free_time_rules.valid_to is
    'Last day on which a clock starts that it holds for. Null: no end.';
comment on column {{analytics}}.free_time_rules.note is
    'Where the rule was published; for people.';

create table {{analytics}}.free_time_tiers (
    rule_name text collate "C" not null,
    from_day integer not null,
    daily_rate numeric not null,
    constraint free_time_tiers_pkey primary key (rule_name, from_day),
    constraint free_time_tiers_rule_fkey foreign key (rule_name)
        references {{analytics}}.free_time_rules (rule_name) on delete cascade,
    constraint free_time_tiers_days_begin_with_one check (from_day >= 1),
    constraint free_time_tiers_rate_is_not_negative check (daily_rate >= 0)
);

comment on table {{analytics}}.free_time_tiers is
    'Filled by the user: what a rule charges for each calendar day after the last free day.';
comment on column {{analytics}}.free_time_tiers.rule_name is
    'Rule; free_time_rules.';
comment on column {{analytics}}.free_time_tiers.from_day is
    'First day over that is charged at this rate, up to the next tier of the rule; the day after '
    'the last free day is 1.';
comment on column {{analytics}}.free_time_tiers.daily_rate is
    'Amount for each calendar day, in the currency of the rule.';

create table {{analytics}}.holidays (
    calendar text collate "C" not null,
    holiday_on date not null,
    name text,
    constraint holidays_pkey primary key (calendar, holiday_on)
);

comment on table {{analytics}}.holidays is
    'Filled by the user, by `tracking-sync rules import` or SQL: days that are not working days.';
comment on column {{analytics}}.holidays.calendar is
    'Name of the calendar, which rules name.';
comment on column {{analytics}}.holidays.holiday_on is
    'The day.';
comment on column {{analytics}}.holidays.name is
    'What is celebrated; for people.';

-- The order in which views look for the rule that holds (sql/views/parts/rule_of.sql): looked
-- through by charge, from the one that names most.
create index free_time_rules_rank_idx
    on {{analytics}}.free_time_rules (
        charge collate "C",
        num_nonnulls(
            terminal, shipping_line_scac, place, locode, equipment_type, equipment_length
        ) desc,
        (terminal is null),
        (shipping_line_scac is null),
        (locode is null),
        valid_from desc nulls last,
        rule_name
    );

create table {{analytics}}.dd_invoices (
    invoice_number text not null,
    line_number integer not null,
    issuer text not null,
    charge text not null,
    container_number text not null,
    bill_of_lading_number text,
    charged_from_on date not null,
    charged_to_on date not null,
    amount numeric not null,
    currency_code text not null,
    daily_rate numeric,
    issued_on date,
    due_on date,
    port_of_discharge text,
    billed_because text,
    free_days integer,
    free_from_on date,
    free_to_on date,
    available_on date,
    rule_reference text,
    dispute_contact text,
    dispute_within text,
    certification text,
    note text,
    constraint dd_invoices_pkey primary key (issuer, invoice_number, line_number),
    constraint dd_invoices_charge_is_known check (charge in ('demurrage', 'storage', 'detention')),
    constraint dd_invoices_days_are_in_order check (charged_to_on >= charged_from_on)
);

comment on table {{analytics}}.dd_invoices is
    'Filled by the user, by `tracking-sync invoices import` or SQL: lines of demurrage, storage and '
    'detention invoices; invoice_audit lays them beside what was known.';
comment on column {{analytics}}.dd_invoices.invoice_number is
    'Number of the invoice.';
comment on column {{analytics}}.dd_invoices.line_number is
    'Line of the invoice.';
comment on column {{analytics}}.dd_invoices.issuer is
    'Who bills: shipping line, terminal or railway.';
comment on column {{analytics}}.dd_invoices.charge is
    'demurrage, storage or detention.';
comment on column {{analytics}}.dd_invoices.container_number is
    'Container that is charged for.';
comment on column {{analytics}}.dd_invoices.bill_of_lading_number is
    'Bill of lading. 46 CFR 541.6 (a).';
comment on column {{analytics}}.dd_invoices.charged_from_on is
    'First day charged. 46 CFR 541.6 (b).';
comment on column {{analytics}}.dd_invoices.charged_to_on is
    'Last day charged. 46 CFR 541.6 (b).';
comment on column {{analytics}}.dd_invoices.amount is
    'Amount claimed. 46 CFR 541.6 (c).';
comment on column {{analytics}}.dd_invoices.currency_code is
    'ISO 4217 code of amount and daily_rate.';
comment on column {{analytics}}.dd_invoices.daily_rate is
    'Rate for each day, where there is one. 46 CFR 541.6 (c).';
comment on column {{analytics}}.dd_invoices.issued_on is
    'Date of the invoice. 46 CFR 541.6 (b).';
comment on column {{analytics}}.dd_invoices.due_on is
    'Date it is due. 46 CFR 541.6 (b).';
comment on column {{analytics}}.dd_invoices.port_of_discharge is
    'Port of discharge. 46 CFR 541.6 (a).';
comment on column {{analytics}}.dd_invoices.billed_because is
    'Why the billed party is the one to pay. 46 CFR 541.6 (a).';
comment on column {{analytics}}.dd_invoices.free_days is
    'Free days allowed. 46 CFR 541.6 (b).';
comment on column {{analytics}}.dd_invoices.free_from_on is
    'First day of free time. 46 CFR 541.6 (b).';
comment on column {{analytics}}.dd_invoices.free_to_on is
    'Last day of free time. 46 CFR 541.6 (b).';
comment on column {{analytics}}.dd_invoices.available_on is
    'Day the container became available. 46 CFR 541.6 (b).';
comment on column {{analytics}}.dd_invoices.rule_reference is
    'Tariff, rule or contract of the rate. 46 CFR 541.6 (c).';
comment on column {{analytics}}.dd_invoices.dispute_contact is
    'Whom to ask for mitigation or refund. 46 CFR 541.6 (d).';
comment on column {{analytics}}.dd_invoices.dispute_within is
    'Until when that can be asked. 46 CFR 541.6 (d).';
comment on column {{analytics}}.dd_invoices.certification is
    'What the issuer certifies. 46 CFR 541.6 (e).';
comment on column {{analytics}}.dd_invoices.note is
    'For people.';

create table {{sync}}.installed_views (
    schema_name text collate "C" not null,
    view_name text collate "C" not null,
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
comment on column {{sync}}.installed_views.position is
    'Place in the order of creation: a view stands after those it reads from.';
comment on column {{sync}}.installed_views.checksum is
    'SHA-256 of the file it was made from.';
comment on column {{sync}}.installed_views.installed_at is
    'When it was created or replaced. UTC.';

-- The owner fills it. Policies read it where the warehouse is open to customers (`migrate
-- --customers`).
create table {{sync}}.customer_roles (
    role_name text collate "C" not null,
    customer_name text collate "C" not null,
    constraint customer_roles_pkey primary key (role_name, customer_name)
);

comment on table {{sync}}.customer_roles is
    'One row per role and customer whose rows it may see. You fill it; read only after '
    '`tracking-sync migrate --customers`.';
comment on column {{sync}}.customer_roles.role_name is
    'Role of PostgreSQL that the customer logs in with, or that its logins are members of.';
comment on column {{sync}}.customer_roles.customer_name is
    'shipments.customer_name, exactly as it stands there.';

-- Unlogged, as are the tables of the rows: a crash of the database empties all of them, and the
-- views are read as they are now until they are stored again.
create unlogged table {{sync}}.stored_views (
    view_name text collate "C" not null,
    stored_at timestamptz not null,
    rows bigint not null,
    took_ms bigint not null,
    constraint stored_views_pkey primary key (view_name)
);

comment on table {{sync}}.stored_views is
    'One row per view that is stored. Unlogged: empty after a crash of the database.';
comment on column {{sync}}.stored_views.view_name is 'View in the schema of stored views.';
comment on column {{sync}}.stored_views.stored_at is 'What instant the rows are of. UTC.';
comment on column {{sync}}.stored_views.rows is 'How many rows.';
comment on column {{sync}}.stored_views.took_ms is
    'How long it took to store them, in milliseconds.';

-- Indexes for the views of the analytics schema. Each is of the few rows that its views read,
-- container by container or shipment by shipment, so that most rows cost nothing when they are
-- written: those of transport events cost 0.6 µs a row each. Texts of the source stand in none of
-- them, for they may be longer than an index can hold. Decision 37 says which went, and why.

-- container_milestones, port_waits, and containers of the compatibility schema.
create index transport_events_milestones_idx
    on {{data}}.transport_events (container_id)
    where event in (
        'container.transport.empty_out',
        'container.transport.full_in',
        'container.transport.vessel_loaded',
        'container.transport.vessel_berthed',
        'container.transport.available',
        'container.transport.delivered'
    );

-- transshipments
create index transport_events_transshipments_idx
    on {{data}}.transport_events (container_id)
    where event in (
        'container.transport.transshipment_arrived',
        'container.transport.transshipment_discharged',
        'container.transport.transshipment_loaded',
        'container.transport.transshipment_departed',
        'container.transport.feeder_arrived',
        'container.transport.feeder_discharged',
        'container.transport.feeder_loaded',
        'container.transport.feeder_departed'
    );

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
