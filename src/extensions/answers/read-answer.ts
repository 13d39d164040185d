import { sql } from 'kysely'
import pg from 'pg'
import { ConfigError } from '../../base/errors.js'
import { isDistributed } from '../accounts/distribute/citus.js'
import {
  quoteIdentifier,
  roleNames,
  type SchemaNames,
} from '../../warehouse/connection/schema-names.js'
import { toWarehouseError } from '../../warehouse/connection/sqlstate.js'
import type { Statement } from '../../warehouse/connection/typed-database.js'
import type { Warehouse } from '../../warehouse/connection/warehouse.js'
import { adviseReaderLogin, describeMight, MIGHTY_ROLE } from './mighty-login.js'

export interface TableAnswer {
  readonly columns: readonly string[]
  /** PostgreSQL's object id of the type of each column. */
  readonly types: readonly number[]
  readonly rows: readonly (readonly unknown[])[]
  /**
   * For own SQL only, whose values are PostgreSQL's texts, null, or a boolean: for each array
   * column the object id of its element type, else 0.
   */
  readonly elements?: readonly number[]
  /** Rows behind these that nobody read; only in the last piece of an answer with `mostRows`. */
  readonly unread?: number
}

export interface QuestionOptions {
  /** The instant that the views answer for, as PostgreSQL reads one; now by default. */
  readonly asOf?: string | undefined
  /** Read with the reader's role, if it exists and the login may take it. */
  readonly isAsReader?: boolean
  /** A statement that a person wrote. Refused for a login that can reach the server's files. */
  readonly isOwnSql?: boolean
  /** Rows to read; those behind them are counted where they are. All by default. */
  readonly mostRows?: number | undefined
}

type Asked = Pick<Warehouse, 'names' | 'another'>

const ROWS_PER_PIECE = 1_000

/** The answer of one statement as a table: columns in order, duplicates kept. See `streamTable`. */
export async function readTable(
  warehouse: Asked,
  action: string,
  statement: Statement<unknown>,
  options?: QuestionOptions,
): Promise<TableAnswer> {
  const rows: (readonly unknown[])[] = []
  let last: TableAnswer = { columns: [], types: [], rows }
  for await (const piece of streamTable(warehouse, action, statement, options)) {
    last = piece
    for (const row of piece.rows) rows.push(row)
  }
  return { ...last, rows }
}

/**
 * Answers one statement in pieces of a thousand rows, so that an answer of any size fits in memory;
 * the first piece names the columns and may lack rows. Unqualified names mean the data tables, then
 * the views. The protocol and the cursor accept a single query. The transaction is read-only and
 * never committed: closing its connection discards everything that the statement set, locked or
 * made. The rights of the login (`TRACKING_READER_URL`) decide what a person's statement may read
 * and call; the role taken here protects nothing, because the statement may reset it. Leaving the
 * loop early ends the statement. Throws an error of the taxonomy.
 */
