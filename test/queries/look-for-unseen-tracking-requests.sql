-- look for unseen tracking_requests

select "tracking_request_id" as key, _observed_at <= $1::timestamptz as is_settled
from "tracking"."tracking_requests"
where "tracking_request_id" > $2 and _deleted_at is null
order by "tracking_request_id"
limit $3;
