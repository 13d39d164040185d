-- look at containers

select stored.container_id
from "tracking"."containers" as stored
where $1::text is null or stored.container_id > $2
order by stored.container_id
limit $3
for no key update;
