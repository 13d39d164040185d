-- write container_holds

with made as materialized (
    select parent.container_id, parent._observed_at, child."hold_key", "child"."place", "child"."name", "child"."status", "child"."description", "child"."detail", "child"."position", "child"."_unmapped", "child"."_coercions"
    from "tracking"."containers" as parent
    cross join lateral "tracking_sync"."holds_of"("parent"."holds_at_pod_terminal", "parent"."ind_facility_holds") as child
    where parent.container_id = any($1::text[]) and parent._deleted_at is null
),
gone as (
    delete from "tracking"."container_holds" as standing
    where standing.container_id = any($2::text[])
        and (standing.container_id, standing."hold_key") not in (
            select made.container_id, made."hold_key" from made
        )
)
insert into "tracking"."container_holds" as standing
    (container_id, "hold_key", "place", "name", "status", "description", "detail", "position", "_unmapped", "_coercions", _observed_at, _first_seen_at, _sync_run_id)
select made.container_id, made."hold_key", "made"."place", "made"."name", "made"."status", "made"."description", "made"."detail", "made"."position", "made"."_unmapped", "made"."_coercions",
    made._observed_at, made._observed_at, $3::bigint
from made
order by made.container_id, made."hold_key"
on conflict (container_id, "hold_key") do update
set
    "place" = "excluded"."place", "name" = "excluded"."name", "status" = "excluded"."status", "description" = "excluded"."description", "detail" = "excluded"."detail", "position" = "excluded"."position", "_unmapped" = "excluded"."_unmapped", "_coercions" = "excluded"."_coercions",
    _observed_at = excluded._observed_at,
    _sync_run_id = excluded._sync_run_id
where ("standing"."place", "standing"."name", "standing"."status", "standing"."description", "standing"."detail", "standing"."position", "standing"."_unmapped", "standing"."_coercions") is distinct from ("excluded"."place", "excluded"."name", "excluded"."status", "excluded"."description", "excluded"."detail", "excluded"."position", "excluded"."_unmapped", "excluded"."_coercions");

with made as materialized (
    select parent.container_id, parent._observed_at, child."hold_key", "child"."place", "child"."name", "child"."status", "child"."description", "child"."detail", "child"."position", "child"."_unmapped", "child"."_coercions"
    from unnest($1::text[]) as added (container_id)
    cross join lateral (select candidate.* from "tracking"."containers" as candidate where ("candidate"."container_id" = "added"."container_id") offset 0) as parent
    cross join lateral "tracking_sync"."holds_of"("parent"."holds_at_pod_terminal", "parent"."ind_facility_holds") as child
    order by 1, 3
),
standing as (
    insert into "tracking"."container_holds"
        (container_id, "hold_key", "place", "name", "status", "description", "detail", "position", "_unmapped", "_coercions", _observed_at, _first_seen_at, _sync_run_id)
    select made.container_id, made."hold_key", "made"."place", "made"."name", "made"."status", "made"."description", "made"."detail", "made"."position", "made"."_unmapped", "made"."_coercions",
        made._observed_at, made._observed_at, $2::bigint
    from made
)
insert into "tracking"."container_hold_history"
    (container_id, "hold_key", valid_from, "place", "name", "status", "description", "detail", source, _sync_run_id)
select made.container_id, made."hold_key", made._observed_at, "made"."place", "made"."name", "made"."status", "made"."description", "made"."detail",
    $3, $4::bigint
from made;
