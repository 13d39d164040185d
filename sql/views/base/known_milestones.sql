-- Containers with the milestones that have happened, as known at an instant
--
-- One row per container, as known at as_of(): the facts of known_containers that tell where it is,
-- and its milestones. An instant after as_of() has not happened, and is null here; the columns
-- pod_…_at, ind_…_at, final_…_at and empty_terminated_at are as sent.
--
-- left_port_at: the earlier of full gate-out and rail departure. reached_ramp_at: the earlier of
-- arrival and unloading inland. ramp_arrived_at is reached_ramp_at, but one before the departure
-- from the port contradicts it and is left out.

create view {{parts}}.known_milestones as
-- A view with a CTE is planned by itself. Otherwise each view that reads it copies its expressions
-- into every place where it names them, which costs more than the question.
with apart as (select)
select
    container.container_id,
    container.shipment_id,
    container.pod_terminal_id,
    container.pickup_facility_id,
    container.number as container_number,
    container.equipment_type,
    container.equipment_length,
    container.equipment_height,
    container.current_status,
    case when container.availability_known is not false then container.available_for_pickup end
        as available_for_pickup,
    container.pickup_appointment_at,
    container.pod_timezone,
    container.final_destination_timezone,
    container.empty_terminated_timezone,
    container.pod_rail_carrier_scac,
    container.ind_rail_carrier_scac,
    container.pod_discharged_at,
    container.pod_full_out_at,
    container.pod_rail_loaded_at,
    container.pod_rail_departed_at,
    container.ind_eta_at,
    container.ind_ata_at,
    container.ind_rail_unloaded_at,
    container.final_destination_full_out_at,
    container.empty_terminated_at,
    container.terminal_checked_at,
    container.known_since,
    container.first_seen_at,
    container.created_at,
    happened.vessel_arrived_at,
    happened.discharged_at,
    happened.full_out_at,
    happened.rail_loaded_at,
    happened.rail_departed_at,
    happened.left_port_at,
    happened.ind_arrived_at,
    happened.rail_unloaded_at,
    happened.reached_ramp_at,
    case
        when happened.reached_ramp_at >= coalesce(happened.left_port_at, '-infinity')
            then happened.reached_ramp_at
    end as ramp_arrived_at,
    happened.ramp_out_at,
    happened.returned_at
from {{parts}}.known_containers as container
cross join lateral (

    select
        case
            when container.pod_arrived_at <= {{analytics}}.as_of() then container.pod_arrived_at
        end as vessel_arrived_at,
        case
            when container.pod_discharged_at <= {{analytics}}.as_of()
                then container.pod_discharged_at
        end as discharged_at,
        case
            when container.pod_full_out_at <= {{analytics}}.as_of() then container.pod_full_out_at
        end as full_out_at,
        case
            when container.pod_rail_loaded_at <= {{analytics}}.as_of()
                then container.pod_rail_loaded_at
        end as rail_loaded_at,
        case
            when container.pod_rail_departed_at <= {{analytics}}.as_of()
                then container.pod_rail_departed_at
        end as rail_departed_at,
        case
            when least(container.pod_full_out_at, container.pod_rail_departed_at)
                <= {{analytics}}.as_of()
                then least(container.pod_full_out_at, container.pod_rail_departed_at)
        end as left_port_at,
        case when container.ind_ata_at <= {{analytics}}.as_of() then container.ind_ata_at end
            as ind_arrived_at,
        case
            when container.ind_rail_unloaded_at <= {{analytics}}.as_of()
                then container.ind_rail_unloaded_at
        end as rail_unloaded_at,
        case
            when least(container.ind_ata_at, container.ind_rail_unloaded_at)
                <= {{analytics}}.as_of()
                then least(container.ind_ata_at, container.ind_rail_unloaded_at)
        end as reached_ramp_at,
        case
            when container.final_destination_full_out_at <= {{analytics}}.as_of()
                then container.final_destination_full_out_at
        end as ramp_out_at,
        case
            when container.empty_terminated_at <= {{analytics}}.as_of()
                then container.empty_terminated_at
        end as returned_at

) as happened;
