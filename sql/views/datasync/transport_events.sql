-- Transport events, as in the service's own export
--
-- One row per transport event: names, order and types of the columns are those of the table
-- `transport_events` of the service's own commercial export to warehouses. Events that the service
-- found untrue or withdrew stay, with invalidated_at; so do events of tombstoned containers.
-- Estimated events are included, which that export may lack: their names contain `.estimated.`.
-- timestamp columns are UTC. event_timestamp_local is wall time at the place; if the source did not
-- send a zone, its time is wall time marked as UTC and is shown unconverted; if PostgreSQL does not
-- know the zone, it is null. Null, because the public interface lacks it: invalidation_reason.

create view {{datasync}}.transport_events as
select
    events.transport_event_id as id,
    events.event,
    events.timestamp at time zone 'UTC' as event_timestamp,
    to_char(
        events.timestamp at time zone coalesce(
            zone.name,
            case when events.timezone is null then 'UTC' end
        ),
        'YYYY-MM-DD HH24:MI:SS'
    ) as event_timestamp_local,
    events.container_id,
    containers.number as container_number,
    coalesce(events.shipment_id, containers.shipment_id) as shipment_id,
    shipments.bill_of_lading_number as shipment_number,
    events.location_id as port_metro_id,
    coalesce(events.location_locode, port.code, metro_area.code) as port_metro_locode,
    coalesce(
        port.country_code,
        metro_area.country_code,
        left(events.location_locode, 2)
    ) as port_metro_country_code,
    coalesce(port.city, port.name, metro_area.name) as port_metro_city,
    coalesce(events.timezone, port.time_zone, metro_area.time_zone) as port_metro_time_zone,
    events.terminal_id as facility_id,
    coalesce(terminal.firms_code, rail_terminal.firms_code) as facility_firms_code,
    coalesce(terminal.nickname, rail_terminal.nickname) as facility_nickname,
    coalesce(terminal.name, rail_terminal.name) as facility_name,
    events.vessel_id,
    vessel.name as vessel_name,
    vessel.imo as vessel_imo,
    vessel.mmsi as vessel_mmsi,
    events.voyage_number,
    events.data_source as data_source_label,
    coalesce(events.invalidated_at, events._deleted_at) at time zone 'UTC' as invalidated_at,
    null::text as invalidation_reason,
    events.previous_version_id,
    events.created_at at time zone 'UTC' as created_at,
    events._changed_at at time zone 'UTC' as updated_at
from {{data}}.transport_events as events
left join {{data}}.containers
    on containers.container_id = events.container_id
left join {{data}}.shipments
    on shipments.shipment_id = coalesce(events.shipment_id, containers.shipment_id)
left join {{data}}.ports as port
    on port.port_id = events.location_id
    and events.location_type = 'port'
left join {{data}}.metro_areas as metro_area
    on metro_area.metro_area_id = events.location_id
    and events.location_type = 'metro_area'
left join {{data}}.terminals as terminal
    on terminal.terminal_id = events.terminal_id
    and events.terminal_type = 'terminal'
left join {{data}}.rail_terminals as rail_terminal
    on rail_terminal.rail_terminal_id = events.terminal_id
    and events.terminal_type = 'rail_terminal'
left join {{data}}.vessels as vessel
    on vessel.vessel_id = events.vessel_id
left join {{analytics}}.time_zones as zone
    on zone.name = events.timezone;
