-- divide containers

select container_id
from "tracking"."containers"
where container_id > $1
    and ($2::bigint is null or _sync_run_id is distinct from $3 or _first_seen_at <> _changed_at)
order by container_id
limit $4;
