-- write container_import_deadlines

with made as materialized (
    select parent.container_id, parent._observed_at, child."kind", "child"."place", "child"."deadline_at", "child"."time_zone", "child"."local_date", "child"."is_zone_known", "child"."details"
    from "tracking"."containers" as parent
    cross join lateral (
    select made.*
    from (
        select (
            select zone.name
            from "tracking_analytics"."time_zones" as zone
            where zone.name = "parent"."pod_timezone"
        ) as "pod_timezone", (
            select zone.name
            from "tracking_analytics"."time_zones" as zone
            where zone.name = "parent"."final_destination_timezone"
        ) as "final_destination_timezone"
        offset 0
    ) as known
    cross join lateral "tracking_sync"."deadlines_of"("parent"."pickup_lfd", "parent"."pickup_lfd_terminal", "parent"."pickup_lfd_rail", "parent"."pickup_lfd_line", "parent"."ind_facility_lfd_on", "parent"."ssl_lfd", "parent"."import_deadline_sources", "parent"."pod_timezone", "parent"."final_destination_timezone", "parent"."_coercions", "known"."pod_timezone", "known"."final_destination_timezone") as made
) as child
    where parent.container_id = any($1::text[]) and parent._deleted_at is null
),
gone as (
    delete from "tracking"."container_import_deadlines" as standing
    where standing.container_id = any($2::text[])
        and (standing.container_id, standing."kind") not in (
            select made.container_id, made."kind" from made
        )
)
insert into "tracking"."container_import_deadlines" as standing
    (container_id, "kind", "place", "deadline_at", "time_zone", "local_date", "is_zone_known", "details", _observed_at, _first_seen_at, _sync_run_id)
select made.container_id, made."kind", "made"."place", "made"."deadline_at", "made"."time_zone", "made"."local_date", "made"."is_zone_known", "made"."details",
    made._observed_at, made._observed_at, $3::bigint
from made
order by made.container_id, made."kind"
on conflict (container_id, "kind") do update
set
    "place" = "excluded"."place", "deadline_at" = "excluded"."deadline_at", "time_zone" = "excluded"."time_zone", "local_date" = "excluded"."local_date", "is_zone_known" = "excluded"."is_zone_known", "details" = "excluded"."details",
    _observed_at = excluded._observed_at,
    _sync_run_id = excluded._sync_run_id
where ("standing"."place", "standing"."deadline_at", "standing"."time_zone", "standing"."local_date", "standing"."is_zone_known", "standing"."details") is distinct from ("excluded"."place", "excluded"."deadline_at", "excluded"."time_zone", "excluded"."local_date", "excluded"."is_zone_known", "excluded"."details");

with made as materialized (
    select parent.container_id, parent._observed_at, child."kind", "child"."place", "child"."deadline_at", "child"."time_zone", "child"."local_date", "child"."is_zone_known", "child"."details"
    from unnest($1::text[]) as added (container_id)
    cross join lateral (select candidate.* from "tracking"."containers" as candidate where ("candidate"."container_id" = "added"."container_id") offset 0) as parent
    cross join lateral (
    select made.*
    from (
        select (
            select zone.name
            from "tracking_analytics"."time_zones" as zone
            where zone.name = "parent"."pod_timezone"
        ) as "pod_timezone", (
            select zone.name
            from "tracking_analytics"."time_zones" as zone
            where zone.name = "parent"."final_destination_timezone"
        ) as "final_destination_timezone"
        offset 0
    ) as known
    cross join lateral "tracking_sync"."deadlines_of"("parent"."pickup_lfd", "parent"."pickup_lfd_terminal", "parent"."pickup_lfd_rail", "parent"."pickup_lfd_line", "parent"."ind_facility_lfd_on", "parent"."ssl_lfd", "parent"."import_deadline_sources", "parent"."pod_timezone", "parent"."final_destination_timezone", "parent"."_coercions", "known"."pod_timezone", "known"."final_destination_timezone") as made
) as child
    order by 1, 3
),
standing as (
    insert into "tracking"."container_import_deadlines"
        (container_id, "kind", "place", "deadline_at", "time_zone", "local_date", "is_zone_known", "details", _observed_at, _first_seen_at, _sync_run_id)
    select made.container_id, made."kind", "made"."place", "made"."deadline_at", "made"."time_zone", "made"."local_date", "made"."is_zone_known", "made"."details",
        made._observed_at, made._observed_at, $2::bigint
    from made
)
insert into "tracking"."container_import_deadline_history"
    (container_id, "kind", valid_from, "place", "deadline_at", "time_zone", "local_date", source, _sync_run_id)
select made.container_id, made."kind", made._observed_at, "made"."place", "made"."deadline_at", "made"."time_zone", "made"."local_date",
    $3, $4::bigint
from made;
