-- Containers with their milestones as evidence shows them
--
-- One row per live container: who carries it, and its milestones at the port and inland as instants
-- and as wall time. A milestone without a zone is wall time marked as UTC and is not converted.

create view {{parts}}.evidence_containers as
select
    container.container_id,
    container.shipment_id,
    container.pod_terminal_id,
    container.number as container_number,
    shipment.bill_of_lading_number,
    shipment.shipping_line_scac,
    coalesce(pod_terminal.nickname, pod_terminal.name) as pod_terminal,
    container.pod_timezone as pod_zone,
    zone.name as known_zone,
    first_sight._first_seen_at as first_seen_at,
    container.pod_arrived_at,
    container.pod_discharged_at,
    container.pod_rail_departed_at,
    container.pod_full_out_at,
    container.final_destination_full_out_at,
    wall_time.pod_arrived_local,
    wall_time.pod_discharged_local,
    wall_time.pod_rail_departed_local,
    wall_time.pod_full_out_local,
    wall_time.final_destination_full_out_local
from {{parts}}.known_containers as container
inner join {{data}}.containers as first_sight
    on first_sight.container_id = container.container_id
left join {{parts}}.known_shipments as shipment
    on shipment.shipment_id = container.shipment_id
left join {{data}}.terminals as pod_terminal
    on pod_terminal.terminal_id = container.pod_terminal_id
left join {{analytics}}.time_zones as zone
    on zone.name = container.pod_timezone
left join {{analytics}}.time_zones as inland_zone
    on inland_zone.name = container.final_destination_timezone
-- Here and not with the observations, so that PostgreSQL can compute them once for a container.
left join lateral (

    select
        container.pod_arrived_at at time zone coalesce(
            zone.name,
            case when container.pod_timezone is null then 'UTC' end
        ) as pod_arrived_local,
        container.pod_discharged_at at time zone coalesce(
            zone.name,
            case when container.pod_timezone is null then 'UTC' end
        ) as pod_discharged_local,
        container.pod_rail_departed_at at time zone coalesce(
            zone.name,
            case when container.pod_timezone is null then 'UTC' end
        ) as pod_rail_departed_local,
        container.pod_full_out_at at time zone coalesce(
            zone.name,
            case when container.pod_timezone is null then 'UTC' end
        ) as pod_full_out_local,
        container.final_destination_full_out_at at time zone coalesce(
            inland_zone.name,
            case when container.final_destination_timezone is null then 'UTC' end
        ) as final_destination_full_out_local

) as wall_time
    on true;
