import type { Clock } from '../world/clock.js'
import type { Edits } from '../world/edits.js'
import type { RecordFinder } from '../interface/included-records.js'
import { createNotificationMaker } from './notification-maker.js'
import { referenceRecord } from '../notifications/notification-records.js'
import { createSampleWorld, type SampleWorld } from '../notifications/sample-notification.js'
import { runBurst, type BurstOptions, type BurstResult } from './webhook-burst.js'
import { createWebhookDesk, type WebhookDesk } from './webhook-desk.js'
import { createDispatch } from './webhook-dispatch.js'
import { occurrenceOfRecord, type EmitTarget } from './webhook-emit.js'
import { fillWebhookOptions, type WebhookOptions } from './webhook-options.js'
import { createPoster } from './webhook-post.js'
import { samplePost } from './webhook-sample.js'
import { createWebhookScript, type WebhookScript } from './webhook-script.js'
import { createWebhookSender } from './webhook-sender.js'
import type { World } from '../world/world.js'
import { createWorldWatch, wholeSecondOf } from '../world/world-watch.js'

/**
 * The simulator's webhooks: each occurrence becomes a notification for each active webhook that
 * subscribed to it, and is sent, at least once, with retries.
 *
 *   the world moves ─┐
 *   an edit ─────────┼─▶ made, listed as `pending` ──look──▶ script ──▶ sent (see webhook-sender.ts)
 *   emit, burst ─────┘
 *
 * The records of a notification are those of the world at its `created_at`: before an edit changes
 * a shipment, it fixes the records of the notifications about it that are not sent yet. Two
 * simulators with the same options, clock readings, edits and calls make the same notifications
 * with the same ids in the same order, however often they look.
 */
export interface SimulatedWebhooks extends WebhookDesk {
  readonly script: WebhookScript
  /**
   * Makes and sends all that is due by the virtual clock, retries on the virtual clock included;
   * resolves with how many notifications were sent for the first time, once each of them was
   * answered or has timed out.
   */
  deliverDue(): Promise<number>
  /**
   * Resolves when nothing is queued or on its way and no retry is outstanding. A retry on the
   * virtual clock counts from the instant it is due: `deliverDue` sends it. An occurrence that was
   * due but never looked at does not count.
   */
  settle(): Promise<void>
  /** Looks by itself from now on, however the clock runs. Looking twice is the same as once. */
  start(): void
  /** Stops looking by itself; retries in real time go on. */
  stop(): void
  /**
   * Counts notifications and requests by state. `pending` are made and not yet sent, held ones
   * included.
   */
  outstanding(): WebhookCounts
  /**
   * Makes one notification for the present state of a record, for each active webhook that
   * subscribed to the event; returns their ids. RangeError when the record does not exist. Sent at
   * the next look, or by `deliverDue`.
   */
  emit(event: string, about: EmitTarget): string[]
  /**
   * So many `container.updated` of containers in list order, one after the other; a load for
   * benches.
   */
  burst(count: number, options?: BurstOptions): Promise<BurstResult>
}

export interface WebhookCounts {
  readonly pending: number
  readonly queued: number
  readonly onTheirWay: number
  readonly retrying: number
}

/** The side of the webhooks that only the server needs. */
export interface WebhookMachine {
  readonly webhooks: SimulatedWebhooks
  /**
   * A webhook, a log, an event record that exists in notifications only, or a record of the world.
   */
  readonly record: RecordFinder
  /** Begins to look, where that is wanted; the origin is that of links. */
  open(origin: string): void
  close(): Promise<void>
}

export interface WebhookParts {
  readonly seed: number
  readonly extras: boolean
  readonly startAt: Date
  readonly clock: Clock
  readonly world: World
  readonly edits: Edits
  readonly options: WebhookOptions
}

/** While the clock runs by itself, planning a large world takes turns with answering requests. */
const PLANNING_BUDGET_MS = 50

export function createSimulatedWebhooks(parts: WebhookParts): WebhookMachine {
  const { seed, clock, world, edits } = parts
  const { ids } = world
  const settings = fillWebhookOptions(parts.options, clock.speed > 0)
  const now = (): number => clock.now().getTime()
  const desk = createWebhookDesk(ids)
  const poster = createPoster(settings.timeoutMs)
  const script = createWebhookScript(seed)
  let origin = 'http://localhost'
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  let sample: SampleWorld | undefined

  const maker = createNotificationMaker({
    world,
    desk,
    onMade: (entry) => {
      dispatch.add(entry)
    },
  })
  const sender = createWebhookSender({
    settings,
    desk,
    ids,
    poster,
    scene: () => ({ world, origin, rerenderRetries: settings.rerenderRetries, now: now() }),
    end: (entry, status) => {
      maker.end(entry, status)
    },
  })
  const dispatch = createDispatch({
    script,
    seed,
    send: (entry, inForce) => {
      sender.send(entry, inForce)
    },
    end: (entry, status) => {
      maker.end(entry, status)
    },
  })
  const watch = createWorldWatch({
    world,
    edits,
    now,
    isAnyActive: () => desk.subscriptions().some(({ active }) => active),
    isToldOfEdits: settings.notifyEdits,
    maker,
  })
  const lookAndSend = (budgetMs?: number): number => {
    watch.look(budgetMs)
    const sent = dispatch.run(now())
    sender.retryDue()
    return sent
  }

  desk.onChange = (change) => {
    if ('before' in change) {
      watch.look()
      return
    }
    dispatch.stop(change.stopped)
    sender.stop(change.stopped)
  }
  desk.onTrigger = (trigger) => {
    sample ??= createSampleWorld(seed, parts.startAt, parts.extras)
    sender.sendOnce(samplePost(sample, trigger, { origin, at: now() }))
  }
  const start = (): void => {
    if (timer !== undefined || isClosed) return
    timer = setInterval(() => {
      if (desk.webhooks().length > 0) lookAndSend(PLANNING_BUDGET_MS)
    }, settings.lookEveryMs).unref()
  }
  const stop = (): void => {
    clearInterval(timer)
    timer = undefined
  }
  const emit = (event: string, about: EmitTarget): string[] => {
    const occurrence = occurrenceOfRecord(world, event, about, wholeSecondOf(now()))
    return maker.make(occurrence).map(({ id }) => id)
  }
  const webhooks = Object.assign(desk, {
    script,
    deliverDue: async () => {
      const sent = lookAndSend()
      await sender.whenAnswered()
      return sent
    },
    settle: () => sender.whenSettled(),
    start,
    stop,
    outstanding: () => ({ pending: dispatch.size, ...sender.counts() }),
    emit,
    burst: (count: number, options: BurstOptions = {}) =>
      runBurst(count, options, {
        world,
        now: () => clock.now(),
        isClosed: () => isClosed,
        emit: (containerId) => {
          emit('container.updated', { containerId })
          dispatch.run(now())
        },
        whenAnswered: () => sender.whenAnswered(),
      }),
  })
  return {
    webhooks,
    record: (type, id, at) => {
      if (type === 'webhook') return desk.find(id)
      if (type === 'webhook_notification_log') return desk.findLog(id)
      const entry = desk.entryOfReference(id)
      if (entry === undefined) return world.record(type, id, at)
      const { occurrence } = entry
      return referenceRecord(world, occurrence, id, new Date(occurrence.at))
    },
    open: (at) => {
      origin = at
      if (settings.automatic) start()
    },
    close: async () => {
      isClosed = true
      stop()
      await sender.close()
    },
  }
}
