-- Boxes under two shipments
--
-- One row per container that is tracked under another shipment too, such as under the master and
-- the house bill, as known at as_of().
--
-- Two containers are one box if they have the same number and port of discharge, and their
-- discharge (else their arrival, else the ETA of their shipment) is at most three days apart: a
-- number is used again on later journeys.
-- is_counted_elsewhere: the other one has the costs. A box costs under one of its shipments, so
-- that sums have each day once: the one whose shipment names a customer, else the first
-- container_id.

create view {{parts}}.tracked_twice as
with

boxes as not materialized (

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
    from {{parts}}.known_containers as container
    inner join {{parts}}.known_shipments as shipment
        on shipment.shipment_id = container.shipment_id

)

select
    one.container_id,
    string_agg(
        distinct coalesce(other.bill_of_lading_number, other.container_id),
        ', '
        order by coalesce(other.bill_of_lading_number, other.container_id)
    ) as also_tracked_as,
    bool_or(
        (other.is_of_nobody, other.container_id) < (one.is_of_nobody, one.container_id)
    ) as is_counted_elsewhere
from boxes as one
inner join boxes as other
    on other.number = one.number
    and other.container_id <> one.container_id
    and other.port_of_discharge_locode = one.port_of_discharge_locode
    and other.landed_at between one.landed_at - interval '3 days'
        and one.landed_at + interval '3 days'
group by one.container_id;
