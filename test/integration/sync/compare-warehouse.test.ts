import { afterAll, beforeAll, expect, it } from 'vitest'
import { compareWarehouse, COUNTED_TABLES } from '../../support/compare-warehouse.js'
import { findEmpty } from '../../support/count-values.js'
import { isOnCitus } from '../../support/distributed-database.js'
import { linesOf } from '../../support/tables.js'
import { closeScenes, openLoadedScene, openScene, type Scene } from './sync-scene.js'
import { rawStatement } from '../../../src/warehouse/connection/typed-database.js'

let scene: Scene

beforeAll(async () => {
  scene = await openLoadedScene({ shipments: 24 }, { vesselPositions: true })
  expect(await scene.differences({ hasVesselPositions: true })).toEqual([])
})
afterAll(closeScenes)

/** Values for one row of a table; nothing where it is deleted. */
const EDITS = linesOf(`
  shipments                         | pod_eta_at = pod_eta_at + interval '1 microsecond'
  shipments                         | ref_numbers = array['surplus']
  shipments                         | _unmapped = '{"surplus": 1}'
  shipments                         | _coercions = '{"customer_name": {}}'
  shipments                         | _changed_at = _observed_at + interval '1 s'
  containers                        | availability_known = not availability_known
  containers                        | fees_at_pod_terminal = '[{}]'
  containers                        | _deleted_at = now()
  transport_events                  | transport_event_id = 'surplus'
  terminals
  vessels                           | imo = 'IMO 1'
  vessel_positions                  | heading = coalesce(heading, 0) + 1
  custom_fields                     | entity_id = 'invented'
  container_holds
  container_fees                    | amount = amount * 2
  container_import_deadlines        | local_date = local_date + 1
  shipment_history
  container_history                 | valid_to = valid_from
  container_history                 | valid_from = valid_from - interval '1 day'
  container_fee_history
`).map(([table = '', set]) => {
  // Of a row with a value in that column, if there is one.
  const first = set === undefined ? 'ctid' : /^\w+/.exec(set)![0]
  const one = `(select ctid from tracking.${table} order by ${first} nulls last limit 1)`
  const change =
    set === undefined ? `delete from tracking.${table}` : `update tracking.${table} set ${set}`
  return [table, `${change} where ctid = ${one}`] as const
})

it('does not take nothing for equal', { tags: ['JC3'] }, async () => {
  const empty = await openScene({ shipments: 0 })
  const expected = COUNTED_TABLES.map((table) => `${table}: not one row was compared`)
  const { world, clock } = empty.simulator
  for (const { type, id } of world.records('custom_field_definition', clock.now())) {
    empty.simulator.edits.delete(type, id)
  }
  expect(await empty.differences({ mayLack: [] })).toEqual(expected)
  expect(await empty.differences({ mayLack: COUNTED_TABLES })).toEqual([])
  await expect(empty.snapshot()).rejects.toThrow('proves nothing')
})

it('names a column without a value, and an exception that has one', { tags: ['JC3'] }, () => {
  const types = new Map(['name', 'nickname', '_unmapped'].map((column) => [column, 'text']))
  const counts = new Map([
    ['vessels', { types, tally: { rows: 2, values: new Map([['name', 2]]) } }],
    ['ports', { types, tally: { rows: 0, values: new Map<string, number>() } }],
  ])
  expect(findEmpty(counts, { 'vessels.name': 'Has one.' })).toEqual([
    'vessels.nickname: not one value was compared',
    'ports: not one value was compared',
    'vessels.name: has values, and is listed as one that has none',
  ])
  expect(findEmpty(counts, { 'vessels.nickname': 'None.', ports: 'None.' })).toEqual([])
})

// One of these statements ends a backend of Citus.
it.skipIf(isOnCitus).each(EDITS)(
  'reports a wrong value in %s: %s',
  { tags: ['release'] },
  async (table, sqlText) => {
    const { warehouse, simulator } = scene
    const rollback = new Error('rolled back')
    let differences: string[] = []
    const corrupting = warehouse.transaction('corrupt a value', async (session) => {
      const rows = await session.query('corrupt', rawStatement(`${sqlText} returning 1`))
      expect(rows).toHaveLength(1)
      const reader = { ...session, names: warehouse.names }
      const at = simulator.clock.now()
      differences = await compareWarehouse(reader, simulator.world, at, {
        hasVesselPositions: true,
      })
      throw rollback
    })
    await expect(corrupting).rejects.toThrow('rolled back')
    expect(differences.filter((difference) => difference.startsWith(table))).not.toEqual([])
  },
)
