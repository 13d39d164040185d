import { open, readFile, stat, truncate } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'
import { EmbeddedDatabaseError } from '../../base/errors.js'
import type { Logger } from '../../base/logger.js'
import { type Binaries, runProgram, type ProgramResult } from './binaries.js'
import type { DatabaseArea } from './area.js'
import { ask, type Login, type RunningServer } from './server-client.js'
import { explainProgramFailure, recognizeFailure } from './explain-failure.js'
import { writeFileAtomically } from './files.js'
import { classifyProcess, disownStalePid, isAlive, readPostmaster } from './processes.js'

const LOG_LIMIT_BYTES = 10 * 1024 * 1024
const POLL_MS = 25
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
 * The server that runs on this data directory, or undefined. Waits up to `waitMs` for a server that
 * is still starting. Changes nothing, so it may be called without the start lock.
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
    readonly extraSettings: Readonly<Record<string, string>>
    readonly logger: Logger
  },
): Promise<number> {
  await disownStalePid(area.dataDirectory)
  await boundLog(area.logFile)
  const remembered = await readRememberedPort(area)
  const wanted = remembered === undefined ? [] : [remembered]
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
      if (remembered !== undefined && remembered !== port) {
        options.logger.warn('the port of the embedded database was taken, so it has a new one', {
          takenPort: remembered,
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

/** Undefined on success, else the output of the server. */
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

/**
 * Below the range from which systems take ports for outgoing connections, so that a remembered port
 * stays free.
 */
const LOWEST_PORT = 20_000
const HIGHEST_PORT = 29_999
const RANDOM_TRIES = 50

/**
 * The first of `wanted` that is free on the loopback address, else a random free one. Never one of
 * `taken`.
 */
export async function chooseFreePort(
  wanted: readonly number[],
  taken: ReadonlySet<number>,
): Promise<number> {
  const random = Array.from({ length: RANDOM_TRIES }, () =>
    randomInt(LOWEST_PORT, HIGHEST_PORT + 1),
  )
  for (const port of [...wanted, ...random]) {
    if (!taken.has(port) && (await isPortFree(port))) return port
  }
  throw new EmbeddedDatabaseError(
    `No free port was found on 127.0.0.1 between ${LOWEST_PORT} and ${HIGHEST_PORT}; ` +
      'end what holds them, or set DATABASE_URL.',
  )
}

async function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => {
      resolve(false)
    })
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      server.close(() => {
        resolve(true)
      })
    })
  })
}

/**
 * For a small machine whose only users are this program and a few analysts. A later line wins in
 * PostgreSQL, so what `initdb` found out about the machine comes first and can be overridden here;
 * `ALTER SYSTEM` overrides both.
 */
const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  // TCP is enough everywhere, and a socket path may be too long for the system (107 bytes on
  // Linux).
  unix_socket_directories: '',
  max_connections: '100',
  shared_buffers: '128MB',
  work_mem: '16MB',
  maintenance_work_mem: '64MB',
  effective_cache_size: '512MB',
  // Nothing replicates this server, and without replicas bulk loads into new tables skip most of
  // the log.
  wal_level: 'minimal',
  max_wal_senders: '0',
  wal_compression: 'on',
  max_wal_size: '1GB',
  // Compiling costs more than it saves on tables of this size.
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  cluster_name: 'tracking-sync',
}

/** The text of `server.conf`, which lies beside the data directory. */
export function renderServerSettings(
  port: number,
  extraSettings: Readonly<Record<string, string>>,
): string {
  const settings = { ...SETTINGS, port: String(port), ...extraSettings }
  return [
    '# Written at every start. Change settings with ALTER SYSTEM as tracking_admin (admin-password).',
    "include 'data/postgresql.conf'",
    ...Object.entries(settings).map(
      ([name, value]) => `${name} = '${value.replaceAll("'", "''")}'`,
    ),
    '',
  ].join('\n')
}
