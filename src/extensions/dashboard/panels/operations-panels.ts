import type { Panel } from './panels.js'

const NO_RUN = 'Nothing was loaded yet. Start with `tracking-sync backfill`.'

/** Panels for the operator. */
export const OPERATIONS_PANELS: readonly Panel[] = [
  {
    id: 'freshness',
    group: 'operations',
    title: 'Age of the data',
    meaning:
      'Age of the last complete sync over the last 14 days. It falls when a run ends, and rises ' +
      'until the next: a high tooth is a run that failed or did not start.',
    unit: 'hours',
    empty: NO_RUN,
    picture: { days: [-14, 1], shape: 'line', at: 'at', value: 'hours' },
    sqlText: `with runs as (
    select
        started_at,
        finished_at,
        lag(started_at) over (order by finished_at) as before_at
    from {{sync}}.sync_runs
    where outcome = 'complete'
        and command in ('sync', 'backfill')
        and options -> 'narrowing' is null
        and finished_at >= now() - interval '14 days'
    order by finished_at desc
    limit 500
)

select
    point.at,
    round((extract(epoch from point.age) / 3600)::numeric, 3) as hours
from (
    select finished_at as at, finished_at - before_at as age, 1 as part
    from runs
    where before_at is not null
    union all
    select finished_at, finished_at - started_at, 2 from runs
    union all
    select now(), now() - max(started_at), 3 from runs having count(*) > 0
) as point
order by point.at, point.part`,
  },
  {
    id: 'rows-written',
    group: 'operations',
    title: 'Rows written by runs',
    meaning: 'Rows that runs inserted, changed or found gone, by day, in the last 14 days.',
    unit: 'rows',
    empty: NO_RUN,
    picture: {
      days: [-14, 1],
      shape: 'columns',
      at: 'day',
      every: 'day',
      value: 'rows',
      kind: 'what',
    },
    sqlText: `select
    (run.started_at at time zone 'UTC')::date as day,
    done.what,
    sum(done.rows) as rows
from {{sync}}.sync_runs as run
inner join {{sync}}.sync_run_streams as part on part.sync_run_id = run.sync_run_id
cross join lateral (
    values
        ('inserted', part.inserted),
        ('changed', part.updated),
        ('deleted', part.tombstoned)
) as done (what, rows)
where run.started_at >= now() - interval '14 days'
    and done.rows > 0
group by 1, 2
order by 1, 2`,
  },
  {
    id: 'requests',
    group: 'operations',
    title: 'Requests to the service',
    meaning: 'Requests of runs by the hour they began, in the last two days.',
    unit: 'requests',
    empty: 'No run asked the service in the last two days.',
    picture: {
      days: [-2, 1],
      shape: 'columns',
      at: 'hour',
      every: 'hour',
      value: 'requests',
      kind: 'command',
    },
    sqlText: `select
    date_trunc('hour', started_at) as hour,
    command,
    sum(requests) as requests
from {{sync}}.sync_runs
where started_at >= now() - interval '2 days'
group by 1, 2
having sum(requests) > 0
order by 1, 2`,
  },
  {
    id: 'webhooks',
    group: 'operations',
    title: 'Webhook deliveries',
    meaning:
      'Deliveries by the hour they came, in the last two days, and by their outcome. ' +
      'The table also has the longest time from receipt to row in that hour, in seconds.',
    unit: 'deliveries',
    empty: 'No delivery came in the last two days. Webhooks are optional.',
    picture: {
      days: [-2, 1],
      shape: 'columns',
      at: 'hour',
      every: 'hour',
      value: 'deliveries',
      kind: 'state',
    },
    sqlText: `select
    date_trunc('hour', received_at) as hour,
    state,
    count(*) as deliveries,
    round(max(extract(epoch from processed_at - received_at))::numeric, 1) as slowest_seconds
from {{sync}}.webhook_notifications
where received_at >= now() - interval '2 days'
    -- A reconciliation receives and processes its notifications at the same instant.
    and processed_at is distinct from received_at
group by 1, 2
order by 1, 2`,
  },
  {
    id: 'set-aside',
    group: 'operations',
    title: 'Records and values set aside',
    meaning:
      'Records in quarantine, and values of the last 14 days that could not be stored as sent. ' +
      '`tracking-sync quarantine list` shows the records.',
    unit: 'records or values',
    empty: 'Nothing is set aside.',
    picture: { shape: 'bars', name: 'stream', value: 'count', kind: 'what' },
    sqlText: `select replace(stream, '_', ' ') as stream, 'in quarantine' as what, count(*) as count
from {{sync}}.quarantine
group by 1
union all
select replace(part.stream, '_', ' '), 'not stored as sent', sum(part.coerced)
from {{sync}}.sync_run_streams as part
inner join {{sync}}.sync_runs as run on run.sync_run_id = part.sync_run_id
where run.started_at >= now() - interval '14 days'
group by 1
having sum(part.coerced) > 0
order by 3 desc, 1`,
  },
]
