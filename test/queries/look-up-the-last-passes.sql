-- look up the last passes

select
    to_json(now()) #>> '{}' as now,
    extract(epoch from now() - max(completed_pass_began_at) filter (where scope = 'whole'))::float8
        / 3600 as whole_hours_ago,
    floor(extract(epoch from max(completed_pass_started_at)) * 1000)::bigint as last_started_ms
from "tracking_sync"."checkpoints"
where stream = $1;
