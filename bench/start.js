/**
 * How long the program takes before it does anything: `--help`, beside Node's own start; and a
 * `sync` of an account in which nothing changed, whose embedded database has its data but does not
 * run yet, beside the start and end of that database alone. Times are of the clock on the wall, so
 * a busy machine shows; processor time is noted.
 *
 *   node bench/start.js [runs, 15 unless told]
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedDatabase } from '../dist/extensions/embedded-postgres/embedded-database.js'
import { silentLogger } from '../dist/base/logger.js'
import { atEnd, CLI, connect, runBench, runMeasured, startService } from './bench-world.js'
import { figure, median } from './figures.js'
import { readCpuMs } from './processor-time.js'

const RUNS = Number(process.argv[2] ?? 15)
/** Nothing to do takes one page of each list. */
const SHIPMENTS = 20

await runBench(async () => {
  const node = []
  const help = []
  for (let at = 0; at < RUNS; at += 1) {
    node.push(await time(['--eval', '0']))
    help.push(await time([CLI, '--help']))
  }
  const { sync, database, writes } = await measureSync()
  return {
    figures: [
      figure('B11 help', {
        runs: help.map(({ ms }) => ms),
        beside: { what: 'ms, node --eval 0', value: median(node.map(({ ms }) => ms)) },
        note: `${medianCpu(help)} ms of processor time, of which Node itself ${medianCpu(node)}`,
      }),
      figure('B11 sync', {
        runs: sync.map(({ ms }) => ms),
        beside: { what: 'ms, the database up and down', value: median(database) },
        note: `${medianCpu(sync)} ms of processor time without the database; rows written: ${writes}`,
      }),
    ],
    node,
    help,
    sync,
    database,
  }
})

async function measureSync() {
  const service = await startService('--speed', '0', '--shipments', String(SHIPMENTS))
  const homeDirectory = await mkdtemp(join(tmpdir(), 'tracking-sync-bench-'))
  atEnd(() => rm(homeDirectory, { recursive: true, force: true }))
  await chmod(homeDirectory, 0o755)
  const env = {
    TRACKING_API_URL: service.apiUrl,
    TRACKING_API_KEY: service.apiKey,
    TRACKING_HOME: homeDirectory,
    TRACKING_RATE_LIMIT_PER_MINUTE: '100000',
    TRACKING_LOG_LEVEL: 'error',
  }
  await runMeasured([CLI, 'backfill', '--json'], env)
  const sync = []
  const database = []
  let writes = 0
  for (let at = 0; at < RUNS; at += 1) {
    database.push(await timeDatabase(homeDirectory))
    const { text, ...times } = await time([CLI, 'sync', '--json'], env)
    sync.push(times)
    for (const { counts } of JSON.parse(text).streams) writes += counts.inserted + counts.updated
  }
  return { sync, database, writes }
}

async function timeDatabase(homeDirectory) {
  const startedAt = performance.now()
  const server = await startEmbeddedDatabase({ homeDirectory, logger: silentLogger })
  const startMs = performance.now() - startedAt
  // For the machine's description.
  const client = await connect(server.url)
  await client.end()
  const stoppingAt = performance.now()
  await server.stop()
  return startMs + performance.now() - stoppingAt
}

/**
 * From the start of the process to its end. What it uses is charged to us once it has ended; other
 * children of ours must have ended before.
 */
async function time(args, env = {}) {
  const usedBefore = childrenCpuMs()
  const startedAt = performance.now()
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (chunk) => (text += chunk))
  const [exitCode] = await once(child, 'close')
  const ms = performance.now() - startedAt
  if (exitCode !== 0) throw new Error(`${args.join(' ')} ended with ${exitCode}: ${text}`)
  return { text, ms, cpuMs: childrenCpuMs() - usedBefore }
}

function childrenCpuMs() {
  return readCpuMs(process.pid, { children: true }) - readCpuMs(process.pid)
}

function medianCpu(runs) {
  return Math.round(median(runs.map(({ cpuMs }) => cpuMs)))
}
