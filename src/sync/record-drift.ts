import { ConnectorError } from '../base/errors.js'
import { WATCHED_STREAMS } from '../ingest/drift-watch.js'
import type { Run } from '../ingest/run.js'
import { otherResources, resources } from '../source/records/index.js'
import { toStorableText } from '../source/records/column.js'
import { recordPassShares } from '../warehouse/bookkeeping/pass-shares.js'
import {
  countLiveRows,
  loadSeenAttributes,
  recordSchemaDrift,
  reviseSeenAttributes,
  type DriftFinding,
} from '../warehouse/bookkeeping/schema-drift.js'

interface Revision {
  readonly stream: string
  readonly added: readonly string[]
  readonly gone: readonly string[]
}

/**
 * Records the differences between the source and this version's schema, and returns a sentence on
 * each new one. An attribute that no record of a complete pass carries any longer has vanished.
 * Writes nothing without news. Never fails a run.
 */
export async function recordDrift(run: Run): Promise<string[]> {
  const { warehouse, syncRunId } = run.sink
  try {
    const revisions = await reviseAttributes(run)
    const vanished = revisions.flatMap(({ stream, gone }) =>
      gone.map((name): DriftFinding => ({ stream, kind: 'vanished_attribute', name })),
    )
    const findings = [...storable(run.notes.drift.findings()), ...vanished]
    // First: an attribute that is removed below would not count as vanished again.
    const isNew = await recordSchemaDrift(warehouse, findings, syncRunId)
    if (revisions.length > 0) {
      await warehouse.transaction('record attributes', async (session) => {
        for (const { stream, ...revision } of revisions) {
          await reviseSeenAttributes(session, stream, revision, syncRunId)
        }
      })
    }
    return isNew.map(describeDrift)
  } catch (thrown) {
    run.notes.logger.warn('what is new at the service could not be recorded', { error: thrown })
    return []
  }
}

/** Merges names that differ only in characters that PostgreSQL cannot store. */
function storable(findings: readonly DriftFinding[]): DriftFinding[] {
  const byKey = new Map<string, DriftFinding>()
  for (const finding of findings) {
    const name = toStorableText(finding.name).text
    byKey.set(JSON.stringify([finding.stream, finding.kind, name]), { ...finding, name })
  }
  return [...byKey.values()]
}

async function reviseAttributes(run: Run): Promise<Revision[]> {
  const streams = WATCHED_STREAMS.filter((stream) => run.notes.drift.sightings(stream) > 0)
  if (streams.length === 0) return []
  const known = await loadSeenAttributes(run.sink.warehouse, streams)
  const revisions: Revision[] = []
  for (const stream of streams) {
    const before = known.get(stream) ?? new Set()
    const carried = new Set(
      [...run.notes.drift.carried(stream)].map((name) => toStorableText(name).text),
    )
    const added = [...carried].filter((name) => !before.has(name))
    const missing = [...before].filter((name) => !carried.has(name))
    const gone = missing.length > 0 && (await hasSeenAll(run, stream)) ? missing : []
    if (added.length > 0 || gone.length > 0) revisions.push({ stream, added, gone })
  }
  return revisions
}

/** False for a narrowed or resumed run. */
async function hasSeenAll(run: Run, stream: string): Promise<boolean> {
  const state = run.notes.ledger.states().find((candidate) => candidate.stream === stream)
  if (state?.outcome !== 'complete') return false
  return run.notes.drift.sightings(stream) >= (await countLiveRows(run.sink.warehouse, stream))
}

/** Attributes of containers that are stored as sent. */
const INSIDE = /^(?:import_deadlines|(?:holds|fees)_at_pod_terminal|ind_facility_(?:holds|fees))\./

function describeDrift({ stream, kind, name }: DriftFinding): string {
  const quoted = JSON.stringify(name)
  switch (kind) {
    case 'new_attribute':
      if (INSIDE.test(name)) return `${stream}: new member ${quoted}; it is kept as it was sent`
      return `${stream}: new attribute ${quoted}; its values are kept in _unmapped`
    case 'vanished_attribute':
      return `${stream}: attribute ${quoted} is in no record any more; its values are kept`
    case 'new_value':
      return `${stream}: new value, ${quoted}`
    case 'new_type':
      return `new type of record, ${quoted}; its records are kept in ${stream}`
    default:
      return kind satisfies never
  }
}

/**
 * Saves how full each column is after a run that read all shipments, to notice values that stop
 * coming. Never fails a run.
 */
export async function recordShares(run: Run): Promise<void> {
  const { ledger, drift, logger } = run.notes
  if (!ledger.wholePasses.has('shipments')) return
  try {
    const passes = resources
      .filter((one) => one !== otherResources)
      .map(({ stream: table }) => {
        const shown = ledger.wholePasses.get(table)
        return { table, shown, absent: shown === undefined ? new Map() : drift.absent(table) }
      })
    await run.sink.transact('count the values of tables', (session) =>
      recordPassShares(session, passes),
    )
  } catch (thrown) {
    if (!(thrown instanceof ConnectorError)) throw thrown
    logger.warn('how full the columns are could not be recorded', { error: thrown })
  }
}
