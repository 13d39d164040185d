import { createHmac } from 'node:crypto'
import { resolve } from 'node:path'
import pg from 'pg'
import { EmbeddedDatabaseError, WarehouseSchemaError } from '../../base/errors.js'
import { ScramClient, scramVerifier } from '../../warehouse/connection/scram-client.js'
import type { DatabaseArea } from './area.js'
import { readIfThere } from './files.js'

/** The everyday login of the embedded server owns the database and is not a superuser. */
const EMBEDDED_USER = 'tracking'

/**
 * The superuser, for work that only it may do: looking at the server, making the everyday login and
 * databases.
 */
export const ADMIN_USER = 'tracking_admin'

/** The login for the user's own SQL: it reads, without any right on the server itself. */
const READER_USER = 'tracking_query'

export interface Login {
  readonly user: string
  readonly password: string
}

export interface Logins {
  readonly admin: Login
  readonly everyday: Login
  readonly reader: Login
}

export async function readLogins(area: DatabaseArea): Promise<Logins> {
  const password = await readPassword(area, area.passwordFile)
  return {
    admin: { user: ADMIN_USER, password: await readPassword(area, area.adminPasswordFile) },
    everyday: { user: EMBEDDED_USER, password },
    // This password follows from the other, but not the reverse: no third file to keep or to lose.
    reader: {
      user: READER_USER,
      password: createHmac('sha256', password).update(READER_USER).digest('hex'),
    },
  }
}

async function readPassword({ dataDirectory }: DatabaseArea, file: string): Promise<string> {
  const password = (await readIfThere(file))?.trim()
  if (password !== undefined) return password
  throw new EmbeddedDatabaseError(
    `A password of the embedded database is missing (${file}); bring the file back, ` +
      `or move ${dataDirectory} away to begin with an empty database.`,
  )
}

export interface RunningServer {
  readonly port: number
  /** The version as the server names it, for example `18.4`. */
  readonly version: string
}

const CONNECT_TIMEOUT_MS = 5_000

/** Before PostgreSQL 15, copying files was the only way. */
const FIRST_WITH_STRATEGIES = 150_000

/** In PostgreSQL 16 and later, the right to create roles brings no other rights. */
const FIRST_WITH_BOUND_CREATEROLE = 160_000

/** Creates the everyday login with its database, and the reader's, where they are missing. */
export async function ensureDatabase(
  port: number,
  { admin, everyday, reader }: Logins,
  databaseName: string,
): Promise<void> {
  const client = createClient(port, admin)
  await client.connect()
  try {
    const { rows } = await client.query<{ version: number; exists: boolean; known: string[] }>(
      `select
    current_setting('server_version_num')::int as version,
    exists (select from pg_database where datname = $1) as exists,
    array(select rolname::text from pg_roles where rolname = any ($2::text[])) as known`,
      [databaseName, [everyday.user, reader.user]],
    )
    const { version = 0, exists = false, known = [] } = rows[0] ?? {}
    const isMissing = ({ user }: Login): boolean => !known.includes(user)
    for (const { user, password } of [everyday, reader].filter(isMissing)) {
      const verifier = pg.escapeLiteral(scramVerifier(password))
      await client.query(`create role ${pg.escapeIdentifier(user)} login password ${verifier}`)
    }
    const mayBind = version >= FIRST_WITH_BOUND_CREATEROLE
    if (mayBind && isMissing(everyday)) {
      await client.query(`alter role ${pg.escapeIdentifier(everyday.user)} createrole`)
    }
    // From that version on, the everyday login makes the role of readers and grants it. On earlier
    // versions, which only our tests use, it cannot; the role made here reads more than it should,
    // the passwords' verifiers too.
    if (!mayBind && isMissing(reader)) {
      await client.query(`grant pg_read_all_data to ${pg.escapeIdentifier(reader.user)}`)
    }
    if (!exists) {
      // Copying files takes less than half the time of logging pages; the checkpoint that it needs
      // disturbs nobody here.
      const strategy = version >= FIRST_WITH_STRATEGIES ? 'strategy file_copy' : ''
      await client.query(
        `create database ${pg.escapeIdentifier(databaseName)}
owner ${pg.escapeIdentifier(everyday.user)} encoding 'UTF8' template template0 ${strategy}`,
      )
    }
  } finally {
    await client.end()
  }
}

/** The address of a database of the server. */
export function formatUrl({ user, password }: Login, port: number, databaseName: string): string {
  return `postgres://${user}:${password}@127.0.0.1:${port}/${encodeURIComponent(databaseName)}`
}

function createClient(port: number, login: Login): pg.Client {
  const client = new ScramClient({
    connectionString: formatUrl(login, port, 'postgres'),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: CONNECT_TIMEOUT_MS,
    application_name: 'tracking-sync (embedded)',
  })
  // A server that stops while we ask must not become an unhandled event.
  client.on('error', () => undefined)
  return client
}

/**
 * `silent`: nothing answers yet. `stranger`: something answers, but not the server of this data
 * directory.
 */
export async function ask(
  area: DatabaseArea,
  port: number,
  admin: Login,
): Promise<RunningServer | 'silent' | 'stranger'> {
  const client = createClient(port, admin)
  try {
    await client.connect()
    const { rows } = await client.query<{ directory: string; version: string }>(
      `select
    current_setting('data_directory') as directory,
    split_part(current_setting('server_version'), ' ', 1) as version`,
    )
    const [row] = rows
    if (row === undefined || resolve(row.directory) !== resolve(area.dataDirectory)) {
      return 'stranger'
    }
    return { port, version: row.version }
  } catch (error) {
    // 28P01 and 28000: a server that does not know us. Anything else passes: starting, stopping,
    // out of connections.
    if (error instanceof WarehouseSchemaError) return 'stranger'
    const { code } = error as { code?: string }
    return code === '28P01' || code === '28000' ? 'stranger' : 'silent'
  } finally {
    await client.end().catch(() => undefined)
  }
}
