import { execFileSync, spawn } from 'node:child_process'
import { chownSync } from 'node:fs'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { withClient } from './with-client.js'

export interface Pooler {
  /** A server's URL, through the pooler and for the hostile login. */
  readonly url: string
  stop(): Promise<void>
}

/** A login to which every statement means something else, unless the session is told otherwise. */
const HOSTILE = {
  name: 'hostile',
  password: 'not-the-name',
  settings: {
    TimeZone: 'America/Los_Angeles',
    DateStyle: 'SQL, DMY',
    IntervalStyle: 'postgres_verbose',
    search_path: 'hostile, pg_catalog, public',
    standard_conforming_strings: 'off',
    array_nulls: 'off',
    bytea_output: 'escape',
    extra_float_digits: '-10',
    default_transaction_isolation: 'serializable',
    lock_timeout: '1ms',
  },
}

/**
 * Objects that the search path of the hostile login puts before PostgreSQL's own. For a database's
 * template.
 */
export const HOSTILE_OBJECTS = `create schema hostile;
create function hostile.now() returns timestamptz language sql immutable as $$ select timestamptz '2001-01-01 00:00Z' $$;
create function hostile.lower(text) returns text language sql immutable as $$ select 'hostile' $$;
create table hostile.containers (container_id text)`

/**
 * PgBouncer in transaction mode before a server, and a login there that is hostile: for `npm run
 * test:pgbouncer`. Few connections, so that transactions of one client meet many sessions.
 */
export async function startPooler(program: string, serverUrl: string): Promise<Pooler> {
  await createHostileLogin(serverUrl)
  const { hostname, port: serverPort } = new URL(serverUrl)
  const port = await freePort()
  const directory = await mkdtemp(join(tmpdir(), 'tracking-sync-pgbouncer-'))
  const settings = join(directory, 'pgbouncer.ini')
  await writeFile(join(directory, 'users'), `"${HOSTILE.name}" "${HOSTILE.password}"\n`)
  await writeFile(
    settings,
    `[databases]
* = host=${hostname} port=${serverPort}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${join(directory, 'users')}
pool_mode = transaction
server_round_robin = 1
default_pool_size = 8
max_client_conn = 500
server_idle_timeout = 5
server_login_retry = 1
auth_user = ${HOSTILE.name}
auth_query = select usename, passwd from pg_catalog.pg_shadow where usename operator(pg_catalog.=) $1
autodb_idle_timeout = 600
log_connections = 0
log_disconnections = 0
`,
  )
  // It refuses to run as root.
  const account = process.getuid?.() === 0 ? accountOf('nobody') : undefined
  await chmod(directory, 0o700)
  if (account !== undefined) {
    for (const path of [directory, settings, join(directory, 'users')]) {
      chownSync(path, account.uid, account.gid)
    }
  }
  const child = spawn(program, ['-q', settings], { ...account, cwd: directory, stdio: 'ignore' })
  const ended = new Promise<void>((resolve) =>
    child.once('exit', () => {
      resolve()
    }),
  )
  const url = new URL(serverUrl)
  url.host = `127.0.0.1:${port}`
  url.username = HOSTILE.name
  url.password = HOSTILE.password
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL')
    await ended
    await rm(directory, { recursive: true, force: true })
  }
  try {
    await answers(url.href)
  } catch (error) {
    await stop()
    throw new Error(`${program} does not answer; run it by hand to see why`, { cause: error })
  }
  return { url: url.href, stop }
}

async function createHostileLogin(serverUrl: string): Promise<void> {
  const { name, password, settings } = HOSTILE
  await withClient(serverUrl, async (client) => {
    // A superuser, as the login of the other tests, which own what they make.
    await client.query(`create role ${name} superuser login password '${password}'`)
    for (const [setting, value] of Object.entries(settings)) {
      const list = setting === 'search_path' ? value : pg.escapeLiteral(value)
      await client.query(`alter role ${name} set ${setting} = ${list}`)
    }
  })
}

function accountOf(name: string): { readonly uid: number; readonly gid: number } {
  const [uid, gid] = ['-u', '-g'].map((option) =>
    Number(execFileSync('id', [option, name], { encoding: 'utf8' })),
  )
  return { uid: uid!, gid: gid! }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

async function answers(url: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await withClient(url, (client) => client.query('select 1'))
      return
    } catch (error) {
      if (attempt === 50) throw error
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}
