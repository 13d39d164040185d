import { IncompleteRunError } from '../base/errors.js'
import { retryWarehouse, transact } from '../ingest/retry-warehouse.js'
import type { Run } from '../ingest/run.js'
import type { PassList } from '../warehouse/bookkeeping/checkpoints.js'
import { loadCapability, saveCapability } from '../warehouse/bookkeeping/schema-drift.js'
import { FilterUselessError } from './changing-list.js'
import type { Verdict } from './list-proof.js'

/** A list of which less was shown than it should hold. */
type Shortfall = Extract<Verdict, { kind: 'short' }>

/** By how many records a list falls short in every run, as a person has accepted. */
export async function loadAcceptedShortfall(
  run: Run,
  { stream, scope }: PassList,
): Promise<number | undefined> {
  if (scope !== 'whole') return undefined
  const found = await retryWarehouse(run, () =>
    loadCapability(run.warehouse, capabilityName(stream)),
  )
  const missing = found?.detail.missing
  return typeof missing === 'number' ? missing : undefined
}

/**
 * With `--accept-shrink`, remembers by how much a quiet list falls short: as long as it is that
 * many, it counts as whole. Returns whether it did.
 */
export async function acceptShortfall(
  run: Run,
  { stream }: PassList,
  { found, expected, isQuiet }: Shortfall,
): Promise<boolean> {
  if (run.settings.acceptShrink !== true || !isQuiet) return false
  const missing = expected - found
  const detail = { missing }
  await transact(run, 'accept a list that falls short', (session) =>
    saveCapability(session, { capability: capabilityName(stream), isSupported: false, detail }),
  )
  run.logger.warn('the list is accepted as whole as long as it is short by as many records', {
    stream,
    found,
    missing,
  })
  return true
}

/** The error of a list that was not shown to its end, with what to do about it. */
export function shortfallError(
  { stream, scope }: PassList,
  { found, expected, walks, isQuiet }: Shortfall,
): Error {
  const said = `the list of ${stream} ended after ${found} of ${expected} records`
  if (scope === 'changing' && isQuiet) return new FilterUselessError(said)
  const why = isQuiet
    ? `walked ${walks} times alike; nothing is marked as gone. Ask the service; if its total is ` +
      'wrong, run sync --accept-shrink once: then the list counts as whole while it is short by ' +
      'as many'
    : `and moved while it was walked ${walks} times; nothing is marked as gone. Run the command ` +
      'again, and ask the service if it happens again'
  return new IncompleteRunError(`${said}, ${why}`)
}

function capabilityName(stream: string): string {
  return `total of ${stream}`
}