export async function* streamTable(
  { names, another }: Asked,
  action: string,
  statement: Statement<unknown>,
  { asOf, isAsReader = false, isOwnSql = false, mostRows = Infinity }: QuestionOptions = {},
): AsyncGenerator<TableAnswer, void, undefined> {
  const { client, prepare, compile } = await another(action)
  const query = async <Row>(_: string, asked: Statement<Row>) => {
    const { sql: text, parameters } = compile(asked)
    return (await client.query(text, [...parameters])).rows as Row[]
  }
  try {
    const { begin } = await prepare(client)
    await client.query(begin)
    await client.query('set transaction read only')
    const areRowsElsewhere = await isDistributed({ names, query })
    const limit = isOwnSql ? await refuseMightyLogin(client, names, query) : undefined
    await setPath(client, names, asOf)
    if (asOf !== undefined) await setInstant(client, asOf, areRowsElsewhere)
    // Nodes accept logins only, not a role that cannot log in.
    if (isAsReader && !areRowsElsewhere) await becomeReader(client, names)
    const { sql: text, parameters } = compile(statement)
    const question = {
      text: `declare answer no scroll cursor for ${text}`,
      values: [...parameters],
      // This protocol refuses a second statement, even without parameters.
      queryMode: 'extended',
    }
    await client.query(question)
    let elements: readonly number[] | undefined
    let left = mostRows
    for (let isFirst = true; ; isFirst = false) {
      // A row may have called set_config: restore the limit before the next piece.
      if (limit !== undefined) {
        await client.query(`set local statement_timeout = ${pg.escapeLiteral(limit)}`)
      }
      const { fields, rows } = await client.query<unknown[]>({
        text: `fetch forward ${Math.min(ROWS_PER_PIECE, left)} from answer`,
        rowMode: 'array',
        ...(isOwnSql ? { types: TEXTS } : {}),
      })
      const columns = fields.map(({ name }) => name)
      const types = fields.map(({ dataTypeID }) => dataTypeID)
      if (isOwnSql) elements ??= await readElements(client, types)
      left -= rows.length
      const unread = left > 0 ? {} : { unread: await countRest(client) }
      if (isFirst || rows.length > 0) {
        yield { columns, types, rows, ...(elements === undefined ? {} : { elements }), ...unread }
      }
      if (left <= 0 || rows.length < ROWS_PER_PIECE) return
    }
  } catch (thrown) {
    throw toWarehouseError(thrown, action)
  } finally {
    await client.end()
  }
}

/** Moves over the rest of the rows, which then need not travel. */
async function countRest(client: pg.Client): Promise<number> {
  const { rowCount } = await client.query('move forward all in answer')
  return rowCount ?? 0
}

const BOOLEAN = 16

/** Bypasses the driver's parsers, which would lose digits and shift days. */
const TEXTS: pg.CustomTypesConfig = {
  getTypeParser: (type: number) => (value: string) => (type === BOOLEAN ? value === 't' : value),
}

/** Type `box` separates its elements by semicolons and stays a text. */
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

/** PostgreSQL's names come first and temporary ones last, so that no other object shadows them. */
async function setPath(
  client: pg.Client,
  names: SchemaNames,
  asOf: string | undefined,
): Promise<void> {
  // Tables that both schemas of views use, such as rules, are in the first.
  const views = asOf === undefined ? [names.analytics, names.parts] : [names.asOf, names.analytics]
  const ours = [names.data, ...views, names.sync].map(quoteIdentifier).join(', ')
  await client.query(`set local search_path = pg_catalog, ${ours}, pg_temp`)
  // The cursor reads all rows, not the first tenth.
  await client.query('set local cursor_tuple_fraction = 1')
}

/** Refuses a login that can reach the server's files. Returns the time limit of a statement. */
async function refuseMightyLogin(
  { host, port, database = '' }: pg.Client,
  names: SchemaNames,
  query: Warehouse['query'],
): Promise<string> {
  const [row] = await query(
    'look at the login of own SQL',
    sql<{ login: string; role: string | null; limit: string }>`select
    session_user::text as login,
    current_setting('statement_timeout') as limit,
    ${MIGHTY_ROLE} as role`,
  )
  const { login = '', role = null, limit = '' } = row ?? {}
  if (role === null) return limit
  const might = describeMight(login, role)
  const problem = `${might}; ${adviseReaderLogin(names, `${host}:${port}/${database}`)}`
  throw new ConfigError([{ setting: `the login ${login}`, problem }])
}

/** Sets the instant of the views. Views on another node only get settings of `set local`. */
async function setInstant(
  client: pg.Client,
  asOf: string,
  areRowsElsewhere: boolean,
): Promise<void> {
  // As UTC, independent of the session's zone and style.
  const { rows } = await client.query<{ instant: string }>(
    `select to_char($1::timestamptz at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as instant`,
    [asOf],
  )
  if (areRowsElsewhere) await client.query(`set local citus.propagate_set_commands = 'local'`)
  await client.query(`set local tracking_sync.as_of = ${pg.escapeLiteral(rows[0]?.instant ?? '')}`)
}

/**
 * PostgreSQL 16 also asks whether a member may set the role. Roles belong to the server: a role
 * that another database made lacks rights here and is not taken.
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
