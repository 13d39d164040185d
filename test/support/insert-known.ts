import type { AnalyticsScene } from './analytics-scene.js'

type Row = Readonly<Record<string, unknown>>

const HISTORY = {
  shipments: 'shipment_history',
  containers: 'container_history',
  container_import_deadlines: 'container_import_deadline_history',
  container_holds: 'container_hold_history',
  container_fees: 'container_fee_history',
} as const

/** Columns that the histories do not have. */
const LIVE_ONLY = new Set([
  'is_zone_known',
  'terminal_checked_at',
  'details',
  'is_total',
  'position',
  '_first_seen_at',
  '_deleted_at',
])

/**
 * Inserts rows, valid since the beginning of 2026, into the table and its history, so that a
 * question as of an instant finds them too.
 */
export async function insertKnown(
  scene: AnalyticsScene,
  table: keyof typeof HISTORY,
  rows: readonly Row[],
  insert: 'insert' | 'insertMany' = 'insert',
): Promise<void> {
  await scene[insert](table, rows)
  await scene[insert](
    HISTORY[table],
    rows.map((row) => ({
      valid_from: '2026-01-01T00:00:00Z',
      ...Object.fromEntries(Object.entries(row).filter(([name]) => !LIVE_ONLY.has(name))),
    })),
  )
}
