-- write container_hold_history

insert into "tracking"."container_hold_history"
    (container_id, "hold_key", valid_from, "place", "name", "status", "description", "detail", source, _sync_run_id)
select standing.container_id, standing."hold_key", parent._observed_at,
    "standing"."place", "standing"."name", "standing"."status", "standing"."description", "standing"."detail", $1, $2
from "tracking"."container_holds" as standing
cross join lateral (select candidate.* from "tracking"."containers" as candidate where ("candidate"."container_id" = "standing"."container_id") offset 0) as parent
where standing.container_id = any($3::text[])
    and not exists (
        select from "tracking"."container_hold_history" as interval
        where interval.container_id = standing.container_id
            and interval."hold_key" = standing."hold_key"
            and interval.valid_to is null
    )
order by standing.container_id, standing."hold_key"
on conflict (container_id, "hold_key", valid_from) do update
set
    "place" = "excluded"."place", "name" = "excluded"."name", "status" = "excluded"."status", "description" = "excluded"."description", "detail" = "excluded"."detail",
    valid_to = null,
    source = excluded.source,
    _sync_run_id = excluded._sync_run_id;

with never_true as (
    delete from "tracking"."container_hold_history" as interval
    using "tracking"."containers" as parent
    where interval.container_id = any($1::text[])
    and parent.container_id = interval.container_id
    and interval.valid_to is null
    and not exists (
        select from "tracking"."container_holds" as standing
        where standing.container_id = interval.container_id
            and standing."hold_key" = interval."hold_key"
            and not ("standing"."place", "standing"."name", "standing"."status", "standing"."description", "standing"."detail") is distinct from ("interval"."place", "interval"."name", "interval"."status", "interval"."description", "interval"."detail")
    )
        and interval.valid_from >= parent._observed_at
)
update "tracking"."container_hold_history" as interval
set valid_to = parent._observed_at
from "tracking"."containers" as parent
where interval.container_id = any($2::text[])
    and parent.container_id = interval.container_id
    and interval.valid_to is null
    and not exists (
        select from "tracking"."container_holds" as standing
        where standing.container_id = interval.container_id
            and standing."hold_key" = interval."hold_key"
            and not ("standing"."place", "standing"."name", "standing"."status", "standing"."description", "standing"."detail") is distinct from ("interval"."place", "interval"."name", "interval"."status", "interval"."description", "interval"."detail")
    )
    and interval.valid_from < parent._observed_at;
