-- The inbox: what the receiver notes of each delivery, and what the processor and status look for.
-- Placeholders {{data}}, {{sync}}, {{analytics}}, {{datasync}} are the schema names derived from TRACKING_SCHEMA.

alter table {{sync}}.webhook_notifications
    add column last_received_at timestamptz not null default now(),
    add column observed_at timestamptz not null default now(),
    add column reference_type text,
    add column reference_id text,
    add column body_hash bytea,
    add column differing_bodies integer not null default 0;

comment on column {{sync}}.webhook_notifications.notification_id is
    'The service''s id of the notification (data.id), or sha256:<hash of the body> where it has no readable one.';
comment on column {{sync}}.webhook_notifications.last_received_at is
    'When it was last received. UTC, the database''s clock.';
comment on column {{sync}}.webhook_notifications.observed_at is
    'When the source can have known what it says: created_at, but never later than received_at, and received_at where '
    'created_at is missing or no instant. UTC.';
comment on column {{sync}}.webhook_notifications.reference_type is
    'Type of the record it is about (relationships.reference_object).';
comment on column {{sync}}.webhook_notifications.reference_id is
    'Id of the record it is about (relationships.reference_object).';
comment on column {{sync}}.webhook_notifications.body_hash is
    'SHA-256 of the first delivery''s raw bytes.';
comment on column {{sync}}.webhook_notifications.differing_bodies is
    'Later deliveries of it whose bytes were not those of the first. The first ones are kept.';
comment on column {{sync}}.webhook_notifications.state is
    'received: waits to be applied. processed: applied. ignored: holds nothing we keep. foreign: of another webhook, or a '
    'sample. unresolved: what it points to could not be confirmed at the service. dead: could not be read or applied; see error.';
comment on column {{sync}}.webhook_notifications.deliveries is
    'How often it was delivered. Counted soon after a delivery, not always with it.';

-- The queue itself has its index: (next_attempt_at, received_at) where state = 'received'.
create index webhook_notifications_open_idx
    on {{sync}}.webhook_notifications (state, received_at)
    where state in ('received', 'unresolved', 'dead');
