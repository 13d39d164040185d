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
    from {{parts}}.rail_stages

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
