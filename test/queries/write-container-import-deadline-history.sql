-- write container_import_deadline_history

insert into "tracking"."container_import_deadline_history"
    (container_id, "kind", valid_from, "place", "deadline_at", "time_zone", "local_date", source, _sync_run_id)
select standing.container_id, standing."kind", parent._observed_at,
    "standing"."place", "standing"."deadline_at", "standing"."time_zone", "standing"."local_date", $1, $2
from "tracking"."container_import_deadlines" as standing
cross join lateral (select candidate.* from "tracking"."containers" as candidate where ("candidate"."container_id" = "standing"."container_id") offset 0) as parent
where standing.container_id = any($3::text[])
    and not exists (
        select from "tracking"."container_import_deadline_history" as interval
        where interval.container_id = standing.container_id
            and interval."kind" = standing."kind"
            and interval.valid_to is null
    )
order by standing.container_id, standing."kind"
on conflict (container_id, "kind", valid_from) do update
set
    "place" = "excluded"."place", "deadline_at" = "excluded"."deadline_at", "time_zone" = "excluded"."time_zone", "local_date" = "excluded"."local_date",
    valid_to = null,
    source = excluded.source,
    _sync_run_id = excluded._sync_run_id;

with never_true as (
    delete from "tracking"."container_import_deadline_history" as interval
    using "tracking"."containers" as parent
    where interval.container_id = any($1::text[])
    and parent.container_id = interval.container_id
    and interval.valid_to is null
    and not exists (
        select from "tracking"."container_import_deadlines" as standing
        where standing.container_id = interval.container_id
            and standing."kind" = interval."kind"
            and not ("standing"."place", "standing"."deadline_at", "standing"."time_zone", "standing"."local_date") is distinct from ("interval"."place", "interval"."deadline_at", "interval"."time_zone", "interval"."local_date")
    )
        and interval.valid_from >= parent._observed_at
)
update "tracking"."container_import_deadline_history" as interval
set valid_to = parent._observed_at
from "tracking"."containers" as parent
where interval.container_id = any($2::text[])
    and parent.container_id = interval.container_id
    and interval.valid_to is null
    and not exists (
        select from "tracking"."container_import_deadlines" as standing
        where standing.container_id = interval.container_id
            and standing."kind" = interval."kind"
            and not ("standing"."place", "standing"."deadline_at", "standing"."time_zone", "standing"."local_date") is distinct from ("interval"."place", "interval"."deadline_at", "interval"."time_zone", "interval"."local_date")
    )
    and interval.valid_from < parent._observed_at;
