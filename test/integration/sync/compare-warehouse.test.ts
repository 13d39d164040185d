import { afterAll, beforeAll, expect, it } from 'vitest'
import { compareWarehouse, COUNTED_TABLES } from '../../support/compare-warehouse.js'
import { findEmpty } from '../../support/count-values.js'
import { isOnCitus } from '../../support/distributed-database.js'
import { closeScenes, openLoadedScene, openScene, type Scene } from './sync-scene.js'
import { rawStatement } from '../../../src/warehouse/connection/typed-database.js'

let scene: Scene

beforeAll(async () => {
  scene = await openLoadedScene({ shipments: 24 }, { vesselPositions: true })
})
afterAll(closeScenes)

/** Each is done to one row; `{{t}}` is the data schema. */
const CORRUPTIONS: readonly (readonly [table: string, sqlText: string])[] = [
  ['shipments', `update {{t}}.shipments set pod_eta_at = pod_eta_at + interval '1 microsecond'`],
  ['shipments', `update {{t}}.shipments set ref_numbers = ref_numbers || array['surplus']`],
  ['shipments', `update {{t}}.shipments set container_ids = container_ids[2:]`],
  ['shipments', `update {{t}}.shipments set destination_type = 'planet'`],
  ['shipments', `update {{t}}.shipments set _unmapped = '{"surplus": 1}'`],
  ['shipments', `update {{t}}.shipments set _coercions = '{"customer_name": {}}'`],
  ['shipments', `update {{t}}.shipments set _changed_at = _observed_at + interval '1 s'`],
  ['shipments', `delete from {{t}}.shipments`],
  ['containers', `update {{t}}.containers set weight_in_lbs = weight_in_lbs + 0.01`],
  ['containers', `update {{t}}.containers set availability_known = not availability_known`],
  ['containers', `update {{t}}.containers set equipment_length = 41`],
  ['containers', `update {{t}}.containers set fees_at_pod_terminal = '[{}]'`],
  ['containers', `update {{t}}.containers set pickup_lfd_line = now()`],
  ['containers', `update {{t}}.containers set _deleted_at = now()`],
  ['transport_events', `update {{t}}.transport_events set is_estimated = not is_estimated`],
  ['transport_events', `update {{t}}.transport_events set vessel_id = 'another'`],
  [
    'transport_events',
    `update {{t}}.transport_events set transport_event_id = 'surplus' || transport_event_id`,
  ],
  ['tracking_requests', `update {{t}}.tracking_requests set updated_at = null`],
  ['ports', `update {{t}}.ports set latitude = -latitude`],
  ['metro_areas', `update {{t}}.metro_areas set time_zone = 'Mars/Olympus'`],
  ['terminals', `delete from {{t}}.terminals`],
  ['rail_terminals', `update {{t}}.rail_terminals set metro_area_id = null`],
  ['vessels', `update {{t}}.vessels set imo = 'IMO ' || imo`],
  ['vessel_positions', `update {{t}}.vessel_positions set heading = coalesce(heading, 0) + 1`],
  ['vessel_positions', `delete from {{t}}.vessel_positions`],
  [
    'custom_fields',
    `insert into {{t}}.custom_fields
        (entity_id, api_slug, custom_field_id, _observed_at, _first_seen_at, _changed_at)
    values ('entity', 'invented', 'invented', now(), now(), now())`,
  ],
  ['container_holds', `update {{t}}.container_holds set status = 'cleared'`],
  ['container_holds', `delete from {{t}}.container_holds`],
  ['container_fees', `update {{t}}.container_fees set amount = amount * 2`],
  [
    'container_fees',
    `insert into {{t}}.container_fees
        (container_id, fee_key, is_total, _observed_at, _first_seen_at)
    values ('gone', 'surplus', false, now(), now())`,
  ],
  [
    'container_import_deadlines',
    `update {{t}}.container_import_deadlines set local_date = local_date + 1`,
  ],
  ['container_import_deadlines', `update {{t}}.container_import_deadlines set time_zone = 'UTC'`],
  ['shipment_history', `update {{t}}.shipment_history set customer_name = 'somebody else'`],
  ['shipment_history', `delete from {{t}}.shipment_history`],
  ['container_history', `update {{t}}.container_history set valid_to = valid_from`],
  [
    'container_history',
    `insert into {{t}}.container_history (container_id, valid_from, valid_to, source)
    select container_id, valid_from - interval '2 days', valid_from - interval '1 day', source
    from {{t}}.container_history`,
  ],
  [
    'container_history',
    `insert into {{t}}.container_history (container_id, valid_from, valid_to, source)
    select container_id, valid_from - interval '2 days', valid_from + interval '1 day', source
    from {{t}}.container_history`,
  ],
  ['container_hold_history', `update {{t}}.container_hold_history set status = 'cleared'`],
  [
    'container_hold_history',
    `insert into {{t}}.container_hold_history
        (container_id, hold_key, valid_from, valid_to, name, status, description, source)
    select container_id, hold_key, valid_from - interval '1 day', valid_from,
        name, status, description, source
    from {{t}}.container_hold_history`,
  ],
  ['container_fee_history', `delete from {{t}}.container_fee_history`],
  [
    'container_import_deadline_history',
    `update {{t}}.container_import_deadline_history set deadline_at = now()`,
  ],
]

it('finds no difference after a backfill', async () => {
  expect(await scene.differences({ hasVesselPositions: true })).toEqual([])
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
it.skipIf(isOnCitus).each(CORRUPTIONS)(
  'reports a wrong value in %s: %s',
  { tags: ['release'] },
  async (table, sqlText) => {
    const { warehouse, simulator } = scene
    const rollback = new Error('rolled back')
    let differences: string[] = []
    const corrupting = warehouse.transaction('corrupt a value', async (session) => {
      const rows = await session.query('corrupt a value', rawStatement(toOneRow(sqlText, table)))
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

/**
 * An update or deletion of one row, if possible of a row with a value in the column; one row of an
 * insert's source.
 */
function toOneRow(sqlText: string, table: string): string {
  const column = /\bset (\w+)/.exec(sqlText)?.[1]
  const chosen = `(select ctid from {{t}}.${table} order by ${column ?? 'ctid'} nulls last limit 1)`
  const restriction = sqlText.includes('insert') ? '' : ` where ctid = ${chosen}`
  const limited = /\bselect\b/.test(sqlText) ? ' limit 1' : ''
  return `${sqlText}${restriction}${limited} returning 1`.replaceAll('{{t}}', 'tracking')
}
