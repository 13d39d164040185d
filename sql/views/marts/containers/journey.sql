-- Milestones of each journey
--
-- One row per container, as known at as_of(): every milestone from the empty container out to its
-- return, as UTC instant (…_at) and as wall time at the place (…_local). Tombstoned containers are
-- left out; a container without a live shipment lacks the values that come from shipments.
--
-- Each place has one zone column, because all its milestones share the zone: pol_zone, pod_zone,
-- pod_eta_zone (the port of discharge as the shipment has it, for the estimates), ind_zone,
-- empty_return_zone, and that of each milestone that comes from a transport event.
-- Zone null: the source sent wall time marked as UTC, so …_local shows it unconverted,
-- is_…_zone_known is false, and …_at is off by the offset of the place. Zone not known to
-- PostgreSQL: …_local is null and is_…_zone_known is false.
--
-- Arrival and what follows at the port of discharge are the container's own, never the shipment's:
-- containers of one shipment can be split between vessels. So is the departure where the service
-- says it of the container; else, like the estimates, it is the shipment's.
-- empty_out, full_in, pol_loaded and delivered are the container's own where the service sends
-- them, with the zone of the transport event of that instant, else pol_zone (delivered: ind_zone,
-- else pod_zone). Where it does not, and always for pod_berthed, they come from transport events.
-- Of several of a kind the last counts, with its own zone; those with a zone come before those
-- without, because only their instant is certain.
-- Events that the service found untrue (invalidated_at) never count. pol_loaded counts at the port
-- of lading and pod_berthed at the port of discharge: one reported from another port (a
-- transshipment, a former port of discharge) does not, one without a place does. Estimates
-- never count.
-- available: the terminal's first word that it can be picked up, from the discharge on.
-- is_availability_known false: the terminal does not say whether it can.
-- Transshipments and feeders can happen more than once and are not here: see transshipments and
-- timeline.
-- A journey can lack any milestone, and sources contradict each other: the view neither corrects
-- nor reorders them.
--
-- Cost: transport events are looked up container by container, and only when one of these six
-- columns is selected. Therefore a question that is filtered by any column answers at once; a join
-- with grouped transport events would read all of them for every question.

create view {{analytics}}.journey as
with

journeys as (

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
        on true

),

