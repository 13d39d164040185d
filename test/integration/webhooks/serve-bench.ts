import { sql } from 'kysely'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ApiClient } from '../../../src/source/client/client.js'
import {
  createTrackingService,
  type TrackingService,
} from '../../../src/source/client/endpoints.js'
import { runSettingsOf } from '../../../src/commands/sync.js'
import { loadConfig } from '../../../src/config/load.js'
import type { Config } from '../../../src/config/settings.js'
import { noFailpoints } from '../../../src/base/failpoint.js'
import { silentLogger } from '../../../src/base/logger.js'
import { dashboardExtension } from '../../../src/extensions/dashboard/dashboard-extension.js'
import { createSleep } from '../../../src/base/retry.js'
import type { ServeParts } from '../../../src/serve/serve-dependencies.js'
import { startServe, type Serving } from '../../../src/serve/start-serve.js'
import type { Simulator } from '../../../src/extensions/simulator/server.js'
import { WEBHOOK_EVENT_NAMES } from '../../../src/extensions/simulator/webhooks/webhook-catalog.js'
import { createSharedRequestBudget } from '../../../src/warehouse/coordination/shared-budget.js'
import { createWarehouse, type Warehouse } from '../../../src/warehouse/connection/warehouse.js'
import { createSignatureCheck } from '../../../src/webhooks/receive/signature.js'
import { DEFAULT_SIGNATURE } from '../../support/test-receiver.js'

export const SECRET = 'whsec-of-a-bench-5be1f0'

export interface BenchHost {
  readonly config: Config
  readonly warehouse: Warehouse
  readonly service: TrackingService
  readonly serving: Serving
}

const opened: { close(): Promise<void> }[] = []

/**
 * The connections of a separate process: a pool, and a client whose budget is shared through the
 * database. Its clock is the service's.
 */
function openClient(
  simulator: Simulator,
  url: string,
  perMinute: number,
): { readonly warehouse: Warehouse; readonly service: TrackingService } {
  const warehouse = createWarehouse({ url, schema: 'tracking', logger: silentLogger, poolSize: 8 })
  const client = new ApiClient({
    baseUrl: simulator.url,
    apiKey: simulator.apiKey,
    logger: silentLogger,
    clock: () => simulator.clock.now(),
    sleep: createSleep(),
    random: Math.random,
    budget: createSharedRequestBudget({
      warehouse,
      account: 'one account',
      perMinute,
      clock: () => new Date(),
      sleep: createSleep(),
    }),
  })
  opened.push({
    close: async () => {
      await client.close()
      await warehouse.close()
    },
  })
  return { warehouse, service: createTrackingService(client) }
}

export interface BenchOptions {
  readonly simulator: Simulator
  /** Of the database; its schemas are up to date. */
  readonly url: string
  readonly parts?: Partial<ServeParts>
  readonly settings?: Readonly<Record<string, string>>
  readonly perMinute?: number
}

/** A `serve` in this process, with everything of its own, as another host has it. */
export async function startHost(options: BenchOptions): Promise<BenchHost> {
  const { simulator, url, perMinute = 100_000 } = options
  const directory = await mkdtemp(join(tmpdir(), 'tracking-sync-bench-'))
  const { config } = loadConfig({
    workingDirectory: directory,
    environment: {
      TRACKING_API_URL: simulator.url,
      TRACKING_API_KEY: simulator.apiKey,
      DATABASE_URL: url,
      PORT: '0',
      TRACKING_PAGES_PORT: '0',
      TRACKING_RATE_LIMIT_PER_MINUTE: String(perMinute),
      ...options.settings,
    },
  })
  await rm(directory, { recursive: true })
  const { warehouse, service } = openClient(simulator, url, perMinute)
  const inbox = createWarehouse({ url, schema: 'tracking', logger: silentLogger, poolSize: 2 })
  opened.push(inbox)
  const stats = {
    requests: 0,
    retries: 0,
    rateLimited: 0,
    staleConnections: 0,
    bytes: 0,
    rateLimitedSince: undefined,
    clockOffsetMs: 0,
  }
  const serving = await startServe({
    config,
    parts: { isReceiving: true, isProcessing: true, isScheduling: true, ...options.parts },
    warehouse,
    inbox,
    pages: [
      await dashboardExtension.pages!({
        config,
        logger: silentLogger,
        programVersion: 'test',
        connect: () => Promise.resolve(warehouse),
        connectReader: () => Promise.resolve(warehouse),
        onClose: () => undefined,
      }),
    ],
    prepare: () => Promise.resolve(),
    service,
    stats: () => stats,
    freeDiskBytes: () => Promise.resolve(undefined),
    observers: [],
    redact: (text) => text,
    signature: createSignatureCheck({ ...DEFAULT_SIGNATURE, secrets: [SECRET] }),
    runSettings: runSettingsOf(config),
    pace: { refetchDelayMs: 50 },
    programVersion: 'test',
    logger: silentLogger,
    clock: () => new Date(),
    sleep: createSleep(),
    reachFailpoint: noFailpoints,
    signal: new AbortController().signal,
  })
  opened.push({ close: () => serving.stop() })
  await serving.started
  return { config, warehouse, service, serving }
}

/** A webhook of every event that sends to a host. */
export function subscribe({ webhooks }: Simulator, { serving, config }: BenchHost): string {
  const url = `${serving.url}${config.webhookPath}`
  const attributes = { url, active: true, events: WEBHOOK_EVENT_NAMES, secret: SECRET, headers: [] }
  return webhooks.create(attributes).id
}

/** Number of waiting notifications and refetches. */
export async function countWaiting(warehouse: Warehouse): Promise<number> {
  const [row] = await warehouse.query(
    'count what waits',
    sql<{ waiting: number }>`select
    (select count(*) from tracking_sync.webhook_notifications where state = 'received')
    + (select count(*) from tracking_sync.refetch_queue) as waiting`,
  )
  return row!.waiting
}

/** For `afterEach`, before the scene goes. */
export async function closeHosts(): Promise<void> {
  for (const one of opened.splice(0).reverse()) await one.close()
}
