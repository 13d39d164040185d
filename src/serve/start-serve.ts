import { toError, WarehouseUnavailableError } from '../base/errors.js'
import { backoffMs } from '../base/retry.js'
import { startSchedule, type Schedule } from './schedule.js'
import { watchSettingsOf } from '../config/needed-settings.js'
import { isSyncDue, readSyncFreshness, slotsOf } from '../status/read-vitals.js'
import { startProcessor } from '../webhooks/process/run-processor.js'
import { Receiver } from '../webhooks/receive/receive.js'
import { SenderAddresses } from '../webhooks/receive/sender-addresses.js'
import { Health } from './health.js'
import { createJobs } from './jobs.js'
import { createPageRoutes, createRoutes, type RunningParts } from './routes.js'
import { startPorts, type Ports } from './start-ports.js'
import { PACE, REQUESTS_END_MS, type ServeDependencies } from './serve-dependencies.js'

export interface Serving {
  /** Address on this machine: `http://127.0.0.1:8080`. */
  readonly url: string
  /** The same of dashboard, metrics and questions. */
  readonly pagesUrl: string
  /** Resolves when all parts run; rejects if they never can. */
  readonly started: Promise<void>
  /**
   * Stops within `SHUTDOWN_SECONDS` while the database answers: reports not ready, refuses new
   * connections, answers current requests, commits received deliveries, and stops runs and batches
   * at the next page. Acknowledged deliveries are never lost, even if it takes longer and is cut
   * off. Idempotent.
   */
  stop(): Promise<void>
}

/**
 * Starts the receiver, the processor and the scheduler, as far as `parts` says, with health on the
 * same address, and the pages on another. Resolves when both answer; the database may still be away
 * then: deliveries are answered 503, and the rest starts when it is back. Throws ConfigError where
 * an address cannot be taken.
 */
export async function startServe(dependencies: ServeDependencies): Promise<Serving> {
  const { config, parts, logger, inbox } = dependencies
  const stopping = new AbortController()
  const signal = AbortSignal.any([dependencies.signal, stopping.signal])
  const health = new Health(inbox, async () => (await running.receiver?.canStore()) ?? true)
  const senders = parts.isReceiving ? createSenders(dependencies) : undefined
  const onAccepted: RunningParts['onAccepted'] = []
  const { trustedProxyHops } = config
  const running: RunningParts = {
    health,
    receiver: parts.isReceiving
      ? new Receiver({
          ...dependencies,
          warehouse: inbox,
          ...(senders && { senders: { addresses: senders, trustedProxyHops } }),
          onAccepted: (elapsedMs) => {
            for (const listener of onAccepted) listener(elapsedMs)
          },
          onStored: () => running.processor?.wake(),
        })
      : undefined,
    onAccepted,
    isPrepared: false,
    processor: undefined,
    schedule: undefined,
  }
  let server: Ports
  try {
    server = await startPorts({
      config,
      routes: createRoutes(dependencies, running),
      pageRoutes: createPageRoutes(dependencies, running),
      logger,
      onRefused: (request, status) =>
        running.receiver?.outcomes.refusedBefore(request, [config.webhookPath], status),
    })
  } catch (thrown) {
    health.close()
    throw thrown
  }
  const started = startWork({ ...dependencies, signal }, running, senders)
  // A rejection that no caller waits for must not end the process.
  started.catch(() => undefined)
  let ended: Promise<void> | undefined

  async function stopAll(): Promise<void> {
    health.leave()
    // Runs stop at the next page while requests are still being answered.
    stopping.abort(dependencies.signal.reason)
    await server.stop(REQUESTS_END_MS)
    await running.receiver?.drain()
    await started.catch(() => undefined)
    await Promise.all([running.processor?.stop(), running.schedule?.stop()])
    health.close()
  }

  const { url, pagesUrl } = server
  return { url, pagesUrl, started, stop: () => (ended ??= stopAll()) }
}

