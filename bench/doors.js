/**
 * Questions beside webhooks: 50 requests of questions a second, nine in ten with the `ETag` that
 * the last answer had, beside 200 deliveries a second to the same `serve`. Before that the same
 * deliveries alone. `serve` and PostgreSQL are processes of their own; both senders share this one,
 * and send at a steady pace, whatever becomes of the requests before (an open loop).
 *
 *   node bench/doors.js [seconds of each load, 60 unless told]
 *
 * No delivery may be refused: exit code 1 if one is. A question may be: with 429, beyond four
 * answers under way and sixteen that wait.
 */
import { loadavg } from 'node:os'
import { Pool } from 'undici'
import { round, runBench } from './bench-world.js'
import { quantiles, sendAtRate } from './webhook-load.js'
import { openWebhookScene, roundAll } from './webhook-scene.js'

const SECONDS = Number(process.argv[2] ?? 60)
const DELIVERIES = 200
const QUESTIONS = 50
/** One in so many asks without an `ETag`. */
const PLAIN_EVERY = 10
const CONNECTIONS = 64
/** Without those whose rows the deliveries change. */
const ADDRESSES = [
  'last_free_days.csv',
  'last_free_days.json?columns=container_number,binding_on',
  'last_free_days.ics',
  'pickups.csv?excel=true',
  'pickups.json?limit=20',
  'arrivals.csv',
  'arrivals.ndjson?limit=50',
  'carriers.json',
  'carriers.csv?cut=line',
  'transshipments.csv',
].map((address) => `/questions/${address}`)

await runBench(async () => {
  const scene = await openWebhookScene(['--no-scheduler', '--questions'])
  const alone = await deliver(scene, 'alone')
  const [deliveries, questions] = await Promise.all([deliver(scene, 'beside'), ask(scene)])
  printTable({ alone, deliveries, questions })
  if (alone.refused + deliveries.refused > 0) process.exitCode = 1
  return { alone, deliveries, questions, load: round(loadavg()[0]) }
})

async function deliver({ makeDelivery, serve, client }, prefix) {
  const sent = Array.from({ length: DELIVERIES * SECONDS }, () => makeDelivery(prefix))
  const { statuses, acknowledged, ...figures } = await sendAtRate(serve.url, sent, DELIVERIES)
  const { rows } = await client.query(
    `select count(*)::int as stored from tracking_sync.webhook_notifications
    where starts_with(notification_id, $1)`,
    [`${prefix}-`],
  )
  const refused = sent.length - acknowledged
  return {
    sent: sent.length,
    refused,
    lost: acknowledged - rows[0].stored,
    statuses,
    ...roundAll(figures),
  }
}

async function ask({ serve: { pagesUrl } }) {
  const pool = new Pool(pagesUrl, { connections: CONNECTIONS })
  const etags = new Map()
  const latencies = []
  const statuses = {}
  const send = async (path, isPlain, dueAt) => {
    const etag = isPlain ? undefined : etags.get(path)
    let status
    try {
      const headers = etag === undefined ? {} : { 'if-none-match': etag }
      const answer = await pool.request({ path, method: 'GET', headers })
      await answer.body.dump()
      status = answer.statusCode
      if (status === 200) etags.set(path, answer.headers.etag)
      if (dueAt !== undefined && status !== 429) latencies.push(performance.now() - dueAt)
    } catch (error) {
      status = error.code ?? error.message
    }
    if (dueAt !== undefined) statuses[status] = (statuses[status] ?? 0) + 1
  }
  for (const path of ADDRESSES) await send(path, true)
  const startedAt = performance.now()
  const underWay = []
  for (let sent = 0; sent < QUESTIONS * SECONDS; sent += 1) {
    const dueAt = startedAt + (sent / QUESTIONS) * 1000
    const waitMs = dueAt - performance.now()
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs))
    const path = ADDRESSES[sent % ADDRESSES.length]
    // Every address is asked plainly in turn.
    const isPlain = (sent + Math.floor(sent / PLAIN_EVERY)) % PLAIN_EVERY === 0
    underWay.push(send(path, isPlain, dueAt))
  }
  await Promise.all(underWay)
  await pool.close()
  return { sent: underWay.length, statuses, ...roundAll(quantiles(latencies)) }
}

function printTable({ alone, deliveries, questions }) {
  const lines = [['', 'p50 ms', 'p99 ms', 'max ms', 'note']]
  const add = (name, { p50, p99, max }, note) => lines.push([name, p50, p99, max, note])
  const noteOf = ({ sent, refused, lost }) => `${refused} of ${sent} refused, ${lost} lost`
  add(`deliveries at ${DELIVERIES}/s alone`, alone, noteOf(alone))
  add(`the same beside questions`, deliveries, noteOf(deliveries))
  const statuses = Object.entries(questions.statuses).map(
    ([status, count]) => `${count} × ${status}`,
  )
  add(`questions at ${QUESTIONS}/s`, questions, statuses.join(', '))
  const widths = lines[0].map((_, at) => Math.max(...lines.map((line) => `${line[at]}`.length)))
  for (const line of lines) {
    process.stdout.write(`${line.map((cell, at) => `${cell}`.padEnd(widths[at])).join('  ')}\n`)
  }
}
