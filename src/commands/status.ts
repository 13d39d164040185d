import type { Command } from 'commander'
import { EXIT_CODES } from '../exit-code.js'
import type { WarehouseStatus } from '../warehouse/status.js'
import { addSettingFlags, settingFlagsOf, type CommandIo } from './command-io.js'
import { formatTable } from './print-table.js'

export function addStatusCommand(program: Command, io: CommandIo): void {
  const command = program
    .command('status')
    .description('How fresh the warehouse is: rows, last runs, queues, quarantine.')
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

function formatStatus(status: WarehouseStatus): string {
  const runs = status.runs.map((run) => [
    run.syncRunId,
    run.command,
    run.startedAt,
    run.finishedAt ?? 'not finished',
    run.outcome,
    run.requests,
    run.problem?.split('\n')[0] ?? null,
  ])
  const streams = status.streams.map((stream) => [
    stream.stream,
    stream.rows,
    stream.tombstoned,
    stream.lastCompleteAt ?? 'never',
    stream.lastOutcome,
  ])
  return [
    formatTable(['stream', 'rows', 'tombstoned', 'last complete', 'last outcome'], streams),
    '',
    runs.length === 0
      ? 'No run yet: start with `tracking-sync backfill`.'
      : formatTable(
          ['run', 'command', 'started', 'finished', 'outcome', 'requests', 'problem'],
          runs,
        ),
    '',
    `quarantine: ${status.quarantined} records · to be read again: ${status.refetchQueue}`,
  ].join('\n')
}
