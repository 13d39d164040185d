import { toError, WarehouseDataError, WarehouseUnavailableError } from '../../base/errors.js'
import type { Warehouse } from '../../warehouse/connection/warehouse.js'
import type { Delivery } from './delivery.js'
import { canStoreDeliveries, storeDeliveries } from './inbox.js'

export interface GroupCommit {
  /**
   * Resolves when the delivery is committed: true when its notification is new. Rejects when it
   * could not be stored or nobody knows whether it was, at the latest after `deadlineMs`; a
   * delivery that was given up while it waited is not stored later.
   */
  store(delivery: Delivery): Promise<boolean>
  /** False while the warehouse takes no delivery. Asks it only when it refused the last ones. */
  canStore(): Promise<boolean>
  /** Resolves when nothing waits and nothing is under way. */
  drain(): Promise<void>
}

export interface GroupCommitOptions {
  readonly warehouse: Warehouse
  readonly deadlineMs: number
  /** Deliveries waiting or under way at most; one more is refused at once. */
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
 * Stores deliveries in groups: while one statement is under way, those that arrive gather and go
 * together in the next. A quiet receiver pays one commit per delivery and waits for nobody, a busy
 * one pays one commit for up to 200.
 */
export function createGroupCommit(options: GroupCommitOptions): GroupCommit {
  const { warehouse, deadlineMs, longestQueue } = options
  let waiting: Waiting[] = []
  let underWay: readonly Waiting[] = []
  let startedAt = 0
  let isRefused = false
  let working: Promise<void> | undefined

  async function storeGroup(group: readonly Waiting[]): Promise<void> {
    try {
      const deliveries = group.map(({ delivery }) => delivery)
      const newIds = await storeDeliveries(warehouse, deliveries)
      isRefused = false
      // Of several copies of a new notification in one group, the first is the new one.
      for (const { delivery, end } of group) end(newIds.delete(delivery.envelope.notificationId))
    } catch (error) {
      if (error instanceof WarehouseDataError && group.length > 1) {
        // One of them is the cause; the others must not suffer for it.
        for (const single of group) await storeGroup([single])
        return
      }
      isRefused = !(error instanceof WarehouseDataError)
      for (const { end } of group) end(toError(error))
    }
  }

  async function work(): Promise<void> {
    while (waiting.length > 0) {
      underWay = takeGroup(waiting)
      waiting = waiting.slice(underWay.length)
      startedAt = performance.now()
      await storeGroup(underWay)
      underWay = []
    }
    working = undefined
  }

  return {
    store: (delivery) => {
      const isStuck = underWay.length > 0 && performance.now() - startedAt > deadlineMs
      if (isStuck) return Promise.reject(tooSlow(deadlineMs))
      if (waiting.length + underWay.length >= longestQueue) return Promise.reject(queueIsFull())
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          waiting = waiting.filter((other) => other !== entry)
          reject(tooSlow(deadlineMs))
        }, deadlineMs)
        const entry: Waiting = {
          delivery,
          end: (outcome) => {
            clearTimeout(timer)
            if (typeof outcome === 'boolean') resolve(outcome)
            else reject(outcome)
          },
        }
        waiting.push(entry)
        working ??= work()
      })
    },
    canStore: async () => {
      if (isRefused) isRefused = !(await canStoreDeliveries(warehouse))
      return !isRefused
    },
    drain: async () => {
      while (working !== undefined) await working
    },
  }
}

/** As many as one statement may hold, the first to come first; one alone may be larger. */
function takeGroup(waiting: readonly Waiting[]): readonly Waiting[] {
  let bytes = 0
  const end = waiting.findIndex(({ delivery }, index) => {
    bytes += delivery.body.length
    return index === LARGEST_GROUP || (index > 0 && bytes > LARGEST_GROUP_BYTES)
  })
  return waiting.slice(0, end === -1 ? undefined : end)
}

function tooSlow(deadlineMs: number): Error {
  return new WarehouseUnavailableError(
    `store webhook deliveries: the warehouse did not answer within ${deadlineMs} ms`,
  )
}

function queueIsFull(): Error {
  return new WarehouseUnavailableError(
    'store webhook deliveries: too many deliveries wait for the warehouse already',
  )
}
