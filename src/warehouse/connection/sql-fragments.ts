import { sql, type RawBuilder } from 'kysely'

/** A column, by its name or as `side.name`. */
export function columnRef(name: string, side?: string): RawBuilder<unknown> {
  return side === undefined ? sql.id(name) : sql.id(side, name)
}

/** Columns with commas between them. */
export function columnList(names: readonly string[], side?: string): RawBuilder<unknown> {
  return sql.join(names.map((name) => columnRef(name, side)))
}

/** `name = excluded.name` for each: the other half of an upsert. */
export function setToExcluded(names: readonly string[]): RawBuilder<unknown> {
  return sql.join(names.map((name) => sql`${sql.id(name)} = ${sql.id('excluded', name)}`))
}

/** Whether two rows have the same key, which is never null. */
export function haveSameKey(
  one: string,
  two: string,
  keys: readonly string[],
): RawBuilder<boolean> {
  return allTrue(keys.map((key) => sql`${sql.id(one, key)} = ${sql.id(two, key)}`))
}

/** Whether two rows differ in one of the columns; false without columns. */
export function anyDistinct(
  one: string,
  two: string,
  columns: readonly string[],
): RawBuilder<boolean> {
  if (columns.length === 0) return sql`false`
  return sql`(${columnList(columns, one)}) is distinct from (${columnList(columns, two)})`
}

export function allTrue(conditions: readonly RawBuilder<unknown>[]): RawBuilder<boolean> {
  return sql`(${sql.join(conditions, sql` and `)})`
}

export function anyTrue(conditions: readonly RawBuilder<unknown>[]): RawBuilder<boolean> {
  return sql`(${sql.join(conditions, sql` or `)})`
}

/** The values of the key columns as one text, with spaces between them. */
export function keyText(keys: readonly string[], side: string): RawBuilder<string> {
  return sql`${sql.join(
    keys.map((key) => sql.id(side, key)),
    sql` || ' ' || `,
  )}`
}

/**
 * The row of `table` with the key of `side`, for a lateral join: one index look-up each. For a
 * plain join the planner reads the whole table for every page while the table is small or lacks
 * statistics, as in a first load.
 */
export function lookUp(
  table: RawBuilder<unknown>,
  keys: readonly string[],
  side: string,
): RawBuilder<unknown> {
  return sql`lateral (select candidate.* from ${table} as candidate where ${haveSameKey('candidate', side, keys)} offset 0)`
}
