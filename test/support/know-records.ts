import { noFailpoints } from '../../src/base/failpoint.js'
import { readRecords } from '../../src/ingest/intake.js'
import type { Warehouse } from '../../src/warehouse/connection/warehouse.js'
import { writeRows } from '../../src/warehouse/rows/write-rows.js'

/** Rows without any attribute, as if seen long ago, for what exists apart from notifications. */
export async function knowRecords(
  warehouse: Warehouse,
  records: readonly { readonly type: string; readonly id: string }[],
): Promise<void> {
  const bare = records
    .filter(({ type }) => !type.endsWith('_event'))
    .map(({ type, id }) => ({ type, id, attributes: {} }))
  const intake = readRecords(
    { data: [], included: bare },
    { stream: 'other_resources', source: 'test', observedAt: new Date('2020-01-01T00:00:00Z') },
  )
  const sightings = [...intake.sightings.values()].flat()
  await warehouse.transaction('know records', (session) =>
    writeRows(session, { syncRunId: null, mode: 'sync', sightings, eventLists: [] }, noFailpoints),
  )
}
