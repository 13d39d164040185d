-- plan checks of places and vessels

insert into "tracking_sync"."reference_checks" (resource_type, resource_id, due_at)
select planned.type, planned.id,
    now() + case when $1::boolean then interval '1 day' + random() * interval '5 days'
        else interval '6 days' end
from unnest($2::text[], $3::text[]) as planned (type, id)
on conflict (resource_type, resource_id) do update
set due_at = excluded.due_at;
