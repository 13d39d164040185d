import { isSpread } from '../distribute/citus.js'
import { quoteIdentifier } from '../connection/schema-names.js'
import type { Resource } from '../../resources/resource.js'
import type { Session } from '../connection/warehouse.js'

export interface LockOptions {
  /** Without rows that are tombstoned. */
  readonly isLive: boolean
}

/**
 * Locks rows as a write would have them, so that what hangs on them can be made anew, and returns
 * their keys, sorted. Nodes among which rows are spread lock none for a question: there each row is
 * written as it is.
 */
export async function lockRows(
  session: Session,
  resource: Resource,
  keys: readonly string[],
  { isLive }: LockOptions,
): Promise<string[]> {
  if (keys.length === 0) return []
  const table = session.names.table(resource.stream)
  const key = quoteIdentifier(resource.idColumn)
  const condition = `stored.${key} = any($1::text[])${isLive ? '\n    and stored._deleted_at is null' : ''}`
  const rows = await session.query<{ key: string }>(
    `look at ${resource.stream}`,
    (await isSpread(session))
      ? `with locked as (
    update ${table} as stored
    set _observed_at = stored._observed_at
    where ${condition}
    returning stored.${key} as key
)
select key
from locked
order by 1`
      : `select stored.${key} as key
from ${table} as stored
where ${condition}
order by 1
for no key update`,
    [keys],
  )
  return rows.map((row) => row.key)
}
