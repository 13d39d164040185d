import { sql } from 'kysely'
import { slotGaps } from '../base/slots.js'
import { findSilences, type Silence } from '../warehouse/bookkeeping/pass-shares.js'
import { REFETCH_STATE } from '../warehouse/bookkeeping/refetch-queue.js'
import { isStandby } from '../warehouse/connection/read-only.js'
import type { RunOutcome } from '../warehouse/connection/tables.js'
import type { Warehouse } from '../warehouse/connection/warehouse.js'
import { readReplicationSlots, type ReplicationSlot } from './replication-slots.js'
import { tableRef } from '../warehouse/connection/typed-database.js'

/**
 * Facts about the warehouse that can be read in milliseconds: every query uses an index or a small
 * table, none counts data rows or applied notifications. Instants and ages by the database's clock.
 */
export interface Vitals {
  /** The server follows another one: unlogged tables are empty here. */
  readonly isStandby: boolean
  readonly freshness: SyncFreshness
  readonly streams: readonly StreamPasses[]
  /** Waiting entries, by queue and state, in order of name; an empty state is not listed. */
  readonly queues: readonly QueueStatus[]
  readonly quarantined: number
  /** Columns and tables that stopped coming, as of the last complete pass. */
  readonly silences: readonly Silence[]
  /**
   * One for each account that has used this warehouse. Empty after a crash of the database, and on
   * a standby.
   */
  readonly budgets: readonly BudgetStatus[]
  readonly webhooks: readonly WebhookStatus[]
  /** The last run that has ended; null if there was none. */
  readonly lastRun: EndedRun | null
  readonly isRunUnderWay: boolean
  readonly replicationSlots: readonly ReplicationSlot[]
}

export interface StreamPasses {
  readonly stream: string
  /**
   * Just before the first request of the last complete pass: the rows are at least that new. Null
   * if there was none.
   */
  readonly lastCompleteBeganAt: string | null
  readonly ageSeconds: number | null
  /** The same for the last pass over the whole list, not only over what can still change. */
  readonly lastWholeBeganAt: string | null
  readonly lastOutcome: string | null
}

/**
 * The lists that the account may not read, in one sentence; undefined where it may read everything.
 * The rest is complete without it.
 */
export function describeRefused(streams: readonly StreamPasses[]): string | undefined {
  const refused = streams
    .filter(({ lastOutcome }) => lastOutcome === 'not_entitled')
    // Only the positions are refused; vessels themselves are read.
    .map(({ stream }) => (stream === 'vessels' ? 'the positions of vessels' : stream))
    .sort()
  if (refused.length === 0) return undefined
  return (
    `the service does not show this account ${refused.join(', ')}: all else is read; ` +
    'its owner can grant the right'
  )
}

export interface QueueStatus {
  readonly queue: 'refetch_queue' | 'webhook_notifications' | 'alert_messages'
  /** `due`, `later` or `being read` for the refetch queue; else the entry's own state. */
  readonly state: string
  readonly entries: number
  /** Age of the oldest entry; null for notifications that are finished. */
  readonly oldestSeconds: number | null
}

export interface BudgetStatus {
  /** A hash; see `accountKey`. */
  readonly account: string
  /** Requests of all processes in the last 60 seconds. */
  readonly requestsLastMinute: number
  /** End of the pause that the service asked for (Retry-After); null if there is none. */
  readonly pausedUntil: string | null
  readonly pauseSeconds: number
}

/** A webhook of ours as it was last seen, or one that was ours until it was pointed elsewhere. */
export interface WebhookStatus {
  readonly webhookId: string
  readonly url: string | null
  /** Null: the service does not say. */
  readonly isActive: boolean | null
  /** Number of subscribed events; null: the service does not say. */
  readonly events: number | null
  readonly checkedAt: string
  /** The problem and its fix, one sentence per line; null if all is well. */
  readonly alert: string | null
}

export interface EndedRun {
  readonly syncRunId: number
  readonly command: string
  readonly outcome: RunOutcome
  readonly seconds: number
  /** The problem and its fix; null if all went well. */
  readonly problem: string | null
  /** Counts by stream, then by what happened to the rows. */
  readonly rows: Readonly<Record<string, Readonly<Record<string, number>>>>
}

