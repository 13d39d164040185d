import { sql } from 'kysely'
import { WarehouseSchemaError } from '../../base/errors.js'
import type { Session, Warehouse } from './warehouse.js'

type Asking = Pick<Session, 'query'>

/** The server is a standby: it refuses writes, and its unlogged tables cannot be read. */
export async function isStandby({ query }: Asking): Promise<boolean> {
  const [row] = await query(
    'ask whether the server is a standby',
    sql<{ isStandby: boolean }>`select pg_is_in_recovery() as "isStandby"`,
  )
  return row?.isStandby === true
}

/** Throws WarehouseSchemaError, with the way out, if this login can write nothing. */
export async function refuseReadOnly(
  warehouse: Asking,
  what = 'nothing can be written here',
): Promise<void> {
  const [row] = await warehouse.query(
    'ask whether the database takes writes',
    sql<{
      isReadOnly: boolean
    }>`select current_setting('transaction_read_only') = 'on' as "isReadOnly"`,
  )
  if (row?.isReadOnly !== true) return
  throw new WarehouseSchemaError(
    (await isStandby(warehouse))
      ? `${what}: this is a standby; use the primary server in DATABASE_URL`
      : `${what}: default_transaction_read_only is on for this login or database, which providers ` +
          'set on a full disk; make room there, then ' +
          '`alter role … reset default_transaction_read_only`',
  )
}

/** Refuses tables that a subscription fills: a row that is also written here stops it. */
export async function refuseSubscriber({
  names,
  query,
}: Pick<Warehouse, 'names' | 'query'>): Promise<void> {
  const [row] = await query(
    'look for a subscription',
    sql`select
    from pg_subscription_rel
    inner join pg_class
        on pg_class.oid = srrelid
    where relnamespace = (select oid from pg_namespace where nspname = ${names.data})
    limit 1`,
  )
  if (row === undefined) return
  throw new WarehouseSchemaError(
    `a subscription fills the tables of ${names.data} here; run this on the server that publishes ` +
      'them, or drop the subscription first (docs/replicas.md)',
  )
}
