import type { Ids } from '../world/ids.js'
import { createSoonestFirst } from '../notifications/soonest-first.js'
import {
  composePost,
  isReceived,
  logAttempt,
  type Delivery,
  type DeliveryScene,
} from './webhook-delivery.js'
import type { DeliveryStatus, NotificationEntry, SendingDesk } from './webhook-desk.js'
import type { WebhookSettings } from './webhook-options.js'
import type { Poster, PostOutcome, WebhookPost } from './webhook-post.js'
import type { DisturbanceInForce } from './webhook-script.js'

/**
 *   send ──▶ queue ──▶ on its way (at most `concurrency`) ──▶ succeeded
 *              ▲              │ not received
 *              └── waits ◀────┴──▶ failed, after the last retry
 *
 * Every delivery ends in one of the two, unless the simulator is closed before. A webhook that stops fails all of its
 * deliveries at once.
 */
export interface WebhookSender {
  send(entry: NotificationEntry, inForce: readonly DisturbanceInForce[]): void
  /** A request of its own, without a notification or a retry. */
  sendOnce(post: WebhookPost): void
  /**
   * Queues the retries that are due by the virtual clock; none when retries follow the real one.
   */
  retryDue(): void
  /** Fails the webhook's queued work and retries; requests on their way go on. */
  stop(webhookId: string): void
  counts(): { readonly queued: number; readonly onTheirWay: number; readonly retrying: number }
  /**
   * Resolves when everything queued so far, except real retries, was answered or timed out once.
   */
  whenAnswered(): Promise<void>
  /** Resolves when nothing is queued or on its way, and no retry waits for real time. */
  whenSettled(): Promise<void>
  /** Ends at once; what is under way stays as it is. */
  close(): Promise<void>
}

export interface SenderParts {
  readonly settings: WebhookSettings
  readonly desk: SendingDesk
  readonly ids: Ids
  readonly poster: Poster
  /** The world, the address and the virtual time as they are now. */
  readonly scene: () => DeliveryScene
  /** Writes down how the notification ended; it needs nothing else. */
  readonly end: (entry: NotificationEntry, status: DeliveryStatus) => void
}

interface Job {
  readonly delivery: Delivery
  /** A second request with the same bytes: never retried, and its answer decides nothing. */
  readonly isCopy: boolean
  readonly isAwaited: boolean
}

