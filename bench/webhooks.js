/**
 * Webhooks, end to end: how long the service waits for an answer (B8), how many deliveries a second
 * are taken without losing one, and how long it takes from a change at the service to the committed
 * row (B9). `serve` is a process of its own, with receiver and processor, and so is PostgreSQL,
 * which commits to disk. Sender and simulator share this process.
 *
 *   node bench/webhooks.js [rounds, 3 unless told] [seconds of B8's load, 30 unless told]
 *
 * Beside each figure stands a floor of the same run: a server that answers 202 and stores nothing,
 * under the same load, and single rows committed one after the other. On a shared machine the
 * quotient says more than the time. Of the rounds, the one with the lowest p99 (B9: p95) counts;
 * all are printed.
 */
import { readFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { round, runBench } from './bench-world.js'
import { figure, median } from './figures.js'
import { quantiles, sendAtRate } from './webhook-load.js'
import { CONTAINERS, openWebhookScene, roundAll, startServer } from './webhook-scene.js'

const ROUNDS = Number(process.argv[2] ?? 3)
const SECONDS = Number(process.argv[3] ?? 30)
const FLOOR_SECONDS = 10
const RATES = [500, 1000, 2000]
const STEP_SECONDS = 10
const ACCEPTING_SERVER = fileURLToPath(new URL('accepting-server.js', import.meta.url))

await runBench(async () => {
  const scene = await openWebhookScene(['--no-scheduler'])
  const floor = await startServer([ACCEPTING_SERVER])
  const commit = await measureCommits(scene.client)
  const answers = []
  const latencies = []
  for (let at = 0; at < ROUNDS; at += 1) latencies.push(await measureLatency(scene))
  for (let at = 0; at < ROUNDS; at += 1) answers.push(await measureAnswers(scene, floor))
  const rates = []
  for (const perSecond of RATES) {
    for (let at = 0; at < ROUNDS; at += 1) rates.push(await measureRate(scene, floor, perSecond))
  }
  printTable({ commit, answers, latencies, rates })
  return {
    figures: summarise({ commit, answers, latencies, rates }),
    commit,
    b8: answers,
    b8Rates: rates,
    b9: latencies,
  }
})

/** Single rows of the size of a delivery, each committed before the next is sent. */
async function measureCommits(client) {
  await client.query('create table public.floor (id serial primary key, body bytea)')
  const times = []
  const body = Buffer.alloc(6_000, 'x')
  for (let at = 0; at < 500; at += 1) {
    const startedAt = performance.now()
    await client.query('insert into public.floor (body) values ($1)', [body])
    times.push(performance.now() - startedAt)
  }
  return roundAll(quantiles(times))
}

/**
 * B9. A reader looks every few milliseconds which changes it can see, so what it sees is committed.
 */
async function measureLatency({ simulator, webhookId, serve, client }) {
  const { clock, world, edits, webhooks } = simulator
  webhooks.update(webhookId, { url: serve.url })
  const containers = world.page('container', 0, CONTAINERS, clock.now())
  const changedAt = new Map()
  const latencies = []
  let isOver = false
  const look = async () => {
    while (!isOver || changedAt.size > 0) {
      const { rows } = await client.query(
        'select seal_number as seal from tracking.containers where seal_number = any($1)',
        [[...changedAt.keys()]],
      )
      for (const { seal } of rows) {
        latencies.push(performance.now() - changedAt.get(seal))
        changedAt.delete(seal)
      }
      await sleep(5)
      if (isOver && performance.now() > giveUpAt) break
    }
  }
  let giveUpAt = Infinity
  const looking = look()
  const startedAt = performance.now()
  const count = 50 * 20
  const sending = []
  for (let at = 0; at < count; at += 1) {
    const waitMs = startedAt + at * 20 - performance.now()
    if (waitMs > 0) await sleep(waitMs)
    const seal = `B9-${Math.round(startedAt)}-${at}`
    changedAt.set(seal, performance.now())
    edits.change('container', containers[at % containers.length].id, { seal_number: seal })
    sending.push(webhooks.deliverDue())
  }
  await Promise.all(sending)
  giveUpAt = performance.now() + 30_000
  isOver = true
  await looking
  return { ...roundAll(quantiles(latencies)), seen: latencies.length, unseen: changedAt.size }
}

/** Sends to the receiver and to the floor; what was acknowledged must be in the inbox. */
async function measureLoad(scene, floor, perSecond, seconds) {
  const prefix = `load-${performance.now()}`
  const deliveries = Array.from({ length: perSecond * seconds }, () => scene.makeDelivery(prefix))
  const few = deliveries.slice(0, perSecond * Math.min(seconds, FLOOR_SECONDS))
  const plain = await measureServer(floor, few, perSecond)
  const serve = await measureServer(scene.serve, deliveries, perSecond)
  const { rows } = await scene.client.query(
    `select count(*)::int as stored, count(*) filter (where state = 'received')::int as waiting
    from tracking_sync.webhook_notifications where starts_with(notification_id, $1)`,
    [`${prefix}-`],
  )
  const drainSeconds = await waitUntilApplied(scene.client)
  return { ...serve, ...rows[0], drainSeconds, floor: plain, load: round(loadavg()[0]) }
}

async function measureServer({ url, pid }, deliveries, perSecond) {
  const before = readCpuMs(pid)
  const { statuses, acknowledged, ...figures } = await sendAtRate(url, deliveries, perSecond)
  const cpuMs = (readCpuMs(pid) - before) / deliveries.length
  return {
    sent: deliveries.length,
    acknowledged,
    statuses,
    ...roundAll({ ...figures, cpuMsEach: cpuMs }, 100),
  }
}

async function measureAnswers(scene, floor) {
  return measureLoad(scene, floor, 200, SECONDS)
}

async function measureRate(scene, floor, perSecond) {
  const figures = await measureLoad(scene, floor, perSecond, STEP_SECONDS)
  const { acknowledged, sent, stored } = figures
  return {
    rate: perSecond,
    isSustained: acknowledged === sent && figures.perSecond > 0.95 * perSecond,
    lost: acknowledged - stored,
    ...figures,
  }
}

async function waitUntilApplied(client) {
  const startedAt = performance.now()
  for (;;) {
    const { rows } = await client.query(
      `select from tracking_sync.webhook_notifications where state = 'received' limit 1`,
    )
    if (rows.length === 0) return round((performance.now() - startedAt) / 1000)
    await sleep(100)
  }
}

/**
 * Processor time of a process so far, in ticks of ten milliseconds; NaN where there is no /proc.
 */
function readCpuMs(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')
    return (Number(fields[11]) + Number(fields[12])) * 10
  } catch {
    return Number.NaN
  }
}

