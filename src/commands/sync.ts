import type { Command } from 'commander'
import type { App } from '../app.js'
import type { Config, SettingName } from '../config.js'
import type { RunSettings } from '../sync/run.js'
import type { RunReport } from '../sync/run-sync.js'
import { addSettingFlags, settingFlagsOf, type CommandIo } from './command-io.js'
import { formatTable } from './print-table.js'
import { createProgressReporter } from './progress.js'

const SERVICE_SETTINGS: readonly SettingName[] = [
  'apiUrl',
  'rateLimitPerMinute',
  'pageSize',
  'requestTimeoutSeconds',
  'eventConcurrency',
  'vesselPositions',
  'quarantineLimitPercent',
  'migrate',
  'allowInsecureApiUrl',
]

const DESCRIPTIONS = {
  backfill: 'The one-off full load: reads everything the service has into the warehouse.',
  sync: 'One scheduled run: reads everything again and writes only what differs. For cron.',
} as const

export function addSyncCommands(program: Command, io: CommandIo): void {
  for (const name of ['backfill', 'sync'] as const) {
    const command = program
      .command(name)
      .description(DESCRIPTIONS[name])
      .option('--json', 'Print the report as JSON; progress as JSON lines on standard error.')
    addSettingFlags(command, SERVICE_SETTINGS).action(async (options: Record<string, unknown>) => {
      await io.withApp(settingFlagsOf(options), async (app) => {
        const report = await runCommand(name, app, io, options.json === true)
        if (options.json === true) io.printJson(report)
        else io.print(formatReport(report))
        tellProblem(report, app, io)
        return report.exitCode
      })
    })
  }
}

async function runCommand(
  command: 'backfill' | 'sync',
  app: App,
  io: CommandIo,
  isJson: boolean,
): Promise<RunReport> {
  const opened = app.openService()
  const warehouse = await app.openWarehouse()
  const { runSync } = await import('../sync/run-sync.js')
  const progress = createProgressReporter({
    stream: io.process.stderr,
    isTerminal: io.isTerminal,
    isJson,
    now: () => performance.now(),
  })
  try {
    return await runSync(command, {
      service: opened.service,
      warehouse,
      logger: app.logger,
      settings: runSettingsOf(app.config),
      programVersion: app.programVersion,
      signal: app.signal,
      onProgress: progress.onProgress,
    })
  } finally {
    progress.stop()
  }
}

/** Cron mails what stands on standard error: the gravest problem in one sentence; the report holds all of them. */
export function tellProblem({ problems }: RunReport, app: App, io: CommandIo): void {
  const [gravest] = problems
  if (gravest === undefined) return
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more, see the report)` : ''
  io.printError(app.redact(`${gravest}${more}`))
}

/** These and no others: a run stores its settings in its row, and the configuration holds secrets. */
export function runSettingsOf(config: Config): RunSettings {
  const { pageSize, eventConcurrency, vesselPositions, quarantineLimitPercent } = config
  return { pageSize, eventConcurrency, vesselPositions, quarantineLimitPercent }
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
export function formatReport(report: RunReport): string {
  const rows = report.streams.map(({ stream, counts, outcome }) => [
    stream,
    ...COUNTS.map((name) => counts[name]),
    outcome,
  ])
  const table = formatTable(['stream', ...COUNTS, 'outcome'], rows)
  const written = report.streams.reduce(
    (sum, { counts }) => sum + counts.inserted + counts.updated + counts.tombstoned,
    0,
  )
  const sentence = `${report.command} ${report.outcome}: ${written} rows written, ${report.requests} requests.`
  return [table, '', ...report.problems.map((problem) => `problem: ${problem}`), sentence].join(
    '\n',
  )
}
