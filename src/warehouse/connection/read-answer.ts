import pg from 'pg'
import { ConfigError } from '../../base/errors.js'
import { isDistributed } from '../distribute/citus.js'
import { refuseMoreThanReading } from '../questions/own-sql.js'
import { quoteIdentifier, roleNames, type SchemaNames } from './schema-names.js'
import type { PreparedSession } from './session-settings.js'

export interface TableAnswer {
  readonly columns: readonly string[]
  /** PostgreSQL's object id of the type of each column. */
  readonly types: readonly number[]
  readonly rows: readonly (readonly unknown[])[]
}

export interface QuestionOptions {
  /** Values of `$1`, `$2` and so on. */
  readonly parameters?: readonly unknown[]
  /** The instant the views answer for, as PostgreSQL reads one; now unless given. */
  readonly asOf?: string | undefined
  /** Read as the reader's role, where it is there and the login may take it. */
  readonly isAsReader?: boolean
}

export interface AnswerConnection {
  /** Not connected yet. */
  readonly client: pg.Client
  readonly prepare: (client: pg.ClientBase) => Promise<PreparedSession>
}

const ROWS_PER_PIECE = 1_000

/**
 * One statement of a person's, on a connection of its own, which is ended, read piece by piece.
 * That nothing but reading is done has four guards: the transaction is read-only and has taken a
 * snapshot, after which PostgreSQL lets nobody make it read-write; a cursor takes one query and
 * nothing else; a superuser is one no longer; and functions that may change something are not
 * called, so that none of this can be undone from within. All of it ends with the transaction,
 * whoever has the connection next. Leaving the loop early ends the statement.
 */
export async function* streamAnswer(
  { client, prepare }: AnswerConnection,
  names: SchemaNames,
  sqlText: string,
  { parameters = [], asOf, isAsReader = false }: QuestionOptions = {},
): AsyncGenerator<TableAnswer, void, undefined> {
  // A lost connection fails the statement as well, and is told there.
  client.on('error', () => undefined)
  await client.connect()
  try {
    const { begin } = await prepare(client)
    await client.query(begin)
    await client.query('set transaction read only')
    const isAway = await isDistributed({
      names,
      query: async <Row>(_: string, text: string, values: readonly unknown[] = []) =>
        (await client.query(text, [...values])).rows as Row[],
    })
    await restrict(client, names, { asOf, isAway })
    // The nodes take a login, and no role that cannot log in.
    if (isAsReader && !isAway) await becomeReader(client, names)
    await refuseMoreThanReading(
      async (text, values) => (await client.query<{ name: string }>(text, [...values])).rows,
      sqlText,
    )
    const question = {
      text: `declare answer no scroll cursor for ${sqlText}`,
      values: [...parameters],
      // The protocol that takes one statement and no second, also where there are no parameters.
      queryMode: 'extended',
    }
    await client.query(question)
    for (let isFirst = true; ; isFirst = false) {
      const { fields, rows } = await client.query<unknown[]>({
        text: `fetch forward ${ROWS_PER_PIECE} from answer`,
        rowMode: 'array',
      })
      const types = fields.map(({ dataTypeID }) => dataTypeID)
      if (isFirst || rows.length > 0) yield { columns: fields.map(({ name }) => name), types, rows }
      if (rows.length < ROWS_PER_PIECE) return
    }
  } finally {
    await client.end()
  }
}

/** May read every table, and nothing else; of PostgreSQL itself. */
const READER_OF_ALL = 'pg_read_all_data'

async function restrict(
  client: pg.Client,
  names: SchemaNames,
  { asOf, isAway }: { readonly asOf: string | undefined; readonly isAway: boolean },
): Promise<void> {
  // Tables that both schemas of views use, such as rules, stand in the first.
  const views = asOf === undefined ? [names.analytics] : [names.asOf, names.analytics]
  const path = [names.data, ...views, names.sync].map(quoteIdentifier).join(', ')
  await client.query(`set local search_path = ${path}, pg_catalog`)
  // All rows are asked for, not the first tenth.
  await client.query('set local cursor_tuple_fraction = 1')
  if (asOf !== undefined) await setInstant(client, asOf, isAway)
  const { rows } = await client.query<{ is_superuser: string }>('show is_superuser')
  if (rows[0]?.is_superuser === 'on') {
    if (isAway) throw refuseSuperuser()
    await client.query(`set local role ${READER_OF_ALL}`)
  }
}

function refuseSuperuser(): ConfigError {
  const problem =
    'names a superuser, who cannot give up its rights on the nodes of a distributed warehouse; ' +
    'use a login that is none'
  return new ConfigError([{ setting: 'DATABASE_URL', problem }])
}

/** The views that read it may run on another node, which gets settings of `set local` alone. */
async function setInstant(client: pg.Client, asOf: string, isAway: boolean): Promise<void> {
  // As UTC, whatever the session's own zone and style are.
  const { rows } = await client.query<{ instant: string }>(
    `select to_char($1::timestamptz at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as instant`,
    [asOf],
  )
  if (isAway) await client.query(`set local citus.propagate_set_commands = 'local'`)
  await client.query(`set local tracking_sync.as_of = ${pg.escapeLiteral(rows[0]?.instant ?? '')}`)
}

/** PostgreSQL 16 asks whether a member may also take the role. */
async function becomeReader(client: pg.Client, names: SchemaNames): Promise<void> {
  await client.query(
    `select set_config('role', rolname, true)
from pg_roles
where rolname = $1
    and pg_has_role(
        session_user,
        oid,
        case when current_setting('server_version_num')::int >= 160000 then 'SET' else 'MEMBER' end
    )`,
    [roleNames(names).reader],
  )
}

/** All pieces as one table. */
export async function collectAnswer(
  pieces: AsyncGenerator<TableAnswer, void, undefined>,
): Promise<TableAnswer> {
  let columns: readonly string[] = []
  let types: readonly number[] = []
  const rows: (readonly unknown[])[] = []
  for await (const piece of pieces) {
    columns = piece.columns
    types = piece.types
    for (const row of piece.rows) rows.push(row)
  }
  return { columns, types, rows }
}
