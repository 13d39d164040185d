-- Hours in each stage by rail
--
-- One row per container with a rail leg: a rail carrier is named, or it was loaded on, departed by,
-- arrived by or unloaded from rail.
--
-- Stages: discharged at the port, loaded on the train, departed, arrived inland, unloaded, picked
-- up by truck. stage is the last one reported; hours_in_stage runs from there to as_of() and is
-- null once the container is picked up or returned empty. An instant after as_of() has not
-- happened: it is shown, but is neither a stage nor part of a figure. Each of the other figures is
-- the elapsed time between two stages, null when one of them is not reported, negative when the
-- source has them in the wrong order (is_in_order false): leave such values out of means.
-- is_waiting_for_train: it is at the port, also loaded and not departed; port_last_free_on is the
-- binding day of that stay (container_stays), which runs until the train leaves.
-- Times at the port are in the zone of the port of discharge, times inland in that of the final
-- destination. Where one is missing the source sent local wall time marked as UTC, and hours across
-- the two places can be off by the difference of the zones.

create view {{analytics}}.rail as
with

legs as (

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
        or container.ind_rail_unloaded_at is not null

),

hours as (

    select
        container_id,
        shipment_id,
        pod_terminal_id,
        container_number,
        bill_of_lading_number,
        shipping_line_scac,
        port_of_discharge_locode,
        destination_locode,
        pod_rail_carrier_scac,
        ind_rail_carrier_scac,
        stage,
        round(extract(epoch from {{analytics}}.as_of() - stage_since_at) / 3600, 2)
            as hours_in_stage,
        round(extract(epoch from loaded_at - discharged_at) / 3600, 2)
            as discharged_to_loaded_hours,
        round(extract(epoch from departed_at - loaded_at) / 3600, 2)
            as loaded_to_departed_hours,
        round(extract(epoch from arrived_at - departed_at) / 3600, 2)
            as departed_to_arrived_hours,
        round(extract(epoch from unloaded_at - arrived_at) / 3600, 2)
            as arrived_to_unloaded_hours,
        round(extract(epoch from picked_up_at - unloaded_at) / 3600, 2)
            as unloaded_to_picked_up_hours,
        round(extract(epoch from picked_up_at - discharged_at) / 3600, 2)
            as discharged_to_picked_up_hours,
        is_waiting_for_train,
        is_tracking_stopped,
        is_pod_zone_known,
        is_ind_zone_known,
        pod_discharged_at,
        pod_rail_loaded_at,
        pod_rail_departed_at,
        ind_eta_at,
        ind_ata_at,
        ind_rail_unloaded_at,
        final_destination_full_out_at,
        pod_zone,
        ind_zone
    from legs

)

select
    hours.container_id,
    hours.shipment_id,
    hours.pod_terminal_id,
    hours.container_number,
    hours.bill_of_lading_number,
    hours.shipping_line_scac,
    customer.customer_name,
    customer.ref_numbers_text,
    customer.tags_text,
    customer.custom_fields,
    port_of_discharge_locode,
    destination_locode,
    pod_rail_carrier_scac,
    ind_rail_carrier_scac,
    stage,
    hours_in_stage,
    is_waiting_for_train,
    stay.binding_on as port_last_free_on,
    stay.days_left as port_days_left,
    discharged_to_loaded_hours,
    loaded_to_departed_hours,
    departed_to_arrived_hours,
    arrived_to_unloaded_hours,
    unloaded_to_picked_up_hours,
    discharged_to_picked_up_hours,
    -- Nulls do not count as disorder: least() skips them.
    coalesce(least(
        discharged_to_loaded_hours,
        loaded_to_departed_hours,
        departed_to_arrived_hours,
        arrived_to_unloaded_hours,
        unloaded_to_picked_up_hours,
        discharged_to_picked_up_hours
    ) >= 0, true) as is_in_order,
    hours.is_tracking_stopped,
    is_pod_zone_known,
    is_ind_zone_known,
    hours.pod_discharged_at,
    pod_rail_loaded_at,
    pod_rail_departed_at,
    ind_eta_at,
    ind_ata_at,
    ind_rail_unloaded_at,
    final_destination_full_out_at,
    hours.pod_discharged_at at time zone pod_zone as pod_discharged_local,
    pod_rail_loaded_at at time zone pod_zone as pod_rail_loaded_local,
    pod_rail_departed_at at time zone pod_zone as pod_rail_departed_local,
    ind_eta_at at time zone ind_zone as ind_eta_local,
    ind_ata_at at time zone ind_zone as ind_ata_local,
    ind_rail_unloaded_at at time zone ind_zone as ind_rail_unloaded_local,
    final_destination_full_out_at at time zone ind_zone as final_destination_full_out_local
from hours
-- Looked up one by one: few wait for their train.
left join lateral (

    select
        there.binding_on,
        there.days_left
    from {{analytics}}.container_stays as there
    where hours.is_waiting_for_train
        and there.container_id = hours.container_id
        and there.place = 'port'
    offset 0

) as stay
    on true
left join {{analytics}}.container_customers as customer
    on customer.container_id = hours.container_id;
