import { LeaseHeldError, toError } from '../base/errors.js'
import type { Job } from './schedule.js'
import type { Observed, Observer } from '../extension.js'
import { limitRun } from '../sync/run-outcome.js'
import { runSync } from '../sync/run-sync.js'
import { forgetBodies } from '../webhooks/receive/inbox.js'
import type { ProcessorState } from '../webhooks/process/run-processor.js'
import { reconcile } from '../webhooks/manage/reconcile.js'
import { slotsOf } from '../status/read-vitals.js'
import { watchSettingsOf } from '../config/needed-settings.js'
import type { Config } from '../config/settings.js'
import { PACE, type Pace, type ServeDependencies } from './serve-dependencies.js'

/** Old bodies are looked for once a day, at an hour when little else is scheduled. */
const HOUSEKEEPING_CRON = '41 3 * * *'

/** When each job is due; one that is switched off is left out. */
export function cronsOf(
  config: Config,
  observers: readonly Observer[],
  { reconcileCron = PACE.reconcileCron }: Partial<Pace> = {},
): { readonly name: string; readonly cron: string }[] {
  const crons = [
    { name: 'sync', cron: config.syncCron },
    ...observers.map(({ job: { name, cronOf } }) => ({ name, cron: cronOf(config) })),
    { name: 'reconcile', cron: reconcileCron },
    { name: 'housekeeping', cron: HOUSEKEEPING_CRON },
  ]
  return crons.filter(({ cron }) => cron !== 'off')
}

export type JobDependencies = Pick<
  ServeDependencies,
  | 'clock'
  | 'config'
  | 'freeDiskBytes'
  | 'logger'
  | 'observers'
  | 'pace'
  | 'programVersion'
  | 'reachFailpoint'
  | 'redact'
  | 'runSettings'
  | 'service'
  | 'signal'
  | 'sleep'
  | 'warehouse'
>

/**
 * The scheduled jobs of `serve`. A job that is switched off is left out. A sync answers `held`
 * where another run is writing. `processor`: its state in this process.
 */
export function createJobs(
  dependencies: JobDependencies,
  processor: () => ProcessorState | undefined,
): Job[] {
  const { config, signal, observers } = dependencies
  const observed = observedBy(dependencies, processor)
  const works = new Map<string, () => Promise<unknown>>([
    ['sync', () => runObservedSync(dependencies, observed)],
    ...observers.map(({ job, runJob }) => [job.name, () => runJob(observed)] as const),
    ['reconcile', () => runReconcile(dependencies)],
    ['housekeeping', () => tidyUp(dependencies)],
  ])
  return cronsOf(config, observers, dependencies.pace).map(({ name, cron }) => ({
    name,
    cron,
    // Work that was stopped has not failed.
    run: async () => {
      if (signal.aborted) return undefined
      return works
        .get(name)?.()
        .catch((thrown: unknown) => {
          if (!signal.aborted) throw toError(thrown)
        })
    },
  }))
}

/** Observers hear of each sync, except a sync that was stopped or left to another process. */
async function runObservedSync(
  dependencies: JobDependencies,
  observed: Observed,
): Promise<'held' | undefined> {
  const { observers, signal } = dependencies
  const tell = async (isComplete: boolean): Promise<void> => {
    if (signal.aborted) return
    for (const { onRunEnd } of observers) await onRunEnd?.(observed, isComplete)
  }
  try {
    const end = await runScheduledSync(dependencies)
    if (end !== 'held') await tell(true)
    return end
  } catch (thrown) {
    await tell(false)
    throw thrown
  } finally {
    for (const { onRunStored } of observers) await onRunStored?.(observed)
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

function observedBy(
  { config, freeDiskBytes, ...others }: JobDependencies,
  processor: () => ProcessorState | undefined,
): Observed {
  const facts = async () => ({
    slots: slotsOf(config),
    isServing: true,
    processor: processor(),
    freeDiskBytes: await freeDiskBytes(),
  })
  return { ...others, config, facts }
}

async function runReconcile(dependencies: JobDependencies): Promise<void> {
  const { config, service, warehouse, logger, signal } = dependencies
  const settings = { ...watchSettingsOf(config), pageSize: config.preset.pageSize }
  const report = await reconcile({ service, warehouse, logger, signal, settings })
  const { failed, recovered, webhook } = report
  logger.info('reconciled', { failed, recovered, alerts: webhook.alerts.length })
}

async function tidyUp({ warehouse, signal, logger, observers }: JobDependencies): Promise<void> {
  const bodies = await forgetBodies(warehouse, { signal })
  if (bodies > 0) logger.info('bodies of old notifications were deleted', { bodies })
  for (const observer of observers) await observer.tidyUp?.(warehouse, logger)
}
