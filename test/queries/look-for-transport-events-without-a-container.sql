-- look for transport events without a container

select doubted.container_id as key
from "tracking_sync"."event_lists_in_doubt" as doubted
cross join lateral (
    select max(report._observed_at) as observed_at
    from "tracking"."transport_events" as report
    where report.container_id = doubted.container_id and report._deleted_at is null
) as last
where last.observed_at <= $1::timestamptz
    and not exists (
        select from "tracking"."containers" as owner
        where owner.container_id = doubted.container_id
    )
order by doubted.container_id;
