-- look at the lease

select
    holder,
    to_char(acquired_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as acquired_at,
    extract(epoch from clock_timestamp() - acquired_at)::float8 * 1000 as held_ms,
    extract(epoch from clock_timestamp() - heartbeat_at)::float8 * 1000 as silent_ms
from "tracking_sync"."lease"
where lease_name = $1
    and holder is not null;
