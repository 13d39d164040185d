import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { startEmbeddedDatabase } from '../dist/extensions/embedded-postgres/embedded-database.js'
import { silentLogger } from '../dist/base/logger.js'
import { describeMachine, noteServer } from './machine.js'

/**
 * What the benches need: a service and a database in processes of their own, and the means to read
 * what a process used.
 */

export const CLI = fileURLToPath(new URL('../dist/program/cli.js', import.meta.url))
/** One run with a clock that stands still: see connector.js. */
export const CONNECTOR = fileURLToPath(new URL('connector.js', import.meta.url))

/**
 * Two containers a shipment and fifteen transport events a container: 30,000 make 60,000 and
 * 890,000.
 */
export const SHIPMENTS = Number(process.argv[2] ?? 30_000)
export const START = '2026-03-02T08:00:00Z'

const closers = []

/** `close` is called when the bench ends, however it ends; the latest first. */
export function atEnd(close) {
  closers.push(close)
}

/**
 * Does `work`, prints what it returns, and leaves nothing behind whatever happens. Of what it
 * returns `figures` are for the table of `run.js`, which started us or did not; all else are
 * details.
 */
export async function runBench(work) {
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, () => void closeAll().finally(() => process.exit(130)))
  }
  let result
  try {
    result = await work()
    print(result)
  } finally {
    await closeAll()
  }
  const { figures = [], ...details } = result
  process.send?.({ figures, details, machine: describeMachine() })
}

let closing

/**
 * Once, whoever asks: a signal makes the work fail, which must not end the process while things are
 * still being closed.
 */
function closeAll() {
  closing ??= (async () => {
    for (const close of closers.reverse()) {
      await close().catch((error) => process.stderr.write(`${error.message}\n`))
    }
  })()
  return closing
}

/** Whether a figure was asked for: all are when nobody said which. */
export function isAskedFor(id) {
  const { BENCH_FIGURES: ids } = process.env
  return ids === undefined || ids.split(' ').includes(id)
}

export function print(figures) {
  process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`)
}

/** The simulator as a process of its own. */
export async function startService(...args) {
  const options = ['--port', '0', '--json', '--shipments', String(SHIPMENTS), '--seed', '1']
  const child = spawn(
    process.execPath,
    [CLI, 'simulate', ...options, '--start', START, '--requests-per-minute', '0', ...args],
    { env: { PATH: process.env.PATH }, stdio: ['ignore', 'pipe', 'inherit'] },
  )
  closers.push(async () => {
    child.kill('SIGTERM')
    if (child.exitCode === null) await once(child, 'close')
  })
  let text = ''
  for await (const chunk of child.stdout.setEncoding('utf8')) {
    text += chunk
    if (text.trimEnd().endsWith('}')) break
  }
  const { apiUrl, apiKey } = JSON.parse(text)
  return { apiUrl, apiKey }
}

/** It would write on its own account, now and then. */
const QUIET = { autovacuum: 'off' }

/**
 * The database of DATABASE_URL, which must be empty, or an embedded one that lives as long as the
 * bench.
 */
export async function openDatabase(extraSettings = QUIET) {
  if (process.env.DATABASE_URL) return process.env.DATABASE_URL
  const homeDirectory = await mkdtemp(join(tmpdir(), 'tracking-sync-bench-'))
  await chmod(homeDirectory, 0o755)
  closers.push(() => rm(homeDirectory, { recursive: true, force: true }))
  const server = await startEmbeddedDatabase({
    homeDirectory,
    logger: silentLogger,
    extraSettings,
  })
  closers.push(() => server.stop())
  return server.adminUrl
}

export async function connect(url) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  closers.push(() => client.end())
  await noteServer(client)
  return client
}

/**
 * Runs a program of ours to its end; resolves to its standard output and the most memory it had at
 * once. `flags` are Node's.
 */
export async function runMeasured(args, env, flags = []) {
  const startedAt = performance.now()
  const child = spawn(process.execPath, [...flags, ...args], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let peakKiB = 0
  const timer = setInterval(() => {
    peakKiB = Math.max(peakKiB, readPeakKiB(child.pid))
  }, 100)
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (chunk) => (text += chunk))
  const [exitCode] = await once(child, 'close')
  clearInterval(timer)
  const seconds = (performance.now() - startedAt) / 1000
  return { exitCode, text, seconds: round(seconds), peakMiB: round(peakKiB / 1024) }
}

/** The kernel's own high-water mark; 0 once the process is gone. */
function readPeakKiB(pid) {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}

export function round(number) {
  return Math.round(number * 10) / 10
}

export async function countRows(client) {
  const { rows } = await client.query(`select
    (select count(*)::int from tracking.shipments) as shipments,
    (select count(*)::int from tracking.containers) as containers,
    (select count(*)::int from tracking.transport_events) as transport_events`)
  return rows[0]
}
