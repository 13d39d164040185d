import { IncompleteRunError } from '../base/errors.js'
import { countOf } from '../base/phrases.js'
import type { Run } from '../ingest/run.js'
import type { PassList, TallyState } from '../warehouse/bookkeeping/checkpoints.js'
import { loadCapability, saveCapability } from '../warehouse/bookkeeping/schema-drift.js'
import { FilterUselessError } from './changing-list.js'
import { missingOf, type AcceptedShortfall, type Verdict } from './list-proof.js'
import type { Sink } from '../ingest/sink.js'

type Shortfall = Extract<Verdict, { kind: 'short' }>

export async function loadAcceptedShortfall(
  sink: Sink,
  { stream, scope }: PassList,
): Promise<AcceptedShortfall | undefined> {
  if (scope !== 'whole') return undefined
  const total = await sink.retry((warehouse) => loadCapability(warehouse, capabilityName(stream)))
  const { missing, isTotalIgnored } = total?.detail ?? {}
  return typeof missing === 'number'
    ? { missing, isTotalIgnored: isTotalIgnored === true }
    : undefined
}

/**
 * With `--accept-shrink`, saves the shortfall that two walks show alike: with exactly this
 * shortfall the list counts as whole. A total that changes all the time is ignored from then on.
 * Returns whether it saved one.
 */
export async function acceptShortfall(
  run: Run,
  { stream }: PassList,
  { tally, isAlike, isQuiet }: Shortfall,
): Promise<boolean> {
  if (run.source.settings.acceptShrink !== true || !isAlike) return false
  const isTotalIgnored = !isQuiet
  const detail = { missing: missingOf(tally, isTotalIgnored), isTotalIgnored }
  const capability = capabilityName(stream)
  await run.sink.transact('accept a list that falls short', (session) =>
    saveCapability(session, { capability, isSupported: false, detail }),
  )
  const message = 'the list is accepted as whole as long as it is short by as many records'
  run.notes.logger.warn(message, { stream, found: tally.distinct, ...detail })
  return true
}

/** The error of a list that was not shown to its end, with the fix. */
export function shortfallError({ stream, scope }: PassList, shortfall: Shortfall): Error {
  const { tally, walks, isAlike, isQuiet } = shortfall
  const { rows, distinct, lastTotal: total } = tally
  const said =
    rows > distinct
      ? `the list of ${stream} shows ${distinct} records in ${rows} places`
      : `the list of ${stream} ended after ${distinct} of ${Math.max(total ?? 0, rows)} records`
  if (scope === 'changing' && isQuiet) return new FilterUselessError(said)
  const accept = isQuiet ? 'while it is short by as many' : 'whatever its total'
  const why = isAlike
    ? `walked ${walks} times alike; nothing is marked as gone. ${causeOf(tally)}: ask the ` +
      'service. To go on meanwhile, run sync --accept-shrink once: then the list counts as whole ' +
      accept
    : `and moved while it was walked ${walks} times; nothing is marked as gone. Run the command ` +
      'again, and ask the service if it happens again'
  return new IncompleteRunError(`${said}, ${why}`)
}

function causeOf({ rows, distinct, lastTotal: total, isTotalSteady }: TallyState): string {
  if (rows > distinct) {
    const end = total === distinct ? ' (its total agrees with what was shown)' : ''
    return `It repeats ${countOf(rows - distinct, 'record')}, perhaps in place of others${end}`
  }
  if (!isTotalSteady) return 'Its total changes from page to page'
  if (total !== null && total > rows) {
    return `Its total of ${total} is too high, or it leaves records out`
  }
  const lengthless = total === null ? 'it has no total' : `its total of ${total} is too low`
  return `Its pages differ in size and ${lengthless}, so nothing says where it ends`
}

function capabilityName(stream: string): string {
  return `total of ${stream}`
}
