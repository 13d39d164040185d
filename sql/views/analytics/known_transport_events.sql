-- Transport events as known at an instant
--
-- One row per container and transport event that was seen by then and neither withdrawn nor found
-- untrue (invalidated_at) by then. Events are stored without history: the view shows the last word
-- of the service.
-- is_estimated: the event is a forecast, not something that happened.
--
-- The lines after "now" make the view of the schema analytics, the lines after "as of" the view of
-- the schema as_of.

create view {{analytics}}.known_transport_events as
select
    record.container_id,
    record.transport_event_id,
    record.event,
    record.timestamp,
    record.timezone,
    record.location_locode,
    record.created_at,
    record.data_source,
    record.voyage_number,
    record.shipment_id,
    record.location_id,
    record.location_type,
    record.vessel_id,
    record.terminal_id,
    record.terminal_type,
    record.value,
    record.value_timestamp,
    record.is_estimated
from {{data}}.transport_events as record
-- now:
where record._deleted_at is null
    and record.invalidated_at is null;
-- as of:
where record._first_seen_at <= {{analytics}}.as_of()
    and (record._deleted_at is null or record._deleted_at > {{analytics}}.as_of())
    and (record.invalidated_at is null or record.invalidated_at > {{analytics}}.as_of());
-- end

comment on view {{analytics}}.known_transport_events is
    'One row per container and standing transport event, as known at as_of().';
comment on column {{analytics}}.known_transport_events.container_id is
    'Container the transport event belongs to. From relationships.container, or from the '
    'request.';
comment on column {{analytics}}.known_transport_events.transport_event_id is
    'The service''s id of the transport event.';
comment on column {{analytics}}.known_transport_events.event is
    'Kind of transport event, for example container.transport.vessel_arrived; unknown '
    'names are kept. From attributes.event.';
comment on column {{analytics}}.known_transport_events.timestamp is
    'When it happened or is expected. UTC; local zone timezone. From '
    'attributes.timestamp.';
comment on column {{analytics}}.known_transport_events.timezone is
    'IANA time zone of the place; null on some, most often estimated ones. From '
    'attributes.timezone.';
comment on column {{analytics}}.known_transport_events.location_locode is
    'UN/LOCODE of the place; null on some, most often estimated ones. From '
    'attributes.location_locode.';
comment on column {{analytics}}.known_transport_events.created_at is
    'When the service recorded it. UTC. From attributes.created_at.';
comment on column {{analytics}}.known_transport_events.data_source is
    'shipping_line, terminal, ais; other values are kept. From attributes.data_source.';
comment on column {{analytics}}.known_transport_events.voyage_number is
    'Voyage number. From attributes.voyage_number.';
comment on column {{analytics}}.known_transport_events.shipment_id is
    'Shipment; shipments. From relationships.shipment.';
comment on column {{analytics}}.known_transport_events.location_id is
    'Place; ports or metro_areas by location_type. From relationships.location.';
comment on column {{analytics}}.known_transport_events.location_type is
    'Resource type that location_id points to. From relationships.location.';
comment on column {{analytics}}.known_transport_events.vessel_id is
    'Vessel; vessels. From relationships.vessel.';
comment on column {{analytics}}.known_transport_events.terminal_id is
    'Terminal; terminals or rail_terminals by terminal_type. From relationships.terminal.';
comment on column {{analytics}}.known_transport_events.terminal_type is
    'Resource type that terminal_id points to. From relationships.terminal.';
comment on column {{analytics}}.known_transport_events.value is
    'What a *.changed event says the thing became: the new last free day or appointment, as sent.';
comment on column {{analytics}}.known_transport_events.value_timestamp is
    'value as an instant, as the service says it. UTC.';
comment on column {{analytics}}.known_transport_events.is_estimated is
    'True when it is expected and has not happened: the name of the event contains '
    '.estimated.';
