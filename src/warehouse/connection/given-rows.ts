import { sql, type AliasedRawBuilder } from 'kysely'

type ColumnType = 'text' | 'bigint' | 'integer' | 'boolean' | 'timestamptz'

/** Columns by name: their type in PostgreSQL and one value for each row. */
export type GivenColumns<Row> = {
  readonly [Name in keyof Row]: readonly [type: ColumnType, values: readonly unknown[]]
}

/**
 * Rows as a relation named `given`, to select from. Each column is one parameter, an array, so the
 * statement is the same for one row and for a hundred thousand: PostgreSQL takes 65,535 parameters.
 */
export function givenRows<Row extends object>(
  columns: GivenColumns<Row>,
): AliasedRawBuilder<Row, 'given'> {
  const entries = Object.entries<GivenColumns<Row>[keyof Row]>(columns)
  const arrays = entries.map(([, [type, values]]) => sql`${values}::${ARRAY_TYPES[type]}`)
  const names = sql.join(entries.map(([name]) => sql.ref(name)))
  return sql<Row>`unnest(${sql.join(arrays)})`.as<'given'>(sql`given (${names})`)
}

const ARRAY_TYPES = {
  text: sql`text[]`,
  bigint: sql`bigint[]`,
  integer: sql`integer[]`,
  boolean: sql`boolean[]`,
  timestamptz: sql`timestamptz[]`,
}

/** `= any (…)` for texts: one parameter for a list of any length. */
export function anyOf(texts: readonly string[]) {
  return sql<string>`any(${texts}::text[])`
}
