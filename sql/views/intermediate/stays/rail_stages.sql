-- Stage of each container that goes by rail
--
-- One row per container with a rail leg: a rail carrier is named, or it was loaded on, departed by,
-- arrived by or unloaded from rail. Its milestones come twice: as happened by as_of(), by which the
-- stage is told, and as sent. The base of rail.

create view {{parts}}.rail_stages as
select
    container.container_id,
    container.shipment_id,
    container.pod_terminal_id,
    container.number as container_number,
    journey.bill_of_lading_number,
    journey.shipping_line_scac,
    journey.port_of_discharge_locode,
    journey.destination_locode,
    container.pod_rail_carrier_scac,
    container.ind_rail_carrier_scac,
    case
        when journey.ramp_out_at is not null or journey.returned_at is not null
            then 'picked up'
        when journey.rail_unloaded_at is not null then 'unloaded'
        when journey.ind_arrived_at is not null then 'arrived'
        when journey.rail_departed_at is not null then 'departed'
        when journey.rail_loaded_at is not null then 'loaded'
        when journey.discharged_at is not null then 'discharged'
        else 'not landed'
    end as stage,
    case
        when journey.ramp_out_at is null and journey.returned_at is null
            then coalesce(
                journey.rail_unloaded_at,
                journey.ind_arrived_at,
                journey.rail_departed_at,
                journey.rail_loaded_at,
                journey.discharged_at
            )
    end as stage_since_at,
    journey.discharged_at,
    journey.rail_loaded_at as loaded_at,
    journey.rail_departed_at as departed_at,
    journey.ind_arrived_at as arrived_at,
    journey.rail_unloaded_at as unloaded_at,
    journey.ramp_out_at as picked_up_at,
    journey.has_landed and not journey.has_left_port and journey.goes_by_rail
        as is_waiting_for_train,
    journey.is_tracking_stopped,
    journey.is_port_zone_known as is_pod_zone_known,
    journey.is_ramp_zone_known as is_ind_zone_known,
    container.pod_discharged_at,
    container.pod_rail_loaded_at,
    container.pod_rail_departed_at,
    container.ind_eta_at,
    container.ind_ata_at,
    container.ind_rail_unloaded_at,
    container.final_destination_full_out_at,
    journey.port_wall_zone as pod_zone,
    journey.ramp_wall_zone as ind_zone
from {{parts}}.known_containers as container
inner join {{parts}}.journey_facts as journey
    on journey.container_id = container.container_id
where container.pod_rail_carrier_scac is not null
    or container.ind_rail_carrier_scac is not null
    or container.pod_rail_loaded_at is not null
    or container.pod_rail_departed_at is not null
    or container.ind_ata_at is not null
    or container.ind_rail_unloaded_at is not null;
