import { sql } from 'kysely'
import { tableRef } from '../../warehouse/connection/typed-database.js'
import type { Session } from '../../warehouse/connection/warehouse.js'

/** Tables that every complete pass found empty; an empty list before the first pass. */
export async function findNeverFilled(session: Session): Promise<string[]> {
  const rows = await session.query(
    'look for tables that were never filled',
    sql<{ name: string }>`select table_name as name
from ${tableRef('sync.pass_shares')}
where column_name = ''
group by table_name
having max(records) = 0
order by 1`,
  )
  return rows.map(({ name }) => name)
}
