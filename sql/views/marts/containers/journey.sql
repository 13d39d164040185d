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
select
    journey.container_id,
    journey.shipment_id,
    journey.pod_terminal_id,
    journey.port_of_lading_id,
    journey.port_of_discharge_id,
    journey.destination_id,
    journey.container_number,
    journey.bill_of_lading_number,
    journey.shipping_line_scac,
    journey.shipping_line_name,
    journey.port_of_lading_locode,
    journey.port_of_discharge_locode,
    journey.destination_locode,
    journey.equipment_type,
    journey.equipment_length,
    journey.current_status,
    customer.customer_name,
    customer.ref_numbers_text,
    customer.tags_text,
    customer.custom_fields,
    journey.empty_out_zone,
    journey.full_in_zone,
    journey.pol_loaded_zone,
    journey.pol_zone,
    journey.pod_eta_zone,
    journey.pod_zone,
    journey.pod_berthed_zone,
    journey.ind_zone,
    journey.delivered_zone,
    journey.empty_return_zone,
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
    journey.is_availability_known,
    journey.is_tracking_stopped,
    journey.tracking_stopped_reason,
    journey.tracking_stopped_at,
    journey.empty_out_at,
    journey.empty_out_at at time zone clock.empty_out_clock as empty_out_local,
    journey.full_in_at,
    journey.full_in_at at time zone clock.full_in_clock as full_in_local,
    journey.pol_loaded_at,
    journey.pol_loaded_at at time zone clock.pol_loaded_clock as pol_loaded_local,
    journey.pol_etd_at,
    journey.pol_etd_at at time zone clock.pol_clock as pol_etd_local,
    journey.pol_departed_at,
    journey.pol_departed_at at time zone clock.pol_clock as pol_departed_local,
    journey.pod_original_eta_at,
    journey.pod_original_eta_at at time zone clock.pod_eta_clock as pod_original_eta_local,
    journey.pod_eta_at,
    journey.pod_eta_at at time zone clock.pod_eta_clock as pod_eta_local,
    journey.pod_arrived_at,
    journey.pod_arrived_at at time zone clock.pod_clock as pod_arrived_local,
    journey.pod_berthed_at,
    journey.pod_berthed_at at time zone clock.pod_berthed_clock as pod_berthed_local,
    journey.pod_discharged_at,
    journey.pod_discharged_at at time zone clock.pod_clock as pod_discharged_local,
    journey.available_at,
    journey.available_at at time zone clock.pod_clock as available_local,
    journey.pickup_appointment_at,
    journey.pickup_appointment_at at time zone clock.pod_clock as pickup_appointment_local,
    journey.pod_full_out_at,
    journey.pod_full_out_at at time zone clock.pod_clock as pod_full_out_local,
    journey.pod_rail_loaded_at,
    journey.pod_rail_loaded_at at time zone clock.pod_clock as pod_rail_loaded_local,
    journey.pod_rail_departed_at,
    journey.pod_rail_departed_at at time zone clock.pod_clock as pod_rail_departed_local,
    journey.ind_eta_at,
    journey.ind_eta_at at time zone clock.ind_clock as ind_eta_local,
    journey.ind_arrived_at,
    journey.ind_arrived_at at time zone clock.ind_clock as ind_arrived_local,
    journey.ind_rail_unloaded_at,
    journey.ind_rail_unloaded_at at time zone clock.ind_clock as ind_rail_unloaded_local,
    journey.final_destination_full_out_at,
    journey.final_destination_full_out_at at time zone clock.ind_clock
        as final_destination_full_out_local,
    journey.delivered_at,
    journey.delivered_at at time zone clock.delivered_clock as delivered_local,
    journey.empty_terminated_at,
    journey.empty_terminated_at at time zone clock.empty_return_clock as empty_terminated_local,
    journey.known_since
from {{parts}}.journey_milestones as journey
left join {{analytics}}.time_zones as empty_out
    on empty_out.name = journey.empty_out_zone
left join {{analytics}}.time_zones as full_in
    on full_in.name = journey.full_in_zone
left join {{analytics}}.time_zones as pol_loaded
    on pol_loaded.name = journey.pol_loaded_zone
left join {{analytics}}.time_zones as pol
    on pol.name = journey.pol_zone
left join {{analytics}}.time_zones as pod_eta
    on pod_eta.name = journey.pod_eta_zone
left join {{analytics}}.time_zones as pod
    on pod.name = journey.pod_zone
left join {{analytics}}.time_zones as pod_berthed
    on pod_berthed.name = journey.pod_berthed_zone
left join {{analytics}}.time_zones as ind
    on ind.name = journey.ind_zone
left join {{analytics}}.time_zones as delivered
    on delivered.name = journey.delivered_zone
left join {{analytics}}.time_zones as empty_return
    on empty_return.name = journey.empty_return_zone
-- Zone in which a clock at the place is read: the one sent, UTC where none was sent, null where
-- PostgreSQL does not know it.
cross join lateral (

    select
        coalesce(
            empty_out.name,
            case when journey.empty_out_zone is null then 'UTC' end
        ) as empty_out_clock,
        coalesce(
            full_in.name,
            case when journey.full_in_zone is null then 'UTC' end
        ) as full_in_clock,
        coalesce(
            pol_loaded.name,
            case when journey.pol_loaded_zone is null then 'UTC' end
        ) as pol_loaded_clock,
        coalesce(pol.name, case when journey.pol_zone is null then 'UTC' end) as pol_clock,
        coalesce(
            pod_eta.name,
            case when journey.pod_eta_zone is null then 'UTC' end
        ) as pod_eta_clock,
        coalesce(pod.name, case when journey.pod_zone is null then 'UTC' end) as pod_clock,
        coalesce(
            pod_berthed.name,
            case when journey.pod_berthed_zone is null then 'UTC' end
        ) as pod_berthed_clock,
        coalesce(ind.name, case when journey.ind_zone is null then 'UTC' end) as ind_clock,
        coalesce(
            delivered.name,
            case when journey.delivered_zone is null then 'UTC' end
        ) as delivered_clock,
        coalesce(
            empty_return.name,
            case when journey.empty_return_zone is null then 'UTC' end
        ) as empty_return_clock

) as clock
left join {{analytics}}.container_customers as customer
    on customer.container_id = journey.container_id;
