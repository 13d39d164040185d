-- take answered refetches off the queue

with answered as (
    select queued.resource_type, queued.resource_id
    from unnest($1::text[], $2::text[],
        $3::bigint[]) as entry (type, id, generation)
    cross join lateral (
        select * from "tracking_sync"."refetch_queue" as candidate
        where candidate.resource_type = entry.type
            and candidate.resource_id = entry.id
            and candidate.generation = coalesce(entry.generation, candidate.generation)
        for update
    ) as queued
)
delete from "tracking_sync"."refetch_queue" as queued
using answered
where queued.resource_type = answered.resource_type and queued.resource_id = answered.resource_id
returning queued.resource_type as type, queued.resource_id as id;
