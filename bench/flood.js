/**
 * Deliveries in a flood: how long a signed delivery waits for its answer while strangers send 190
 * bodies in chunks of one byte, 250 slow bodies, or ask for one panel of the dashboard a hundred
 * times at once, and by how much the memory of `serve` rises (decision 23).
 *
 *   node bench/flood.js [seconds of each, 10 unless told] [another build's cli.js, to compare]
 *
 * Each line also has the load of the machine; `quiet` is without a flood.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Agent, request } from 'undici'
import { startSimulator } from '../dist/extensions/simulator/server.js'
import { atEnd, CLI, openDatabase, round, runBench, runMeasured, START } from './bench-world.js'
import { createDeliveryMaker, quantiles, SECRET } from './webhook-load.js'

const SECONDS = Number(process.argv[2] ?? 10)
const PROGRAM = process.argv[3] ?? CLI
const FLOODER = fileURLToPath(new URL('flooder.js', import.meta.url))
const BETWEEN_MS = 20

const makeDelivery = createDeliveryMaker(
  [
    {
      data: { id: '', attributes: {}, relationships: { reference_object: { data: {} } } },
      included: [{ type: 'port', attributes: { name: 'x'.repeat(6_000) } }],
    },
  ],
  Date.parse(START),
)

await runBench(async () => {
  const serve = await openServe()
  const measured = []
  // Twice, so that what a flood leaves behind is not taken for what the next one costs.
  await measure('quiet', serve)
  for (const kind of ['quiet', 'chunks', 'slow', 'panel']) measured.push(await measure(kind, serve))
  for (const { kind, ...figures } of measured) {
    process.stdout.write(`${kind.padEnd(7)} ${JSON.stringify(figures)}\n`)
  }
  return { measured }
})

async function openServe() {
  const databaseUrl = await openDatabase({})
  const simulator = await startSimulator({
    shipments: 100,
    startAt: new Date(START),
    speed: 1,
    rateLimitPerMinute: null,
  })
  atEnd(() => simulator.close())
  const env = {
    TRACKING_API_URL: simulator.url,
    TRACKING_API_KEY: simulator.apiKey,
    DATABASE_URL: databaseUrl,
    TRACKING_RATE_LIMIT_PER_MINUTE: '100000',
    TRACKING_LOG_LEVEL: 'error',
  }
  await runMeasured([PROGRAM, 'backfill', '--json'], env)
  const args = [PROGRAM, 'serve', '--no-scheduler', '--no-processor']
  const child = spawn(process.execPath, args, {
    env: {
      PATH: process.env.PATH,
      ...env,
      PORT: '0',
      TRACKING_PAGES_PORT: '0',
      TRACKING_WEBHOOK_SECRET: SECRET,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  atEnd(() => end(child))
  let text = ''
  for await (const part of child.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    text += part
    if (text.includes('\n')) break
  }
  const [, origin, pages] = /serving at (http[^,\s]+).* pages at (http\S+)/.exec(text) ?? []
  while (!(await fetch(`${origin}/readyz`)).ok) await sleep(100)
  return { origin, pages, pid: child.pid }
}

async function end(child) {
  child.kill('SIGTERM')
  if (child.exitCode === null && child.signalCode === null) await once(child, 'close')
}

/** One delivery after the other, each on a connection of its own. */
async function measure(kind, { origin, pages, pid }) {
  const flooder =
    kind === 'quiet'
      ? undefined
      : spawn(process.execPath, [FLOODER, kind, kind === 'panel' ? pages : origin], {
          stdio: 'ignore',
        })
  const before = readRssMb(pid)
  const times = []
  const statuses = {}
  let most = before
  const startedAt = performance.now()
  while (performance.now() - startedAt < SECONDS * 1000 || times.length < 5) {
    const dispatcher = new Agent({ pipelining: 0 })
    const sentAt = performance.now()
    const status = await request(`${origin}/webhooks`, {
      method: 'POST',
      dispatcher,
      ...makeDelivery(kind),
    }).then(
      async ({ statusCode, body }) => (await body.dump(), statusCode),
      (error) => error.code ?? error.message,
    )
    times.push(performance.now() - sentAt)
    statuses[status] = (statuses[status] ?? 0) + 1
    most = Math.max(most, readRssMb(pid))
    await dispatcher.destroy()
    await sleep(BETWEEN_MS)
  }
  if (flooder !== undefined) await end(flooder)
  const { p50, p95, max } = quantiles(times)
  const ms = { p50: round(p50), p95: round(p95), max: round(max) }
  return { kind, ms, statuses, riseMb: round(most - before), load: round(loadavg()[0]) }
}

/** NaN where there is no /proc. */
function readRssMb(pid) {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
  } catch {
    return Number.NaN
  }
}
