import { sql } from 'kysely'
import type { Logger } from '../../base/logger.js'
import { isDistributed } from '../accounts/distribute/citus.js'
import { LIFT_TIME_LIMIT } from '../../warehouse/connection/bound-connection.js'
import { type SchemaNames } from '../../warehouse/connection/schema-names.js'
import type { Session, Warehouse } from '../../warehouse/connection/warehouse.js'
import { makeStoredViews } from '../../warehouse/schema/install-views.js'
import { readViews, storedTable } from '../../warehouse/schema/shipped-views.js'
import { relationRef, tableRef } from '../../warehouse/connection/typed-database.js'
import { STORED_VIEWS, storedViewsOf, type StorableView } from './stored-views.js'

/** A tenth of the account that the views are built for. Below it the plain views are fast. */
export const LARGE_ACCOUNT_CONTAINERS = 100_000

export interface StoreViewsOptions {
  /** All by default. */
  readonly views?: readonly StorableView[]
  readonly logger: Logger
  /** Ends the running statement; that view and the rest stay as they were. */
  readonly signal: AbortSignal
  /** Stores nothing in a smaller account. Absent: stores in any. */
  readonly fromContainers?: number
}

/** A freshly stored view. */
export interface StoredView {
  readonly name: string
  readonly rows: number
  readonly tookMs: number
}

/**
 * Stores each slow view in the schema `stored` again, unless nothing was written since. The owner
 * creates the stored views at the first run; until then another login stores none. Each takes one
 * transaction: its rows are of one instant, and readers see the old rows until the commit, even
 * after a kill. Needs no lease; a sync may run meanwhile. Stops if another process is storing.
 * Stores nothing in a distributed warehouse. A million containers take 31 minutes of one processor.
 */
export async function storeViews(
  warehouse: Warehouse,
  { logger, signal, fromContainers = 0, views = STORED_VIEWS }: StoreViewsOptions,
): Promise<StoredView[]> {
  const stored: StoredView[] = []
  if (await isDistributed(warehouse)) {
    logger.info('no view is stored: the rows of a distributed warehouse are on another node')
    return stored
  }
  if (!(await hasContainers(warehouse, fromContainers))) return stored
  const wanted = storedViewsOf(await readViews(), views)
  if (!(await makeStoredViews(warehouse, wanted))) {
    const { names } = warehouse
    logger.warn(
      `no view is stored: the owner of ${names.stored} first runs \`tracking-sync database store-views\``,
    )
    return stored
  }
  try {
    for (const view of views) {
      const done = await warehouse.transaction(`store ${view.name}`, (session) =>
        storeView(session, warehouse, view, signal),
      )
      if (done === 'busy') {
        logger.info('another process is storing the views')
        break
      }
      if (done === 'current') continue
      logger.info('view stored', { view: done.name, rows: done.rows, tookMs: done.tookMs })
      stored.push(done)
    }
  } catch (thrown) {
    if (!signal.aborted) throw thrown
  }
  return stored
}

async function hasContainers(warehouse: Warehouse, wanted: number): Promise<boolean> {
  const [row] = await warehouse.query(
    'count some containers',
    sql<{ count: number }>`select count(*)::int as count
    from (select from ${tableRef('data.containers')} limit ${wanted}) as container`,
  )
  return row !== undefined && row.count >= wanted
}