export function createWebhookSender(parts: SenderParts): WebhookSender {
  const { settings, desk, ids, poster, scene, end } = parts
  const { concurrency, retryDelaysMs, retryClock, deactivateAfter } = settings
  const isVirtual = retryClock === 'virtual'
  const queue: Job[] = []
  let head = 0
  let onTheirWay = 0
  const underway = new Set<Promise<void>>()
  let awaited = 0
  let isClosed = false
  const retries = createSoonestFirst<Delivery>()
  let retryTimer: NodeJS.Timeout | undefined
  const failuresInARow = new Map<string, number>()
  let waiting: { readonly isOver: () => boolean; readonly resolve: () => void }[] = []

  const clockNow = (): number => (isVirtual ? scene().now : performance.now())
  const isSettled = (): boolean =>
    queue.length === head &&
    onTheirWay === 0 &&
    (isVirtual ? retries.soonest > scene().now : retries.size === 0)

  const enqueue = (job: Job): void => {
    if (isClosed) return
    if (job.isAwaited) awaited += 1
    queue.push(job)
    pump()
  }
  const pump = (): void => {
    while (onTheirWay < concurrency) {
      const job = queue[head]
      if (job === undefined) break
      head += 1
      onTheirWay += 1
      follow(perform(job), job.isAwaited)
    }
    // Cuts off the taken part only now and then: each cut costs the length of the rest.
    if (head > 1_000 || head === queue.length) {
      queue.splice(0, head)
      head = 0
    }
  }
  /** Neither `perform` nor `post` rejects. */
  const follow = (work: Promise<unknown>, isAwaited: boolean): void => {
    const done = work.then(() => {
      underway.delete(done)
      onTheirWay -= 1
      if (isAwaited) awaited -= 1
      pump()
      settleWaiting()
    })
    underway.add(done)
  }
  const settleWaiting = (): void => {
    const over = waiting.filter(({ isOver }) => isClosed || isOver())
    if (over.length === 0) return
    waiting = waiting.filter((one) => !over.includes(one))
    for (const { resolve } of over) resolve()
  }
  const wait = (isOver: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      waiting.push({ isOver, resolve })
      settleWaiting()
    })

  const perform = async ({ delivery, isCopy }: Job): Promise<void> => {
    const { entry } = delivery
    const subscription = desk.subscription(entry.webhookId)
    if (subscription?.active !== true) {
      if (!isCopy) end(entry, 'failed')
      return
    }
    let outcome: PostOutcome
    try {
      outcome = await poster.post(composePost(delivery, subscription, scene()))
    } catch (thrown) {
      const error = thrown instanceof Error ? thrown.message : 'The body could not be written.'
      outcome = { status: null, error }
    }
    if (isClosed) return
    logAttempt(ids, entry, outcome, scene().now)
    if (!isCopy) judge(delivery, outcome)
  }
  const judge = (delivery: Delivery, outcome: PostOutcome): void => {
    const { entry } = delivery
    const { webhookId } = entry
    if (isReceived(outcome)) {
      failuresInARow.delete(webhookId)
      end(entry, 'succeeded')
      return
    }
    const isActive = desk.subscription(webhookId)?.active === true
    const delayMs = retryDelaysMs[delivery.attempts]
    delivery.attempts += 1
    if (delayMs !== undefined && isActive) {
      retries.add(clockNow() + delayMs, delivery)
      armRetryTimer()
      return
    }
    end(entry, 'failed')
    if (!isActive) return
    const failures = (failuresInARow.get(webhookId) ?? 0) + 1
    failuresInARow.set(webhookId, failures)
    if (failures >= deactivateAfter) desk.update(webhookId, { active: false })
  }
  const queueRetries = (isAwaited: boolean): void => {
    const now = clockNow()
    for (let due = retries.take(now); due !== undefined; due = retries.take(now)) {
      enqueue({ delivery: due, isCopy: false, isAwaited })
    }
  }
  const armRetryTimer = (): void => {
    if (isVirtual || isClosed) return
    clearTimeout(retryTimer)
    if (retries.size === 0) return
    // A timer takes 31 bits; a longer wait is looked at again.
    const waitMs = Math.min(Math.max(0, retries.soonest - clockNow()), 2 ** 31 - 1)
    retryTimer = setTimeout(() => {
      queueRetries(false)
      armRetryTimer()
    }, waitMs).unref()
  }
  return {
    send: (entry, inForce) => {
      const delivery: Delivery = { entry, inForce, attempts: 0, body: undefined }
      enqueue({ delivery, isCopy: false, isAwaited: true })
      for (const { disturbance } of inForce) {
        if (disturbance.kind !== 'duplicate') continue
        for (let copy = 1; copy < disturbance.copies; copy++) {
          enqueue({ delivery, isCopy: true, isAwaited: true })
        }
      }
    },
    sendOnce: (post) => {
      if (isClosed) return
      onTheirWay += 1
      awaited += 1
      follow(poster.post(post), true)
    },
    retryDue: () => {
      if (isVirtual) queueRetries(true)
    },
    stop: (webhookId) => {
      failuresInARow.delete(webhookId)
      for (const { entry } of retries.remove(({ entry }) => entry.webhookId === webhookId)) {
        end(entry, 'failed')
      }
      settleWaiting()
    },
    counts: () => ({ queued: queue.length - head, onTheirWay, retrying: retries.size }),
    whenAnswered: () => wait(() => awaited === 0),
    whenSettled: () => wait(isSettled),
    close: async () => {
      isClosed = true
      clearTimeout(retryTimer)
      queue.length = 0
      head = 0
      settleWaiting()
      poster.close()
      await Promise.all(underway)
    },
  }
}
