/**
 * The life of a notification in the inbox.
 *
 *        delivered               unreadable
 *            │                       │
 *            ▼        gave_up        ▼
 *       ┌──────────┐ ──────────▶ ┌──────┐
 *   ┌──▶│ received │             │ dead │
 *   │   └──────────┘             └──────┘
 *   └─────┘  │  │  │  processed  ┌───────────┐
 *   deferred │  │  └────────────▶│ processed │
 *   failed   │  │                └───────────┘
 *            │  │ ignored              ▲ processed (by a refetch)
 *            │  │ foreign              │ synced (by a complete sync)
 *            │  ▼                ┌────────────┐
 *            │  ignored, foreign │ unresolved │
 *            │      unresolved   └────────────┘
 *            └─────────────────────────▲
 *
 * `replayed` takes any of them back to `received`.
 */
const TABLE = {
  /** Not in the inbox yet. */
  absent: {
    delivered: 'received',
    unreadable: 'dead',
  },
  /** Waits to be applied. */
  received: {
    processed: 'processed',
    ignored: 'ignored',
    foreign: 'foreign',
    unresolved: 'unresolved',
    deferred: 'received',
    failed: 'received',
    gave_up: 'dead',
    replayed: 'received',
  },
  /** Applied, or made needless by what was read since. */
  processed: { replayed: 'received' },
  /** Holds nothing we keep. */
  ignored: { replayed: 'received' },
  /** Of another webhook, or a sample. */
  foreign: { replayed: 'received' },
  /** What it is about could not be read; the next complete sync brings it. */
  unresolved: {
    processed: 'processed',
    unresolved: 'unresolved',
    synced: 'processed',
    replayed: 'received',
  },
  /** Could not be read, or failed ten times. */
  dead: { replayed: 'received' },
} as const satisfies Readonly<Record<string, Readonly<Record<string, string>>>>

export type NotificationState = Exclude<keyof typeof TABLE, 'absent'>
export type NotificationEvent = {
  [State in keyof typeof TABLE]: keyof (typeof TABLE)[State]
}[keyof typeof TABLE]

export const NOTIFICATION_TRANSITIONS: Readonly<
  Record<string, Readonly<Partial<Record<NotificationEvent, NotificationState>>>>
> = TABLE

/** What an attempt to apply a notification comes to; each is named like the state it leads to. */
export const OUTCOMES = ['processed', 'ignored', 'foreign', 'unresolved'] as const

export type Outcome = (typeof OUTCOMES)[number]

/** Each event leads to one state. */
export function stateAfter(event: NotificationEvent): NotificationState {
  const [after] = Object.values(NOTIFICATION_TRANSITIONS).flatMap((row) => row[event] ?? [])
  if (after === undefined) throw new Error(`the event ${event} leads nowhere`)
  return after
}

function statesBefore(event: NotificationEvent): string[] {
  const entries = Object.entries(NOTIFICATION_TRANSITIONS)
  return entries.flatMap(([state, row]) => (row[event] === undefined ? [] : [state]))
}

/** A condition on the row `stored`: it is in a state that the event can leave. */
export function canBe(event: NotificationEvent): string {
  const states = statesBefore(event).map((state) => `'${state}'`)
  return `stored.state in (${states.join(', ')})`
}

/** SQL: the pairs of a state and an outcome that can follow it. */
export const ALLOWED_OUTCOMES = OUTCOMES.flatMap((outcome) =>
  statesBefore(outcome).map((state) => `('${state}', '${outcome}')`),
).join(', ')
