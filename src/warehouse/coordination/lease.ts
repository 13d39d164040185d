import { sql, type RawBuilder } from 'kysely'
import {
  ConnectorError,
  LeaseLostError,
  LeaseHeldError,
  WarehouseConflictError,
} from '../../base/errors.js'
import type { Logger } from '../../base/logger.js'
import type { Sleep } from '../../base/retry.js'
import { pipeline, type Session, type Warehouse } from '../connection/warehouse.js'
import { tableRef } from '../connection/typed-database.js'

/** The holder of a lease, as others see it. */
export interface LeaseHolder {
  readonly host: string
  readonly pid: number
  /**
   * The namespace in which the pid is valid, if known: two hosts or containers may share a name.
   */
  readonly place?: string | undefined
  readonly command: string
}

/** Identifies the process of a holder. */
export type HolderProcess = Pick<LeaseHolder, 'host' | 'pid' | 'place'>

export interface LeaseOptions {
  /** Name of the lease. */
  readonly name: string
  readonly holder: LeaseHolder
  /** True for a holder that has certainly ended: its lease counts as stale at once. */
  readonly isGone?: (holder: HolderProcess) => boolean
  readonly logger: Logger
  readonly sleep: Sleep
  /** Milliseconds that only ever rise. */
  readonly now: () => number
}

const HEARTBEAT_EVERY_MS = 10_000

/** Five missed heartbeats: another process has the lease within a minute of the last one. */
const STALE_AFTER_MS = 50_000

/** A stale holder may still have a write under way; wait at most this long for it. */
const TAKE_OVER_LOCK_TIMEOUT = '1500ms'

const TAKEN = 'another run has taken it over'

/**
 * Takes the lease if it is free or stale. Otherwise throws `LeaseHeldError` within about a second;
 * it says who holds the lease and until when.
 */
export async function acquireLease(warehouse: Warehouse, options: LeaseOptions): Promise<Lease> {
  return new Lease(warehouse, options, await takeLease(warehouse, options))
}

/**
 * Wraps the warehouse for the holder of a lease: every transaction begins with a check of the lease
 * and fails with it. Statements outside a transaction are not checked: they may write hints only.
 */
export function fenceWarehouse(warehouse: Warehouse, lease: Pick<Lease, 'checkIn'>): Warehouse {
  return {
    ...warehouse,
    transaction: (action, work) =>
      warehouse.transaction(action, async (session) => {
        const [, result] = await pipeline([lease.checkIn(session), work(session)])
        return result
      }),
  }
}

/**
 * The right to write, kept as a row:
 *
 *   free ──acquire──► held ──heartbeat──► held
 *                      │ ├── release ────► free
 *                      │ └── silent for 50 s, or known to have ended
 *                      │       └── acquired by another ──► held, by the other
 *
 * - Each acquisition raises the fencing token. A writer checks its token in its transaction and
 *   locks the row until the commit; acquiring needs an exclusive lock. So after a take-over the
 *   former holder commits nothing, however long it slept.
 * - Only the database's clock decides what is stale.
 * - Checks of writers (`for key share`) and heartbeats (an update of other columns) do not wait for
 *   each other.
 */
export class Lease {
  readonly fencingToken: number
  readonly #warehouse: Warehouse
  readonly #options: LeaseOptions
  readonly #lost = new AbortController()
  readonly #released = new AbortController()
  readonly #beating: Promise<void>
  #releasing: Promise<void> | undefined

  constructor(warehouse: Warehouse, options: LeaseOptions, fencingToken: number) {
    this.#warehouse = warehouse
    this.#options = options
    this.fencingToken = fencingToken
    this.#beating = this.#beatUntilReleased()
  }

  /** Aborted with a `LeaseLostError` once the lease is lost or must be presumed lost. */
  get signal(): AbortSignal {
    return this.#lost.signal
  }

