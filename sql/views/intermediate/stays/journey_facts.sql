-- Journeys: what has happened to each container
--
-- One row per container, as known at as_of(). The base of stays, clocks and most answers: the state
-- of the journey is decided here and nowhere else, from the milestones of known_milestones. An
-- instant after as_of() has not happened and is null; a status counts only where the milestone
-- itself is absent.
--
-- went_by_rail: a departure by rail, or anything at the ramp, is reported, also as a time to come.
-- goes_by_rail: it went by rail; or it was not picked up at the port, and was loaded on a train,
-- has a rail carrier, an ETA or a last free day at the ramp, or the status on_rail or
-- awaiting_inland_transfer.
-- picked_up_at: the last pickup of the full container, at the ramp, else at the port if it did not
-- go by rail: a truck that takes it from the port to the train is not the last one.
-- has_landed: it was discharged, or a later milestone or a status says that it must have been.
-- has_left_port: it left, reached the ramp or was delivered; or it goes by rail, neither its
-- loading on the train nor its departure is reported, and its status is on_rail. Loaded and not
-- departed, it waits at the port for its train.
-- is_delivered: picked up at the ramp, returned empty, or a status says one of them. is_out:
-- delivered or picked up, so nothing of it is left to fetch.
-- has_vessel_arrived: the container or its shipment is reported as arrived, or the container has
-- landed. is_left_behind: its shipment arrived more than two days ago, and nothing says that the
-- container itself did.
-- should_have_departed: it left the port of lading, or the last estimated departure has passed;
-- without an estimate: it was created. is_on_rail: departed by rail, and not reported at the ramp.
-- changed_at: when we last saw a change of it; null since the first sight.
-- is_terminal_fresh: the service asked the port's terminal in the last 48 hours, and the terminal
-- would tell that the container left, also where the line is no longer asked. Of these looks only
-- the last is kept, so it is false for the past.
-- Zones are those of the places: as sent, else that of the port or ramp itself (its port or metro
-- area); they tell which day it is there. …_wall_zone turns an instant at the place into wall time
-- there: the zone as sent, else UTC, because without a zone the service sends wall time marked as
-- UTC. A name that PostgreSQL does not know is not replaced: the zone is null.
--
-- Narrow it by pod_terminal_id, shipping_line_scac or pod_discharged_at, which are read first.

create view {{parts}}.journey_facts as
-- Planned by itself, see known_milestones.
with apart as (select)
select
    container.container_id,
    container.shipment_id,
    container.pod_terminal_id,
    container.pickup_facility_id,
    container.container_number,
    container.equipment_type,
    container.equipment_length,
    container.equipment_height,
    container.current_status,
    container.available_for_pickup,
    shipment.bill_of_lading_number,
    shipment.shipping_line_scac,
    shipment.port_of_discharge_locode,
    shipment.port_of_discharge_name,
    shipment.destination_locode,
    shipment.destination_name,
    shipment.destination_terminal_id,
    shipment.pod_vessel_name,
    shipment.pod_vessel_imo,
    shipment.pod_voyage_number,
    shipment.line_tracking_stopped_reason as tracking_stopped_reason,
    coalesce(shipment.is_tracking_stopped, false) as is_tracking_stopped,
    coalesce(
        container.terminal_checked_at > {{analytics}}.as_of() - interval '48 hours', false
    ) as is_terminal_fresh,
    port_zone.name as port_zone,
    ramp_zone.name as ramp_zone,
    case when container.ramp_out_at is null then port_zone.name else ramp_zone.name end
        as pickup_zone,
    wall.port_zone as port_wall_zone,
    wall.ramp_zone as ramp_wall_zone,
    case when container.ramp_out_at is null then wall.port_zone else wall.ramp_zone end
        as pickup_wall_zone,
    case
        when container.empty_terminated_timezone is null then 'UTC'
        else return_zone.name
    end as return_wall_zone,
    case when shipment.pol_timezone is null then 'UTC' else lading_zone.name end
        as lading_wall_zone,
    container.pod_timezone is not null and port_zone.name is not null as is_port_zone_known,
    container.final_destination_timezone is not null and ramp_zone.name is not null
        as is_ramp_zone_known,
    return_zone.name is not null as is_return_zone_known,
    -- None of these is null. The planner expects half of the rows where it meets coalesce, and next
    -- to none of a list of tests for null: it would loop over tables that it should hash.
    said.went_by_rail,
    decided.goes_by_rail,
    coalesce(
        shipment.pod_ata_at <= {{analytics}}.as_of()
        or container.vessel_arrived_at is not null
        or decided.has_landed,
        false
    ) as has_vessel_arrived,
    decided.has_landed,
    coalesce(shipment.pod_ata_at <= {{analytics}}.as_of() - interval '2 days', false)
    and not decided.has_landed
    and container.vessel_arrived_at is null as is_left_behind,
    coalesce(
        shipment.shipment_id is not null
        and coalesce(shipment.pol_atd_at, shipment.pol_etd_at, container.created_at)
            <= {{analytics}}.as_of(),
        false
    ) as should_have_departed,
    coalesce(
        container.left_port_at is not null
        or container.reached_ramp_at is not null
        or said.is_delivered
        or container.current_status = 'on_rail'
        and container.pod_rail_loaded_at is null
        and container.pod_rail_departed_at is null,
        false
    ) as has_left_port,
    coalesce(
        container.reached_ramp_at is not null or decided.goes_by_rail and said.is_delivered, false
    ) as has_reached_ramp,
    coalesce(
        container.rail_departed_at is not null
        and container.reached_ramp_at is null
        and not said.is_delivered,
        false
    ) as is_on_rail,
    said.is_delivered,
    coalesce(
        said.is_delivered or container.full_out_at is not null and not said.went_by_rail, false
    ) as is_out,
    coalesce(
        container.returned_at is not null
        or container.empty_terminated_at is null and container.current_status = 'empty_returned',
        false
    ) as is_returned,
    by_rail.container_id is not null as has_rail_day,
    by_rail.local_date as rail_on,
    case when shipment.pol_atd_at <= {{analytics}}.as_of() then shipment.pol_atd_at end
        as departed_at,
    container.vessel_arrived_at,
    container.discharged_at,
    container.full_out_at,
    container.rail_loaded_at,
    container.rail_departed_at,
    container.left_port_at,
    container.ramp_arrived_at,
    container.ind_arrived_at,
    container.rail_unloaded_at,
    container.ramp_out_at,
    case
        when container.ramp_out_at is not null then container.ramp_out_at
        when not said.went_by_rail then container.full_out_at
    end as picked_up_at,
    container.returned_at,
    container.pickup_appointment_at,
    shipment.pod_eta_at,
    shipment.pod_ata_at as shipment_arrived_at,
    shipment.line_tracking_stopped_at as tracking_stopped_at,
    case when container.known_since > container.first_seen_at then container.known_since end
        as changed_at,
    container.pod_discharged_at,
    container.created_at
