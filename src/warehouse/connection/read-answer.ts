import { sql } from 'kysely'
import pg from 'pg'
import { ConfigError } from '../../base/errors.js'
import { isDistributed } from './citus.js'
import type { Statement } from './typed-database.js'
import { createCompiler, type Compiler } from './statement-compiler.js'
import { adviseReaderLogin, describeMight, MIGHTY_ROLE } from './mighty-login.js'
import { quoteIdentifier, roleNames, type SchemaNames } from './schema-names.js'
import type { PreparedSession } from './session-settings.js'

export interface TableAnswer {
  readonly columns: readonly string[]
  /** PostgreSQL's object id of the type of each column. */
  readonly types: readonly number[]
  readonly rows: readonly (readonly unknown[])[]
  /**
   * Only of own SQL, whose values are PostgreSQL's texts, null, or a boolean: for each column that
   * is an array the object id of the type of its elements, else 0.
   */
  readonly elements?: readonly number[]
}

export interface QuestionOptions {
  /** Values of `$1`, `$2` and so on. */
  readonly parameters?: readonly unknown[]
  /** The instant the views answer for, as PostgreSQL reads one; now unless given. */
  readonly asOf?: string | undefined
  /** Read as the reader's role, where it is there and the login may take it. */
  readonly isAsReader?: boolean
  /** A statement that a person wrote: refused to a login that reaches the server's files. */
  readonly isOwnSql?: boolean
}

export interface AnswerConnection {
  /** Not connected yet. */
  readonly client: pg.Client
  readonly prepare: (client: pg.ClientBase) => Promise<PreparedSession>
}

const ROWS_PER_PIECE = 1_000

/**
 * Answers one statement, piece by piece, on a connection of its own. The protocol and the cursor
 * take one query and nothing else, and the transaction is read-only and never committed: its end is
 * the end of the connection, with everything that the statement set, locked or made. What a
 * person's statement may read and call is decided by the rights of the login
 * (`TRACKING_READER_URL`): the role that is taken here is not a wall, for the statement may give it
 * back. Leaving the loop early ends the statement.
 */
export async function* streamAnswer(
  { client, prepare }: AnswerConnection,
  names: SchemaNames,
  sqlText: string,
  { parameters = [], asOf, isAsReader = false, isOwnSql = false }: QuestionOptions = {},
): AsyncGenerator<TableAnswer, void, undefined> {
  // A lost connection fails the statement as well, and is told there.
  client.on('error', () => undefined)
  await client.connect()
  try {
    const { begin } = await prepare(client)
    await client.query(begin)
    await client.query('set transaction read only')
    const { compile } = createCompiler(names)
    const isAway = await isDistributed({
      names,
      query: async <Row>(_: string, statement: Statement<Row>) => {
        const { sql, parameters: values } = compile(statement)
        return (await client.query(sql, [...values])).rows as Row[]
      },
    })
    const limit = isOwnSql ? await refuseMightyLogin(client, names, compile) : undefined
    await setPath(client, names, asOf)
    if (asOf !== undefined) await setInstant(client, asOf, isAway)
    // The nodes take a login, and no role that cannot log in.
    if (isAsReader && !isAway) await becomeReader(client, names)
    const question = {
      text: `declare answer no scroll cursor for ${sqlText}`,
      values: [...parameters],
      // The protocol that takes one statement and no second, also where there are no parameters.
      queryMode: 'extended',
    }
    await client.query(question)
    let elements: readonly number[] | undefined
    for (let isFirst = true; ; isFirst = false) {
      // A row may have called set_config: the next piece has its limit again.
      if (limit !== undefined) {
        await client.query(`set local statement_timeout = ${pg.escapeLiteral(limit)}`)
      }
      const { fields, rows } = await client.query<unknown[]>({
        text: `fetch forward ${ROWS_PER_PIECE} from answer`,
        rowMode: 'array',
        ...(isOwnSql ? { types: TEXTS } : {}),
      })
      const columns = fields.map(({ name }) => name)
      const types = fields.map(({ dataTypeID }) => dataTypeID)
      if (isOwnSql) elements ??= await readElements(client, types)
      if (isFirst || rows.length > 0) {
        yield { columns, types, rows, ...(elements === undefined ? {} : { elements }) }
      }
      if (rows.length < ROWS_PER_PIECE) return
    }
  } finally {
    await client.end()
  }
}

