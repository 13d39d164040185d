import { ConnectorError, LeaseLostError } from '../../base/errors.js'
import type { Logger } from '../../base/logger.js'
import type { Sleep } from '../../base/retry.js'
import { together } from '../connection/together.js'
import type { Session, Warehouse } from '../connection/warehouse.js'
import { STALE_AFTER_MS, takeLease, type TakeLeaseOptions } from './take-lease.js'

export interface LeaseOptions extends TakeLeaseOptions {
  readonly logger: Logger
  readonly sleep: Sleep
  /** Milliseconds that only ever rise. */
  readonly now: () => number
}

const HEARTBEAT_EVERY_MS = 10_000

const TAKEN = 'another run has taken it over'

/**
 * Takes the lease when it is free or stale. Otherwise throws `LeaseHeldError`, which says who holds
 * it and until when, within about a second.
 */
export async function acquireLease(warehouse: Warehouse, options: LeaseOptions): Promise<Lease> {
  return new Lease(warehouse, options, await takeLease(warehouse, options))
}

/**
 * The same warehouse for the holder of a lease: every transaction checks in with its first
 * statement, and fails with it. Statements outside a transaction are not checked: let them write
 * hints only.
 */
export function fenceWarehouse(warehouse: Warehouse, lease: Pick<Lease, 'checkIn'>): Warehouse {
  return {
    ...warehouse,
    transaction: (action, work) =>
      warehouse.transaction(action, async (session) => {
        const [, result] = await together([lease.checkIn(session), work(session)])
        return result
      }),
  }
}

/**
 * The right to write, kept as a row:
 *
 *   free ──acquire──► held ──heartbeat──► held
 *                      │ ├── release ────► free
 *                      │ └── silent for a minute, or known to have ended
 *                      │       └── acquired by another ──► held, by the other
 *
 * - Each acquisition raises the fencing token. A writer checks its token in its transaction and
 *   keeps a lock on the row until the commit; acquiring needs the row for itself. So after a
 *   take-over the former holder commits nothing, however long it slept.
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

  /** Aborted with a `LeaseLostError` once the lease is lost, or must be assumed to be. */
  get signal(): AbortSignal {
    return this.#lost.signal
  }

  /**
   * Call it first in every transaction that writes. Throws `LeaseLostError` when another may have
   * taken over.
   */
  async checkIn(session: Session): Promise<void> {
    this.#lost.signal.throwIfAborted()
    const rows = await session.query(
      'check the lease',
      `select fencing_token
from ${this.#warehouse.names.table('lease')}
where lease_name = $1 and fencing_token = $2 and holder is not null
for key share`,
      [this.#options.name, this.fencingToken],
    )
    if (rows.length === 0) throw this.#lose(TAKEN)
  }

  /**
   * Ends the heartbeat and gives the lease back, unless it is another's by now. Idempotent. If the
   * database fails, this is logged and the lease goes stale.
   */
  release(): Promise<void> {
    return (this.#releasing ??= this.#release())
  }

  async #release(): Promise<void> {
    this.#released.abort()
    await this.#beating
    try {
      await this.#update('release the lease', 'holder = null')
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
      // After a long pause we may still hold the lease: give the database time to say so.
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

  /** Gives up on a database that does not answer; the statement itself cannot be called back. */
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
      const isOurs = await this.#update('renew the lease', 'heartbeat_at = clock_timestamp()')
      return isOurs ? 'renewed' : 'taken'
    } catch (thrown) {
      this.#options.logger.warn('the lease could not be renewed', { error: thrown })
      return 'failed'
    }
  }

  /** False when the lease is no longer ours. */
  async #update(action: string, assignment: string): Promise<boolean> {
    const rows = await this.#warehouse.query(
      action,
      `update ${this.#warehouse.names.table('lease')}
set ${assignment}
where lease_name = $1 and fencing_token = $2 and holder is not null
returning fencing_token`,
      [this.#options.name, this.fencingToken],
    )
    return rows.length > 0
  }

  #lose(why: string): LeaseLostError {
    const error = new LeaseLostError(
      `this run lost the lease: ${why}; it has stopped writing, and what it wrote before stands`,
      { context: { fencingToken: this.fencingToken } },
    )
    if (!this.#released.signal.aborted) this.#lost.abort(error)
    return error
  }
}

type BeatResult = 'renewed' | 'taken' | 'failed'

/** False when it is over, before or during the sleep. */
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
