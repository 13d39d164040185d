import type { App } from '../app.js'
import { LeaseHeldError } from '../base/errors.js'
import { EXIT_CODES } from '../base/exit-code.js'
import { createFailpoint, noFailpoints, type ReachFailpoint } from '../base/failpoint.js'
import { countOf } from '../base/phrases.js'
import { requireService } from '../config/needed-settings.js'
import type { Config, SettingName } from '../config/settings.js'
import type { RunSettings } from '../ingest/run.js'
import type { RunReport, SyncDependencies } from '../sync/run-sync.js'
import type { Answer, CommandIo } from './command-io.js'
import { command, flag, list } from './declare-command.js'
import type { Part } from './output/print-table.js'

/** Settings of every command that reads the service into the warehouse. */
export const SERVICE_SETTINGS: readonly SettingName[] = [
  'service',
  'apiUrl',
  'rateLimitPerMinute',
  'fullSyncHours',
  'vesselPositions',
  'rawEvents',
  'sensitiveFields',
  'runMinutes',
  'migrate',
  'allowInsecureApiUrl',
]

const RUN = {
  settings: SERVICE_SETTINGS,
  json: 'Print the report as JSON, and progress as JSON lines on standard error.',
}

const ACCEPTING = {
  acceptShrink: flag(
    '--accept-shrink',
    'Mark missing rows as gone even if they are suspiciously many; each is still asked for by id. ' +
      'A list that two walks show alike and short of its total counts as whole from then on.',
  ),
  acceptAccount: flag(
    '--accept-account',
    'Accept another address or key than the one that filled this warehouse: ' +
      'a new key of the same account.',
  ),
}

export const backfill = command({
  ...RUN,
  name: 'backfill',
  help: 'Load everything the service has into the warehouse: the first run.',
  takes: {
    ...ACCEPTING,
    streams: list(
      '--stream <name...>',
      'Only these lists: shipments, containers, tracking_requests, webhook_event_categories.',
    ),
    shipmentIds: list(
      '--shipment <id...>',
      'Only these shipments, with containers and transport events.',
    ),
    containerIds: list(
      '--container <id...>',
      'Only these containers, with their transport events.',
    ),
  },
  run: async (app, flags, io) => answerOf(app, await runBackfillOnce(app, io, flags)),
})

export const sync = command({
  ...RUN,
  name: 'sync',
  help:
    'Read what can still change, and everything once a day; write only what differs. ' +
    'For cron.',
  takes: {
    ...ACCEPTING,
    isFull: flag('--full', 'Read every list completely, as once a day.'),
  },
  run: async (app, flags, io) => answerOf(app, await runSyncOnce(app, io, flags)),
})

export interface SyncFlags {
  readonly json: boolean
  readonly acceptShrink?: boolean
  readonly acceptAccount?: boolean
  /** Reads every list completely, regardless of the setting. */
  readonly isFull?: boolean
  /** False for a partial backfill, which is not reported to the monitor. */
  readonly isWhole?: boolean
  /** Shows no progress: others run beside it. */
  readonly isQuiet?: boolean
  /** Given by an extension of the command. */
  readonly onEnd?: OnRunEnd
}

export type RunEnd = { readonly report: RunReport } | { readonly thrown: unknown }

/** Called when the run of an account has ended, however it ended. */
export type OnRunEnd = (app: App, end: RunEnd) => Promise<void>

export interface BackfillFlags extends SyncFlags {
  readonly streams: readonly string[]
  readonly shipmentIds: readonly string[]
  readonly containerIds: readonly string[]
}

export function runSyncOnce(app: App, io: CommandIo, flags: SyncFlags): Promise<RunReport> {
  return runOne(app, io, flags, async (dependencies) => {
    const { runSync } = await import('../sync/run-sync.js')
    return runSync('sync', dependencies)
  })
}

export function runBackfillOnce(
  app: App,
  io: CommandIo,
  { streams, shipmentIds, containerIds, ...flags }: BackfillFlags,
): Promise<RunReport> {
  const isWhole = streams.length + shipmentIds.length + containerIds.length === 0
  return runOne(app, io, { ...flags, isWhole }, async (dependencies) => {
    if (!isWhole) {
      const { runNarrowedBackfill } = await import('../sync/narrow-backfill.js')
      return runNarrowedBackfill({ streams, shipmentIds, containerIds }, dependencies)
    }
    const { runSync } = await import('../sync/run-sync.js')
    return runSync('backfill', dependencies)
  })
}

async function answerOf(app: App, report: RunReport): Promise<Answer> {
  return {
    data: report,
    text: describeReport(report),
    exitCode: report.exitCode,
    error: await describeProblem(report, app),
  }
}

async function runOne(
  app: App,
  io: CommandIo,
  options: SyncFlags,
  work: (dependencies: SyncDependencies) => Promise<RunReport>,
): Promise<RunReport> {
  const finish = async (end: RunEnd): Promise<void> => {
    if (options.isWhole !== false) await tellObservers(app, end)
    await options.onEnd?.(app, end)
  }
  const report = await withRunDependencies(app, io, options, async (dependencies) => {
    const done = await work(dependencies)
    // Only after the service has returned a record for this key, because the key may be mistyped.
    if (done.streams.some(({ counts }) => counts.fetched > 0)) {
      const { acceptAccount } = await import('../warehouse/bookkeeping/source-account.js')
      const isReplacing = options.acceptAccount === true
      await acceptAccount(dependencies.warehouse, requireService(app.config), { isReplacing })
    }
    await showObservers(app, dependencies)
    return done
  }).catch(async (thrown: unknown) => {
    await finish({ thrown })
    throw thrown
  })
  await finish({ report })
  return report
}