/**
 * Of the answers and the rows the median of the rounds counts; of the rates the highest that was
 * sustained in every round.
 */
function summarise({ commit, answers, latencies, rates }) {
  const lost = answers.reduce((sum, { acknowledged, stored }) => sum + acknowledged - stored, 0)
  const isSustained = (perSecond) =>
    rates.every((step) => step.rate !== perSecond || (step.isSustained && step.lost === 0))
  const unseen = latencies.reduce((sum, round) => sum + round.unseen, 0)
  return [
    figure('B8 answer', {
      runs: answers.map(({ p99 }) => p99),
      beside: { what: 'ms, nothing stored', value: median(answers.map(({ floor }) => floor.p99)) },
      note: `${lost} lost of those acknowledged`,
    }),
    figure('B8 rate', {
      value: Math.max(0, ...RATES.filter(isSustained)),
      note: `tried: ${RATES.join(', ')}; sender, service, receiver and database on one machine`,
    }),
    figure('B9 row', {
      runs: latencies.map(({ p95 }) => p95),
      beside: { what: 'ms p95 for one row committed', value: commit.p95 },
      note: `${unseen} changes not seen within 30 s`,
    }),
  ]
}

function printTable({ commit, answers, latencies, rates }) {
  const best = (list, name) => list.toSorted((one, two) => one[name] - two[name])[0]
  const lines = [['', 'p50 ms', 'p95 ms', 'p99 ms', 'floor p99', 'ratio', 'note']]
  const add = (name, { p50, p95, p99 }, floorP99, note) =>
    lines.push([name, p50, p95, p99, floorP99, round(p99 / floorP99), note])
  add('one row committed', commit, commit.p99, 'floor')
  const answer = best(answers, 'p99')
  add('B8 answer at 200/s', answer, answer.floor.p99, `${answer.cpuMsEach} ms CPU each`)
  for (const rate of RATES) {
    const step = best(
      rates.filter((one) => one.rate === rate),
      'p99',
    )
    const { acknowledged, sent, stored, drainSeconds, cpuMsEach } = step
    const note = `${acknowledged} of ${sent} acknowledged, ${stored} stored, applied ${drainSeconds} s later, ${cpuMsEach} ms CPU each`
    add(`B8 answer at ${rate}/s`, step, step.floor.p99, note)
  }
  const row = best(latencies, 'p95')
  add('B9 change to row at 50/s', row, commit.p99, `${row.seen} seen, ${row.unseen} not`)
  const widths = lines[0].map((_, at) => Math.max(...lines.map((line) => `${line[at]}`.length)))
  for (const line of lines) {
    process.stdout.write(`${line.map((cell, at) => `${cell}`.padEnd(widths[at])).join('  ')}\n`)
  }
}
