import type { Command } from 'commander'
import type { App } from '../app.js'
import { EXIT_CODES } from '../base/exit-code.js'
import type { Config, SettingName } from '../config/settings.js'
import { createFailpoint, noFailpoints, type ReachFailpoint } from '../base/failpoint.js'
import { requireService } from '../config/needed-settings.js'
import type { RunSettings } from '../ingest/run.js'
import type { RunReport, SyncDependencies } from '../sync/run-sync.js'
import { countOf } from '../base/phrases.js'
import type { CommandIo } from './command-io.js'
import { declare } from './declare-command.js'
import { escapeControls, formatTable } from './output/print-table.js'
import type { Terminal } from './output/terminal.js'
import { limitRun } from '../sync/run-outcome.js'
import type { Warehouse } from '../warehouse/connection/warehouse.js'

/** Settings of every command that reads the service into the warehouse. */
export const SERVICE_SETTINGS: readonly SettingName[] = [
  'apiUrl',
  'rateLimitPerMinute',
  'pageSize',
  'requestTimeoutSeconds',
  'eventConcurrency',
  'fullSyncHours',
  'transportEventChecksPerSync',
  'vesselPositions',
  'quarantineLimitPercent',
  'runMinutes',
  'migrate',
  'allowInsecureApiUrl',
]

const HELP = {
  backfill: 'Load everything the service has into the warehouse: the first run.',
  sync:
    'Read what can still change, and everything once a day; write only what differs. ' +
    'For cron.',
} as const

export function addSyncCommands(program: Command, io: CommandIo): void {
  for (const name of ['backfill', 'sync'] as const) {
    declare<SyncOptions>(program, io, {
      name,
      help: HELP[name],
      json: 'Print the report as JSON, and progress as JSON lines on standard error.',
      settings: SERVICE_SETTINGS,
      define: (command) => {
        command
          .option(
            '--accept-shrink',
            'Mark missing rows as gone even if they are suspiciously many; ' +
              'each is still asked for by id.',
          )
          .option(
            '--accept-account',
            'Accept another address or key than the one that filled this warehouse: ' +
              'a new key of the same account.',
          )
        return name === 'backfill' ? addNarrowingOptions(command) : command
      },
      run: async (app, options) => {
        const report = await withRunDependencies(app, io, options, async (dependencies) => {
          const done = await runCommand(name, options, dependencies)
          await rememberAccount(app, dependencies.warehouse, done, options)
          return done
        })
        io.show(options, report, () => formatReport(report, io.terminal))
        await printProblem(report, app, io)
        return report.exitCode
      },
    })
  }
}

/** Only once the service has given something for this key: it may be mistyped. */
async function rememberAccount(
  { config }: App,
  warehouse: Warehouse,
  { streams }: RunReport,
  { acceptAccount: isReplacing = false }: RunFlags,
): Promise<void> {
  if (streams.every(({ counts }) => counts.fetched === 0)) return
  const { acceptAccount } = await import('../warehouse/bookkeeping/source-account.js')
  await acceptAccount(warehouse, requireService(config), { isReplacing })
}

export interface RunFlags {
  readonly json?: boolean
  readonly acceptShrink?: boolean
  readonly acceptAccount?: boolean
}

interface SyncOptions extends RunFlags {
  readonly stream?: readonly string[]
  readonly shipment?: readonly string[]
  readonly container?: readonly string[]
}

function addNarrowingOptions(command: Command): Command {
  return command
    .option(
      '--stream <name...>',
      'Only these lists: shipments, containers, tracking_requests, webhook_event_categories.',
    )
    .option('--shipment <id...>', 'Only these shipments, with containers and transport events.')
    .option('--container <id...>', 'Only these containers, with their transport events.')
}

async function runCommand(
  command: 'backfill' | 'sync',
  { stream = [], shipment = [], container = [] }: SyncOptions,
  dependencies: SyncDependencies,
): Promise<RunReport> {
  if (stream.length + shipment.length + container.length > 0) {
    const narrowing = { streams: stream, shipmentIds: shipment, containerIds: container }
    const { runNarrowedBackfill } = await import('../sync/narrow-backfill.js')
    return runNarrowedBackfill(narrowing, dependencies)
  }
  const { runSync } = await import('../sync/run-sync.js')
  return runSync(command, dependencies)
}

/** Opens what a run needs, shows its progress, and hands both on. */
export async function withRunDependencies<Result>(
  app: App,
  io: CommandIo,
  { json: isJson = false, acceptShrink = false, acceptAccount = false }: RunFlags,
  work: (dependencies: SyncDependencies) => Promise<Result>,
): Promise<Result> {
  // Before a database is started in vain.
  requireService(app.config)
  const warehouse = await app.openWarehouse({
    isWriting: true,
    isAccountAccepted: acceptAccount,
  })
  const { createProgressReporter } = await import('./output/progress.js')
  const progress = createProgressReporter({
    stream: io.process.stderr,
    isTerminal: io.process.stderr.isTTY,
    isJson,
    now: () => performance.now(),
    requestsPerMinute: app.config.rateLimitPerMinute,
  })
  const { service } = await app.openService({ warehouse, onWait: progress.onWait })
  try {
    return await work({
      service,
      warehouse,
      logger: app.logger,
      settings: { ...runSettingsOf(app.config), acceptShrink },
      reachFailpoint: failpointOf(app),
      programVersion: app.programVersion,
      signal: limitRun(app.signal, app.config.runMinutes),
      onProgress: progress.onProgress,
    })
  } finally {
    progress.stop()
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

/** The gravest problem in one sentence on standard error, which cron mails. */
export async function printProblem(
  { problems, exitCode }: RunReport,
  app: App,
  io: CommandIo,
): Promise<void> {
  const better = exitCode === EXIT_CODES.database ? await app.explainDatabase() : undefined
  const gravest = better?.message ?? problems[0]
  if (gravest === undefined) return
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more, see the report)` : ''
  io.printError(app.redact(`${gravest}${more}`))
}

/** Only these: a run stores its settings in its row, and the configuration holds secrets. */
export function runSettingsOf(config: Config): RunSettings {
  const { pageSize, eventConcurrency, vesselPositions, quarantineLimitPercent } = config
  const { transportEventChecksPerSync, fullSyncHours } = config
  return {
    pageSize,
    eventConcurrency,
    vesselPositions,
    quarantineLimitPercent,
    transportEventChecksPerSync,
    fullSyncHours,
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
export function formatReport(report: RunReport, terminal?: Terminal): string {
  const rows = report.streams.map(({ stream, counts, outcome }) => [
    stream,
    ...COUNTS.map((name) => counts[name]),
    outcome,
  ])
  const table = formatTable(['stream', ...COUNTS, 'outcome'], rows, terminal)
  const written = report.streams.reduce(
    (sum, { counts }) => sum + counts.inserted + counts.updated + counts.tombstoned,
    0,
  )
  const work = `${countOf(written, 'row')} written, ${countOf(report.requests, 'request')}`
  const sentence = `${report.command} ${report.outcome}: ${work}.`
  const lines = [
    ...report.drift.map((novelty) => `new at the service: ${novelty}`),
    ...report.problems.map((problem) => `problem: ${problem}`),
  ]
  return [table, '', ...lines.map(escapeControls), sentence].join('\n')
}