from {{parts}}.known_milestones as container
-- Columns are named, because a view keeps all columns of all that it joins in each of its joins,
-- and a question reads this one several times.
left join (
    select
        shipment_id,
        bill_of_lading_number,
        shipping_line_scac,
        port_of_discharge_id,
        port_of_discharge_locode,
        port_of_discharge_name,
        destination_id,
        destination_locode,
        destination_name,
        destination_terminal_id,
        pod_vessel_name,
        pod_vessel_imo,
        pod_voyage_number,
        pol_timezone,
        pol_etd_at,
        pol_atd_at,
        pod_eta_at,
        pod_ata_at,
        line_tracking_stopped_at,
        line_tracking_stopped_reason,
        is_tracking_stopped
    from {{parts}}.known_shipments
) as shipment
    on shipment.shipment_id = container.shipment_id
left join (
    select
        container_id,
        local_date
    from {{parts}}.known_import_deadlines
    where kind = 'pickup_lfd_rail'
) as by_rail
    on by_rail.container_id = container.container_id
left join (
    select
        terminal.terminal_id,
        port.time_zone
    from {{data}}.terminals as terminal
    inner join {{data}}.ports as port
        on port.port_id = terminal.port_id
) as terminal
    on terminal.terminal_id = container.pod_terminal_id
left join (select port_id, time_zone from {{data}}.ports) as port
    on port.port_id = shipment.port_of_discharge_id
left join (
    select
        terminal.rail_terminal_id,
        coalesce(port.time_zone, city.time_zone) as time_zone
    from {{data}}.rail_terminals as terminal
    left join {{data}}.ports as port
        on port.port_id = terminal.port_id
    left join {{data}}.metro_areas as city
        on city.metro_area_id = terminal.metro_area_id
) as rail_terminal
    on rail_terminal.rail_terminal_id = shipment.destination_terminal_id
left join (select port_id, time_zone from {{data}}.ports) as inland_port
    on inland_port.port_id = shipment.destination_id
left join (select metro_area_id, time_zone from {{data}}.metro_areas) as inland_city
    on inland_city.metro_area_id = shipment.destination_id
left join {{analytics}}.time_zones as port_zone
    on port_zone.name = coalesce(container.pod_timezone, terminal.time_zone, port.time_zone)
left join {{analytics}}.time_zones as ramp_zone
    on ramp_zone.name = coalesce(
        container.final_destination_timezone,
        rail_terminal.time_zone,
        inland_port.time_zone,
        inland_city.time_zone
    )
left join {{analytics}}.time_zones as lading_zone
    on lading_zone.name = shipment.pol_timezone
left join {{analytics}}.time_zones as return_zone
    on return_zone.name = container.empty_terminated_timezone
cross join lateral (

    select
        container.pod_rail_departed_at is not null
        or container.ind_ata_at is not null
        or container.ind_rail_unloaded_at is not null
        or container.final_destination_full_out_at is not null as went_by_rail,
        container.pod_rail_loaded_at is not null
        or container.pod_rail_carrier_scac is not null
        or container.ind_rail_carrier_scac is not null
        or container.ind_eta_at is not null
        or coalesce(container.current_status in ('on_rail', 'awaiting_inland_transfer'), false)
            as is_for_rail,
        coalesce(
            container.ramp_out_at is not null
            or container.returned_at is not null
            or container.final_destination_full_out_at is null
            and container.pod_full_out_at is null
            and coalesce(
                container.current_status in ('picked_up', 'delivered', 'dropped', 'empty_returned'),
                false
            ),
            false
        ) as is_delivered

) as said
cross join lateral (

    select
        coalesce(
            container.discharged_at is not null
            or container.left_port_at is not null
            or container.rail_loaded_at is not null
            or container.reached_ramp_at is not null
            or said.is_delivered
            or container.current_status in (
                'available',
                'not_available',
                'grounded',
                'off_dock',
                'awaiting_inland_transfer',
                'on_rail'
            ),
            false
        ) as has_landed,
        coalesce(
            said.went_by_rail
            or container.full_out_at is null
            and (said.is_for_rail or by_rail.container_id is not null),
            false
        ) as goes_by_rail

) as decided
cross join lateral (

    select
        case when container.pod_timezone is null then 'UTC' else port_zone.name end as port_zone,
        case when container.final_destination_timezone is null then 'UTC' else ramp_zone.name end
            as ramp_zone

) as wall;
