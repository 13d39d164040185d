import { startHttpServer, type HttpServer } from '../http/http-server.js'
import { awaitWarehouse } from './await-warehouse.js'
import { createHealth } from './health.js'
import { createRoutes, type RunningParts } from './routes.js'
import type { ServeDependencies } from './serve-dependencies.js'
import {
  catchUp,
  keepSendersFresh,
  learnOwnWebhooks,
  startReceiver,
  startTheProcessor,
  startTheSchedule,
  type StartedReceiver,
} from './start-parts.js'

export interface Serving {
  /** Of this machine: `http://127.0.0.1:8080`. */
  readonly url: string
  /** Resolves when all parts run; rejects if they never can. */
  readonly started: Promise<void>
  /**
   * Within `shutdownSeconds`, while the database answers: no longer ready, no new connection,
   * requests under way answered, what was received is committed, runs and batches stop at the next
   * page. Nothing acknowledged is lost, also where it takes longer and is cut off. Idempotent.
   */
  stop(): Promise<void>
}

/** Share of the time to stop for requests under way; the rest is for the batch of a run. */
const REQUESTS_SHARE = 0.4

/**
 * Starts the receiver, the processor and the scheduler, as far as `parts` says, with health,
 * metrics and status on the same address. Resolves when that address answers; the database may
 * still be away then: deliveries are answered 503, and the rest starts when it is back. Throws
 * ConfigError where the address cannot be taken.
 */
export async function startServe(dependencies: ServeDependencies): Promise<Serving> {
  const { config, parts, logger, inbox } = dependencies
  const stopping = new AbortController()
  const signal = AbortSignal.any([dependencies.signal, stopping.signal])
  const health = createHealth(inbox, async () => (await running.receiver?.canStore()) ?? true)
  const receiving = parts.isReceiving
    ? startReceiver(dependencies, () => running.processor?.wake())
    : undefined
  const running: RunningParts = {
    health,
    receiver: receiving?.receiver,
    isPrepared: false,
    processor: undefined,
    schedule: undefined,
  }
  let server: HttpServer
  try {
    const { host, httpPort } = config
    const routes = createRoutes(dependencies, running)
    server = await startHttpServer({ host, httpPort, routes, logger })
  } catch (thrown) {
    health.close()
    throw thrown
  }
  const started = startWork(dependencies, running, receiving, signal)
  // A rejection that no caller waits for must not end the process.
  started.catch(() => undefined)
  let ended: Promise<void> | undefined

  async function stopAll(): Promise<void> {
    health.leave()
    // Runs stop at the next page while requests are still being answered.
    stopping.abort(dependencies.signal.reason)
    await server.stop(config.shutdownSeconds * REQUESTS_SHARE * 1000)
    await running.receiver?.drain()
    await started.catch(() => undefined)
    await Promise.all([running.processor?.stop(), running.schedule?.stop()])
    health.close()
  }

  return { url: server.url, started, stop: () => (ended ??= stopAll()) }
}

/** All that needs the database. */
async function startWork(
  dependencies: ServeDependencies,
  running: RunningParts,
  receiving: StartedReceiver | undefined,
  signal: AbortSignal,
): Promise<void> {
  const { prepare, logger, sleep, parts, config } = dependencies
  if (!(await awaitWarehouse({ prepare, logger, sleep, signal }))) return
  running.isPrepared = true
  running.health.enter()
  if (receiving?.senders !== undefined) keepSendersFresh(receiving.senders, logger, signal)
  if (parts.isProcessing) running.processor = startTheProcessor(dependencies)
  if (parts.isScheduling) {
    running.schedule = startTheSchedule(dependencies, signal)
    await catchUp(dependencies, running.schedule)
  }
  // The reconcile that a schedule begins with learns them too.
  const isLearnt = parts.isScheduling && config.reconcileCron !== 'off'
  if (parts.isProcessing && !isLearnt) await learnOwnWebhooks(dependencies, signal)
}
