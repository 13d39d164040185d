import { channelsOf, type AlertSettings } from '../extensions/alerts/alert-channels.js'
import { forgetAlerts } from '../extensions/alerts/forget-alerts.js'
import { sendHeartbeat } from '../extensions/alerts/heartbeat.js'
import { raiseAlerts } from '../extensions/alerts/raise-alerts.js'
import { LeaseHeldError, toError } from '../base/errors.js'
import type { Job } from '../base/schedule.js'
import { limitRun } from '../sync/run-outcome.js'
import { runSync } from '../sync/run-sync.js'
import { LARGE_ACCOUNT_CONTAINERS, storeViews } from '../warehouse/schema/store-views.js'
import { forgetBodies } from '../webhooks/receive/inbox.js'
import type { ProcessorState } from '../webhooks/process/run-processor.js'
import { reconcile } from '../webhooks/manage/reconcile.js'
import { slotsOf } from '../status/read-vitals.js'
import { watchSettingsOf } from '../config/needed-settings.js'
import type { Config } from '../config/settings.js'
import type { ServeDependencies } from './serve-dependencies.js'

/** Old bodies are looked for once a day, at an hour when little else is scheduled. */
const HOUSEKEEPING_CRON = '41 3 * * *'

/** Each look costs milliseconds. */
const ALERTS_CRON = '* * * * *'

export type JobName = 'sync' | 'alerts' | 'reconcile' | 'storing of views' | 'housekeeping'

/** When each job is due; one that is switched off is left out. */
export function cronsOf(
  config: Config,
  alerts: AlertSettings,
): { readonly name: JobName; readonly cron: string }[] {
  const crons: readonly { readonly name: JobName; readonly cron: string }[] = [
    { name: 'sync', cron: config.syncCron },
    { name: 'alerts', cron: channelsOf(alerts).length > 0 ? ALERTS_CRON : 'off' },
    { name: 'reconcile', cron: config.reconcileCron },
    { name: 'storing of views', cron: config.storeViewsCron },
    { name: 'housekeeping', cron: HOUSEKEEPING_CRON },
  ]
  return crons.filter(({ cron }) => cron !== 'off')
}

export type JobDependencies = Pick<
  ServeDependencies,
  | 'alerts'
  | 'clock'
  | 'config'
  | 'freeDiskBytes'
  | 'logger'
  | 'programVersion'
  | 'reachFailpoint'
  | 'runSettings'
  | 'service'
  | 'signal'
  | 'sleep'
  | 'warehouse'
>

/**
 * What `serve` does by the clock. A job that is switched off is left out. A sync answers `held`
 * where another run is writing. `processor`: its state in this process.
 */
export function createJobs(
  dependencies: JobDependencies,
  processor: () => ProcessorState | undefined,
): Job[] {
  const { config, signal, alerts } = dependencies
  const alert = (isAfterRun: boolean) => raise(dependencies, processor(), isAfterRun)
  const works: Readonly<Record<JobName, (given: JobDependencies) => Promise<unknown>>> = {
    sync: () => runSyncAndTell(dependencies).finally(() => alert(true)),
    alerts: () => alert(false),
    reconcile: runReconcile,
    'storing of views': runStoreViews,
    housekeeping: tidyUp,
  }
  const jobs = cronsOf(config, alerts.settings).map((job) => ({ ...job, work: works[job.name] }))
  return jobs.map(({ name, cron, work }) => ({
    name,
    cron,
    // Work that was stopped has not failed.
    run: async () => {
      if (signal.aborted) return undefined
      return work(dependencies).catch((thrown: unknown) => {
        if (!signal.aborted) throw toError(thrown)
      })
    },
  }))
}

/** The monitor hears of each sync, but for one that was stopped or left to another process. */
async function runSyncAndTell(dependencies: JobDependencies): Promise<'held' | undefined> {
  const { alerts, logger, signal } = dependencies
  const tell = async (isComplete: boolean): Promise<void> => {
    const { heartbeat } = alerts.settings
    if (heartbeat !== undefined && !signal.aborted) {
      await sendHeartbeat(heartbeat, isComplete, logger)
    }
  }
  try {
    const end = await runScheduledSync(dependencies)
    if (end !== 'held') await tell(true)
    return end
  } catch (thrown) {
    await tell(false)
    throw thrown
  }
}

/**
 * A sync as the command does it. If another process holds the lease, it is that one's turn, and no
 * failure. A run that does not end complete counts as a failure.
 */
async function runScheduledSync(dependencies: JobDependencies): Promise<'held' | undefined> {
  const { service, warehouse, programVersion, sleep, reachFailpoint } = dependencies
  const { config, logger, runSettings: settings, signal } = dependencies
  try {
    const { syncRunId, outcome, requests, problems } = await runSync('sync', {
      service,
      warehouse,
      logger,
      programVersion,
      sleep,
      reachFailpoint,
      settings,
      signal: limitRun(signal, config.runMinutes),
    })
    logger.info('scheduled sync', { syncRunId, outcome, requests })
    const [gravest] = problems
    if (gravest !== undefined) throw new Error(gravest)
    return undefined
  } catch (thrown) {
    if (!(thrown instanceof LeaseHeldError)) throw thrown
    logger.info('another run is under way; this slot is skipped', { reason: thrown.message })
    return 'held'
  }
}

function raise(
  dependencies: JobDependencies,
  processor: ProcessorState | undefined,
  isAfterRun: boolean,
): Promise<void> {
  const { config, alerts, freeDiskBytes } = dependencies
  return raiseAlerts({
    ...dependencies,
    ...alerts,
    requestLimit: config.rateLimitPerMinute,
    facts: async () => ({
      slots: slotsOf(config),
      isServing: true,
      processor,
      freeDiskBytes: await freeDiskBytes(),
    }),
    isAfterRun,
  })
}

async function runReconcile(dependencies: JobDependencies): Promise<void> {
  const { config, service, warehouse, logger, signal } = dependencies
  const settings = { ...watchSettingsOf(config), pageSize: config.preset.pageSize }
  const report = await reconcile({ service, warehouse, logger, signal, settings })
  const { failed, recovered, webhook } = report
  logger.info('reconciled', { failed, recovered, alerts: webhook.alerts.length })
}

async function runStoreViews({ warehouse, logger, signal }: JobDependencies): Promise<void> {
  await storeViews(warehouse, { logger, signal, fromContainers: LARGE_ACCOUNT_CONTAINERS })
}

async function tidyUp({ config, warehouse, signal, logger }: JobDependencies): Promise<void> {
  const { webhookRetentionDays: retentionDays } = config
  const bodies = await forgetBodies(warehouse, { retentionDays, signal })
  if (bodies > 0) logger.info('bodies of old notifications were deleted', { bodies })
  const alerts = await forgetAlerts(warehouse)
  if (alerts > 0) logger.info('alerts that were long over were deleted', { alerts })
}