  /** Call it first in each transaction that writes. Throws `LeaseLostError` after a take-over. */
  async checkIn(session: Session): Promise<void> {
    this.#lost.signal.throwIfAborted()
    const rows = await session.query(
      'check the lease',
      session.db
        .selectFrom('sync.lease')
        .select('fencing_token')
        .where('lease_name', '=', this.#options.name)
        .where('fencing_token', '=', this.fencingToken)
        .where('holder', 'is not', null)
        .forKeyShare(),
    )
    if (rows.length === 0) throw this.#lose(TAKEN)
  }

  /**
   * Ends the heartbeat and releases the lease, unless another process holds it by now. Idempotent.
   * A failure of the database is logged; the lease then goes stale.
   */
  release(): Promise<void> {
    return (this.#releasing ??= this.#release())
  }

  async #release(): Promise<void> {
    this.#released.abort()
    await this.#beating
    try {
      await this.#update('release the lease', sql`holder = null`)
    } catch (thrown) {
      if (!(thrown instanceof ConnectorError)) throw thrown
      const { logger } = this.#options
      logger.warn('the lease could not be released; it will go stale', { error: thrown })
    }
  }

  async #beatUntilReleased(): Promise<void> {
    const { sleep, now } = this.#options
    const isOver = AbortSignal.any([this.#released.signal, this.#lost.signal])
    let lastBeatAt = now()
    while (await sleepUnless(isOver, HEARTBEAT_EVERY_MS, sleep)) {
      const beganAt = now()
      // After a long pause this process may still hold the lease: give the database time to say so.
      const leftMs = Math.max(HEARTBEAT_EVERY_MS, lastBeatAt + STALE_AFTER_MS - beganAt)
      const result = await this.#beatWithin(leftMs, isOver)
      if (result === 'renewed') lastBeatAt = beganAt
      const silentMs = now() - lastBeatAt
      if (result === 'taken') this.#lose(TAKEN)
      else if (silentMs >= STALE_AFTER_MS && !isOver.aborted) {
        this.#lose(
          `it was not renewed for ${Math.round(silentMs / 1000)} s, so another run may take it`,
        )
      }
    }
  }

  /**
   * Stops waiting for a database that does not answer; the statement itself cannot be cancelled.
   */
  async #beatWithin(ms: number, isOver: AbortSignal): Promise<BeatResult> {
    const answered = new AbortController()
    const isEnough = AbortSignal.any([isOver, answered.signal])
    const timeout = sleepUnless(isEnough, ms, this.#options.sleep).then(() => 'failed' as const)
    const result = await Promise.race([this.#beat(), timeout])
    answered.abort()
    return result
  }

  async #beat(): Promise<BeatResult> {
    try {
      const isOurs = await this.#update('renew the lease', sql`heartbeat_at = clock_timestamp()`)
      return isOurs ? 'renewed' : 'taken'
    } catch (thrown) {
      this.#options.logger.warn('the lease could not be renewed', { error: thrown })
      return 'failed'
    }
  }

  /** False if another process holds the lease. */
  async #update(action: string, assignment: RawBuilder<unknown>): Promise<boolean> {
    const rows = await this.#warehouse.query(
      action,
      sql`update ${tableRef('sync.lease')}
set ${assignment}
where lease_name = ${this.#options.name} and fencing_token = ${this.fencingToken} and holder is not null
returning fencing_token`,
    )
    return rows.length > 0
  }

  #lose(why: string): LeaseLostError {
    const error = new LeaseLostError(
      `this run lost the lease: ${why}; it stopped writing, and its earlier writes remain. ` +
        'Start it again when no other run is active',
      { context: { fencingToken: this.fencingToken } },
    )
    if (!this.#released.signal.aborted) this.#lost.abort(error)
    return error
  }
}

type BeatResult = 'renewed' | 'taken' | 'failed'

/** False if the signal aborts before or during the sleep. */
async function sleepUnless(isOver: AbortSignal, ms: number, sleep: Sleep): Promise<boolean> {
  try {
    isOver.throwIfAborted()
    await sleep(ms, isOver)
    return true
  } catch (thrown) {
    if (isOver.aborted) return false
    throw thrown
  }
}

/**
 * Takes the lease if it is free or stale, and returns the new fencing token. Throws
 * `LeaseHeldError` otherwise. Needs one statement in the usual case: free and not locked.
 */
async function takeLease(warehouse: Warehouse, options: LeaseOptions): Promise<number> {
  const fencingToken = await writeHolder(warehouse, options, FREE_AND_UNLOCKED)
  return fencingToken ?? takeOver(warehouse, options)
}

