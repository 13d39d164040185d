-- Missing milestones of containers
--
-- One row per container. The base of the completeness in data_quality and carrier_scorecards; look
-- here for the missing milestones.
--
-- The milestones in order: departed (port of lading, of its shipment), arrived, discharged; with a
-- rail leg also rail departed and arrived inland; picked up full, returned empty. All milestones up
-- to the furthest reported one must have happened, so they are expected. A container without a
-- reported milestone expects none. Only the attributes of the container and its shipment count,
-- because reports use them.

create view {{parts}}.container_completeness as
with

reached as (

    select
        container.container_id,
        container.shipment_id,
        container.pod_terminal_id,
        container.number as container_number,
        container.pod_timezone,
        shipment.shipping_line_scac,
        shipment.pol_atd_at,
        container.pod_arrived_at,
        container.pod_discharged_at,
        container.pod_rail_departed_at,
        container.ind_ata_at,
        coalesce(container.final_destination_full_out_at, container.pod_full_out_at) as full_out_at,
        container.empty_terminated_at,
        case
            when shipment.is_tracking_stopped
                then coalesce(shipment.line_tracking_stopped_reason, 'not said')
        end as tracking_stopped_reason,
        container.ind_rail_unloaded_at,
        num_nonnulls(
            container.pod_rail_carrier_scac,
            container.ind_rail_carrier_scac,
            container.pod_rail_loaded_at,
            container.pod_rail_departed_at,
            container.ind_ata_at,
            container.ind_rail_unloaded_at
        ) > 0 as is_rail,
        case
            when container.empty_terminated_at is not null then 7
            when container.final_destination_full_out_at is not null
                or container.pod_full_out_at is not null then 6
            when container.ind_ata_at is not null then 5
            when container.pod_rail_departed_at is not null then 4
            when container.pod_discharged_at is not null then 3
            when container.pod_arrived_at is not null then 2
            when shipment.pol_atd_at is not null then 1
            else 0
        end as reached
    from {{parts}}.known_containers as container
    left join {{parts}}.known_shipments as shipment
        on shipment.shipment_id = container.shipment_id

)

select
    reached.container_id,
    shipment_id,
    pod_terminal_id,
    container_number,
    shipping_line_scac,
    customer.customer_name,
    customer.ref_numbers_text,
    customer.tags_text,
    customer.custom_fields,
    pod_timezone,
    late.missing,
    nullif(array_to_string(late.missing, ', '), '') as missing_text,
    -- A container without a rail leg passes over the two milestones on rails.
    case when is_rail or reached < 6 then reached else reached - 2 end as milestones_expected,
    num_nonnulls(
        pol_atd_at,
        pod_arrived_at,
        pod_discharged_at,
        pod_rail_departed_at,
        ind_ata_at,
        full_out_at,
        empty_terminated_at
    ) as milestones_reported,
    is_rail,
    reached = 3 and ind_rail_unloaded_at is null as is_at_terminal,
    tracking_stopped_reason
from reached
cross join lateral (

    select
        array_remove(
            array[
                case when reached > 1 and pol_atd_at is null then 'departed' end,
                case when reached > 2 and pod_arrived_at is null then 'arrived' end,
                case when reached > 3 and pod_discharged_at is null then 'discharged' end,
                case
                    when reached > 4 and is_rail and pod_rail_departed_at is null
                        then 'rail departed'
                end,
                case when reached > 5 and is_rail and ind_ata_at is null then 'arrived inland' end,
                case when reached > 6 and full_out_at is null then 'picked up' end
            ],
            null
        ) as missing

) as late
left join {{analytics}}.container_customers as customer
    on customer.container_id = reached.container_id;
