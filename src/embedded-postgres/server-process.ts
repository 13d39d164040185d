import { open, readFile, stat, truncate } from 'node:fs/promises'
import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { EmbeddedDatabaseError, WarehouseSchemaError } from '../base/errors.js'
import type { Logger } from '../base/logger.js'
import { ScramClient } from '../base/scram-client.js'
import type { Binaries } from './binaries.js'
import type { DatabaseArea } from './area.js'
import type { Login } from './data-directory.js'
import { explainProgramFailure, recognizeFailure } from './explain-failure.js'
import { writeFileAtomically } from './files.js'
import { chooseFreePort } from './free-port.js'
import { classifyProcess, disownStalePid, isAlive, readPostmaster } from './processes.js'
import { runProgram, type ProgramResult } from './run-program.js'
import { renderServerSettings } from './server-settings.js'

export interface RunningServer {
  readonly port: number
  /** As the server names it, for example `18.4`. */
  readonly version: string
}

const LOG_LIMIT_BYTES = 10 * 1024 * 1024
const POLL_MS = 25
const CONNECT_TIMEOUT_MS = 5_000
/** Recovery after a crash can take long. */
const START_LIMIT_SECONDS = 60
/** A service manager usually kills after 30 seconds: leave it time for the rest of the shutdown. */
const FAST_STOP_SECONDS = 15
const IMMEDIATE_STOP_SECONDS = 5
const END_LIMIT_MS = 2_000
const END_POLL_MS = 5
const PORT_TRIES = 5
const OLD_PROCESS_POLL_MS = 250
const OLD_PROCESS_LIMIT_MS = 20_000

/**
 * The server that runs on this data directory, or undefined. Waits up to `waitMs` for one that is
 * still starting. Changes nothing, so it may be called without the start lock.
 */
export async function findRunningServer(
  area: DatabaseArea,
  admin: Login,
  waitMs = START_LIMIT_SECONDS * 1000,
): Promise<RunningServer | undefined> {
  const deadline = performance.now() + waitMs
  for (;;) {
    const postmaster = await readPostmaster(area.dataDirectory)
    if (postmaster === undefined) return undefined
    const kind = await classifyProcess(postmaster.pid, area.dataDirectory)
    if (kind === 'dead' || kind === 'other') return undefined
    const answer =
      postmaster.port === undefined ? 'silent' : await ask(area, postmaster.port, admin)
    if (typeof answer === 'object') return answer
    if (answer === 'stranger' && kind === 'unknown') return undefined
    if (answer === 'stranger' || performance.now() > deadline) {
      throw new EmbeddedDatabaseError(
        answer === 'stranger'
          ? `The server of ${area.dataDirectory} does not accept the password in ` +
              `${area.adminPasswordFile}; bring the right file back, or end what took its port ` +
              `${postmaster.port ?? ''}.`
          : `A PostgreSQL server (process ${postmaster.pid}) holds ${area.dataDirectory} but does ` +
              'not answer; end that process and try again.',
      )
    }
    await delay(POLL_MS)
  }
}

/**
 * Starts the server and returns its port. The caller holds the start lock and knows that none runs.
 */
export async function startServer(
  area: DatabaseArea,
  binaries: Binaries,
  options: {
    readonly port: number | undefined
    readonly extraSettings: Readonly<Record<string, string>>
    readonly logger: Logger
  },
): Promise<number> {
  await disownStalePid(area.dataDirectory)
  await boundLog(area.logFile)
  const wanted = [options.port, await readRememberedPort(area)].filter((port) => port !== undefined)
  const taken = new Set<number>()
  const deadline = performance.now() + OLD_PROCESS_LIMIT_MS
  for (;;) {
    const port = await chooseFreePort(wanted, taken)
    await writeFileAtomically(
      area.settingsFile,
      renderServerSettings(port, options.extraSettings),
      0o644,
    )
    const output = await runStart(area, binaries)
    if (output === undefined) {
      const [first] = wanted
      if (first !== undefined && first !== port) {
        options.logger.warn('the port of the embedded database was taken, so it has a new one', {
          takenPort: first,
          databasePort: port,
        })
      }
      await writeFileAtomically(area.portFile, `${port}\n`, 0o644)
      return port
    }
    const failure = recognizeFailure(output)
    if (failure === 'port_taken') {
      // Taken between our look and the server's.
      taken.add(port)
      if (taken.size < PORT_TRIES) continue
    }
    if (failure === 'old_processes' && performance.now() < deadline) {
      // A killed server's processes end as soon as they notice; until then they may still write.
      await delay(OLD_PROCESS_POLL_MS)
      continue
    }
    throw explainProgramFailure('start', output, area.directory, area.logFile)
  }
}

