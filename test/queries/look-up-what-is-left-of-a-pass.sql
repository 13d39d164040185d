-- look up what is left of a pass

select
    saved.position,
    saved.completed_at is not null as is_complete,
    floor(extract(epoch from saved.pass_started_at) * 1000)::bigint as started_ms,
    saved.sync_run_id > coalesce(
        (
            select max(sync_run_id)
            from "tracking_sync"."sync_runs"
            where command in ('backfill', 'sync') and outcome not in ('running', 'aborted')
        ),
        0
    ) as was_cut_off,
    advanced.position as advanced_position
from "tracking_sync"."checkpoints" as saved
left join "tracking_sync"."pass_positions" as advanced
    using (stream, scope, sync_run_id, pass_started_at)
where saved.stream = $1
    and saved.scope = $2
    and greatest(saved.updated_at, advanced.updated_at) > now() - interval '30 minutes';
