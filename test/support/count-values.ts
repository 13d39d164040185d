import type { TableSnapshot } from './snapshot-tables.js'

/** How many rows stand in a table, and how many of them have a value in each column. */
export interface Count {
  readonly rows: number
  readonly values: ReadonlyMap<string, number>
}

/** Tombstoned rows count as absent; null and an empty list are no value. */
export function countValues(tables: ReadonlyMap<string, TableSnapshot>): Map<string, Count> {
  return new Map(
    [...tables].map(([table, { types, rows: stored }]) => {
      const rows = stored.filter((row) => (row._deleted_at ?? null) === null)
      const values = [...types.keys()].map((column) => {
        const filled = rows.filter(({ [column]: value }) => hasValue(value))
        return [column, filled.length] as const
      })
      return [table, { rows: rows.length, values: new Map(values) }]
    }),
  )
}

function hasValue(value: unknown): boolean {
  return (value ?? null) !== null && !(Array.isArray(value) && value.length === 0)
}

/**
 * What may be empty in the default world of the simulator, with the reason: a table, or a column as
 * `table.column`. At most ten.
 */
export const MAY_BE_EMPTY: Readonly<Record<string, string>> = {
  container_changes: 'Only notifications bring changes; the tests of webhooks compare them.',
  other_resources: 'Holds types that the interface does not name; a sync test sends one.',
}

/**
 * Tables without a row and columns without a value, unless they may be empty; and what may be empty
 * and is not. Columns of our own (`_…`) are not words of the service.
 */
export function findEmpty(
  counts: ReadonlyMap<string, Count>,
  mayBeEmpty: Readonly<Record<string, string>> = MAY_BE_EMPTY,
): string[] {
  const empty = [...counts].flatMap(([table, { rows, values }]) => {
    if (rows === 0) return [table]
    const columns = [...values].filter(([column, count]) => count === 0 && !column.startsWith('_'))
    return columns.map(([column]) => `${table}.${column}`)
  })
  const unexpected = empty.filter((name) => !(name in mayBeEmpty))
  const filled = Object.keys(mayBeEmpty).filter((name) => !empty.includes(name))
  return [
    ...unexpected.map((name) => `${name}: not one value`),
    ...filled.map((name) => `${name}: has values, and is listed as one that may be empty`),
  ]
}
