-- Boxes under two shipments
--
-- One row per container that is tracked under another shipment too, such as under the master and
-- the house bill, as known at as_of(): tracked_pairs by container. is_counted_elsewhere: another
-- one has the costs.

create view {{parts}}.tracked_twice as
select
    pair.container_id,
    string_agg(
        distinct coalesce(pair.other_bill_of_lading_number, pair.other_container_id),
        ', '
        order by coalesce(pair.other_bill_of_lading_number, pair.other_container_id)
    ) as also_tracked_as,
    bool_or(pair.is_counted_elsewhere) as is_counted_elsewhere
from {{parts}}.tracked_pairs as pair
group by pair.container_id;