const BOOLEAN = 16

/** No value passes a parser of the driver, which would lose digits and shift days. */
const TEXTS: pg.CustomTypesConfig = {
  getTypeParser: (type: number) => (value: string) => (type === BOOLEAN ? value === 't' : value),
}

/** `box` alone separates its elements by semicolons, and stays a text. */
async function readElements(client: pg.Client, types: readonly number[]): Promise<number[]> {
  const { rows } = await client.query<{ array: number; element: number }>(
    `select typarray as array, oid as element
from pg_catalog.pg_type
where typarray operator(pg_catalog.=) any ($1::pg_catalog.oid[])
    and typdelim operator(pg_catalog.=) ','`,
    [types],
  )
  const elements = new Map(rows.map(({ array, element }) => [array, element]))
  return types.map((type) => elements.get(type) ?? 0)
}

/**
 * PostgreSQL's own names come first and temporary ones last, so that nobody's function or table is
 * taken for another.
 */
async function setPath(
  client: pg.Client,
  names: SchemaNames,
  asOf: string | undefined,
): Promise<void> {
  // Tables that both schemas of views use, such as rules, stand in the first.
  const views = asOf === undefined ? [names.analytics] : [names.asOf, names.analytics]
  const ours = [names.data, ...views, names.sync].map(quoteIdentifier).join(', ')
  await client.query(`set local search_path = pg_catalog, ${ours}, pg_temp`)
  // All rows are asked for, not the first tenth.
  await client.query('set local cursor_tuple_fraction = 1')
}

/** Throws ConfigError for a mighty login. Returns the time limit of a statement. */
async function refuseMightyLogin(
  client: pg.Client,
  names: SchemaNames,
  compile: Compiler['compile'],
): Promise<string> {
  const { sql: text } = compile(
    sql`select
    session_user::text as login,
    current_setting('statement_timeout') as limit,
    ${MIGHTY_ROLE} as role`,
  )
  const { rows } = await client.query<{ login: string; role: string | null; limit: string }>(text)
  const { login = '', role = null, limit = '' } = rows[0] ?? {}
  if (role === null) return limit
  const { host, port, database = '' } = client
  const might = describeMight(login, role)
  const problem = `${might}; ${adviseReaderLogin(names, `${host}:${port}/${database}`)}`
  throw new ConfigError([{ setting: `the login ${login}`, problem }])
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

/**
 * PostgreSQL 16 asks whether a member may also take the role. Roles are of the server: one that
 * another database of it has made reads nothing here, and is not taken.
 */
async function becomeReader(client: pg.Client, names: SchemaNames): Promise<void> {
  await client.query(
    `select set_config('role', rolname, true)
from pg_roles
where rolname = $1
    and pg_has_role(
        session_user,
        oid,
        case when current_setting('server_version_num')::int >= 160000 then 'SET' else 'MEMBER' end
    )
    and coalesce(has_schema_privilege(oid, to_regnamespace($2)::oid, 'usage'), true)`,
    [roleNames(names).reader, quoteIdentifier(names.analytics)],
  )
}

/** All pieces as one table. */
export async function collectAnswer(
  pieces: AsyncGenerator<TableAnswer, void, undefined>,
): Promise<TableAnswer> {
  const rows: (readonly unknown[])[] = []
  let last: TableAnswer = { columns: [], types: [], rows }
  for await (const piece of pieces) {
    last = piece
    for (const row of piece.rows) rows.push(row)
  }
  return { ...last, rows }
}
