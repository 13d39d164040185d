-- How fresh the data is
--
-- One row per stream that a sync or backfill has read.
--
-- A sync is complete for a stream when it read everything it had to read of that stream; backfills
-- narrowed to some shipments or containers do not count, nor do other commands. The data are as old
-- as the first request of the pass that showed them; a resumed pass began before its last run.
-- age_hours runs from there to as_of(), on the clock of the database. A pass reads the records that
-- can still change, or, by default once a day, the whole list; only a whole pass shows deleted
-- records and late changes. Reference streams (ports, vessels and so on) take part in a sync only
-- when there was something new to read: an age above that of shipments is normal there.
-- last_outcome is the outcome of the last run over whole lists, even if it still runs.
-- rows: live rows, counted only when the column is selected; about a second for 10 million rows.
-- Leave it out if that matters. It is the present number, also with the setting
-- tracking_sync.as_of.

create view {{analytics}}.freshness as
with

passes as (

    select
        part.stream,
        part.sync_run_id,
        part.outcome,
        part.detail,
        part.started_at,
        part.finished_at,
        part.pass_scope,
        coalesce(part.pass_began_at, least(run.started_at, part.started_at)) as began_at
    from {{sync}}.sync_run_streams as part
    inner join {{sync}}.sync_runs as run
        on run.sync_run_id = part.sync_run_id
    where run.command in ('backfill', 'sync')
        and not coalesce(run.options ? 'narrowing', false)
        and part.started_at <= {{analytics}}.as_of()

),

streams as (

    select
        stream,
        max(sync_run_id) as last_run_id,
        max(sync_run_id) filter (
            where outcome = 'complete' and finished_at <= {{analytics}}.as_of()
        ) as last_complete_run_id,
        max(began_at) filter (
            where outcome = 'complete'
                and finished_at <= {{analytics}}.as_of()
                and pass_scope is distinct from 'changing'
        ) as last_whole_started_at
    from passes
    group by stream

)

select
    stream.stream,
    stream.last_complete_run_id,
    last_run.outcome as last_outcome,
    last_run.detail as last_detail,
    round(extract(epoch from {{analytics}}.as_of() - complete.began_at) / 3600, 2) as age_hours,
    case stream.stream
        when 'shipments' then (
            select count(*) from {{data}}.shipments as live where live._deleted_at is null
        )
        when 'containers' then (
            select count(*) from {{data}}.containers as live where live._deleted_at is null
        )
        when 'transport_events' then (
            select count(*) from {{data}}.transport_events as live where live._deleted_at is null
        )
        when 'tracking_requests' then (
            select count(*) from {{data}}.tracking_requests as live where live._deleted_at is null
        )
        when 'ports' then (
            select count(*) from {{data}}.ports as live where live._deleted_at is null
        )
        when 'terminals' then (
            select count(*) from {{data}}.terminals as live where live._deleted_at is null
        )
        when 'metro_areas' then (
            select count(*) from {{data}}.metro_areas as live where live._deleted_at is null
        )
        when 'rail_terminals' then (
            select count(*) from {{data}}.rail_terminals as live where live._deleted_at is null
        )
        when 'vessels' then (
            select count(*) from {{data}}.vessels as live where live._deleted_at is null
        )
        when 'custom_fields' then (
            select count(*) from {{data}}.custom_fields as live where live._deleted_at is null
        )
        when 'custom_field_definitions' then (
            select count(*)
            from {{data}}.custom_field_definitions as live
            where live._deleted_at is null
        )
        when 'custom_field_options' then (
            select count(*)
            from {{data}}.custom_field_options as live
            where live._deleted_at is null
        )
        when 'raw_events' then (
            select count(*) from {{data}}.raw_events as live where live._deleted_at is null
        )
        when 'webhook_event_categories' then (
            select count(*)
            from {{data}}.webhook_event_categories as live
            where live._deleted_at is null
        )
        when 'other_resources' then (
            select count(*) from {{data}}.other_resources as live where live._deleted_at is null
        )
    end as rows,
    complete.began_at as last_complete_started_at,
    stream.last_whole_started_at,
    complete.finished_at as last_complete_finished_at,
    last_run.started_at as last_started_at
from streams as stream
inner join passes as last_run
    on last_run.stream = stream.stream
    and last_run.sync_run_id = stream.last_run_id
left join passes as complete
    on complete.stream = stream.stream
    and complete.sync_run_id = stream.last_complete_run_id;
