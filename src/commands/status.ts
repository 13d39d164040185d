import type { Command } from 'commander'
import { EXIT_CODES } from '../exit-code.js'
import type { App } from '../app.js'
import type { WarehouseStatus } from '../warehouse/status.js'
import type { Warehouse } from '../warehouse/warehouse.js'
import { addSettingFlags, settingFlagsOf, type CommandIo } from './command-io.js'
import { formatSeconds } from './format-seconds.js'
import { escapeControls, formatTable } from './print-table.js'

export function addStatusCommand(program: Command, io: CommandIo): void {
  const command = program
    .command('status')
    .description(
      'What needs somebody, and how fresh the warehouse is: rows, last runs, queues, quarantine, request budget, who is writing.',
    )
    .option('--json', 'Print as JSON.')
  addSettingFlags(command).action(async (options: Record<string, unknown>) => {
    await io.withApp(settingFlagsOf(options), async (app) => {
      const { readStatus } = await import('../warehouse/status.js')
      const warehouse = await app.openWarehouse()
      const status = await readStatus(warehouse)
      const alerts = await readAlerts(app, warehouse, status)
      if (options.json === true) io.printJson({ alerts, ...status })
      else io.print(formatStatus(status, alerts))
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
  const { findAlerts } = await import('../serve/alerts.js')
  const { isSyncOverdue, readSyncFreshness } = await import('../serve/sync-freshness.js')
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
const SECTIONS: readonly ((status: WarehouseStatus) => string)[] = [
  formatStreams,
  formatRuns,
  formatQueues,
  formatBudgets,
  formatLease,
  formatWebhooks,
  formatStoredViews,
]

function formatStatus(status: WarehouseStatus, alerts: readonly string[]): string {
  const sections = SECTIONS.map((format) => format(status)).filter((section) => section !== '')
  // What needs somebody comes first.
  if (alerts.length > 0) sections.unshift(alerts.map(formatAlert).join('\n'))
  return sections.join('\n\n')
}

function formatAlert(alert: string): string {
  return `ALERT: ${escapeControls(alert)}`
}

function formatStreams({ streams }: WarehouseStatus): string {
  return formatTable(
    ['stream', 'rows', 'tombstoned', 'last complete', 'age', 'last outcome'],
    streams.map((stream) => [
      stream.stream,
      stream.rows,
      stream.tombstoned,
      stream.lastCompleteAt ?? 'never',
      age(stream.secondsSinceComplete),
      stream.lastOutcome,
    ]),
  )
}

function formatRuns({ runs }: WarehouseStatus): string {
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
  )
}

const QUEUE_WORDS = {
  refetch_queue: 'to be read again',
  webhook_notifications: 'webhook notifications',
} as const

function formatQueues({ queues, quarantined }: WarehouseStatus): string {
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

function formatWebhooks({ webhooks }: WarehouseStatus): string {
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
  )
}

/** Nothing where none is stored: most accounts are too small for it. */
function formatStoredViews({ storedViews }: WarehouseStatus): string {
  if (storedViews.length === 0) return ''
  return formatTable(
    ['stored view', 'rows', 'age', 'took'],
    storedViews.map(({ name, rows, secondsSinceStored, tookSeconds }) => [
      name,
      rows,
      age(secondsSinceStored),
      formatSeconds(tookSeconds),
    ]),
  )
}

function age(seconds: number | null): string | null {
  return seconds === null ? null : formatSeconds(seconds)
}
