-- record attributes

insert into "tracking_sync"."seen_attributes" (stream, attribute, sync_run_id)
select $1, attribute, $2::bigint
from unnest($3::text[]) as added (attribute)
on conflict do nothing;
