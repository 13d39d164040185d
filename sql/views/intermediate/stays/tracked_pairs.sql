-- Pairs of containers that are one box
--
-- One row per container and other container that is the same box, as known at as_of(): two have the
-- same number and port of discharge, and land at most three days apart (tracked_boxes). A number is
-- used again on later journeys.
--
-- is_counted_elsewhere: the other one has the costs. A box costs under one of its shipments, so
-- that sums have each day once: the one whose shipment names a customer, else the first
-- container_id.
--
-- Neither grouped nor planned apart, so that a question about one container finds the other by the
-- index on numbers; tracked_twice groups the whole account.

create view {{parts}}.tracked_pairs as
select
    one.container_id,
    other.container_id as other_container_id,
    other.bill_of_lading_number as other_bill_of_lading_number,
    (other.is_of_nobody, other.container_id)
    < (one.is_of_nobody, one.container_id) as is_counted_elsewhere
from {{parts}}.tracked_boxes as one
-- By the numbers of now: no index finds versions of containers by number.
inner join (
    select
        container_id,
        number
    from {{data}}.containers
) as same
    on same.number = one.number
    and same.container_id <> one.container_id
inner join {{parts}}.tracked_boxes as other
    on other.container_id = same.container_id
    and other.number = one.number
    and other.port_of_discharge_locode = one.port_of_discharge_locode
    and other.landed_at between one.landed_at - interval '3 days'
        and one.landed_at + interval '3 days';
