-- Transport events that the source has now
--
-- One row per container and transport event that the source has now and has not found to be untrue (invalidated_at). The base of the other views: of the schema for questions as of an instant it
-- is the file of the same name in as_of/, with the same columns. Volatile attributes have no history and are left out.
-- is_estimated: the event is a forecast, not something that happened.

create view {{analytics}}.known_transport_events as
select
    live.container_id,
    live.transport_event_id,
    live.event,
    live.timestamp,
    live.timezone,
    live.location_locode,
    live.created_at,
    live.data_source,
    live.voyage_number,
    live.shipment_id,
    live.location_id,
    live.location_type,
    live.vessel_id,
    live.terminal_id,
    live.terminal_type,
    live.is_estimated
from {{data}}.transport_events as live
where live._deleted_at is null
    and live.invalidated_at is null;

comment on view {{analytics}}.known_transport_events is
    'One row per container and standing transport event, as it is now.';
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
comment on column {{analytics}}.known_transport_events.is_estimated is
    'True when it is expected and has not happened: the name of the event contains '
    '.estimated.';
