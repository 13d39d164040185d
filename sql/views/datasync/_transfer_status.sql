-- When each table was last brought up to date, as in the service's own export
--
-- One row per table of this schema: names, order and types of the columns are those of the table
-- `_transfer_status` of the service's own commercial export to warehouses.
-- A table is up to date when a sync or backfill has read all there was to read of it; backfills
-- narrowed to some shipments or containers do not count. Rows that notifications brought in between
-- are newer.

create view {{datasync}}._transfer_status as
with

models as (

    select unnest(
        array['containers', 'shipments', 'tracking_requests', 'transport_events']
    ) as data_model_name

),

passes as (

    select part.stream, part.finished_at
    from {{sync}}.sync_run_streams as part
    inner join {{sync}}.sync_runs as run
        on run.sync_run_id = part.sync_run_id
    where run.command in ('backfill', 'sync')
        and not coalesce(run.options ? 'narrowing', false)
        and part.outcome = 'complete'

)

select
    models.data_model_name,
    max(passes.finished_at) at time zone 'UTC' as transfer_last_updated_at
from models
left join passes
    on passes.stream = models.data_model_name
group by models.data_model_name;
