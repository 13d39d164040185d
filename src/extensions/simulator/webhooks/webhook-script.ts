import { mix } from '../world/dice.js'

/**
 * A script of faults between the service and its subscriber. The dispatch asks it once for each
 * notification, when it is sent for the first time; the answer holds for every attempt, unless
 * `attempts` limits it. The seed, the disturbance and the notification's number alone decide which
 * notifications a `share` takes, so the choice is the same in every run of the same world.
 */
export type Disturbance =
  /**
   * So many requests with the same bytes, on their way at the same time. Only the first is retried.
   */
  | { readonly kind: 'duplicate'; readonly copies: number }
  /** Sent so much later on the virtual clock, and a share of `spreadMs` after that. */
  | { readonly kind: 'delay'; readonly virtualMs: number; readonly spreadMs?: number }
  /** Notifications sent at one look change places within groups of this size. */
  | { readonly kind: 'reorder'; readonly window: number }
  /** Never sent. `failed`: listed as failed. `lost`: listed as succeeded, though nobody got it. */
  | { readonly kind: 'drop'; readonly as: 'failed' | 'lost' }
  /** The reference without `included`. */
  | { readonly kind: 'thin' }
  /** Containers and shipments come without the attributes that older published deliveries lack. */
  | { readonly kind: 'partial' }
  /** Another `created_at`; null: none. An offset is counted from the right one, in milliseconds. */
  | { readonly kind: 'createdAt'; readonly value: string | null | { readonly offsetMs: number } }
  /** Another signature, or none for null; by default one of the right form that is wrong. */
  | { readonly kind: 'signature'; readonly value?: string | null }
  /** Signed rightly, but no JSON: cut in the middle, HTML, or nothing at all. */
  | { readonly kind: 'body'; readonly as: 'cut' | 'html' | 'empty' }
  /** Any other document. */
  | { readonly kind: 'transform'; readonly apply: (document: unknown) => unknown }

/** The facts of a notification that a script may look at. */
export interface NotificationFacts {
  /** 0 for the first one of the simulator's life. */
  readonly number: number
  readonly id: string
  readonly event: string
  readonly webhookId: string
  readonly containerId: string | undefined
  readonly shipmentId: string | undefined
}

export interface ScriptedDisturbance {
  readonly disturbance: Disturbance
  /** Default: every notification. A text is the event's name. */
  readonly match?: string | ((facts: NotificationFacts) => boolean)
  /** The part of the matching notifications it takes, from 0 to 1. Default 1. */
  readonly share?: number
  /** The number of notifications in all. Default: without end. */
  readonly times?: number
  /** Only so many attempts of each notification; the later ones are right. Default: all. */
  readonly attempts?: number
}

/** A disturbance that holds for one notification, and for how many of its attempts. */
export interface DisturbanceInForce {
  readonly disturbance: Disturbance
  readonly attempts: number
  /** In [0, 1), drawn for this notification and disturbance: it decides a spread. */
  readonly draw: number
}

export interface WebhookScript {
  /** The returned handle removes it and says how many notifications it took. */
  add(scripted: ScriptedDisturbance): { remove(): void; readonly played: number }
  clear(): void
  /** Counts as one play of each that is returned, oldest first. */
  meet(facts: NotificationFacts): DisturbanceInForce[]
}

interface Entry {
  readonly scripted: ScriptedDisturbance
  readonly salt: number
  played: number
}

export function createWebhookScript(seed: number): WebhookScript {
  let entries: Entry[] = []
  let added = 0
  return {
    add: (scripted) => {
      const entry: Entry = { scripted, salt: added, played: 0 }
      added += 1
      entries.push(entry)
      return {
        remove: () => {
          entries = entries.filter((other) => other !== entry)
        },
        get played() {
          return entry.played
        },
      }
    },
    clear: () => {
      entries = []
    },
    meet: (facts) =>
      entries.flatMap((entry) => {
        const { disturbance, match, share = 1, times, attempts } = entry.scripted
        const isOver = entry.played >= (times ?? Number.POSITIVE_INFINITY)
        if (isOver || !isMatch(match, facts)) return []
        if (fraction(seed, entry.salt, facts.number, 1) >= share) return []
        entry.played += 1
        const draw = fraction(seed, entry.salt, facts.number, 2)
        return [{ disturbance, attempts: attempts ?? Number.POSITIVE_INFINITY, draw }]
      }),
  }
}

function isMatch(match: ScriptedDisturbance['match'], facts: NotificationFacts): boolean {
  if (match === undefined) return true
  return typeof match === 'string' ? match === facts.event : match(facts)
}

function fraction(...path: readonly number[]): number {
  return mix(0x5c1, ...path) / 0x1_0000_0000
}

/** The same items, each within its group in an order that the seed and the group's place decide. */
export function shuffleWithin<Item>(items: readonly Item[], window: number, seed: number): Item[] {
  const shuffled: Item[] = []
  for (let start = 0; start < items.length; start += window) {
    const group = items
      .slice(start, start + window)
      .map((item, place) => ({ item, rank: mix(0x5c2, seed, start + place) }))
    shuffled.push(...group.sort((one, other) => one.rank - other.rank).map(({ item }) => item))
  }
  return shuffled
}