/**
 * Starts all parts that need the database. The signal ends them, and the requests to the service.
 */
async function startWork(
  dependencies: ServeDependencies,
  running: RunningParts,
  senders: SenderAddresses | undefined,
): Promise<void> {
  const { parts, config, logger, clock, signal } = dependencies
  if (!(await awaitWarehouse(dependencies))) return
  running.isPrepared = true
  running.health.enter()
  senders?.keepFresh(signal).catch((error: unknown) => {
    if (signal.aborted) return
    logger.error('the list of sender addresses is no longer refreshed', { error })
  })
  if (parts.isProcessing) {
    const { refetchDelayMs } = { ...PACE, ...dependencies.pace }
    const own = watchSettingsOf(config)
    const settings = { ...dependencies.runSettings, refetchDelayMs, own }
    running.processor = startProcessor({ ...dependencies, settings })
  }
  if (parts.isScheduling) {
    const options = { logger, clock, timeZone: config.cronTimeZone }
    running.schedule = startSchedule(
      createJobs(dependencies, () => running.processor?.state()),
      options,
    )
    await catchUp(dependencies, running.schedule)
  }
}

const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 15_000

/**
 * True when the warehouse can be used, false when the signal came first. Waits for the database
 * without a limit; throws errors that waiting does not cure: a newer schema, a missing grant.
 */
export async function awaitWarehouse({
  prepare,
  logger,
  sleep,
  signal,
}: Pick<ServeDependencies, 'prepare' | 'logger' | 'sleep' | 'signal'>): Promise<boolean> {
  for (let failures = 0; !signal.aborted; failures += 1) {
    try {
      await prepare()
      if (failures > 0) logger.info('the database can be reached')
      return true
    } catch (thrown) {
      if (!isOutage(thrown)) throw thrown
      const waitMs = backoffMs(failures + 1, FIRST_PAUSE_MS, LONGEST_PAUSE_MS)
      logger.error(
        'the database cannot be reached; until it can, deliveries are answered 503 and nothing runs',
        { waitMs, error: thrown },
      )
      await sleep(waitMs, signal).catch((reason: unknown) => {
        if (!signal.aborted) throw toError(reason)
      })
    }
  }
  return false
}

/** Also one that was lost in the middle of a migration. */
function isOutage(thrown: unknown): boolean {
  if (thrown instanceof WarehouseUnavailableError) return true
  return thrown instanceof Error && thrown.cause instanceof WarehouseUnavailableError
}

/** Undefined where deliveries are taken from any address. */
export function createSenders(
  dependencies: Pick<ServeDependencies, 'config' | 'service' | 'logger' | 'clock' | 'sleep'>,
): SenderAddresses | undefined {
  const { config, service, ...others } = dependencies
  if (!config.preset.webhooks.checkSenders) return undefined
  const load = async (stop?: AbortSignal): Promise<unknown> =>
    (await service.getWebhookIps(stop && { signal: stop })).body
  return new SenderAddresses({ load, known: config.preset.webhooks.senders, ...others })
}

/**
 * Catches up after a start, without waiting: runs one sync if a slot was missed, and always fetches
 * notifications that could not be delivered meanwhile, and runs the jobs of observers.
 */
async function catchUp(
  { config, warehouse, logger, observers }: ServeDependencies,
  schedule: Schedule,
): Promise<void> {
  for (const { job } of observers) if (job.isAtStart === true) schedule.fire(job.name)
  schedule.fire('reconcile')
  const freshness = await readSyncFreshness(warehouse).catch((error: unknown) => {
    logger.warn('cannot find out whether a sync was missed', { error })
    return undefined
  })
  if (freshness === undefined || !isSyncDue(freshness, slotsOf(config))) return
  logger.info('a scheduled sync was missed; running one now', {
    lastCompleteSyncBegan: freshness.beganAt ?? 'never',
    syncCron: config.syncCron,
  })
  schedule.fire('sync')
}
