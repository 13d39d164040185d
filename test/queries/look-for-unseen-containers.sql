-- look for unseen containers

select "container_id" as key, _observed_at <= $1::timestamptz as is_settled
from "tracking"."containers"
where "container_id" > $2 and _deleted_at is null
order by "container_id"
limit $3;
