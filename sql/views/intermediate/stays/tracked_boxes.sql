-- Containers by what tells that two are one box
--
-- One row per container, as known at as_of(): its number, the port and the time at which it lands,
-- that is its discharge, else its arrival, else the ETA of its shipment. The base of tracked_pairs.

create view {{parts}}.tracked_boxes as
select
    container.container_id,
    container.number,
    shipment.bill_of_lading_number,
    shipment.port_of_discharge_locode,
    shipment.customer_name is null as is_of_nobody,
    coalesce(
        container.pod_discharged_at,
        container.pod_arrived_at,
        shipment.pod_ata_at,
        shipment.pod_eta_at
    ) as landed_at
-- Named columns: a join keeps all columns of what it joins, which costs memory in each plan.
from (
    select
        container_id,
        shipment_id,
        number,
        pod_arrived_at,
        pod_discharged_at
    from {{parts}}.known_containers
) as container
inner join (
    select
        shipment_id,
        bill_of_lading_number,
        port_of_discharge_locode,
        customer_name,
        pod_eta_at,
        pod_ata_at
    from {{parts}}.known_shipments
) as shipment
    on shipment.shipment_id = container.shipment_id;
