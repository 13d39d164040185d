import { OPERATION_ALERTS } from '../../status/operation-alerts.js'

/** Alerts of containers: the exceptions of the view `attention`, in the order of its header. */
export const EXCEPTION_ALERTS = [
  'overdue',
  'last_free_day_near',
  'appointment_late',
  'appointment_missed',
  'day_unknown',
  'long_there',
  'hold_new',
  'hold_cleared',
  'eta_slipped',
  'eta_passed',
  'left_behind',
  'rolled',
  'rail_silent',
  'no_news',
  'empty_not_returned',
  'tracking_stopped',
] as const

const GROUPS: Readonly<Record<string, readonly string[]>> = {
  all: [...OPERATION_ALERTS, ...EXCEPTION_ALERTS],
  operations: OPERATION_ALERTS,
  exceptions: EXCEPTION_ALERTS,
  // Overdue by a rule alone had a name of its own; settings of then are still read.
  charge_overdue: ['overdue'],
}

/** Every word that TRACKING_ALERT_KINDS may hold, without its hyphen. */
export const ALERT_WORDS: readonly string[] = [
  ...Object.keys(GROUPS),
  ...OPERATION_ALERTS,
  ...EXCEPTION_ALERTS,
]

/** The words of TRACKING_ALERT_KINDS; a leading hyphen leaves out. */
export function wordsOfKinds(kinds: string): string[] {
  return kinds.split(',').map((word) => word.trim())
}

/** The names that TRACKING_ALERT_KINDS chooses. If all words leave out: all other names. */
export function chosenAlerts(kinds: string): ReadonlySet<string> {
  const words = wordsOfKinds(kinds)
  const namesOf = (word: string): readonly string[] => GROUPS[word] ?? [word]
  const wanted = words.filter((word) => !word.startsWith('-'))
  const chosen = new Set((wanted.length === 0 ? ['all'] : wanted).flatMap(namesOf))
  for (const word of words.filter((one) => one.startsWith('-'))) {
    for (const name of namesOf(word.slice(1))) chosen.delete(name)
  }
  return chosen
}
