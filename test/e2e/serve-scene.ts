import { Agent, fetch as fetchBy, type Response as Answer } from 'undici'
import { inject } from 'vitest'
import { chooseFreePort } from '../../src/extensions/embedded-postgres/server-process.js'
import type { Simulator } from '../../src/extensions/simulator/server.js'
import { WEBHOOK_EVENT_NAMES } from '../../src/extensions/simulator/webhooks/webhook-catalog.js'
import { makeFreshHome, removeFreshHomes } from '../support/fresh-home.js'
import { selectRows } from '../support/look-at-cli-rows.js'
import {
  endPrograms,
  startCli,
  waitUntil,
  type ProgramOptions,
  type RunningProgram,
} from '../support/run-cli.js'
import { startSameWorld } from '../support/simulate-cli.js'
import { createTestDatabase, type TestDatabase } from '../support/test-database.js'
import { signBody } from '../support/test-receiver.js'

export const KEY = 'canary/key+9f3a='
export const SECRET = 'canary/whsec+5be1='
const HOUR = 3_600_000

/**
 * A service with a webhook of ours, an empty database, and the settings of a `serve` between them.
 */
export interface ServeScene {
  readonly simulator: Simulator
  readonly database: TestDatabase
  readonly options: ProgramOptions
  /** Of webhooks and health. */
  readonly url: string
  readonly pagesUrl: string
  readonly webhookId: string
  /** Starts `serve` and resolves when it is ready. */
  serve(args?: readonly string[], settings?: Settings): Promise<RunningProgram>
  /** A path of `serve`: status and body. */
  get(path: string, headers?: Settings): Promise<{ status: number; text: string }>
  /** One delivery, signed rightly, to the receiver's path and what is named behind it. */
  post(body: string, behind?: string): Promise<Answer>
  select<Row = Record<string, unknown>>(sqlText: string): Promise<Row[]>
}

type Settings = Readonly<Record<string, string>>

export interface SceneOptions {
  readonly settings?: Settings
  /** Instead of the database's own, where `serve` connects. */
  readonly throughUrl?: (databaseUrl: string) => Promise<string>
  /** False leaves making the schemas to `serve`. */
  readonly isMigrated?: boolean
}

/**
 * The receiver closes a connection that is idle for five seconds. A sender on a busy machine that
 * uses one for as long would meet that by chance, and send again; ours sends each delivery once and
 * so uses none that has rested for a second.
 */
const SENDER = { keepAliveTimeout: 1_000, keepAliveMaxTimeout: 1_000 }

const opened: (() => Promise<void>)[] = []

/** The world began an hour ago, and moves only by hand. */
export async function openServeScene({
  settings = {},
  throughUrl = (url) => Promise.resolve(url),
  isMigrated = true,
}: SceneOptions = {}): Promise<ServeScene> {
  const sender = new Agent(SENDER)
  opened.push(() => sender.close())
  const { directory } = await makeFreshHome()
  const simulator = await startSameWorld({
    apiKey: KEY,
    shipments: 12,
    startAt: new Date(Date.now() - 2 * HOUR),
    webhooks: { automatic: true, lookEveryMs: 20, retryScale: 0.2 },
  })
  opened.push(() => simulator.close())
  const database = await createTestDatabase(
    isMigrated ? { template: inject('migratedDatabase') } : {},
  )
  opened.push(() => database.drop())
  // Not one that the system would give to a connection before `serve` takes it.
  const httpPort = await chooseFreePort([], new Set())
  const pagesPort = await chooseFreePort([], new Set([httpPort]))
  const [url, pagesUrl] = [httpPort, pagesPort].map((port) => `http://127.0.0.1:${port}`) as [
    string,
    string,
  ]
  const webhookUrl = `${url}/webhooks`
  const webhook = simulator.webhooks.create({
    url: webhookUrl,
    active: true,
    events: WEBHOOK_EVENT_NAMES,
    secret: SECRET,
    headers: [],
  })
  const env = {
    TRACKING_API_URL: simulator.url,
    TRACKING_API_KEY: KEY,
    TRACKING_WEBHOOK_SECRET: SECRET,
    TRACKING_WEBHOOK_URL: webhookUrl,
    DATABASE_URL: await throughUrl(database.url),
    PORT: String(httpPort),
    TRACKING_PAGES_PORT: String(pagesPort),
    TRACKING_RATE_LIMIT_PER_MINUTE: '100000',
    // Each sync is to end equal to the source.
    TRACKING_FULL_SYNC_HOURS: '0',
    TRACKING_LOG_FORMAT: 'json',
    ...settings,
  }
  const options = { directory, env, secrets: [SECRET] }
  const scene: ServeScene = {
    simulator,
    database,
    options,
    url,
    pagesUrl,
    webhookId: webhook.id,
    serve: async (args = [], more = {}) => {
      const program = await startCli(['serve', ...args], {
        ...options,
        env: { ...env, ...more },
        deadlineMs: 120_000,
      })
      await program.waitFor(({ stdout }) => stdout().includes('serving at'))
      await waitUntil('ready', async () => (await scene.get('/readyz')).status === 200)
      return program
    },
    get: async (path, headers = {}) => {
      const of = /^\/(?:healthz|readyz|webhooks)/.test(path) ? url : pagesUrl
      const response = await fetch(`${of}${path}`, { headers })
      return { status: response.status, text: await response.text() }
    },
    post: (body, behind = '') =>
      fetchBy(`${webhookUrl}${behind}`, {
        method: 'POST',
        body,
        dispatcher: sender,
        headers: {
          'content-type': 'application/json',
          'X-SVC-Webhook-Signature': signBody(body, SECRET),
        },
      }),
    select: (sqlText) => selectRows(database.url, sqlText),
  }
  return scene
}

/** For `afterEach`. */
export async function closeServeScenes(): Promise<void> {
  await endPrograms()
  for (const close of opened.splice(0).reverse()) await close()
  await removeFreshHomes()
}

/** A log line as JSON, by its message. */
export function logLines(program: RunningProgram, message: string): Record<string, unknown>[] {
  return program
    .stderr()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ msg }) => msg === message)
}

/** The value of a metric, given by its name or by its name with labels. */
export function metricOf(text: string, name: string): number | undefined {
  const line = text.split('\n').find((one) => one.startsWith(`tracking_sync_${name} `))
  return line === undefined ? undefined : Number(line.split(' ').at(-1))
}

/** Waits for a run that was started by the clock to be complete. */
export async function untilSynced(scene: ServeScene, runs = 1): Promise<void> {
  await waitUntil(`${runs} complete syncs`, async () => {
    const rows = await scene.select(
      `select from tracking_sync.sync_runs where outcome = 'complete'`,
    )
    return rows.length >= runs
  })
}
