import { sql } from 'kysely'
import { LeaseHeldError } from '../../../../base/errors.js'
import type { Warehouse } from '../../../../warehouse/connection/warehouse.js'
import { quoteIdentifier } from '../../../../warehouse/connection/schema-names.js'

const ANOTHER_DEMO =
  'another demo runs in this database; ' +
  'wait until it has ended, or give this one its own directory with --home'

/** Any constant of our own: the first key of the advisory lock. */
const LOCK_CLASS = 820_313

/**
 * Runs a demo, or throws LeaseHeldError at once when another one runs in this database. A killed
 * demo leaves nothing behind. Takes a connection meanwhile.
 */
export async function runDemoAlone<Result>(
  warehouse: Warehouse,
  work: () => Promise<Result>,
): Promise<Result> {
  return warehouse.transaction('keep others away', async (session) => {
    await session.query('keep others away', sql`set local idle_in_transaction_session_timeout = 0`)
    const [row] = await session.query(
      'keep others away',
      sql<{
        isTaken: boolean
      }>`select pg_try_advisory_xact_lock(${LOCK_CLASS}, hashtext(${warehouse.names.data})) as "isTaken"`,
    )
    if (row?.isTaken !== true) throw new LeaseHeldError(ANOTHER_DEMO)
    return work()
  })
}

/** Stands in the comment of the schema of bookkeeping. */
const MARK = 'Made by tracking-sync demo, which drops it and makes it anew.'

/** Marks all schemas of a warehouse as those of the demo. */
export async function markDemoSchemas(warehouse: Warehouse): Promise<void> {
  const schema = sql.id(warehouse.names.sync)
  await warehouse.query('mark the schemas', sql`comment on schema ${schema} is '${sql.raw(MARK)}'`)
}

/**
 * Removes all schemas of a warehouse with everything in them, where the demo made them; true also
 * when there are none. False, and nothing removed, when one is there that it did not make.
 */
export async function dropDemoSchemas(warehouse: Warehouse): Promise<boolean> {
  const schemas = Object.values(warehouse.names)
  const [found] = await warehouse.query(
    'look whose the schemas are',
    sql<{ schemas: number; isMarked: boolean | null }>`select count(*)::integer as schemas,
    bool_or(nspname = ${warehouse.names.sync} and obj_description(oid, 'pg_namespace') = ${MARK}) as "isMarked"
from pg_namespace
where nspname = any(${schemas})`,
  )
  if (found === undefined || (found.schemas > 0 && found.isMarked !== true)) return false
  await warehouse.query(
    'drop schemas',
    sql`drop schema if exists ${sql.raw(schemas.map(quoteIdentifier).join(', '))} cascade`,
  )
  return true
}
