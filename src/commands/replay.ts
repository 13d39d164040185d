import { InvalidArgumentError, type Command } from 'commander'
import { ConfigError } from '../base/errors.js'
import { EXIT_CODES } from '../base/exit-code.js'
import {
  REPLAYABLE_STATES,
  type ReplayableState,
  type ReplayReport,
  type ReplaySelection,
} from '../webhooks/process/replay-notifications.js'
import type { CommandIo } from './command-io.js'
import { declare } from './declare-command.js'
import { escapeControls } from './output/print-table.js'
import { instant } from './parse-arguments.js'

interface ReplayOptions {
  readonly state?: readonly ReplayableState[]
  readonly event?: string
  readonly since?: Date
  readonly until?: Date
  readonly all?: boolean
  readonly dryRun?: boolean
}

const STATES = REPLAYABLE_STATES.join(', ')

export function addReplayCommand(program: Command, io: CommandIo): void {
  declare<ReplayOptions, [readonly string[]]>(program, io, {
    name: 'replay',
    help:
      'Put webhook notifications back into the inbox to be applied once more: ' +
      'some by id, or all that the options select.',
    settings: ['migrate'],
    define: (command) =>
      command
        .argument('[ids...]', 'Ids of notifications.')
        .option('--state <name>', `Only in this state; may be repeated: ${STATES}.`, states)
        .option('--event <name>', 'Only notifications of this event.')
        .option(
          '--since <time>',
          'Only those received at this time or later, like 2026-03-01.',
          instant,
        )
        .option('--until <time>', 'Only those received before it, like 2026-03-02T08:00Z.', instant)
        .option('--all', 'Every notification of the inbox.')
        .option('--dry-run', 'Only say how many there are.'),
    run: async (app, options, ids) => {
      const selection = readSelection(ids, options)
      const { replayNotifications } = await import('../webhooks/process/replay-notifications.js')
      const warehouse = await app.openWarehouse({ isWriting: true })
      const isDryRun = options.dryRun === true
      const report = await replayNotifications(warehouse, selection, { isDryRun })
      io.show(options, report, () => formatReplayReport(report))
      return report.unknownIds.length > 0 ? EXIT_CODES.config : EXIT_CODES.complete
    },
  })
}

function states(text: string, before: readonly ReplayableState[] = []): readonly ReplayableState[] {
  const state = REPLAYABLE_STATES.find((name) => name === text)
  if (state !== undefined) return [...before, state]
  throw new InvalidArgumentError(`It must be one of ${STATES}.`)
}

/** Throws ConfigError unless it is clear which notifications are meant. */
function readSelection(
  ids: readonly string[],
  { state, event, since, until, all }: ReplayOptions,
): ReplaySelection {
  const isNarrowed = [state, event, since, until].some((option) => option !== undefined)
  if (all === true ? ids.length > 0 || isNarrowed : ids.length === 0 && !isNarrowed) {
    const problem =
      'needs ids of notifications, or --state, --event, --since or --until, or --all alone'
    throw new ConfigError([{ setting: 'replay', problem }])
  }
  return { states: state, event, since, until, ...(ids.length > 0 ? { ids } : {}) }
}

function formatReplayReport(report: ReplayReport): string {
  const lines = report.unknownIds.map((id) => `not in the inbox: ${id}`)
  const { selected, replayed, waiting, withoutBody, isDryRun } = report
  const verb = isDryRun ? 'would be put back' : 'put back'
  lines.push(`${replayed} of ${selected} notifications ${verb}.`)
  if (waiting > 0) lines.push(`${waiting} already wait to be applied.`)
  if (withoutBody > 0) {
    lines.push(
      `${withoutBody} have no body (any more), so there is nothing to apply: ` +
        '`tracking-sync sync` brings what they said.',
    )
  }
  return lines.map(escapeControls).join('\n')
}
