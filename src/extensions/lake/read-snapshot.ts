import type pg from 'pg'
import { LIFT_TIME_LIMIT } from '../../warehouse/connection/bound-connection.js'
import type { SchemaNames } from '../../warehouse/connection/schema-names.js'
import { toWarehouseError } from '../../warehouse/connection/sqlstate.js'
import type { Statement } from '../../warehouse/connection/typed-database.js'
import type { Warehouse } from '../../warehouse/connection/warehouse.js'
import { copyOut, type TakeRow } from './copy-out.js'

/** The warehouse at one instant. */
export interface Snapshot {
  /** Like that of a session. */
  readonly query: <Row>(action: string, statement: Statement<Row>) => Promise<Row[]>
  /** Runs `copy … to stdout`, row by row: see `TakeRow`. */
  readonly copyOut: (
    action: string,
    statement: Statement<unknown>,
    takeRow: TakeRow,
  ) => Promise<void>
  readonly names: SchemaNames
}

/**
 * Runs `work` in one read-only transaction that sees one snapshot, on a connection of its own,
 * without time limits. Meanwhile the server keeps every row version that the snapshot may see.
 * Aborting cuts the connection, which fails the pending statements. Throws errors of the taxonomy.
 */
export async function readSnapshot<Result>(
  { names, another }: Pick<Warehouse, 'names' | 'another'>,
  action: string,
  signal: AbortSignal,
  work: (snapshot: Snapshot) => Promise<Result>,
): Promise<Result> {
  const { client, prepare, compile } = await another(action)
  const cut = (): void => {
    const { connection } = client as unknown as { readonly connection: pg.Connection }
    connection.stream.destroy()
  }
  signal.addEventListener('abort', cut, { once: true })
  try {
    signal.throwIfAborted()
    const { begin } = await prepare(client)
    await client.query(withOneSnapshot(begin))
    await client.query('set transaction read only')
    await client.query(LIFT_TIME_LIMIT.sql)
    await client.query('set local idle_in_transaction_session_timeout = 0')
    return await work({
      names,
      query: async <Row>(step: string, statement: Statement<Row>) => {
        const { sql, parameters } = compile(statement)
        const { rows } = await named(step, client.query(sql, [...parameters]))
        return rows as Row[]
      },
      copyOut: (step, statement, takeRow) =>
        named(step, copyOut(client, compile(statement).sql, takeRow)),
    })
  } catch (thrown) {
    throw toWarehouseError(thrown, action)
  } finally {
    signal.removeEventListener('abort', cut)
    await client.end()
  }
}

function named<Result>(action: string, work: Promise<Result>): Promise<Result> {
  return work.catch((thrown: unknown) => {
    throw toWarehouseError(thrown, action)
  })
}

/** In a shared session the text of `begin` names its isolation itself. */
function withOneSnapshot(begin: string): string {
  const level = 'repeatable read'
  if (begin === 'begin') return `begin isolation level ${level}`
  return begin.replaceAll('read committed', level)
}
