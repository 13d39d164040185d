-- fill the time zones

with known as materialized (
    select name from pg_timezone_names
),
forgotten as (
    delete from "tracking_analytics"."time_zones" as zone
    where zone.name not in (select known.name from known)
)
insert into "tracking_analytics"."time_zones" (name)
select known.name from known
on conflict do nothing;
