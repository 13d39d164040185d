import type { Warehouse } from '../warehouse/connection/warehouse.js'

/**
 * What the warehouse says about the work that waits and the age of what is there. Ages in seconds,
 * on the database's clock.
 */
export interface Measurements {
  /** By state of the inbox, of those that are not done with; a state without any is absent. */
  readonly notifications: Readonly<Record<string, number>>
  readonly oldestNotificationSeconds: number
  readonly refetches: number
  readonly oldestRefetchSeconds: number
  readonly quarantined: number
  readonly requestsInLastMinute: number
  /** Until requests may go on after a Retry-After of the service; 0: nothing holds them up. */
  readonly requestPauseSeconds: number
  /** By stream, for those that were complete within the last thousand runs. */
  readonly streamAgeSeconds: Readonly<Record<string, number>>
  readonly webhooks: readonly MeasuredWebhook[]
  /** Null: there was none. */
  readonly lastRun: MeasuredRun | null
}

/** The last run that has ended. */
export interface MeasuredRun {
  readonly command: string
  readonly outcome: string
  readonly seconds: number
  readonly hasProblem: boolean
  /** By stream, then by what became of the rows. */
  readonly rows: Readonly<Record<string, Readonly<Record<string, number>>>>
}

export interface MeasuredWebhook {
  readonly webhookId: string
  /** Null: the service does not say. */
  readonly isActive: boolean | null
  readonly hasAlert: boolean
}

/**
 * One query of bookkeeping tables by their indexes; no count of data rows or of all notifications,
 * so that it may be asked every few seconds.
 */
export async function measure(warehouse: Warehouse): Promise<Measurements> {
  const { names } = warehouse
  const [row] = await warehouse.query<Measurements>(
    'measure the queues',
    `select
    (
        select coalesce(jsonb_object_agg(state, count), '{}')
        from (
            select state, count(*) as count
            from ${names.table('webhook_notifications')}
            where state in ('received', 'unresolved', 'dead')
            group by state
        ) as states
    ) as notifications,
    (
        select coalesce(extract(epoch from now() - min(received_at)), 0)::float8
        from ${names.table('webhook_notifications')}
        where state = 'received'
    ) as "oldestNotificationSeconds",
    (select count(*) from ${names.table('refetch_queue')}) as refetches,
    (
        select coalesce(extract(epoch from now() - min(requested_at)), 0)::float8
        from ${names.table('refetch_queue')}
        where coalesce(not_before <= now(), true)
    ) as "oldestRefetchSeconds",
    (select count(*) from ${names.table('quarantine')}) as quarantined,
    (
        select coalesce(sum(request.of_syncs + request.of_others), 0)
        from ${names.table('request_budget')} as budget
        cross join unnest(budget.requested_at, budget.sync_requests, budget.other_requests)
            as request (made_at, of_syncs, of_others)
        where request.made_at > now() - interval '60 seconds'
    ) as "requestsInLastMinute",
    (
        select coalesce(max(greatest(0, extract(epoch from paused_until - now()))), 0)::float8
        from ${names.table('request_budget')}
    ) as "requestPauseSeconds",
    (
        select coalesce(jsonb_object_agg(stream, age), '{}')
        from (
            select stream.stream,
                extract(
                    epoch from now() - max(coalesce(stream.pass_began_at, run.started_at))
                )::float8 as age
            from ${names.table('sync_run_streams')} as stream
            inner join ${names.table('sync_runs')} as run using (sync_run_id)
            where stream.outcome = 'complete'
                and stream.sync_run_id > (select max(sync_run_id) - 1000 from ${names.table('sync_runs')})
                and run.command != 'quarantine retry'
                and run.options -> 'narrowing' is null
            group by stream.stream
        ) as ages
    ) as "streamAgeSeconds",
    (
        select coalesce(
            jsonb_agg(
                jsonb_build_object('webhookId', webhook_id, 'isActive', is_active, 'hasAlert', alert is not null)
                order by webhook_id
            ),
            '[]'
        )
        from ${names.table('webhooks')}
        where is_ours or alert is not null
    ) as webhooks,
    (
        select
            jsonb_build_object(
                'command', run.command,
                'outcome', run.outcome,
                'seconds', extract(epoch from run.finished_at - run.started_at)::float8,
                'hasProblem', run.error_message is not null,
                'rows', (
                    select coalesce(
                        jsonb_object_agg(
                            stream,
                            jsonb_build_object(
                                'inserted', inserted, 'updated', updated, 'tombstoned', tombstoned,
                                'quarantined', quarantined, 'stale', stale, 'coerced', coerced
                            )
                        ),
                        '{}'
                    )
                    from ${names.table('sync_run_streams')} as stream
                    where stream.sync_run_id = run.sync_run_id
                )
            )
        from ${names.table('sync_runs')} as run
        where run.finished_at is not null
        order by run.sync_run_id desc
        limit 1
    ) as "lastRun"`,
  )
  if (row === undefined) throw new Error('a query without a from clause has one row')
  return row
}
