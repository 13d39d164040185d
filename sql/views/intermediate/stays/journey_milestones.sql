-- Milestones of each container, with the zone of each
--
-- One row per live container, as known at as_of(): milestones of the container, its shipment and
-- its transport events. journey says which source, and which of several transport events, counts,
-- and reads them as wall time.
--
-- Cost: see journey.

create view {{parts}}.journey_milestones as
select
    containers.container_id,
    containers.shipment_id,
    containers.pod_terminal_id,
    shipments.port_of_lading_id,
    shipments.port_of_discharge_id,
    shipments.destination_id,
    containers.number as container_number,
    shipments.bill_of_lading_number,
    shipments.shipping_line_scac,
    shipments.shipping_line_name,
    shipments.port_of_lading_locode,
    shipments.port_of_discharge_locode,
    shipments.destination_locode,
    containers.equipment_type,
    containers.equipment_length,
    containers.current_status,
    case
        when containers.empty_out_at is null then told.empty_out_zone
        else coalesce(told.empty_out_zone, shipments.pol_timezone)
    end as empty_out_zone,
    case
        when containers.pol_full_in_at is null then told.full_in_zone
        else coalesce(told.full_in_zone, shipments.pol_timezone)
    end as full_in_zone,
    case
        when containers.pol_vessel_loaded_at is null then told.pol_loaded_zone
        else coalesce(told.pol_loaded_zone, shipments.pol_timezone)
    end as pol_loaded_zone,
    shipments.pol_timezone as pol_zone,
    shipments.pod_timezone as pod_eta_zone,
    containers.pod_timezone as pod_zone,
    told.pod_berthed_zone,
    containers.final_destination_timezone as ind_zone,
    case
        when containers.delivered_at is null then told.delivered_zone
        else coalesce(
            told.delivered_zone,
            containers.final_destination_timezone,
            containers.pod_timezone
        )
    end as delivered_zone,
    containers.empty_terminated_timezone as empty_return_zone,
    coalesce(containers.empty_out_at, told.empty_out_at) as empty_out_at,
    coalesce(containers.pol_full_in_at, told.full_in_at) as full_in_at,
    coalesce(containers.pol_vessel_loaded_at, told.pol_loaded_at) as pol_loaded_at,
    shipments.pol_etd_at,
    coalesce(containers.pol_vessel_departed_at, shipments.pol_atd_at) as pol_departed_at,
    shipments.pod_original_eta_at,
    shipments.pod_eta_at,
    containers.pod_arrived_at,
    told.pod_berthed_at,
    containers.pod_discharged_at,
    told.available_at,
    containers.pickup_appointment_at,
    containers.pod_full_out_at,
    containers.pod_rail_loaded_at,
    containers.pod_rail_departed_at,
    containers.ind_eta_at,
    containers.ind_ata_at as ind_arrived_at,
    containers.ind_rail_unloaded_at,
    containers.final_destination_full_out_at,
    coalesce(containers.delivered_at, told.delivered_at) as delivered_at,
    containers.empty_terminated_at,
    containers.known_since,
    containers.availability_known as is_availability_known,
    shipments.line_tracking_stopped_at as tracking_stopped_at,
    shipments.line_tracking_stopped_reason as tracking_stopped_reason,
    coalesce(shipments.is_tracking_stopped, false) as is_tracking_stopped
from {{parts}}.known_containers as containers
left join {{parts}}.known_shipments as shipments
    on shipments.shipment_id = containers.shipment_id
left join lateral (

    select
        coalesce(
            max(timestamp)
                filter (where event = 'container.transport.empty_out' and timezone is not null),
            max(timestamp) filter (where event = 'container.transport.empty_out')
        ) as empty_out_at,
        (
            array_agg(timezone order by timestamp desc, timezone)
                filter (
                    where event = 'container.transport.empty_out'
                        and timezone is not null
                        and timestamp = coalesce(containers.empty_out_at, timestamp)
                )
        )[1] as empty_out_zone,
        coalesce(
            max(timestamp)
                filter (where event = 'container.transport.full_in' and timezone is not null),
            max(timestamp) filter (where event = 'container.transport.full_in')
        ) as full_in_at,
        (
            array_agg(timezone order by timestamp desc, timezone)
                filter (
                    where event = 'container.transport.full_in'
                        and timezone is not null
                        and timestamp = coalesce(containers.pol_full_in_at, timestamp)
                )
        )[1] as full_in_zone,
        coalesce(
            max(timestamp)
                filter (
                    where event = 'container.transport.vessel_loaded'
                        and timezone is not null
                ),
            max(timestamp) filter (where event = 'container.transport.vessel_loaded')
        ) as pol_loaded_at,
        (
            array_agg(timezone order by timestamp desc, timezone)
                filter (
                    where event = 'container.transport.vessel_loaded'
                        and timezone is not null
                        and timestamp = coalesce(containers.pol_vessel_loaded_at, timestamp)
                )
        )[1] as pol_loaded_zone,
        coalesce(
            max(timestamp)
                filter (
                    where event = 'container.transport.vessel_berthed'
                        and timezone is not null
                ),
            max(timestamp) filter (where event = 'container.transport.vessel_berthed')
        ) as pod_berthed_at,
        (
            array_agg(timezone order by timestamp desc, timezone)
                filter (
                    where event = 'container.transport.vessel_berthed'
                        and timezone is not null
                )
        )[1] as pod_berthed_zone,
        coalesce(
            max(timestamp)
                filter (where event = 'container.transport.delivered' and timezone is not null),
            max(timestamp) filter (where event = 'container.transport.delivered')
        ) as delivered_at,
        (
            array_agg(timezone order by timestamp desc, timezone)
                filter (
                    where event = 'container.transport.delivered'
                        and timezone is not null
                        and timestamp = coalesce(containers.delivered_at, timestamp)
                )
        )[1] as delivered_zone,
        min(timestamp) filter (
            where event = 'container.transport.available'
                and timestamp >= containers.pod_discharged_at
        ) as available_at
    from {{parts}}.known_transport_events
    where container_id = containers.container_id
        and event in (
            'container.transport.empty_out',
            'container.transport.full_in',
            'container.transport.vessel_loaded',
            'container.transport.vessel_berthed',
            'container.transport.available',
            'container.transport.delivered'
        )
        and timestamp is not null
        and not coalesce(
            event = 'container.transport.vessel_loaded'
            and location_locode <> shipments.port_of_lading_locode,
            false
        )
        and not coalesce(
            event = 'container.transport.vessel_berthed'
            and location_locode <> shipments.port_of_discharge_locode,
            false
        )

) as told
    on true;
