import { WarehouseConflictError } from '../../base/errors.js'
import type { Logger } from '../../base/logger.js'
import { WITHOUT_TIME_LIMIT } from '../connection/bound-connection.js'
import { quoteIdentifier, type SchemaNames } from '../connection/schema-names.js'
import { orderOf, slotTable, sourceOf, type Slot } from './stored-views.js'
import type { Session, Warehouse } from '../connection/warehouse.js'

/** When views are stored: `auto` from so many containers on that some of them take longer than seconds to read whole. */
export type StoreViewsWhen = 'auto' | 'always' | 'never'

/** A tenth of the account for which the limits of ten seconds and one second are meant; not measured. */
export const AUTO_FROM_CONTAINERS = 100_000

export interface StoreViewsOptions {
  readonly when: StoreViewsWhen
  readonly logger: Logger
  /** Ends the storing of a view, which then stands as it was, and leaves the others. */
  readonly signal: AbortSignal
  /** Instead of AUTO_FROM_CONTAINERS; for tests. */
  readonly fromContainers?: number
}

/** A view that was stored now. */
export interface StoredView {
  readonly name: string
  readonly rows: number
  readonly tookMs: number
}

/**
 * Stores each view of the schema `stored` whose inputs may have changed since it was stored: a run or a notification has written something. Each in a
 * transaction of its own, so that it is of one instant, and readers see the rows of before until it ends. What another process is storing is left to it, what a
 * reader keeps locked to the next run. A million containers take 25 minutes of one processor and as much disk again as the data.
 */
export async function storeViews(
  warehouse: Warehouse,
  options: StoreViewsOptions,
): Promise<StoredView[]> {
  const { when, signal, logger } = options
  if (when === 'never') return []
  if (when === 'auto' && !(await hasContainers(warehouse, options))) return []
  const stored: StoredView[] = []
  for (const view of await findDueViews(warehouse)) {
    if (signal.aborted) break
    const done = await storeView(warehouse, view, signal)
    if (done === 'stopped') break
    if (done === 'in use') {
      logger.info('a stored view is in use; the next run stores it', { view: view.name })
      continue
    }
    logger.info('view stored', { view: done.name, rows: done.rows, tookMs: done.tookMs })
    stored.push(done)
  }
  return stored
}

async function hasContainers(
  warehouse: Warehouse,
  { fromContainers = AUTO_FROM_CONTAINERS }: StoreViewsOptions,
): Promise<boolean> {
  const [row] = await warehouse.query<{ count: number }>(
    'count some containers',
    `select count(*)::int as count
    from (select from ${warehouse.names.table('containers')} limit $1) as container`,
    [fromContainers],
  )
  return row !== undefined && row.count >= fromContainers
}

interface DueView {
  readonly name: string
  readonly slot: Slot | null
  readonly syncRunId: number | null
}

/**
 * Views without rows, or with rows of before the last write: of a run that came or ended later, or of a notification. Of those a minute before counts too: what they
 * wrote may have been on its way when the view was stored.
 */
async function findDueViews(warehouse: Warehouse): Promise<DueView[]> {
  const { names } = warehouse
  return warehouse.query<DueView>(
    'look for views to store',
    `select
        installed.view_name as name,
        stored.slot,
        (select max(sync_run_id) from ${names.table('sync_runs')}) as "syncRunId"
    from ${names.table('installed_views')} as installed
    left join ${names.table('stored_views')} as stored
        on stored.view_name = installed.view_name
    where installed.schema_name = $1
        and (
            stored.view_name is null
            or exists (
                select
                from ${names.table('sync_run_streams')} as part
                inner join ${names.table('sync_runs')} as run
                    on run.sync_run_id = part.sync_run_id
                where part.inserted + part.updated + part.tombstoned > 0
                    and (
                        run.sync_run_id > coalesce(stored.sync_run_id, 0)
                        or coalesce(run.finished_at > stored.stored_at, true)
                    )
            )
            or exists (
                select from ${names.table('webhook_notifications')}
                where processed_at > stored.stored_at - interval '1 minute'
            )
        )
    order by installed.position`,
    [names.stored],
  )
}

/** How long a table is waited for that somebody reads; whoever comes meanwhile waits behind us. */
const READER_LOCK_TIMEOUT = '2s'

/**
 * 'in use' where another process is at it, or a reader has the table that is to be filled. That one is emptied in a transaction of its own: emptying locks out
 * whoever reads the view, which names both tables, and must not last as long as filling.
 */
