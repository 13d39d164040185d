import { sql } from 'kysely'

/** `= any (…)` for texts: one parameter for a list of any length. */
export function anyOf(texts: readonly string[]) {
  return sql<string>`any(${texts}::text[])`
}
