-- claim refetches

with due as (
    select queued.resource_type, queued.resource_id
    from "tracking_sync"."refetch_queue" as queued
    where (
            case
        when queued.claimed_until > now() then 'being read'
        when queued.not_before > now() then 'later'
        else 'due'
    end = $1
            or case
        when queued.claimed_until > now() then 'being read'
        when queued.not_before > now() then 'later'
        else 'due'
    end = $2 and queued.claimed_by = 'sync' and $3 = 'sync'
        )
        and (
            queued.resource_type != $4
            or $5 = 'refetch' and queued.requested_at < (
                select coalesce(min(owner.requested_at), 'infinity')
                from "tracking_sync"."refetch_queue" as owner
                where owner.resource_type in ('container', 'shipment') and owner.attempts = 0
            )
        )
        and ($6::timestamptz is null or queued.requested_at <= $7::timestamptz)
        and ($8::text[] is null or queued.resource_type = any($9::text[]))
    order by queued.requested_at, queued.resource_type, queued.resource_id
    limit $10
    for update skip locked
),
claimed as (
    update "tracking_sync"."refetch_queue" as queued
    set claimed_until = now() + make_interval(secs => $11), claimed_by = $12
    from due
    where queued.resource_type = due.resource_type and queued.resource_id = due.resource_id
    returning queued.*
)
select resource_type as type, resource_id as id, attempts, generation
from claimed
order by requested_at, resource_type, resource_id;
