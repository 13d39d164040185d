/**
 * Views that nodes cannot answer where rows are spread by container, with those as of an instant
 * and the stored ones of the same names: they look at several containers for each, or at rows of
 * one in an order that nodes do not take. Tried with Citus 13.2.
 */
export const REFUSED_WHEN_SPREAD = [
  'charge_days',
  'demurrage_evidence',
  'exceptions',
  'hold_durations',
  'invoice_audit',
  'pickup_worklist',
  'transshipments',
] as const

/** Of these views those that a statement reads by name. */
export function findRefused(sqlText: string): string[] {
  return REFUSED_WHEN_SPREAD.filter((name) =>
    new RegExp(`\\b(?:from|join)\\s+(?:"?\\w+"?\\s*\\.\\s*)?"?${name}\\b`, 'i').test(sqlText),
  )
}

/** Whether nodes refuse a view of ours of this name. */
export function isRefused(view: string): boolean {
  return (REFUSED_WHEN_SPREAD as readonly string[]).includes(view)
}
