import { sql } from 'kysely'
import type { ResourceObject } from '../../../src/source/jsonapi/document.js'
import type { Simulator } from '../../../src/extensions/simulator/server.js'
import type { Warehouse } from '../../../src/warehouse/connection/warehouse.js'
import { compareRecord, typed } from '../../support/compare-warehouse.js'
import { loadTables, type Row } from '../../support/snapshot-tables.js'

/** The lists that a run walks, and the type of their records. */
export const LISTS = {
  shipments: 'shipment',
  containers: 'container',
  tracking_requests: 'tracking_request',
} as const

export interface CheckpointScene {
  readonly simulator: Simulator
  readonly warehouse: Warehouse
  readonly pageSize: number
  /** Earlier runs' checkpoints are not looked at. */
  readonly sinceRun: number
  /** Nor passes that began before: they may have seen another world. */
  readonly sincePass?: Date
}

/** I9: what the warehouse lacks of the pages that its checkpoints speak of. */
export async function findCheckpointLies({
  simulator,
  warehouse,
  pageSize,
  sinceRun,
  sincePass,
}: CheckpointScene): Promise<string[]> {
  const now = simulator.clock.now()
  const { world } = simulator
  const checkpoints = await warehouse.query(
    'read the checkpoints',
    sql<{
      stream: keyof typeof LISTS | 'custom_fields' | 'custom_field_definitions'
      position: { page: number; findings: { areContainersIncluded?: boolean } }
      is_complete: boolean
    }>`select stream, position, completed_at is not null as is_complete
    from tracking_sync.checkpoints
    where sync_run_id >= ${sinceRun}
        and coalesce(pass_started_at, completed_pass_started_at) >= ${sincePass?.toISOString() ?? '-infinity'}::timestamptz
    union all
    select stream, position, false
    from tracking_sync.pass_positions
    where sync_run_id >= ${sinceRun} and pass_started_at >= ${sincePass?.toISOString() ?? '-infinity'}::timestamptz`,
  )
  const tables = await loadTables(warehouse)
  const lies: string[] = []
  const check = (table: string, record: ResourceObject): void => {
    const idColumn = `${record.type}_id`
    const row: Row | undefined = tables
      .get(table)
      ?.rows.find((one) => one[idColumn] === record.id && (one._deleted_at ?? null) === null)
    if (row === undefined) lies.push(`${table} ${record.id}: has no row`)
    else lies.push(...compareRecord(tables, table, record, row))
    if (record.type !== 'container') return
    for (const event of world.transportEventsOf(record.id, now)) check('transport_events', event)
  }
  for (const { stream, position, is_complete } of checkpoints) {
    const until = is_complete ? Number.MAX_SAFE_INTEGER : position.page * pageSize
    const records =
      stream === 'custom_fields'
        ? world
            .customFields(now)
            .slice(0, until)
            .map((record) => typed(record, world, now))
        : stream === 'custom_field_definitions'
          ? world.customFieldDefinitions().slice(0, until)
          : world.page(LISTS[stream], 0, until, now)
    for (const record of records) {
      check(stream, record)
      if (stream === 'shipments' && position.findings.areContainersIncluded === true) {
        for (const container of world.containersOf(record.id, now)) check('containers', container)
      }
    }
  }
  return lies
}
