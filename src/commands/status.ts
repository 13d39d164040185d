import type { Command } from 'commander'
import { EXIT_CODES } from '../exit-code.js'
import type { WarehouseStatus } from '../warehouse/status.js'
import { addSettingFlags, settingFlagsOf, type CommandIo } from './command-io.js'
import { formatSeconds } from './format-seconds.js'
import { escapeControls, formatTable } from './print-table.js'

export function addStatusCommand(program: Command, io: CommandIo): void {
  const command = program
    .command('status')
    .description(
      'How fresh the warehouse is: rows, last runs, queues, quarantine, request budget, who is writing.',
    )
    .option('--json', 'Print as JSON.')
  addSettingFlags(command).action(async (options: Record<string, unknown>) => {
    await io.withApp(settingFlagsOf(options), async (app) => {
      const { readStatus } = await import('../warehouse/status.js')
      const warehouse = await app.openWarehouse()
      const status = await readStatus(warehouse)
      if (options.json === true) io.printJson(status)
      else io.print(formatStatus(status))
      return EXIT_CODES.complete
    })
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
]

function formatStatus(status: WarehouseStatus): string {
  return SECTIONS.map((format) => format(status)).join('\n\n')
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
  const table = formatTable(
    ['webhook', 'url', 'active', 'last delivery', 'last checked'],
    webhooks.map(({ webhookId, url, isActive, lastReceivedAt, checkedAt }) => [
      webhookId,
      url,
      isActive === null ? 'not said' : isActive ? 'yes' : 'NO',
      lastReceivedAt ?? 'never',
      checkedAt,
    ]),
  )
  const alerts = webhooks.flatMap(({ alert }) => alert?.split('\n') ?? [])
  return [table, ...alerts.map((alert) => `ALERT: ${escapeControls(alert)}`)].join('\n')
}

function age(seconds: number | null): string | null {
  return seconds === null ? null : formatSeconds(seconds)
}
