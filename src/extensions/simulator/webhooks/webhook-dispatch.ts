import type { SoonestFirst } from '../notifications/soonest-first.js'
import { createSoonestFirst } from '../notifications/soonest-first.js'
import type { DeliveryStatus, NotificationEntry } from './webhook-desk.js'
import {
  shuffleWithin,
  type DisturbanceInForce,
  type NotificationFacts,
  type WebhookScript,
} from './webhook-script.js'

/**
 * Notifications that are made and not yet handed to the sender. It asks the script once about each.
 */
export interface Dispatch {
  add(entry: NotificationEntry): void
  /**
   * Hands over all that is neither dropped nor held back, oldest first unless the script reorders;
   * returns how many. `now` is virtual.
   */
  run(now: number): number
  /** Ends everything of one webhook. */
  stop(webhookId: string): void
  readonly size: number
}

export interface DispatchParts {
  readonly script: WebhookScript
  readonly seed: number
  readonly send: (entry: NotificationEntry, inForce: readonly DisturbanceInForce[]) => void
  /** For a notification that is never sent. */
  readonly end: (entry: NotificationEntry, status: DeliveryStatus) => void
}

interface Scripted {
  readonly entry: NotificationEntry
  readonly inForce: readonly DisturbanceInForce[]
}

export function createDispatch({ script, seed, send, end }: DispatchParts): Dispatch {
  let pending: NotificationEntry[] = []
  const held: SoonestFirst<Scripted> = createSoonestFirst()
  return {
    get size() {
      return pending.length + held.size
    },
    add: (entry) => {
      pending.push(entry)
    },
    run: (now) => {
      const ready: Scripted[] = []
      for (let due = held.take(now); due !== undefined; due = held.take(now)) ready.push(due)
      const fresh: Scripted[] = []
      for (const entry of pending.splice(0)) {
        const inForce = script.meet(factsOf(entry))
        const dropped = inForce.find(({ disturbance }) => disturbance.kind === 'drop')?.disturbance
        const until = entry.occurrence.at + delayOf(inForce)
        if (dropped?.kind === 'drop') end(entry, dropped.as === 'failed' ? 'failed' : 'succeeded')
        else if (until > now) held.add(until, { entry, inForce })
        else fresh.push({ entry, inForce })
      }
      const inTurn = [...ready, ...reordered(fresh, seed)]
      for (const { entry, inForce } of inTurn) send(entry, inForce)
      return inTurn.length
    },
    stop: (webhookId) => {
      const isOf = (entry: NotificationEntry): boolean => entry.webhookId === webhookId
      const stopped = [
        ...pending.filter(isOf),
        ...held.remove(({ entry }) => isOf(entry)).map(({ entry }) => entry),
      ]
      pending = pending.filter((entry) => !isOf(entry))
      for (const entry of stopped) end(entry, 'failed')
    },
  }
}

function factsOf({ number, id, webhookId, occurrence }: NotificationEntry): NotificationFacts {
  const { event, reference } = occurrence
  return {
    number,
    id,
    event,
    webhookId,
    containerId: 'containerId' in reference ? reference.containerId : undefined,
    shipmentId: reference.shipmentId,
  }
}

function delayOf(inForce: readonly DisturbanceInForce[]): number {
  let delayMs = 0
  for (const { disturbance, draw } of inForce) {
    if (disturbance.kind !== 'delay') continue
    delayMs += disturbance.virtualMs + draw * (disturbance.spreadMs ?? 0)
  }
  return delayMs
}

/** Reordered notifications change places among themselves; the others stay where they are. */
function reordered(scripted: readonly Scripted[], seed: number): Scripted[] {
  const windowOf = ({ inForce }: Scripted): number =>
    Math.max(
      1,
      ...inForce.map(({ disturbance }) =>
        disturbance.kind === 'reorder' ? disturbance.window : 1,
      ),
    )
  const moving = scripted.filter((one) => windowOf(one) > 1)
  const [first] = moving
  if (first === undefined) return [...scripted]
  const shuffled = shuffleWithin(moving, windowOf(first), seed + first.entry.number)
  const places = scripted.flatMap((one, place) => (windowOf(one) > 1 ? [place] : []))
  const inTurn = [...scripted]
  for (const [turn, place] of places.entries()) inTurn[place] = shuffled[turn] ?? first
  return inTurn
}
