-- Which webhooks are ours, what notifications say about single attributes of containers, and who is reading an entry of the refetch queue.
-- Placeholders {{data}}, {{sync}}, {{analytics}}, {{datasync}} are the schema names derived from TRACKING_SCHEMA.

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
    'One row per webhook of the account, as the service listed it last. Only notifications of our own ones are applied.';
comment on column {{sync}}.webhooks.webhook_id is
    'Webhook; TRACKING_WEBHOOK_URL itself in the row that says that no webhook ever sent there.';
comment on column {{sync}}.webhooks.url is 'Address it sends to.';
comment on column {{sync}}.webhooks.is_active is
    'Whether the service sends; false also for one that is no longer listed. Null: the service does not say.';
comment on column {{sync}}.webhooks.events is
    'Events it is subscribed to. Null: the service does not say.';
comment on column {{sync}}.webhooks.is_ours is
    'Whether its notifications are applied: named in TRACKING_WEBHOOK_IDS, else sending to TRACKING_WEBHOOK_URL, else any of the account. '
    'Stays true when it is no longer listed, because its late deliveries are still ours.';
comment on column {{sync}}.webhooks.checked_at is 'When the service listed it last. UTC.';
comment on column {{sync}}.webhooks.alert is 'What keeps its notifications from us, if anything.';

create table {{data}}.container_changes (
    container_id text collate "C" not null,
    change_id text collate "C" not null,
    attribute text collate "C" not null,
    changed_at timestamptz not null,
    old_value jsonb,
    new_value jsonb,
    data_source text,
    timezone text,
    _observed_at timestamptz not null,
    _notification_id text collate "C" not null,
    constraint container_changes_pkey primary key (container_id, change_id, attribute)
);

comment on table {{data}}.container_changes is
    'One row per attribute of a container that a notification says has changed, at the time of the change. Rows are only added. '
    'A container may have changes and no row of its own.';
comment on column {{data}}.container_changes.container_id is 'Container; containers.';
comment on column {{data}}.container_changes.change_id is
    'The service''s id of the change (container_updated_event); several attributes may change in one.';
comment on column {{data}}.container_changes.attribute is 'Attribute that changed.';
comment on column {{data}}.container_changes.changed_at is
    'When it changed, as the service says; when the notification was made where it does not. UTC.';
comment on column {{data}}.container_changes.old_value is 'Value before the change, as sent.';
comment on column {{data}}.container_changes.new_value is 'Value after the change, as sent.';
comment on column {{data}}.container_changes.data_source is
    'Who told the service: shipping_line, terminal or ais.';
comment on column {{data}}.container_changes.timezone is 'IANA time zone of the change.';
comment on column {{data}}.container_changes._observed_at is
    'When the source can have known it: the stamp of the notification. UTC.';
comment on column {{data}}.container_changes._notification_id is
    'Notification that told it first; webhook_notifications.';

create index container_changes_changed_at_idx
    on {{data}}.container_changes (container_id, changed_at);

-- A notification may name a transport event and not its container.
create index transport_events_transport_event_id_idx
    on {{data}}.transport_events (transport_event_id);

alter table {{sync}}.refetch_queue
    add column generation bigint not null default 1,
    add column claimed_until timestamptz,
    add column claimed_by text;

comment on column {{sync}}.refetch_queue.resource_type is
    'Type of the resource. transport_events: the list of events of the container of that id. '
    'webhook_notification: a notification that came without what it is about.';
comment on column {{sync}}.refetch_queue.generation is
    'Rises each time it is queued anew: only a read that began after the last time answers it.';
comment on column {{sync}}.refetch_queue.claimed_until is
    'Somebody is reading it, and nobody else does before this instant. UTC.';
comment on column {{sync}}.refetch_queue.claimed_by is
    'Who is reading it: sync or reread.';