-- …_clock: the zone in which a clock at the place is read: the one sent, UTC where none was sent,
-- null where PostgreSQL does not know it.
clocks as (

    select
        journeys.container_id,
        journeys.shipment_id,
        journeys.pod_terminal_id,
        journeys.port_of_lading_id,
        journeys.port_of_discharge_id,
        journeys.destination_id,
        journeys.container_number,
        journeys.bill_of_lading_number,
        journeys.shipping_line_scac,
        journeys.shipping_line_name,
        journeys.port_of_lading_locode,
        journeys.port_of_discharge_locode,
        journeys.destination_locode,
        journeys.equipment_type,
        journeys.equipment_length,
        journeys.current_status,
        journeys.empty_out_zone,
        journeys.full_in_zone,
        journeys.pol_loaded_zone,
        journeys.pol_zone,
        journeys.pod_eta_zone,
        journeys.pod_zone,
        journeys.pod_berthed_zone,
        journeys.ind_zone,
        journeys.delivered_zone,
        journeys.empty_return_zone,
        journeys.empty_out_at,
        journeys.full_in_at,
        journeys.pol_loaded_at,
        journeys.pol_etd_at,
        journeys.pol_departed_at,
        journeys.pod_original_eta_at,
        journeys.pod_eta_at,
        journeys.pod_arrived_at,
        journeys.pod_berthed_at,
        journeys.pod_discharged_at,
        journeys.available_at,
        journeys.pickup_appointment_at,
        journeys.pod_full_out_at,
        journeys.pod_rail_loaded_at,
        journeys.pod_rail_departed_at,
        journeys.ind_eta_at,
        journeys.ind_arrived_at,
        journeys.ind_rail_unloaded_at,
        journeys.final_destination_full_out_at,
        journeys.delivered_at,
        journeys.empty_terminated_at,
        journeys.known_since,
        journeys.is_availability_known,
        journeys.tracking_stopped_at,
        journeys.tracking_stopped_reason,
        journeys.is_tracking_stopped,
        empty_out.name is not null as is_empty_out_zone_known,
        full_in.name is not null as is_full_in_zone_known,
        pol_loaded.name is not null as is_pol_loaded_zone_known,
        pol.name is not null as is_pol_zone_known,
        pod_eta.name is not null as is_pod_eta_zone_known,
        pod.name is not null as is_pod_zone_known,
        pod_berthed.name is not null as is_pod_berthed_zone_known,
        ind.name is not null as is_ind_zone_known,
        delivered.name is not null as is_delivered_zone_known,
        empty_return.name is not null as is_empty_return_zone_known,
        coalesce(
            empty_out.name,
            case when journeys.empty_out_zone is null then 'UTC' end
        ) as empty_out_clock,
        coalesce(
            full_in.name,
            case when journeys.full_in_zone is null then 'UTC' end
        ) as full_in_clock,
        coalesce(
            pol_loaded.name,
            case when journeys.pol_loaded_zone is null then 'UTC' end
        ) as pol_loaded_clock,
        coalesce(pol.name, case when journeys.pol_zone is null then 'UTC' end) as pol_clock,
        coalesce(
            pod_eta.name,
            case when journeys.pod_eta_zone is null then 'UTC' end
        ) as pod_eta_clock,
        coalesce(pod.name, case when journeys.pod_zone is null then 'UTC' end) as pod_clock,
        coalesce(
            pod_berthed.name,
            case when journeys.pod_berthed_zone is null then 'UTC' end
        ) as pod_berthed_clock,
        coalesce(ind.name, case when journeys.ind_zone is null then 'UTC' end) as ind_clock,
        coalesce(
            delivered.name,
            case when journeys.delivered_zone is null then 'UTC' end
        ) as delivered_clock,
        coalesce(
            empty_return.name,
            case when journeys.empty_return_zone is null then 'UTC' end
        ) as empty_return_clock
    from journeys
    left join {{analytics}}.time_zones as empty_out
        on empty_out.name = journeys.empty_out_zone
    left join {{analytics}}.time_zones as full_in
        on full_in.name = journeys.full_in_zone
    left join {{analytics}}.time_zones as pol_loaded
        on pol_loaded.name = journeys.pol_loaded_zone
    left join {{analytics}}.time_zones as pol
        on pol.name = journeys.pol_zone
    left join {{analytics}}.time_zones as pod_eta
        on pod_eta.name = journeys.pod_eta_zone
    left join {{analytics}}.time_zones as pod
        on pod.name = journeys.pod_zone
    left join {{analytics}}.time_zones as pod_berthed
        on pod_berthed.name = journeys.pod_berthed_zone
    left join {{analytics}}.time_zones as ind
        on ind.name = journeys.ind_zone
    left join {{analytics}}.time_zones as delivered
        on delivered.name = journeys.delivered_zone
    left join {{analytics}}.time_zones as empty_return
        on empty_return.name = journeys.empty_return_zone

)

