-- queue missing references

insert into "tracking_sync"."refetch_queue" (resource_type, resource_id, reason)
select $1, wanted.id, $2
from unnest($3::text[]) as wanted (id)
where not exists (select from "tracking"."ports" as stored where stored."port_id" = wanted.id)
order by wanted.id
on conflict do nothing;

insert into "tracking_sync"."refetch_queue" (resource_type, resource_id, reason)
select $1, wanted.id, $2
from unnest($3::text[]) as wanted (id)
where not exists (select from "tracking"."terminals" as stored where stored."terminal_id" = wanted.id)
order by wanted.id
on conflict do nothing;

insert into "tracking_sync"."refetch_queue" (resource_type, resource_id, reason)
select $1, wanted.id, $2
from unnest($3::text[]) as wanted (id)
where not exists (select from "tracking"."vessels" as stored where stored."vessel_id" = wanted.id)
order by wanted.id
on conflict do nothing;
