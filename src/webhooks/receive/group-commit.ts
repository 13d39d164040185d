import { toError, WarehouseDataError, WarehouseUnavailableError } from '../../base/errors.js'
import type { Warehouse } from '../../warehouse/connection/warehouse.js'
import type { Delivery } from './delivery.js'
import { canStoreDeliveries, storeDeliveries } from './inbox.js'

export interface GroupCommitOptions {
  readonly warehouse: Warehouse
  readonly deadlineMs: number
  /** Most deliveries that wait or are being stored; one more is refused at once. */
  readonly longestQueue: number
}

const LARGEST_GROUP = 200
const LARGEST_GROUP_BYTES = 4 * 1024 * 1024

interface Waiting {
  readonly delivery: Delivery
  /** The first outcome counts. */
  readonly end: (outcome: boolean | Error) => void
}

/**
 * Stores deliveries in groups: while one statement runs, new deliveries gather, and the next
 * statement stores them together. A quiet receiver pays one commit per delivery and waits for
 * nothing, a busy one pays one commit for up to 200.
 */
export class GroupCommit {
  readonly #options: GroupCommitOptions
  #waiting: Waiting[] = []
  #underWay: readonly Waiting[] = []
  #startedAt = 0
  #isRefused = false
  #working: Promise<void> | undefined

  constructor(options: GroupCommitOptions) {
    this.#options = options
  }

  /**
   * Resolves when the delivery is committed: true if its notification is new. Rejects, at the
   * latest after `deadlineMs`, if it could not be stored or its fate is unknown; a delivery that
   * was given up while it waited is not stored later.
   */
  store(delivery: Delivery): Promise<boolean> {
    const { deadlineMs, longestQueue } = this.#options
    const isStuck = this.#underWay.length > 0 && performance.now() - this.#startedAt > deadlineMs
    const tooSlow = `the warehouse did not answer within ${deadlineMs} ms`
    if (isStuck) return Promise.reject(notStored(tooSlow))
    if (this.#waiting.length + this.#underWay.length >= longestQueue) {
      return Promise.reject(notStored('too many deliveries wait for the warehouse already'))
    }
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting = this.#waiting.filter((other) => other !== entry)
        reject(notStored(tooSlow))
      }, deadlineMs)
      const entry: Waiting = {
        delivery,
        end: (outcome) => {
          clearTimeout(timer)
          if (typeof outcome === 'boolean') resolve(outcome)
          else reject(outcome)
        },
      }
      this.#waiting.push(entry)
      this.#working ??= this.#work()
    })
  }

  /** False while the warehouse refuses deliveries. Asks it only after it refused the last ones. */
  async canStore(): Promise<boolean> {
    if (this.#isRefused) this.#isRefused = !(await canStoreDeliveries(this.#options.warehouse))
    return !this.#isRefused
  }

  /** Resolves when no delivery waits or is being stored. */
  async drain(): Promise<void> {
    while (this.#working !== undefined) await this.#working
  }

  async #work(): Promise<void> {
    while (this.#waiting.length > 0) {
      this.#underWay = takeGroup(this.#waiting)
      this.#waiting = this.#waiting.slice(this.#underWay.length)
      this.#startedAt = performance.now()
      await this.#storeGroup(this.#underWay)
      this.#underWay = []
    }
    this.#working = undefined
  }

  async #storeGroup(group: readonly Waiting[]): Promise<void> {
    try {
      const deliveries = group.map(({ delivery }) => delivery)
      const newIds = await storeDeliveries(this.#options.warehouse, deliveries)
      this.#isRefused = false
      // If a group holds copies of a new notification, the first is the new one.
      for (const { delivery, end } of group) end(newIds.delete(delivery.envelope.notificationId))
    } catch (error) {
      if (error instanceof WarehouseDataError && group.length > 1) {
        // One delivery is the cause; the others must not suffer for it.
        for (const single of group) await this.#storeGroup([single])
        return
      }
      this.#isRefused = !(error instanceof WarehouseDataError)
      for (const { end } of group) end(toError(error))
    }
  }
}

/** As many deliveries as one statement may hold, first come first; a single one may be larger. */
function takeGroup(waiting: readonly Waiting[]): readonly Waiting[] {
  let bytes = 0
  const end = waiting.findIndex(({ delivery }, index) => {
    bytes += delivery.body.length
    return index === LARGEST_GROUP || (index > 0 && bytes > LARGEST_GROUP_BYTES)
  })
  return waiting.slice(0, end === -1 ? undefined : end)
}

function notStored(why: string): Error {
  return new WarehouseUnavailableError(`store webhook deliveries: ${why}`)
}
