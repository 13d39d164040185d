-- write container_fee_history

insert into "tracking"."container_fee_history"
    (container_id, "fee_key", valid_from, "place", "type", "amount", "currency_code", "description", source, _sync_run_id)
select standing.container_id, standing."fee_key", parent._observed_at,
    "standing"."place", "standing"."type", "standing"."amount", "standing"."currency_code", "standing"."description", $1, $2
from "tracking"."container_fees" as standing
cross join lateral (select candidate.* from "tracking"."containers" as candidate where ("candidate"."container_id" = "standing"."container_id") offset 0) as parent
where standing.container_id = any($3::text[])
    and not exists (
        select from "tracking"."container_fee_history" as interval
        where interval.container_id = standing.container_id
            and interval."fee_key" = standing."fee_key"
            and interval.valid_to is null
    )
order by standing.container_id, standing."fee_key"
on conflict (container_id, "fee_key", valid_from) do update
set
    "place" = "excluded"."place", "type" = "excluded"."type", "amount" = "excluded"."amount", "currency_code" = "excluded"."currency_code", "description" = "excluded"."description",
    valid_to = null,
    source = excluded.source,
    _sync_run_id = excluded._sync_run_id;

with never_true as (
    delete from "tracking"."container_fee_history" as interval
    using "tracking"."containers" as parent
    where interval.container_id = any($1::text[])
    and parent.container_id = interval.container_id
    and interval.valid_to is null
    and not exists (
        select from "tracking"."container_fees" as standing
        where standing.container_id = interval.container_id
            and standing."fee_key" = interval."fee_key"
            and not ("standing"."place", "standing"."type", "standing"."amount", "standing"."currency_code", "standing"."description") is distinct from ("interval"."place", "interval"."type", "interval"."amount", "interval"."currency_code", "interval"."description")
    )
        and interval.valid_from >= parent._observed_at
)
update "tracking"."container_fee_history" as interval
set valid_to = parent._observed_at
from "tracking"."containers" as parent
where interval.container_id = any($2::text[])
    and parent.container_id = interval.container_id
    and interval.valid_to is null
    and not exists (
        select from "tracking"."container_fees" as standing
        where standing.container_id = interval.container_id
            and standing."fee_key" = interval."fee_key"
            and not ("standing"."place", "standing"."type", "standing"."amount", "standing"."currency_code", "standing"."description") is distinct from ("interval"."place", "interval"."type", "interval"."amount", "interval"."currency_code", "interval"."description")
    )
    and interval.valid_from < parent._observed_at;
