import type pg from 'pg'
import { WITHOUT_TIME_LIMIT } from './bound-connection.js'
import { copyOut, type TakeRow } from './copy-out.js'
import type { Statement } from './typed-database.js'
import type { AnswerConnection } from './read-answer.js'
import type { SchemaNames } from './schema-names.js'

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

/** The client of a snapshot; its errors are the driver's own. */
export interface SnapshotClient {
  readonly query: (sqlText: string, parameters: readonly unknown[]) => Promise<pg.QueryResult>
  readonly copyOut: (sqlText: string, takeRow: TakeRow) => Promise<void>
}

/**
 * Runs `work` in one read-only transaction that sees one snapshot, on a connection of its own,
 * without time limits. Meanwhile the server keeps every row version that the snapshot may see.
 * Aborting cuts the connection, which fails the pending statements.
 */
export async function withSnapshot<Result>(
  { client, prepare }: AnswerConnection,
  signal: AbortSignal,
  work: (client: SnapshotClient) => Promise<Result>,
): Promise<Result> {
  // A lost connection also fails the statement, which reports it.
  client.on('error', () => undefined)
  await client.connect()
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
    await client.query(WITHOUT_TIME_LIMIT)
    await client.query('set local idle_in_transaction_session_timeout = 0')
    return await work({
      query: (sqlText, parameters) => client.query(sqlText, [...parameters]),
      copyOut: (sqlText, takeRow) => copyOut(client, sqlText, takeRow),
    })
  } finally {
    signal.removeEventListener('abort', cut)
    await client.end()
  }
}

/** In a shared session the text of `begin` names its isolation itself. */
function withOneSnapshot(begin: string): string {
  const level = 'repeatable read'
  if (begin === 'begin') return `begin isolation level ${level}`
  return begin.replaceAll('read committed', level)
}
