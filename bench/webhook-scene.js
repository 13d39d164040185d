import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { startSimulator, WEBHOOK_EVENT_NAMES } from '../dist/extensions/simulator/server.js'
import { atEnd, CLI, connect, openDatabase, runMeasured, START } from './bench-world.js'
import { createDeliveryMaker, SECRET } from './webhook-load.js'

export const CONTAINERS = 300
const DAY_MS = 24 * 3_600_000

/**
 * A service with 300 containers, a database, and `serve` between them, each a process of its own
 * but the service. `args` are those of `serve`.
 */
export async function openWebhookScene(args) {
  const databaseUrl = await openDatabase({})
  const simulator = await startSimulator({
    shipments: CONTAINERS,
    startAt: new Date(START),
    speed: 1,
    rateLimitPerMinute: null,
    webhooks: { automatic: false, concurrency: 16 },
  })
  atEnd(() => simulator.close())
  const env = {
    TRACKING_API_URL: simulator.url,
    TRACKING_API_KEY: simulator.apiKey,
    DATABASE_URL: databaseUrl,
    TRACKING_RATE_LIMIT_PER_MINUTE: '100000',
    TRACKING_LOG_LEVEL: 'error',
  }
  await runMeasured([CLI, 'backfill', '--json'], env)
  const { templates, webhookId } = await catchDeliveries(simulator)
  const serve = await startServer([CLI, 'serve', ...args], {
    ...env,
    PORT: '0',
    TRACKING_PAGES_PORT: '0',
    TRACKING_WEBHOOK_SECRET: SECRET,
    TRACKING_WEBHOOK_IDS: webhookId,
  })
  const { origin } = new URL(serve.url)
  while (!(await fetch(`${origin}/readyz`)).ok) await sleep(100)
  const client = await connect(databaseUrl)
  // After everything that the measurement before it tells.
  const makeDelivery = createDeliveryMaker(templates, Date.parse(START) + DAY_MS)
  return { simulator, webhookId, serve, client, makeDelivery }
}

/** A program that prints where it listens; a process of its own. */
export async function startServer(args, env = {}) {
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  atEnd(async () => {
    child.kill('SIGTERM')
    if (child.exitCode === null) await once(child, 'close')
  })
  let text = ''
  for await (const chunk of child.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    text += chunk
    if (text.includes('\n')) break
  }
  const url = /serving at (http[^,\s]+)/.exec(text)?.[1]
  const pagesUrl = /pages at (http\S+)/.exec(text)?.[1]
  return { url: `${url}/webhooks`, pagesUrl, pid: child.pid }
}

/** One delivery about each of the containers, as the simulator sends them. */
async function catchDeliveries({ clock, world, edits, webhooks }) {
  const bodies = []
  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (chunk) => (text += chunk))
    request.on('end', () => {
      bodies.push(JSON.parse(text))
      response.writeHead(202).end()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { id: webhookId } = webhooks.create({
    url: `http://127.0.0.1:${server.address().port}/`,
    active: true,
    events: WEBHOOK_EVENT_NAMES,
    secret: SECRET,
    headers: [],
  })
  for (const { id } of world.page('container', 0, CONTAINERS, clock.now())) {
    edits.change('container', id, { seal_number: 'FIRST' })
  }
  await webhooks.deliverDue()
  server.close()
  server.closeAllConnections()
  const templates = bodies.filter(({ data }) => data.attributes.event === 'container.updated')
  return { templates, webhookId }
}

export function roundAll(figures, scale = 10) {
  const rounded = ([name, figure]) => [name, Math.round(figure * scale) / scale]
  return Object.fromEntries(Object.entries(figures).map(rounded))
}