/** Returns when the server is gone. Cuts its connections; nothing committed is lost. */
export async function stopServer(
  area: DatabaseArea,
  binaries: Binaries,
  logger: Logger,
): Promise<void> {
  const postmaster = await readPostmaster(area.dataDirectory)
  const fast = await runStop(area, binaries, 'fast', FAST_STOP_SECONDS)
  if (fast.exitCode !== 0 && (await holdsServer(area))) {
    logger.warn('the embedded database did not stop in time and is stopped at once', {
      output: fast.output,
    })
    const immediate = await runStop(area, binaries, 'immediate', IMMEDIATE_STOP_SECONDS)
    if (immediate.exitCode !== 0 && (await holdsServer(area))) {
      throw explainProgramFailure('stop', immediate.output, area.directory, area.logFile)
    }
  }
  if (postmaster !== undefined) await waitForEnd(postmaster.pid)
}

async function runStop(
  area: DatabaseArea,
  binaries: Binaries,
  mode: 'fast' | 'immediate',
  seconds: number,
): Promise<ProgramResult> {
  return runProgram(
    binaries.pgCtl,
    ['stop', '-s', '-w', '-t', String(seconds), '-m', mode, '-D', area.dataDirectory],
    { directory: area.directory, account: area.account },
  )
}

/** pg_ctl is content when `postmaster.pid` is gone, which is a moment before the process is. */
async function waitForEnd(pid: number): Promise<void> {
  const deadline = performance.now() + END_LIMIT_MS
  while ((await isAlive(pid)) && performance.now() < deadline) {
    await delay(END_POLL_MS)
  }
}

/** Whether a process holds the data directory, answering or not. */
export async function holdsServer(area: DatabaseArea): Promise<boolean> {
  const postmaster = await readPostmaster(area.dataDirectory)
  if (postmaster === undefined) return false
  const kind = await classifyProcess(postmaster.pid, area.dataDirectory)
  return kind === 'server' || kind === 'unknown'
}

/** Before PostgreSQL 15, copying files was the only way. */
const FIRST_WITH_STRATEGIES = 150_000

/** In PostgreSQL 16 and later one who may create roles gets no other rights by it. */
const FIRST_WITH_BOUND_CREATEROLE = 160_000

/** Creates the everyday login and the database, its own, where they are missing. */
export async function ensureDatabase(
  port: number,
  logins: { readonly admin: Login; readonly everyday: Login },
  databaseName: string,
): Promise<void> {
  const { admin, everyday } = logins
  const client = createClient(port, admin)
  await client.connect()
  try {
    const { rows } = await client.query<{ version: number; exists: boolean; isKnown: boolean }>(
      `select
    current_setting('server_version_num')::int as version,
    exists (select from pg_database where datname = $1) as exists,
    exists (select from pg_roles where rolname = $2) as "isKnown"`,
      [databaseName, everyday.user],
    )
    const { version = 0, exists = false, isKnown = false } = rows[0] ?? {}
    if (!isKnown) {
      const more = version >= FIRST_WITH_BOUND_CREATEROLE ? 'createrole' : ''
      // Keeps the password out of the server's log.
      await client.query('set log_statement = none')
      await client.query('set log_min_error_statement = panic')
      await client.query('set log_min_duration_statement = -1')
      await client.query(
        `create role ${pg.escapeIdentifier(everyday.user)} login ${more}
password ${pg.escapeLiteral(everyday.password)}`,
      )
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

function createClient(port: number, { user, password }: Login): pg.Client {
  const client = new ScramClient({
    host: '127.0.0.1',
    port,
    user,
    password,
    database: 'postgres',
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
async function ask(
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

/** Undefined on success, else what the server wrote. */
async function runStart(area: DatabaseArea, binaries: Binaries): Promise<string | undefined> {
  const log = await open(area.logFile, 'a', 0o600)
  try {
    const before = (await log.stat()).size
    const { exitCode } = await runProgram(
      binaries.pgCtl,
      // pg_ctl puts the server into a session of its own, so that Ctrl-C does not reach it before
      // us. The settings file is named relative to the directory we start in: the text goes through
      // a shell, and a path would need quoting.
      ['start', '-s', '-w', '-t', String(START_LIMIT_SECONDS), '-D', area.dataDirectory].concat(
        '-o',
        '-c config_file=server.conf',
      ),
      { directory: area.directory, account: area.account, outputFile: log.fd },
    )
    if (exitCode === 0) return undefined
    return (await readFile(area.logFile)).subarray(before).toString('utf8')
  } finally {
    await log.close()
  }
}

async function boundLog(logFile: string): Promise<void> {
  const size = await stat(logFile).then(
    (file) => file.size,
    () => 0,
  )
  if (size > LOG_LIMIT_BYTES) await truncate(logFile)
}

async function readRememberedPort(area: DatabaseArea): Promise<number | undefined> {
  const port = Number(await readFile(area.portFile, 'utf8').catch(() => ''))
  return Number.isInteger(port) && port > 0 && port < 65_536 ? port : undefined
}
