import { ConnectorError } from '../base/errors.js'
import type { Logger } from '../base/logger.js'
import { startSchedule, type Schedule } from '../base/schedule.js'
import { refreshOwnWebhooks } from '../webhooks/manage/own-webhooks.js'
import { createReceiver, type Receiver } from '../webhooks/receive/receive.js'
import { startProcessor, type RunningProcessor } from '../webhooks/process/run-processor.js'
import {
  createSenderAddresses,
  type SenderAddresses,
} from '../webhooks/receive/sender-addresses.js'
import { watchSettingsOf } from '../config/needed-settings.js'
import { createJobs } from './jobs.js'
import type { ServeDependencies } from './serve-dependencies.js'
import { isSyncDue, readSyncFreshness, slotsOf } from '../status/sync-freshness.js'

export interface StartedReceiver {
  readonly receiver: Receiver
  /** Undefined where deliveries are taken from any address. */
  readonly senders: SenderAddresses | undefined
}

export function startReceiver(
  { config, service, inbox, signature, logger, clock, sleep, reachFailpoint }: ServeDependencies,
  onStored: () => void,
): StartedReceiver {
  const senders = config.webhookCheckSenders
    ? createSenderAddresses({
        load: async (stop) => (await service.getWebhookIps(stop && { signal: stop })).body,
        clock,
        sleep,
        logger,
      })
    : undefined
  const { trustedProxyHops } = config
  const receiver = createReceiver({
    warehouse: inbox,
    signature,
    logger,
    reachFailpoint,
    onStored,
    ...(senders === undefined ? {} : { senders: { addresses: senders, trustedProxyHops } }),
  })
  return { receiver, senders }
}

/** Reads the list of sender addresses now and every hour until the signal is aborted. */
export function keepSendersFresh(
  senders: SenderAddresses,
  logger: Logger,
  signal: AbortSignal,
): void {
  senders.keepFresh(signal).catch((error: unknown) => {
    if (signal.aborted) return
    logger.error('the list of sender addresses is no longer refreshed', { error })
  })
}

export function startTheProcessor(dependencies: ServeDependencies): RunningProcessor {
  const { config, service, warehouse, logger, reachFailpoint, sleep } = dependencies
  return startProcessor({
    service,
    warehouse,
    logger,
    sleep,
    now: () => performance.now(),
    reachFailpoint,
    settings: {
      ...dependencies.runSettings,
      workers: config.processorWorkers,
      refetchDelayMs: config.refetchDelayMs,
      own: watchSettingsOf(config),
    },
  })
}

export function startTheSchedule(dependencies: ServeDependencies, signal: AbortSignal): Schedule {
  const { logger, clock, config } = dependencies
  const jobs = createJobs({ ...dependencies, signal })
  return startSchedule(jobs, { logger, clock, timeZone: config.cronTimeZone })
}

/**
 * What a start makes up for, without waiting for it: one sync if a slot was missed, and always the
 * notifications that could not be delivered meanwhile.
 */
export async function catchUp(
  { config, warehouse, logger }: ServeDependencies,
  schedule: Schedule,
): Promise<void> {
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

/**
 * Asks the service which webhooks are ours, so that first deliveries need not wait for it. A
 * failure is only logged: the processor asks again when it must.
 */
export async function learnOwnWebhooks(
  { config, service, warehouse, logger }: ServeDependencies,
  signal: AbortSignal,
): Promise<void> {
  try {
    await refreshOwnWebhooks({ service, warehouse, settings: watchSettingsOf(config), signal })
  } catch (error) {
    if (signal.aborted) return
    if (!(error instanceof ConnectorError)) throw error
    logger.warn('the service could not list its webhooks', { error })
  }
}
