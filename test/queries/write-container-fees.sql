-- write container_fees

with made as materialized (
    select parent.container_id, parent._observed_at, child."fee_key", "child"."place", "child"."type", "child"."amount", "child"."currency_code", "child"."description", "child"."is_total", "child"."position", "child"."_unmapped", "child"."_coercions"
    from "tracking"."containers" as parent
    cross join lateral "tracking_sync"."fees_of"("parent"."fees_at_pod_terminal", "parent"."ind_facility_fees") as child
    where parent.container_id = any($1::text[]) and parent._deleted_at is null
),
gone as (
    delete from "tracking"."container_fees" as standing
    where standing.container_id = any($2::text[])
        and (standing.container_id, standing."fee_key") not in (
            select made.container_id, made."fee_key" from made
        )
)
insert into "tracking"."container_fees" as standing
    (container_id, "fee_key", "place", "type", "amount", "currency_code", "description", "is_total", "position", "_unmapped", "_coercions", _observed_at, _first_seen_at, _sync_run_id)
select made.container_id, made."fee_key", "made"."place", "made"."type", "made"."amount", "made"."currency_code", "made"."description", "made"."is_total", "made"."position", "made"."_unmapped", "made"."_coercions",
    made._observed_at, made._observed_at, $3::bigint
from made
order by made.container_id, made."fee_key"
on conflict (container_id, "fee_key") do update
set
    "place" = "excluded"."place", "type" = "excluded"."type", "amount" = "excluded"."amount", "currency_code" = "excluded"."currency_code", "description" = "excluded"."description", "is_total" = "excluded"."is_total", "position" = "excluded"."position", "_unmapped" = "excluded"."_unmapped", "_coercions" = "excluded"."_coercions",
    _observed_at = excluded._observed_at,
    _sync_run_id = excluded._sync_run_id
where ("standing"."place", "standing"."type", "standing"."amount", "standing"."currency_code", "standing"."description", "standing"."is_total", "standing"."position", "standing"."_unmapped", "standing"."_coercions") is distinct from ("excluded"."place", "excluded"."type", "excluded"."amount", "excluded"."currency_code", "excluded"."description", "excluded"."is_total", "excluded"."position", "excluded"."_unmapped", "excluded"."_coercions");

with made as materialized (
    select parent.container_id, parent._observed_at, child."fee_key", "child"."place", "child"."type", "child"."amount", "child"."currency_code", "child"."description", "child"."is_total", "child"."position", "child"."_unmapped", "child"."_coercions"
    from unnest($1::text[]) as added (container_id)
    cross join lateral (select candidate.* from "tracking"."containers" as candidate where ("candidate"."container_id" = "added"."container_id") offset 0) as parent
    cross join lateral "tracking_sync"."fees_of"("parent"."fees_at_pod_terminal", "parent"."ind_facility_fees") as child
    order by 1, 3
),
standing as (
    insert into "tracking"."container_fees"
        (container_id, "fee_key", "place", "type", "amount", "currency_code", "description", "is_total", "position", "_unmapped", "_coercions", _observed_at, _first_seen_at, _sync_run_id)
    select made.container_id, made."fee_key", "made"."place", "made"."type", "made"."amount", "made"."currency_code", "made"."description", "made"."is_total", "made"."position", "made"."_unmapped", "made"."_coercions",
        made._observed_at, made._observed_at, $2::bigint
    from made
)
insert into "tracking"."container_fee_history"
    (container_id, "fee_key", valid_from, "place", "type", "amount", "currency_code", "description", source, _sync_run_id)
select made.container_id, made."fee_key", made._observed_at, "made"."place", "made"."type", "made"."amount", "made"."currency_code", "made"."description",
    $3, $4::bigint
from made;