/** Silent if another run was under way, which reports itself. */
async function tellObservers(app: App, end: RunEnd): Promise<void> {
  if ('thrown' in end && end.thrown instanceof LeaseHeldError) return
  const isComplete = 'report' in end && end.report.exitCode === EXIT_CODES.complete
  for (const { onRunEnd } of app.observers) await onRunEnd?.(app, isComplete)
}

/** Observers look at the changes of this run. */
async function showObservers(app: App, dependencies: SyncDependencies): Promise<void> {
  const { slotsOf } = await import('../status/read-vitals.js')
  const { warehouse, reachFailpoint = noFailpoints } = dependencies
  const { config, logger, redact, signal } = app
  const facts = async () => ({
    slots: slotsOf(config),
    isServing: false,
    freeDiskBytes: await app.freeDiskBytes(),
  })
  // The signal is not that of the run, which a limit of time has perhaps ended.
  const observed = { config, logger, redact, signal, warehouse, reachFailpoint, facts }
  for (const { onRunStored } of app.observers) await onRunStored?.(observed)
}

/** Opens the parts for a run, shows its progress, and hands both on. */
export async function withRunDependencies<Result>(
  app: App,
  io: CommandIo,
  options: SyncFlags,
  work: (dependencies: SyncDependencies) => Promise<Result>,
): Promise<Result> {
  const { json: isJson, acceptShrink = false, acceptAccount = false, isQuiet = false } = options
  const settings = { ...runSettingsOf(app.config), acceptShrink }
  // Checked before a database is started in vain.
  requireService(app.config)
  const warehouse = await app.openWarehouse({ isWriting: true, isAccountAccepted: acceptAccount })
  const { createProgressReporter } = await import('./output/progress.js')
  const { limitRun } = await import('../sync/run-outcome.js')
  const progress = isQuiet
    ? undefined
    : createProgressReporter({
        stream: io.process.stderr,
        isJson,
        requestsPerMinute: app.config.rateLimitPerMinute,
      })
  const { service } = await app.openService({
    warehouse,
    ...(progress && { onWait: progress.onWait }),
  })
  try {
    return await work({
      service,
      warehouse,
      logger: app.logger,
      settings: options.isFull === true ? { ...settings, fullSyncHours: 0 } : settings,
      reachFailpoint: failpointOf(app),
      programVersion: app.programVersion,
      signal: limitRun(app.signal, app.config.runMinutes),
      ...(progress && { onProgress: progress.onProgress }),
    })
  } finally {
    progress?.stop()
  }
}

/** Kills this process where a test of recovery asks for it; nothing can catch that. */
export function failpointOf(app: App): ReachFailpoint {
  const { failpoint } = app.config
  if (failpoint === undefined) return noFailpoints
  return createFailpoint(failpoint, () => {
    process.kill(process.pid, 'SIGKILL')
  })
}

/** The gravest problem in one sentence for standard error, which cron mails. */
export async function describeProblem(
  { problems, exitCode }: RunReport,
  app: App,
): Promise<string | undefined> {
  const better = exitCode === EXIT_CODES.database ? await app.explainDatabase() : undefined
  const gravest = better?.message ?? problems[0]
  if (gravest === undefined) return undefined
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more, see the report)` : ''
  return app.redact(`${gravest}${more}`)
}

/** Only these: a run stores its settings in its row, and the configuration holds secrets. */
export function runSettingsOf(config: Config): RunSettings {
  const { vesselPositions, fullSyncHours, rawEvents, sensitiveFields } = config
  return {
    pageSize: config.preset.pageSize,
    vesselPositions,
    // An unchanged account costs a request more (decision 12).
    transportEventChecksPerSync: 1,
    fullSyncHours,
    rawEvents,
    sensitiveFields,
  }
}

const COUNTS = [
  'fetched',
  'inserted',
  'updated',
  'unchanged',
  'stale',
  'duplicate',
  'quarantined',
  'tombstoned',
  'requests',
] as const

/** The report of a run as a table and a closing sentence. */
export function describeReport(report: RunReport): Part[] {
  const rows = report.streams.map(({ stream, counts, outcome }) => [
    stream,
    ...COUNTS.map((name) => counts[name]),
    outcome,
  ])
  const written = report.streams.reduce(
    (sum, { counts }) => sum + counts.inserted + counts.updated + counts.tombstoned,
    0,
  )
  const work = `${countOf(written, 'row')} written, ${countOf(report.requests, 'request')}`
  return [
    { columns: ['stream', ...COUNTS, 'outcome'], rows },
    '',
    ...report.drift.map((novelty) => `new at the service: ${novelty}`),
    ...report.problems.map((problem) => `problem: ${problem}`),
    `${report.command} ${report.outcome}: ${work}.`,
  ]
}
