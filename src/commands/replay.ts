import { InvalidArgumentError } from 'commander'
import { ConfigError } from '../base/errors.js'
import { EXIT_CODES } from '../base/exit-code.js'
import { countOf } from '../base/phrases.js'
import type { ReplayableState, ReplayReport } from '../webhooks/process/replay-notifications.js'
import { declare, flag, instant, list, value } from './declare-command.js'

const REPLAYABLE_STATES = [
  'dead',
  'ignored',
  'foreign',
  'unresolved',
  'processed',
] as const satisfies readonly ReplayableState[]

const STATES = REPLAYABLE_STATES.join(', ')

export const replay = declare({
  name: 'replay',
  help:
    'Put webhook notifications back into the inbox to be applied once more: ' +
    'some by id, or all that the options select.',
  settings: ['migrate'],
  takes: {
    ids: list('[ids...]', 'Ids of notifications.'),
    states: list(
      '--state <name>',
      `Only in this state; may be repeated: ${STATES}.`,
      (text: string): ReplayableState => {
        const state = REPLAYABLE_STATES.find((name) => name === text)
        if (state === undefined) throw new InvalidArgumentError(`It must be one of ${STATES}.`)
        return state
      },
    ),
    event: value('--event <name>', 'Only notifications of this event.'),
    since: value(
      '--since <time>',
      'Only those received at this time or later, like 2026-03-01.',
      instant,
    ),
    until: value(
      '--until <time>',
      'Only those received before it, like 2026-03-02T08:00Z.',
      instant,
    ),
    all: flag('--all', 'Every notification of the inbox.'),
    isDryRun: flag('--dry-run', 'Only say how many there are.'),
  },
  run: async (app, { ids, states, event, since, until, all, isDryRun }) => {
    const isNarrowed =
      states.length > 0 || [event, since, until].some((option) => option !== undefined)
    if (all ? ids.length > 0 || isNarrowed : ids.length === 0 && !isNarrowed) {
      const problem =
        'needs ids of notifications, or --state, --event, --since or --until, or --all alone'
      throw new ConfigError([{ setting: 'webhooks replay', problem }])
    }
    const { replayNotifications } = await import('../webhooks/process/replay-notifications.js')
    const warehouse = await app.openWarehouse({ isWriting: true })
    const selection = {
      event,
      since,
      until,
      ...(states.length > 0 ? { states } : {}),
      ...(ids.length > 0 ? { ids } : {}),
    }
    const report = await replayNotifications(warehouse, selection, { isDryRun })
    return {
      data: report,
      text: describeReplay(report),
      exitCode: report.unknownIds.length > 0 ? EXIT_CODES.config : EXIT_CODES.complete,
    }
  },
})

function describeReplay(report: ReplayReport): string[] {
  const lines = report.unknownIds.map((id) => `not in the inbox: ${id}`)
  const { selected, replayed, waiting, withoutBody, isDryRun } = report
  const verb = isDryRun ? 'would be put back' : 'put back'
  lines.push(`${replayed} of ${countOf(selected, 'notification')} ${verb}.`)
  if (waiting > 0) lines.push(`${waiting} already wait to be applied.`)
  if (withoutBody > 0) {
    lines.push(
      `${withoutBody} lack a body, so they cannot be applied: ` +
        '`tracking-sync sync` brings their changes.',
    )
  }
  return lines
}