/** The vitals leave out the age of a stream that was not read within so many runs. */
const RUNS_LOOKED_AT = 1_000

export async function readVitals(warehouse: Warehouse): Promise<Vitals> {
  const isFollowing = await isStandby(warehouse)
  return {
    isStandby: isFollowing,
    freshness: await readSyncFreshness(warehouse),
    streams: await readPasses(warehouse, RUNS_LOOKED_AT),
    queues: await readQueues(warehouse),
    quarantined: await countQuarantined(warehouse),
    silences: await findSilences(warehouse),
    budgets: isFollowing ? [] : await readBudgets(warehouse),
    webhooks: await readWebhooks(warehouse),
    lastRun: await readLastRun(warehouse),
    isRunUnderWay: await isRunUnderWay(warehouse),
    replicationSlots: await readReplicationSlots(warehouse),
  }
}

/** Passes of the streams in the last `runs` runs. */
export function readPasses(warehouse: Warehouse, runs: number): Promise<StreamPasses[]> {
  return warehouse.query(
    'read the last passes over each stream',
    sql<StreamPasses>`with passes as (
    select part.stream, part.sync_run_id, part.outcome, part.pass_scope,
        case when part.outcome = 'complete' then coalesce(part.pass_began_at, run.started_at) end
            as began_at
    from ${tableRef('sync.sync_run_streams')} as part
    inner join ${tableRef('sync.sync_runs')} as run using (sync_run_id)
    where part.sync_run_id > (
            select max(sync_run_id) - ${runs} from ${tableRef('sync.sync_runs')}
        )
        -- Some records of a stream, read by id, say nothing about the rest of it.
        and run.command != 'quarantine retry'
        and coalesce(run.options #> '{narrowing,shipmentIds}', '[]') = '[]'
        and coalesce(run.options #> '{narrowing,containerIds}', '[]') = '[]'
)

select
    stream,
    max(began_at) as "lastCompleteBeganAt",
    max(began_at) filter (where pass_scope is distinct from 'changing') as "lastWholeBeganAt",
    round(extract(epoch from now() - max(began_at)))::float8 as "ageSeconds",
    (array_agg(outcome order by sync_run_id desc))[1] as "lastOutcome"
from passes
group by stream`,
  )
}

export function readQueues(warehouse: Warehouse): Promise<QueueStatus[]> {
  return warehouse.query(
    'read the queues',
    sql<QueueStatus>`select 'refetch_queue' as queue, state, count(*) as entries,
    round(extract(epoch from now() - min(requested_at)))::float8 as "oldestSeconds"
from (
    select queued.requested_at, ${REFETCH_STATE} as state
    from ${tableRef('sync.refetch_queue')} as queued
) as entry
group by state
union all
select 'webhook_notifications', state, count(*),
    round(extract(epoch from now() - min(received_at)))::float8
from ${tableRef('sync.webhook_notifications')}
where state in ('received', 'unresolved', 'dead')
group by state
union all
select 'alert_messages', state, count(*), round(extract(epoch from now() - min(created_at)))::float8
from ${tableRef('sync.alert_messages')}
where state != 'sent'
group by state
order by queue, state`,
  )
}

async function countQuarantined(warehouse: Warehouse): Promise<number> {
  const [row] = await warehouse.query(
    'count the quarantine',
    warehouse.db
      .selectFrom('sync.quarantine')
      .select(({ fn }) => fn.countAll<number>().as('count')),
  )
  return row?.count ?? 0
}

export function readBudgets(warehouse: Warehouse): Promise<BudgetStatus[]> {
  return warehouse.query(
    'read the request budget',
    sql<BudgetStatus>`select
    account,
    (
        select coalesce(sum(used.syncs + used.others), 0)
        from unnest(requested_at, sync_requests, other_requests)
            as used (instant, syncs, others)
        where used.instant > now() - interval '60 seconds'
    ) as "requestsLastMinute",
    case when paused_until > now() then paused_until end as "pausedUntil",
    coalesce(greatest(0, extract(epoch from paused_until - now())), 0)::float8 as "pauseSeconds"
from ${tableRef('sync.request_budget')}
order by account`,
  )
}

