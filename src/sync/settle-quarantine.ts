import type { Run } from '../ingest/run.js'
import { membersOf } from '../source/jsonapi/document.js'
import { resourceOfType } from '../source/records/index.js'
import {
  dropQuarantine,
  loadOutlived,
  type OutlivedEntry,
} from '../warehouse/bookkeeping/quarantined-records.js'
import { loadRowsByKey } from '../warehouse/rows/stored-rows.js'

/**
 * Removes settled entries from the quarantine: this run read their whole list, did not set the
 * record aside again, and its row exists. At most a thousand entries a run. An entry without a row,
 * or without an id, is left for a person.
 */
export async function settleQuarantine(run: Run): Promise<void> {
  const { ledger, logger } = run.notes
  const { sink } = run
  const streams = ledger.states().map(({ stream }) => stream)
  const whole = streams.filter((stream) => ledger.isShownWhole(stream))
  if (whole.length === 0) return
  const entries = await sink.retry((warehouse) => loadOutlived(warehouse, whole, sink.syncRunId))
  const settled: number[] = []
  for (const type of new Set(entries.map(({ resourceType }) => resourceType))) {
    const resource = resourceOfType(type ?? '')
    const own = entries.filter((entry) => entry.resourceType === type)
    const keys = own.map((entry) => keyOf(entry, resource.keyColumns, resource.idColumn))
    const rows = await sink.retry((warehouse) => loadRowsByKey(warehouse, resource, keys))
    const stands = (key: readonly string[]): boolean => rows.get(key.join(' '))?.isDeleted === false
    settled.push(...own.filter((_, at) => stands(keys[at] ?? [])).map((one) => one.quarantineId))
  }
  if (settled.length === 0) return
  await sink.retry((warehouse) => dropQuarantine(warehouse, settled))
  logger.info('records that were set aside came well since', { records: settled.length })
}

function keyOf(
  { recordId, payload }: OutlivedEntry,
  keyColumns: readonly string[],
  idColumn: string,
): string[] {
  return keyColumns.map((name) =>
    name === idColumn ? (recordId ?? '') : linkedIdOf(payload, name.replace(/_id$/, '')),
  )
}

function linkedIdOf(payload: string, relationship: string): string {
  try {
    const { relationships } = membersOf(JSON.parse(payload))
    const { id } = membersOf(membersOf(membersOf(relationships)[relationship]).data)
    return typeof id === 'string' ? id : ''
  } catch {
    return ''
  }
}