async function storeView(
  warehouse: Warehouse,
  view: DueView,
  signal: AbortSignal,
): Promise<StoredView | 'in use' | 'stopped'> {
  const next: Slot = view.slot === 'a' ? 'b' : 'a'
  try {
    if (!(await emptyInTurn(warehouse, view, next))) return 'in use'
    const stored = await warehouse.transaction(`store ${view.name}`, (session) =>
      stoppable(warehouse, session, signal, () => fill(session, warehouse.names, view, next)),
    )
    if (stored === undefined) return 'in use'
    if (view.slot !== null) await giveBack(warehouse, { ...view, slot: next }, view.slot)
    return stored
  } catch (thrown) {
    if (signal.aborted) return 'stopped'
    if (thrown instanceof WarehouseConflictError) return 'in use'
    throw thrown
  }
}

/** Lets the signal end the statement that a session is at: from another connection, as PostgreSQL wants it. */
async function stoppable<Result>(
  warehouse: Warehouse,
  session: Session,
  signal: AbortSignal,
  work: () => Promise<Result>,
): Promise<Result> {
  const [backend] = await session.query<{ pid: number }>(
    'ask who we are',
    'select pg_backend_pid() as pid',
  )
  let stopping: Promise<unknown> | undefined
  const stop = (): void => {
    // Where it cannot be stopped it is done to its end.
    stopping = warehouse
      .query('stop storing', 'select pg_cancel_backend($1)', [backend?.pid])
      .catch(() => undefined)
  }
  // A session that is between two statements would not hear of it.
  signal.throwIfAborted()
  signal.addEventListener('abort', stop, { once: true })
  try {
    return await work()
  } finally {
    signal.removeEventListener('abort', stop)
    // Whatever the session does next is not to be ended by it.
    await stopping
  }
}

/** Any constant of our own: the first key of our advisory locks. */
const LOCK_CLASS = 820_312

/** Until the transaction ends. False where another process is storing the view, or has stored it since we looked. */
async function takeTurn(
  session: Session,
  names: SchemaNames,
  { name, slot }: DueView,
): Promise<boolean> {
  const [lock] = await session.query<{ isTaken: boolean }>(
    `lock ${name}`,
    `select pg_try_advisory_xact_lock($1, hashtext($2)) as "isTaken"`,
    [LOCK_CLASS, `${names.sync}.${name}`],
  )
  return lock?.isTaken === true && (await readSlot(session, name)) === slot
}

async function emptyInTurn(warehouse: Warehouse, view: DueView, slot: Slot): Promise<boolean> {
  const { names } = warehouse
  return warehouse.transaction(`empty ${view.name}`, async (session) => {
    if (!(await takeTurn(session, names, view))) return false
    const table = names.in('sync', slotTable(view.name, slot))
    await session.query('wait briefly', `set local lock_timeout = '${READER_LOCK_TIMEOUT}'`)
    await session.query(`empty ${table}`, `truncate ${table}`)
    return true
  })
}

async function fill(
  session: Session,
  names: SchemaNames,
  view: DueView,
  next: Slot,
): Promise<StoredView | undefined> {
  const { name, syncRunId } = view
  const source = sourceOf(name, names)
  const table = names.in('sync', slotTable(name, next))
  await session.query('lift the time limit', WITHOUT_TIME_LIMIT)
  if (!(await takeTurn(session, names, view))) return undefined
  const startedAt = performance.now()
  const order = orderOf(name)
  await session.query(
    `store ${name}`,
    `insert into ${table} select shown.*, now() from ${source} as shown${order === undefined ? '' : ` order by shown.${quoteIdentifier(order)}`}`,
  )
  // Of a table that is not ours to change PostgreSQL analyzes nothing and says so; autovacuum does it later.
  await session.query(`analyze ${table}`, `analyze ${table}`)
  const [filled] = await session.query<{ rows: number; now: string }>(
    `count ${name}`,
    `select count(*) as rows, now()::text as now from ${table}`,
  )
  if (filled === undefined) throw new Error(`${name}: nothing was counted`)
  const tookMs = Math.round(performance.now() - startedAt)
  const row = {
    slot: next,
    stored_at: filled.now,
    sync_run_id: syncRunId,
    rows: filled.rows,
    took_ms: tookMs,
  }
  await session.sync
    .insertInto('stored_views')
    .values({ view_name: name, ...row })
    .onConflict((conflict) => conflict.column('view_name').doUpdateSet(row))
    .execute()
  return { name, rows: filled.rows, tookMs }
}

async function readSlot(session: Session, name: string): Promise<Slot | null> {
  const row = await session.sync
    .selectFrom('stored_views')
    .select('slot')
    .where('view_name', '=', name)
    .executeTakeFirst()
  return row?.slot ?? null
}

/** The disk of the rows of before. Whoever still reads them goes first; then they go when the table is filled again. */
async function giveBack(warehouse: Warehouse, view: DueView, slot: Slot): Promise<void> {
  try {
    await emptyInTurn(warehouse, view, slot)
  } catch (thrown) {
    if (!(thrown instanceof WarehouseConflictError)) throw thrown
  }
}