async function takeOver(warehouse: Warehouse, options: LeaseOptions): Promise<number> {
  // Read without a lock first: refuse at once, even if the holder is in the middle of a large
  // write.
  refuseWhenHeld(await readHolding(warehouse, options.name), options)
  try {
    return await warehouse.transaction('take the lease', async (session) => {
      await lockRow(session, options.name)
      const holding = await readHolding(session, options.name)
      refuseWhenHeld(holding, options)
      const fencingToken = await writeHolder(session, options, LOCKED)
      if (fencingToken === undefined) throw new Error('the locked row of the lease is missing')
      return fencingToken
    })
  } catch (thrown) {
    if (!(thrown instanceof WarehouseConflictError)) throw thrown
    throw new LeaseHeldError(
      'another run has gone silent in the middle of a write; ' +
        'the database ends that write within a minute: start again then',
      { cause: thrown },
    )
  }
}

async function lockRow(session: Session, name: string): Promise<void> {
  const action = 'lock the lease'
  await session.query(action, sql`set local lock_timeout = ${sql.lit(TAKE_OVER_LOCK_TIMEOUT)}`)
  await session.query(
    action,
    session.db
      .insertInto('sync.lease')
      .values({ lease_name: name })
      .onConflict((conflict) => conflict.doNothing()),
  )
  await session.query(
    action,
    session.db
      .selectFrom('sync.lease')
      .select('lease_name')
      .where('lease_name', '=', name)
      .forUpdate(),
  )
}

/** Locks the row like `lockRow`, but never waits for the checks of writers. */
const FREE_AND_UNLOCKED = sql`and holder is null for update skip locked`
const LOCKED = sql``

/** Undefined if the row could not be taken. */
async function writeHolder(
  session: Session,
  { name, holder }: LeaseOptions,
  condition: RawBuilder<unknown>,
): Promise<number | undefined> {
  const { command, pid, host, place } = holder
  const where = place === undefined ? host : `${host} (${place})`
  const table = tableRef('sync.lease')
  const [taken] = await session.query(
    'take the lease',
    sql<{
      fencing_token: number
    }>`with taken as (select lease_name from ${table} where lease_name = ${name} ${condition})
update ${table} as held
set
    holder = ${`${command}, process ${pid} on ${where}`},
    fencing_token = held.fencing_token + 1,
    acquired_at = clock_timestamp(),
    heartbeat_at = clock_timestamp()
from taken
where held.lease_name = taken.lease_name
returning held.fencing_token`,
  )
  return taken?.fencing_token
}

interface Holding {
  readonly holder: string
  readonly acquired_at: string
  readonly held_ms: number
  readonly silent_ms: number
}

/** Undefined if the lease is free. */
async function readHolding(session: Session, name: string): Promise<Holding | undefined> {
  const [holding] = await session.query(
    'look at the lease',
    sql<Holding>`select
    holder,
    to_char(acquired_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as acquired_at,
    extract(epoch from clock_timestamp() - acquired_at)::float8 * 1000 as held_ms,
    extract(epoch from clock_timestamp() - heartbeat_at)::float8 * 1000 as silent_ms
from ${tableRef('sync.lease')}
where lease_name = ${name}
    and holder is not null`,
  )
  return holding
}

function refuseWhenHeld(holding: Holding | undefined, { isGone }: LeaseOptions): void {
  // A heartbeat in the future means that the clock has been put back since.
  if (holding === undefined || Math.abs(holding.silent_ms) > STALE_AFTER_MS) return
  const [, pid, host, place] = HOLDER.exec(holding.holder) ?? []
  if (host !== undefined && isGone?.({ host, pid: Number(pid), place }) === true) return
  const leftMs = STALE_AFTER_MS - holding.silent_ms
  throw new LeaseHeldError(
    `another run holds the lease: ${describeHolding(holding)}; ` +
      `without another sign of life it is taken over in ${seconds(leftMs)}`,
    { context: { holder: holding.holder, acquiredAt: holding.acquired_at } },
  )
}

/** The format of `writeHolder`. */
const HOLDER = /, process (\d+) on (.+?)(?: \(([^()]+)\))?$/

function describeHolding({ holder, acquired_at, held_ms, silent_ms }: Holding): string {
  const since = `since ${acquired_at} (${seconds(held_ms)})`
  return `${holder}, ${since}, last sign of life ${seconds(silent_ms)} ago`
}

function seconds(ms: number): string {
  return `${Math.max(0, Math.round(ms / 1000))} s`
}
