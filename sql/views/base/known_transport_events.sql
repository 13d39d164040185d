-- Transport events as known at an instant
--
-- One row per container and transport event that was seen by then and neither withdrawn nor found
-- untrue (invalidated_at) by then. Events are stored without history: the view shows the last word
-- of the service.
-- is_estimated: the event is a forecast, not something that happened.
--
-- The lines after "now" make the view of the schema analytics, the lines after "as of" the view of
-- the schema as_of.

create view {{parts}}.known_transport_events as
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
