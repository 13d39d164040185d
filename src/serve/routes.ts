import { ConfigError } from '../base/errors.js'
import { bothSpellings } from '../webhooks/receive/receiver-path.js'
import type { Schedule } from './schedule.js'
import type { PageSources } from '../extension.js'
import { answer, type Answer } from '../http/answer.js'
import type { Route } from '../http/http-server.js'
import { namesOf, onListedHosts } from '../http/listed-hosts.js'
import type { Receiver } from '../webhooks/receive/receive.js'
import type { RunningProcessor } from '../webhooks/process/run-processor.js'
import type { Health } from './health.js'
import type { ServeDependencies } from './serve-dependencies.js'
import { readStatus } from '../status/read-status.js'
import { readVitals, slotsOf } from '../status/read-vitals.js'

/** The parts that already run in this process. */
export interface RunningParts {
  readonly health: Health
  readonly receiver: Receiver | undefined
  readonly onAccepted: ((elapsedMs: number) => void)[]
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

/** The paths for health checks, which both ports answer. */
export function healthRoutes({ alive, ready }: Health): Record<string, Route> {
  return { '/healthz': alive, '/readyz': ready }
}

/**
 * The paths for the service, which strangers may reach too. Throws ConfigError where the path of
 * the webhooks is another one.
 */
export function createRoutes(
  { config: { webhookPath } }: Pick<ServeDependencies, 'config'>,
  running: RunningParts,
): Record<string, Route> {
  const { health, receiver } = running
  const routes = healthRoutes(health)
  if (receiver === undefined) return routes
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

/** The paths for one's own people. */
export function createPageRoutes(
  { config, parts, programVersion, warehouse, ...others }: ServeDependencies,
  running: RunningParts,
): Record<string, Route> {
  const { logger, pages, freeDiskBytes, clock, stats } = others
  const startedAt = clock()
  const sources: PageSources = {
    readVitals: () => readVitals(warehouse),
    readStatus: () => readStatus(warehouse),
    serving: () => ({
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
      receiver: running.receiver?.outcomes.counts(),
      api: stats(),
      isServing: true,
    }),
    freeDiskBytes,
    onAccepted: (listener) => running.onAccepted.push(listener),
    logger,
  }
  const routes = Object.assign({}, ...pages.map((create) => create(sources))) as Record<
    string,
    Route
  >
  return { ...healthRoutes(running.health), ...onListedHosts(routes, namesOf(config.hosts)) }
}
