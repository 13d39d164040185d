/**
 * The life of an entry of the refetch queue.
 *
 *             asked                                failed, released
 *    absent ─────────▶ later ◀──────────────────────────────────────┐
 *       ▲                │                                          │
 *       │                │ (time)            claimed                │
 *       │                └───────▶ due ──────────────▶ being read ──┤
 *       │                           ▲                               │
 *       │                           └───────────────────────────────┤
 *       │                       outdated, (60 seconds)              │
 *       └───────────────────────────────────────────────────────────┘
 *                                answered
 *
 * Also an entry that nobody reads is answered when its record comes by another way. `asked` raises
 * the generation of an entry, so that a read under way does not answer it any more: it is
 * `outdated` then. The two transitions in brackets take only time.
 */
export const REFETCH_TRANSITIONS = {
  absent: { asked: 'later' },
  later: { asked: 'later', answered: 'absent', failed: 'later', released: 'later' },
  due: {
    asked: 'due',
    claimed: 'being read',
    answered: 'absent',
    failed: 'later',
    released: 'later',
  },
  'being read': {
    asked: 'being read',
    answered: 'absent',
    outdated: 'due',
    failed: 'later',
    released: 'later',
  },
} as const

export type RefetchState = keyof typeof REFETCH_TRANSITIONS

/** SQL: the state of the entry `queued`. */
export const REFETCH_STATE = `case
        when queued.claimed_until > now() then 'being read'
        when queued.not_before > now() then 'later'
        else 'due'
    end`
