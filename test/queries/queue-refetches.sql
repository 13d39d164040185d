-- queue refetches

insert into "tracking_sync"."refetch_queue" as queued
    (resource_type, resource_id, reason, not_before)
select entry.type, entry.id, $1, now() + make_interval(secs => $2::double precision)
from unnest($3::text[], $4::text[]) as entry (type, id)
on conflict (resource_type, resource_id) do update
set
    generation = queued.generation + 1,
    reason = excluded.reason,
    not_before = least(queued.not_before, excluded.not_before);
