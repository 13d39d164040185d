-- look for unseen shipments

select "shipment_id" as key, _observed_at <= $1::timestamptz as is_settled
from "tracking"."shipments"
where "shipment_id" > $2 and _deleted_at is null
order by "shipment_id"
limit $3;