select
    clocks.container_id,
    clocks.shipment_id,
    clocks.pod_terminal_id,
    clocks.port_of_lading_id,
    clocks.port_of_discharge_id,
    clocks.destination_id,
    clocks.container_number,
    clocks.bill_of_lading_number,
    clocks.shipping_line_scac,
    clocks.shipping_line_name,
    clocks.port_of_lading_locode,
    clocks.port_of_discharge_locode,
    clocks.destination_locode,
    clocks.equipment_type,
    clocks.equipment_length,
    clocks.current_status,
    customer.customer_name,
    customer.ref_numbers_text,
    customer.tags_text,
    customer.custom_fields,
    clocks.empty_out_zone,
    clocks.full_in_zone,
    clocks.pol_loaded_zone,
    clocks.pol_zone,
    clocks.pod_eta_zone,
    clocks.pod_zone,
    clocks.pod_berthed_zone,
    clocks.ind_zone,
    clocks.delivered_zone,
    clocks.empty_return_zone,
    clocks.is_empty_out_zone_known,
    clocks.is_full_in_zone_known,
    clocks.is_pol_loaded_zone_known,
    clocks.is_pol_zone_known,
    clocks.is_pod_eta_zone_known,
    clocks.is_pod_zone_known,
    clocks.is_pod_berthed_zone_known,
    clocks.is_ind_zone_known,
    clocks.is_delivered_zone_known,
    clocks.is_empty_return_zone_known,
    clocks.is_availability_known,
    clocks.is_tracking_stopped,
    clocks.tracking_stopped_reason,
    clocks.tracking_stopped_at,
    clocks.empty_out_at,
    clocks.empty_out_at at time zone clocks.empty_out_clock as empty_out_local,
    clocks.full_in_at,
    clocks.full_in_at at time zone clocks.full_in_clock as full_in_local,
    clocks.pol_loaded_at,
    clocks.pol_loaded_at at time zone clocks.pol_loaded_clock as pol_loaded_local,
    clocks.pol_etd_at,
    clocks.pol_etd_at at time zone clocks.pol_clock as pol_etd_local,
    clocks.pol_departed_at,
    clocks.pol_departed_at at time zone clocks.pol_clock as pol_departed_local,
    clocks.pod_original_eta_at,
    clocks.pod_original_eta_at at time zone clocks.pod_eta_clock as pod_original_eta_local,
    clocks.pod_eta_at,
    clocks.pod_eta_at at time zone clocks.pod_eta_clock as pod_eta_local,
    clocks.pod_arrived_at,
    clocks.pod_arrived_at at time zone clocks.pod_clock as pod_arrived_local,
    clocks.pod_berthed_at,
    clocks.pod_berthed_at at time zone clocks.pod_berthed_clock as pod_berthed_local,
    clocks.pod_discharged_at,
    clocks.pod_discharged_at at time zone clocks.pod_clock as pod_discharged_local,
    clocks.available_at,
    clocks.available_at at time zone clocks.pod_clock as available_local,
    clocks.pickup_appointment_at,
    clocks.pickup_appointment_at at time zone clocks.pod_clock as pickup_appointment_local,
    clocks.pod_full_out_at,
    clocks.pod_full_out_at at time zone clocks.pod_clock as pod_full_out_local,
    clocks.pod_rail_loaded_at,
    clocks.pod_rail_loaded_at at time zone clocks.pod_clock as pod_rail_loaded_local,
    clocks.pod_rail_departed_at,
    clocks.pod_rail_departed_at at time zone clocks.pod_clock as pod_rail_departed_local,
    clocks.ind_eta_at,
    clocks.ind_eta_at at time zone clocks.ind_clock as ind_eta_local,
    clocks.ind_arrived_at,
    clocks.ind_arrived_at at time zone clocks.ind_clock as ind_arrived_local,
    clocks.ind_rail_unloaded_at,
    clocks.ind_rail_unloaded_at at time zone clocks.ind_clock as ind_rail_unloaded_local,
    clocks.final_destination_full_out_at,
    clocks.final_destination_full_out_at at time zone clocks.ind_clock
        as final_destination_full_out_local,
    clocks.delivered_at,
    clocks.delivered_at at time zone clocks.delivered_clock as delivered_local,
    clocks.empty_terminated_at,
    clocks.empty_terminated_at at time zone clocks.empty_return_clock as empty_terminated_local,
    clocks.known_since
from clocks
left join {{analytics}}.container_customers as customer
    on customer.container_id = clocks.container_id;