async function storeView(
  session: Session,
  warehouse: Warehouse,
  view: StorableView,
  signal: AbortSignal,
): Promise<StoredView | 'busy' | 'current'> {
  const { names } = warehouse
  const [turn] = await session.query(
    'take the turn to store views',
    sql<{
      isOurs: boolean
      pid: number
    }>`select pg_try_advisory_xact_lock(${LOCK_CLASS}, hashtext(${names.sync})) as "isOurs", pg_backend_pid() as pid`,
  )
  if (turn?.isOurs !== true) return 'busy'
  if (await isCurrent(session, names, view.name)) return 'current'
  await session.query('lift the time limit', LIFT_TIME_LIMIT)
  let stopping: Promise<unknown> | undefined
  const stop = (): void => {
    const cancelling = warehouse.query(
      'stop storing',
      sql`select pg_cancel_backend(${turn.pid}::integer)`,
    )
    stopping = cancelling.catch(() => undefined)
  }
  signal.throwIfAborted()
  signal.addEventListener('abort', stop, { once: true })
  try {
    return await fill(session, view)
  } finally {
    signal.removeEventListener('abort', stop)
    // A late cancel would hit the next statement of this connection.
    await stopping
  }
}

/** Our own constant: the first key of our advisory locks. */
const LOCK_CLASS = 820_312

/**
 * Whether the view is stored and nothing was written since. A run counts when it ends, even a
 * killed one. A notification counts from a minute earlier: its transaction may have committed after
 * the view was read. A subscription that fills the tables never ends a run, so nothing tells when
 * it wrote.
 */
async function isCurrent(session: Session, names: SchemaNames, name: string): Promise<boolean> {
  const rows = await session.query(
    `look for writes since ${name} was stored`,
    sql`select
    from ${tableRef('sync.stored_views')} as stored
    where stored.view_name = ${name}
        and not exists (
            select
            from ${tableRef('sync.sync_runs')} as run
            left join ${tableRef('sync.sync_run_streams')} as part
                on part.sync_run_id = run.sync_run_id
            where run.finished_at > stored.stored_at
                and coalesce(
                    part.inserted + part.updated + part.tombstoned,
                    (run.error_code = 'killed')::int
                ) > 0
        )
        and not exists (
            select from ${tableRef('sync.webhook_notifications')}
            where processed_at > stored.stored_at - interval '1 minute'
        )
        and not exists (select from pg_subscription_rel where srrelid = to_regclass(${names.table('containers')}))`,
  )
  return rows.length > 0
}

/** Readers do not wait: unlike `truncate`, `delete` leaves them their rows. */
async function fill(
  session: Session,
  { name, source, orderedBy }: StorableView,
): Promise<StoredView> {
  const startedAt = performance.now()
  const table = relationRef(`sync.${storedTable(name)}`)
  const order = orderedBy === undefined ? sql`` : sql`order by ${sql.id('shown', orderedBy)}`
  await session.query(`empty ${name}`, sql`delete from ${table}`)
  await session.query(
    `fill ${name}`,
    sql`insert into ${table}
select shown.*, now() from ${relationRef(`${source.schema}.${source.name}`)} as shown ${order}`,
  )
  // Works for the owner only; for other logins autovacuum does it later.
  await session.query(`analyze ${name}`, sql`analyze ${table}`)
  const [filled] = await session.query(
    `count ${name}`,
    sql<{
      rows: number
      now: string
    }>`select count(*) as rows, now()::text as now from ${table}`,
  )
  if (filled === undefined) throw new Error(`${name}: nothing was counted`)
  const { rows, now } = filled
  const tookMs = Math.round(performance.now() - startedAt)
  const row = { stored_at: now, rows, took_ms: tookMs }
  await session.db
    .insertInto('sync.stored_views')
    .values({ view_name: name, ...row })
    .onConflict((conflict) => conflict.column('view_name').doUpdateSet(row))
    .execute()
  return { name, rows, tookMs }
}

/** Whether all these views are stored; a standby cannot read them. */
export async function areViewsStored(
  { query, names }: Pick<Session, 'query' | 'names'>,
  viewNames: readonly string[],
): Promise<boolean> {
  const [found] = await query(
    'look for stored views',
    sql<{ count: number }>`select count(*)::int as count
from pg_class
inner join pg_namespace
    on pg_namespace.oid = relnamespace
where nspname = ${names.stored} and relname = any(${viewNames}::text[]) and not pg_is_in_recovery()`,
  )
  return found?.count === viewNames.length
}