function readWebhooks(warehouse: Warehouse): Promise<WebhookStatus[]> {
  return warehouse.query(
    'read the state of our webhooks',
    sql<WebhookStatus>`select
    webhook_id as "webhookId",
    url,
    is_active as "isActive",
    cardinality(events) as events,
    checked_at as "checkedAt",
    alert
from ${tableRef('sync.webhooks')}
where is_ours or alert is not null
order by webhook_id`,
  )
}

async function readLastRun(warehouse: Warehouse): Promise<EndedRun | null> {
  const [row] = await warehouse.query(
    'read the last run that has ended',
    sql<EndedRun>`select
    run.sync_run_id as "syncRunId",
    run.command,
    run.outcome,
    extract(epoch from run.finished_at - run.started_at)::float8 as seconds,
    run.error_message as problem,
    (
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
        from ${tableRef('sync.sync_run_streams')} as part
        where part.sync_run_id = run.sync_run_id
    ) as rows
from ${tableRef('sync.sync_runs')} as run
where run.finished_at is not null
order by run.sync_run_id desc
limit 1`,
  )
  return row ?? null
}

async function isRunUnderWay(warehouse: Warehouse): Promise<boolean> {
  const [row] = await warehouse.query(
    'look whether a run is under way',
    sql<{ is_held: boolean }>`select exists (
    select
    from ${tableRef('sync.lease')}
    where holder is not null and heartbeat_at > now() - interval '60 seconds'
) as is_held`,
  )
  return row?.is_held === true
}

/** How old the last complete sync or backfill is, in any process; a narrowed one does not count. */
export interface SyncFreshness {
  /** Just before its first request, by the database's clock; null if there was none. */
  readonly beganAt: string | null
  readonly ageSeconds: number | null
}

/** A run that continued a pass of an earlier run is as old as that pass. One indexed query. */
export async function readSyncFreshness(warehouse: Warehouse): Promise<SyncFreshness> {
  const [row] = await warehouse.query(
    'look up the last complete sync',
    sql<{
      began_at: string
      age: number
    }>`select passes.began_at, extract(epoch from now() - passes.began_at)::float8 as age
from (
    select sync_run_id, started_at
    from ${tableRef('sync.sync_runs')}
    where outcome = 'complete'
        and command in ('sync', 'backfill')
        and options -> 'narrowing' is null
    order by sync_run_id desc
    limit 1
) as run
cross join lateral (
    select coalesce(min(part.pass_began_at), run.started_at) as began_at
    from ${tableRef('sync.sync_run_streams')} as part
    where part.sync_run_id = run.sync_run_id
) as passes`,
  )
  return { beganAt: row?.began_at ?? null, ageSeconds: row?.age ?? null }
}

export interface SyncSlots {
  /** A cron expression, or `off`. */
  readonly cron: string
  readonly timeZone: string
}

export function slotsOf(config: {
  readonly syncCron: string
  readonly cronTimeZone: string
}): SyncSlots {
  return { cron: config.syncCron, timeZone: config.cronTimeZone }
}

/** True when a slot was missed: the last complete sync began more than one slot ago. */
export function isSyncDue({ ageSeconds }: SyncFreshness, { cron, timeZone }: SyncSlots): boolean {
  if (cron === 'off') return false
  return ageSeconds === null || ageSeconds * 1000 > slotGaps(cron, timeZone).shortestMs
}

/**
 * True when the last complete sync began more than two slots ago; where there was none, when the
 * first run had its chance: one has ended, or none began within two slots of `servingSeconds`.
 * Undefined without slots.
 */
export function isSyncOverdue(
  vitals: Pick<Vitals, 'freshness' | 'lastRun' | 'isRunUnderWay'>,
  { cron, timeZone }: SyncSlots,
  servingSeconds = 0,
): boolean | undefined {
  if (cron === 'off') return undefined
  const { freshness, lastRun, isRunUnderWay } = vitals
  const { ageSeconds } = freshness
  const isLong = (seconds: number): boolean =>
    seconds * 1000 > 2 * slotGaps(cron, timeZone).longestMs
  if (ageSeconds !== null) return isLong(ageSeconds)
  return !isRunUnderWay && (lastRun !== null || isLong(servingSeconds))
}
