import { FRAME } from './snapshot-history.js'
import type { TableSnapshot } from './snapshot-tables.js'

/**
 * Tables, or columns as `table.column`, without a value in the default world, with the reason. At
 * most ten.
 */
export const NOT_COMPARED: Readonly<Record<string, string>> = {
  container_changes: 'Only notifications bring changes; the tests of webhooks compare them.',
  'container_holds.hold_key': 'Made by us, and compared with that of the open version alone.',
  'container_fees.fee_key': 'Made by us, and compared with that of the open version alone.',
  other_resources: 'Holds types that the interface does not name; a sync test sends one.',
}

type Compared = ReadonlyMap<string, Pick<TableSnapshot, 'types' | 'tally'>>

/**
 * Tables of which no row was compared and columns of which no value was, unless they are among the
 * exceptions; and exceptions that are none. Columns of our own (`_…`, and when a version held) are
 * not words of the service.
 */
export function findEmpty(
  tables: Compared,
  exceptions: Readonly<Record<string, string>> = NOT_COMPARED,
): string[] {
  const empty = [...tables].flatMap(([table, { types, tally }]) => {
    if (tally.rows === 0) return [table]
    return [...types.keys()]
      .filter((column) => !column.startsWith('_') && !FRAME.has(column))
      .filter((column) => (tally.values.get(column) ?? 0) === 0)
      .map((column) => `${table}.${column}`)
  })
  const unexpected = empty.filter((name) => !(name in exceptions))
  const filled = Object.keys(exceptions).filter((name) => !empty.includes(name))
  return [
    ...unexpected.map((name) => `${name}: not one value was compared`),
    ...filled.map((name) => `${name}: has values, and is listed as one that has none`),
  ]
}

/** For the report: how much was compared, table by table. */
export function describeTallies(tables: Compared): string {
  const lines = [...tables].map(([table, { tally }]) => {
    const values = [...tally.values.values()].reduce((sum, count) => sum + count, 0)
    return `${table} ${tally.rows} (${values})`
  })
  return `rows (values) compared: ${lines.join(', ')}`
}
