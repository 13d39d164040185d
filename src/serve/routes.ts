import type { Histogram } from 'prom-client'
import { ConfigError } from '../base/errors.js'
import { bothSpellings } from '../base/this-path.js'
import type { Schedule } from '../base/schedule.js'
import { answer, type Answer } from '../http/answer.js'
import type { Route } from '../http/http-server.js'
import { forListedHosts, namesOf, onListedHosts } from '../http/listed-hosts.js'
import type { Receiver } from '../webhooks/receive/receive.js'
import type { RunningProcessor } from '../webhooks/process/run-processor.js'
import type { Health } from './health.js'
import { createMetricsRoute } from './metrics-route.js'
import type { ServeDependencies } from './serve-dependencies.js'
import { describeServing, type ServingStatus } from './describe-serving.js'
import { readStatus, type WarehouseStatus } from '../status/read-status.js'
import { readVitals, slotsOf } from '../status/read-vitals.js'

/** The parts that already run in this process. */
export interface RunningParts {
  readonly health: Health
  readonly receiver: Receiver | undefined
  readonly ackSeconds: Histogram | undefined
  /** Deliveries can be stored: the schemas are up to date. */
  isPrepared: boolean
  processor: RunningProcessor | undefined
  schedule: Schedule | undefined
}

/** The service repeats a delivery that is answered so. */
export const NOT_PREPARED: Answer = {
  status: 503,
  headers: { 'retry-after': '10' },
  error: 'unavailable',
}

/**
 * Every path that `serve` answers. Throws ConfigError where the path of the webhooks is one of the
 * others.
 */
export function createRoutes(
  dependencies: ServeDependencies,
  running: RunningParts,
): Record<string, Route> {
  const { config, warehouse, programVersion, stats } = dependencies
  const { health, receiver } = running
  const startedAt = dependencies.clock()
  const listed = namesOf(config.hosts)
  const routes: Record<string, Route> = {
    '/healthz': health.alive,
    '/readyz': health.ready,
    '/metrics': forListedHosts(
      createMetricsRoute({
        ackSeconds: running.ackSeconds,
        ofProcess: () => ({
          programVersion,
          receiver: receiver?.outcomes.counts(),
          processor: running.processor?.state(),
          jobs: running.schedule?.state() ?? [],
          api: stats(),
        }),
        ofWarehouse: async () => ({
          ...(await readVitals(warehouse)),
          requestLimit: config.rateLimitPerMinute,
          slots: slotsOf(config),
          freeDiskBytes: await dependencies.freeDiskBytes(),
        }),
      }),
      listed,
    ),
    ...onListedHosts(createPages(dependencies, running, startedAt), listed),
  }
  if (receiver === undefined) return routes
  const { webhookPath } = config
  if (webhookPath in routes) {
    const problem = `is ${webhookPath}, which serve answers itself; name another`
    throw new ConfigError([{ setting: 'TRACKING_WEBHOOK_PATH', problem }])
  }
  const receiving: Route = {
    methods: ['POST'],
    handle: async (request, response) => {
      if (running.isPrepared) await receiver.handle(request, response)
      else answer(request, response, NOT_PREPARED)
    },
  }
  for (const path of bothSpellings(webhookPath)) routes[path] = receiving
  return routes
}

function createPages(
  dependencies: ServeDependencies,
  running: RunningParts,
  startedAt: Date,
): Record<string, Route> {
  const { warehouse, logger, pages, freeDiskBytes } = dependencies
  const process = () => describeProcess(dependencies, running, startedAt)
  const sources = {
    readStatus: () => readStatus(warehouse),
    logger,
    facts: async () => ({ ...process(), freeDiskBytes: await freeDiskBytes() }),
    describe: (status: WarehouseStatus) => describeServing(status, process()),
  }
  return Object.assign({}, ...pages.map((create) => create(sources))) as Record<string, Route>
}

function describeProcess(
  { config, parts, programVersion }: ServeDependencies,
  running: RunningParts,
  startedAt: Date,
): ServingStatus {
  return {
    programVersion,
    startedAt,
    parts: [
      ...(parts.isReceiving ? ['receiver'] : []),
      ...(parts.isProcessing ? ['processor'] : []),
      ...(parts.isScheduling ? ['scheduler'] : []),
    ],
    slots: slotsOf(config),
    requestLimit: config.rateLimitPerMinute,
    jobs: running.schedule?.state() ?? [],
    processor: running.processor?.state(),
    isServing: true,
  }
}
