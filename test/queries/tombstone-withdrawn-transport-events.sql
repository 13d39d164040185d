-- tombstone withdrawn transport events

with listed as (
    select * from unnest($1::text[],
        $2::timestamptz[]) as listed (container_id, observed_at)
),

unlisted as (
    select stored.container_id, stored.transport_event_id
    from listed
    cross join lateral (
        select candidate.container_id, candidate.transport_event_id
        from "tracking"."transport_events" as candidate
        where candidate.container_id = listed.container_id and candidate._deleted_at is null
        offset 0
    ) as stored
    except
    select * from unnest($3::text[],
        $4::text[])
),

missing as (
    select
        stored.container_id,
        stored.transport_event_id,
        listed.observed_at,
        extract(epoch from stored._observed_at - listed.observed_at) * 1000 as ahead_ms
    from unlisted
    cross join lateral (select candidate.* from "tracking"."transport_events" as candidate where ("candidate"."container_id" = "unlisted"."container_id" and "candidate"."transport_event_id" = "unlisted"."transport_event_id") offset 0) as stored
    inner join listed
        on listed.container_id = stored.container_id
),

withdrawn as (
    update "tracking"."transport_events" as stored
    set
        _deleted_at = missing.observed_at,
        _changed_at = missing.observed_at,
        _observed_at = missing.observed_at,
        _sync_run_id = $5
    from missing
    where stored.container_id = missing.container_id
        and stored.transport_event_id = missing.transport_event_id
        and stored._deleted_at is null
        and stored._observed_at <= missing.observed_at
    returning stored.transport_event_id
)

select null as container_id, count(*)::float8 as value
from withdrawn
union all
select container_id, max(ahead_ms)::float8 as value
from missing
where ahead_ms > 0
group by container_id;
