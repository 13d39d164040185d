import { sql, type RawBuilder } from 'kysely'

/**
 * The states of a notification in the inbox; docs/architecture.md draws them.
 *
 * received: waits for processing. processed: applied, or made needless by a later read. ignored:
 * holds nothing that we store. foreign: of another webhook, or a sample. unresolved: its subject
 * could not be read; the next complete sync brings it. dead: unreadable, or failed ten times; only
 * `webhooks replay` tries it again.
 */
const STATES = ['received', 'processed', 'ignored', 'foreign', 'unresolved', 'dead'] as const

export type NotificationState = (typeof STATES)[number]

interface Transition {
  readonly from: readonly (NotificationState | 'absent')[]
  readonly to: NotificationState
}

/** Each event, the states that it may occur in, and the state that it leads to. */
export const NOTIFICATION_EVENTS = {
  delivered: { from: ['absent'], to: 'received' },
  unreadable: { from: ['absent'], to: 'dead' },
  processed: { from: ['received', 'unresolved'], to: 'processed' },
  ignored: { from: ['received'], to: 'ignored' },
  foreign: { from: ['received'], to: 'foreign' },
  unresolved: { from: ['received', 'unresolved'], to: 'unresolved' },
  deferred: { from: ['received'], to: 'received' },
  failed: { from: ['received'], to: 'received' },
  gave_up: { from: ['received'], to: 'dead' },
  synced: { from: ['unresolved'], to: 'processed' },
  replayed: { from: STATES, to: 'received' },
} as const satisfies Readonly<Record<string, Transition>>

export type NotificationEvent = keyof typeof NOTIFICATION_EVENTS

/** Outcomes of an attempt to apply a notification, each named like the state that it leads to. */
export const OUTCOMES = ['processed', 'ignored', 'foreign', 'unresolved'] as const

export type Outcome = (typeof OUTCOMES)[number]

export function stateAfter(event: NotificationEvent): NotificationState {
  return NOTIFICATION_EVENTS[event].to
}

/** A condition on the row `stored`: the event may occur in its state. */
export function canBe(event: NotificationEvent): RawBuilder<boolean> {
  const states = NOTIFICATION_EVENTS[event].from.map((state) => sql.lit(state))
  return sql`stored.state in (${sql.join(states)})`
}

/** The pairs of a state and a possible outcome. */
export const ALLOWED_OUTCOMES = sql.join(
  OUTCOMES.flatMap((outcome) =>
    NOTIFICATION_EVENTS[outcome].from.map((state) => sql`(${sql.lit(state)}, ${sql.lit(outcome)})`),
  ),
)
