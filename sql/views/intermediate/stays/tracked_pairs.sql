-- Pairs of containers that are one box
--
-- One row per container and other container that is the same box, as known at as_of(): two have the
-- same number and port of discharge, and their discharge (else their arrival, else the ETA of their
-- shipment) is at most three days apart. A number is used again on later journeys.
--
-- is_counted_elsewhere: the other one has the costs. A box costs under one of its shipments, so
-- that sums have each day once: the one whose shipment names a customer, else the first
-- container_id.
--
-- Ask it container by container, or by a filter that PostgreSQL can turn into one: by an index on
-- numbers a container takes some microseconds, and all of an account a read of it.

create view {{parts}}.tracked_pairs as
select
    container.container_id,
    other.container_id as other_container_id,
    other_shipment.bill_of_lading_number as other_bill_of_lading_number,
    (other_shipment.customer_name is null, other.container_id)
    < (shipment.customer_name is null, container.container_id) as is_counted_elsewhere
from {{parts}}.known_containers as container
inner join {{parts}}.known_shipments as shipment
    on shipment.shipment_id = container.shipment_id
inner join {{parts}}.known_containers as other
    on other.number = container.number
    and other.container_id <> container.container_id
inner join {{parts}}.known_shipments as other_shipment
    on other_shipment.shipment_id = other.shipment_id
    and other_shipment.port_of_discharge_locode = shipment.port_of_discharge_locode
where coalesce(
        other.pod_discharged_at,
        other.pod_arrived_at,
        other_shipment.pod_ata_at,
        other_shipment.pod_eta_at
    ) between coalesce(
        container.pod_discharged_at,
        container.pod_arrived_at,
        shipment.pod_ata_at,
        shipment.pod_eta_at
    ) - interval '3 days' and coalesce(
        container.pod_discharged_at,
        container.pod_arrived_at,
        shipment.pod_ata_at,
        shipment.pod_eta_at
    ) + interval '3 days';
