import type { Command } from 'commander'
import { EXIT_CODES } from '../base/exit-code.js'
import type { App } from '../app.js'
import type { WarehouseStatus } from '../status/read-status.js'
import type { Warehouse } from '../warehouse/connection/warehouse.js'
import { addSettingFlags, settingFlagsOf, type CommandIo } from './command-io.js'
import { formatSeconds } from './output/format-seconds.js'
import { escapeControls, formatTable } from './output/print-table.js'
import type { Terminal } from './output/terminal.js'

export function addStatusCommand(program: Command, io: CommandIo): void {
  const command = program
    .command('status')
    .description(
      'What needs attention, and how fresh the warehouse is: rows, last runs, queues, quarantine, request budget, who is writing.',
    )
    .option('--json', 'Print as JSON.')
  addSettingFlags(command).action(async (options: Record<string, unknown>) => {
    await io.withApp(settingFlagsOf(options), async (app) => {
      const { readStatus } = await import('../status/read-status.js')
      const warehouse = await app.openWarehouse()
      const status = await readStatus(warehouse)
      const alerts = await readAlerts(app, warehouse, status)
      if (options.json === true) io.printJson({ alerts, ...status })
      else io.print(formatStatus(status, alerts, io.terminal))
      return EXIT_CODES.complete
    })
  })
}

/** Of a warehouse in which nothing ran there is nothing to say but that. */
async function readAlerts(
  { config }: App,
  warehouse: Warehouse,
  status: WarehouseStatus,
): Promise<string[]> {
  const { findAlerts } = await import('../status/alerts.js')
  const { isSyncOverdue, readSyncFreshness } = await import('../status/sync-freshness.js')
  const { syncCron, cronTimeZone } = config
  const freshness = await readSyncFreshness(warehouse)
  const isOverdue = isSyncOverdue(freshness, { cron: syncCron, timeZone: cronTimeZone })
  return findAlerts(status, {
    freshness,
    syncCron,
    isSyncOverdue: status.runs.length > 0 && isOverdue,
  })
}

/** The parts of the text, in order; each says one thing. */
const SECTIONS: readonly ((status: WarehouseStatus, terminal: Terminal) => string)[] = [
  formatStreams,
  formatRuns,
  formatQueues,
  formatBudgets,
  formatLease,
  formatWebhooks,
  formatStoredViews,
]

function formatStatus(
  status: WarehouseStatus,
  alerts: readonly string[],
  terminal: Terminal,
): string {
  const sections = SECTIONS.map((format) => format(status, terminal)).filter(
    (section) => section !== '',
  )
  // What needs somebody comes first.
  if (alerts.length > 0) sections.unshift(alerts.map(formatAlert).join('\n'))
  return sections.join('\n\n')
}

function formatAlert(alert: string): string {
  return `ALERT: ${escapeControls(alert)}`
}

function formatStreams({ streams }: WarehouseStatus, terminal: Terminal): string {
  const table = formatTable(
    ['stream', 'rows', 'tombstoned', 'read at', 'age', 'last outcome'],
    streams.map((stream) => [
      stream.stream,
      stream.rows,
      stream.tombstoned,
      stream.lastCompleteBeganAt ?? 'never',
      age(stream.ageSeconds),
      stream.lastOutcome,
    ]),
    terminal,
  )
  const partial = streams.find((one) => one.lastWholeBeganAt !== one.lastCompleteBeganAt)
  if (partial === undefined) return table
  return `${table}\nWhat can still change was read then; all of the account was read at ${partial.lastWholeBeganAt ?? 'no time'}.`
}

function formatRuns({ runs }: WarehouseStatus, terminal: Terminal): string {
  if (runs.length === 0) return 'No run yet: start with `tracking-sync backfill`.'
  return formatTable(
    ['run', 'command', 'started', 'finished', 'outcome', 'requests', 'problem'],
    runs.map((run) => [
      run.syncRunId,
      run.command,
      run.startedAt,
      run.finishedAt ?? 'not finished',
      run.outcome,
      run.requests,
      run.problem?.split('\n')[0] ?? null,
    ]),
    terminal,
  )
}

const QUEUE_WORDS = {
  refetch_queue: 'to be refetched',
  webhook_notifications: 'webhook notifications',
} as const

function formatQueues({ queues, quarantined }: WarehouseStatus, terminal: Terminal): string {
  return formatTable(
    ['queue', 'state', 'entries', 'oldest'],
    [
      ...queues.map(({ queue, state, entries, oldestSeconds }) => [
        QUEUE_WORDS[queue],
        state,
        entries,
        age(oldestSeconds),
      ]),
      ['quarantine', 'set aside', quarantined, null],
    ],
    terminal,
  )
}

function formatBudgets({ budgets }: WarehouseStatus): string {
  if (budgets.length === 0) return 'requests in the last 60 s: 0'
  return budgets
    .map(({ requestsLastMinute, pausedUntil }) => {
      const pause =
        pausedUntil === null ? '' : `, none before ${pausedUntil}: the service asked for a pause`
      return `requests in the last 60 s: ${requestsLastMinute}${pause}`
    })
    .join('\n')
}

function formatLease({ lease }: WarehouseStatus): string {
  if (lease === null) return 'no run is under way'
  const { holder, acquiredAt, silentSeconds } = lease
  return `under way: ${escapeControls(holder)}, since ${acquiredAt}, last sign of life ${silentSeconds} s ago`
}

function formatWebhooks({ webhooks }: WarehouseStatus, terminal: Terminal): string {
  if (webhooks.length === 0) return 'no webhook of ours is known'
  return formatTable(
    ['webhook', 'url', 'active', 'last delivery', 'last checked'],
    webhooks.map(({ webhookId, url, isActive, lastReceivedAt, checkedAt }) => [
      webhookId,
      url,
      isActive === null ? 'not said' : isActive ? 'yes' : 'NO',
      lastReceivedAt ?? 'never',
      checkedAt,
    ]),
    terminal,
  )
}

/** Nothing where none is stored: most accounts are too small for it. */
function formatStoredViews({ storedViews }: WarehouseStatus, terminal: Terminal): string {
  if (storedViews.length === 0) return ''
  return formatTable(
    ['stored view', 'rows', 'age', 'took'],
    storedViews.map(({ name, rows, secondsSinceStored, tookSeconds }) => [
      name,
      rows,
      age(secondsSinceStored),
      formatSeconds(tookSeconds),
    ]),
    terminal,
  )
}

function age(seconds: number | null): string | null {
  return seconds === null ? null : formatSeconds(seconds)
}
