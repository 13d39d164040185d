import { describe, expect, it } from 'vitest'
import { showDifference } from '../../../src/extensions/doctor/commands/verify.js'
import type { VerifyReport } from '../../../src/extensions/doctor/verify/verify-report.js'
import { verifySource } from '../../../src/extensions/doctor/verify/verify-warehouse.js'
import { resources } from '../../../src/source/records/index.js'
import { runNarrowedBackfill } from '../../../src/sync/narrow-backfill.js'
import { linesOf } from '../../support/tables.js'
import { TEST_SETTINGS, withRunDependencies } from '../../support/test-service.js'
import { openPool } from '../faults/fault-scene.js'
import { openLoadedScene, openScene, type Scene } from './sync-scene.js'

const LIVE = '_deleted_at is null'

/**
 * A change of a row of a table, and how verify names it. A value is edited in the first row, or
 * the first of which a condition holds; the last row, or a chosen one, is deleted or marked as
 * dead; a ghost is a row that the service does not have.
 */
const PLANTED = linesOf(`
  shipments                | value | customer_name = 'Edited'
  shipments                | dead
  shipments                | ghost
  containers               | value | number = 'EDIT0000000'
  containers               | row
  transport_events         | value | voyage_number = 'EDIT'
  transport_events         | ghost | container_id   | (select min(container_id) from tracking.containers)
  tracking_requests        | value | status = 'edited'
  tracking_requests        | row
  tracking_requests        | ghost
  ports                    | value | time_zone = 'Europe/Oslo'
  ports                    | ghost
  metro_areas              | value | name = 'Edited'
  terminals                | value | name = 'Edited'
  terminals                | dead  | (select max(pod_terminal_id) from tracking.containers where ${LIVE})
  vessels                  | value | name = 'Edited'
  vessels                  | row   | (select max(vessel_id) from tracking.transport_events where ${LIVE})
  webhook_event_categories | value | name = 'Edited'
  webhook_event_categories | ghost
  custom_field_definitions | value | display_name = 'Edited'
  custom_field_definitions | row   | (select min(definition_id) from tracking.custom_fields where value_number is not null)
  custom_field_definitions | ghost | data_type      | 'enum'
  custom_field_options     | value | label = 'Edited'
  custom_field_options     | row
  custom_field_options     | ghost | definition_id  | 'nothing'
  custom_field_options     | ghost | definition_id  | (select min(definition_id) from tracking.custom_field_options)
  custom_fields            | value | value = '"Edited"'
  custom_fields            | value | value_list = null | value_list is not null
  custom_fields            | row
  custom_fields            | ghost | entity_type, entity_id | 'container', (select min(container_id) from tracking.containers)
`)

/** Changes of rows that are compared with their owners. */
const PLANTED_BESIDE = {
  vessel_positions: `update tracking.vessel_positions set latitude = 1
    where vessel_id = (select min(vessel_id) from tracking.vessels where ${LIVE})`,
  container_holds: `update tracking.container_holds set status = 'edited'`,
  container_import_deadlines: `delete from tracking.container_import_deadlines`,
  shipment_history: `update tracking.shipment_history set customer_name = 'Edited'
    where valid_to is null
        and shipment_id = (select min(shipment_id) from tracking.shipment_history)`,
  container_history: `delete from tracking.container_history
    where container_id = (select min(container_id) from tracking.container_history)`,
  container_hold_history: `update tracking.container_hold_history set status = 'elsewhere'
    where valid_to is null`,
}

function planted([table = '', kind, what, more]: readonly string[]): string {
  const name = `tracking.${table}`
  const key = resources.find(({ stream }) => stream === table)!.idColumn
  if (kind === 'value') {
    const where = more ?? 'true'
    return `update ${name} set ${what}
      where ${key} = (select min(${key}) from ${name} where ${where}) and ${where}`
  }
  if (kind === 'row' || kind === 'dead') {
    const change = kind === 'row' ? `delete from ${name}` : `update ${name} set _deleted_at = now()`
    return `${change} where ${key} = ${what ?? `(select max(${key}) from ${name})`}`
  }
  const [column, value] = what === undefined ? ['', ''] : [`, ${what}`, `, ${more}`]
  return `insert into ${name} (${key}, _observed_at, _first_seen_at, _changed_at${column})
    select gen_random_uuid(), min(_observed_at), min(_observed_at), min(_observed_at)${value}
    from tracking.shipments`
}

/** Over connections that cannot write. */
function verify(
  scene: Scene,
  sample = 50,
  settings: Partial<typeof TEST_SETTINGS> = {},
): Promise<VerifyReport> {
  const warehouse = openPool(scene, { isReadOnly: true })
  return withRunDependencies({ ...scene, warehouse }, (dependencies) =>
    verifySource({
      ...dependencies,
      settings: { ...TEST_SETTINGS, ...settings },
      sample,
      seed: 1,
    }),
  )
}

const verdictOf = (report: VerifyReport, stream: string) =>
  report.streams.find((verdict) => verdict.stream === stream)

describe('a difference', { tags: ['FD11'] }, () => {
  it('is shown from where the two values begin to differ', () => {
    expect(showDifference('Maersk', 'Maersk Line')).toEqual(['Maersk', 'Maersk Line'])
    expect(showDifference(null, 'x'.repeat(100))).toEqual([null, `${'x'.repeat(60)}…`])
    const same = 'same '.repeat(40)
    const [one, other] = showDifference(`${same}ONE${same}`, `${same}TWO`)
    expect(one).toMatch(/^….{20}ONE.{37}…$/)
    expect(other).toMatch(/^….{20}TWO$/)
  })
})

describe('verify', () => {
  it('takes nothing volatile for a difference', { tags: ['FD11', 'release'] }, async () => {
    const scene = await openLoadedScene({ shipments: 6 })
    const aged = await scene.rows`
      update tracking.containers set terminal_checked_at = '2001-01-01T00:00:00Z'
      where terminal_checked_at is not null returning container_id`
    expect(aged.length).toBeGreaterThan(0)
    const looked = { rail2_last_tracking_request_at: '2026-11-01T00:00:00Z' }
    const showAlso = (more: object) =>
      scene.answers.showType('container', (record) => ({
        ...record,
        attributes: { ...record.attributes, ...more },
      }))
    const shown = showAlso(looked)
    const report = await verify(scene)
    expect(report).toMatchObject({ isEqual: true, differences: [] })
    shown.remove()
    showAlso({ ...looked, new_one: 1 })
    expect((await verify(scene)).differences[0]).toMatchObject({ column: '_unmapped' })
  })

  it('finds an empty warehouse, also of an empty account', { tags: ['FF3', 'JC6'] }, async () => {
    const scene = await openScene({ shipments: 3 })
    const report = await verify(scene)
    expect(report).toMatchObject({ isEqual: false, wholeHoursAgo: null })
    expect(verdictOf(report, 'shipments')).toMatchObject({ compared: 3, differing: 3 })
    expect(verdictOf(report, 'tracking_requests')?.differing).toBeGreaterThanOrEqual(3)
    expect(report.differences[0]).toMatchObject({ column: '(row)', service: 'exists' })
    expect(report.counts.map(({ isWithin }) => isWithin)).toEqual(Array(5).fill(false))
    // Nor is it equal where there is nothing to compare.
    const nothing = { kind: 'transform', apply: () => ({ data: [], links: {} }) } as const
    scene.answers.play(/^\/(?:shipments|containers|tracking_requests|custom_.*)$/, nothing)
    const compared = await verify(scene)
    expect(compared.counts.every(({ isWithin }) => isWithin)).toBe(true)
    expect(compared).toMatchObject({ isEqual: false, differences: [] })
  })

  it('does not miss what is created while it looks', { tags: ['FF3', 'release'] }, async () => {
    const scene = await openLoadedScene({ shipments: 6 })
    const { edits, clock } = scene.simulator
    scene.simulator.faults.add({
      match: ({ path }) => path === '/containers',
      fault: {
        kind: 'transform',
        apply: (document) => {
          clock.advance(5_000)
          edits.insertShipments(2)
          return document
        },
      },
    })
    const report = await verify(scene)
    expect(report).toMatchObject({ isEqual: true, differences: [] })
    expect(report.counts[2]).toMatchObject({ difference: -2, tolerance: 2, isWithin: true })
    clock.advance(60_000)
    expect((await verify(scene)).isEqual).toBe(false)
  })

  it('finds every difference, and advises well', { tags: ['FA3', 'JC6', 'release'] }, async () => {
    const scene = await openScene({ shipments: 12 })
    const settings = { vesselPositions: true }
    const { edits, world, clock } = scene.simulator
    const [container] = world.page('container', 0, 1, clock.now())
    edits.addHold(container!.id, { name: 'customs', status: 'hold', description: '' })
    await scene.sync({ settings })
    const equal = await verify(scene, 200, settings)
    expect(equal).toMatchObject({ isEqual: true, differences: [] })
    for (const { stream, rows, compared, values } of equal.streams) {
      if (rows === 0) continue
      expect([stream, compared > 0, values > 0]).toEqual([stream, true, true])
    }
    for (const sqlText of [...PLANTED.map(planted), ...Object.values(PLANTED_BESIDE)]) {
      expect((await scene.query(`${sqlText} returning 1 as one`)).length, sqlText).toBeGreaterThan(
        0,
      )
    }
    const report = await verify(scene, 200, settings)
    expect(report.isEqual).toBe(false)
    const [shipment] = scene.records('shipment').sort((one, two) => (one.id < two.id ? -1 : 1))
    expect(report.differences).toContainEqual({
      stream: 'shipments',
      record: shipment!.id,
      column: 'customer_name',
      warehouse: 'Edited',
      service: shipment!.attributes!.customer_name,
    })
    const unnamed = PLANTED.filter(([table = '', kind]) => {
      if (kind === 'ghost') return (verdictOf(report, table)?.missingAtSource ?? 0) === 0
      return !report.differences.some(
        ({ stream, column }) => stream === table && (column === '(row)') === (kind !== 'value'),
      )
    })
    expect(unnamed).toEqual([])
    const named = report.differences.flatMap(({ stream, column }) => [stream, column])
    expect(named).toEqual(expect.arrayContaining(Object.keys(PLANTED_BESIDE)))
    // Two, for rows that the service does not have.
    expect(report.advice).toEqual(['tracking-sync backfill', 'tracking-sync backfill'])
    for (const advice of report.advice) {
      const command = advice.replace('tracking-sync ', '') as 'backfill'
      await scene.sync({ command, settings })
    }
    expect(await verify(scene, 200, settings)).toMatchObject({
      isEqual: true,
      differences: [],
      advice: [],
    })
    expect(await scene.differences({ hasVesselPositions: true })).toEqual([])
  })

  it('names the lists that the account may no longer read', { tags: ['JC1', 'JC6'] }, async () => {
    const scene = await openLoadedScene({ shipments: 3 })
    scene.answers.fail(/^\/custom_field/, 403)
    const report = await verify(scene)
    expect(report).toMatchObject({ isEqual: true, differences: [] })
    expect(report.notCompared.slice(0, 3)).toEqual([
      expect.stringMatching(/^custom_field_definitions: their list: .*403/),
      expect.stringMatching(/^custom_fields: their list: .*403/),
      expect.stringMatching(/^custom_field_options: \/custom_field_definitions\/.*403.*2 more$/),
    ])
    expect(verdictOf(report, 'shipments')).toMatchObject({ compared: 3, equal: 3 })
    // Nor does it blame the warehouse for a record that the service is changing at this moment.
    let reads = 0
    scene.answers.show(/^\/shipments\/[^/]+$/, (records) =>
      records.map(({ attributes, ...record }) => ({
        ...record,
        attributes: { ...attributes, customer_name: `busy ${(reads += 1)}` },
      })),
    )
    const busy = await verify(scene)
    expect(busy).toMatchObject({ isEqual: true, differences: [] })
    expect(verdictOf(busy, 'shipments')).toMatchObject({ compared: 3, changing: 3 })
  })

  it('names containers whose events stay unread', { tags: ['JC6', 'release'] }, async () => {
    const scene = await openLoadedScene({
      shipments: 6,
      acceptedIncludes: { shipment: [], container: [] },
    })
    const container_id = await scene.value<string>`
      update tracking.transport_events set voyage_number = 'Edited'
      where (container_id, transport_event_id) in (
          select container_id, transport_event_id from tracking.transport_events
          order by 1, 2 limit 1
      ) returning container_id`
    const { advice } = await verify(scene)
    const id = container_id
    expect(advice).toEqual(['tracking-sync backfill', `tracking-sync backfill --container ${id}`])
    await withRunDependencies(scene, (dependencies) =>
      runNarrowedBackfill({ streams: [], shipmentIds: [], containerIds: [id] }, dependencies),
    )
    expect(await verify(scene)).toMatchObject({ isEqual: true, differences: [] })
  })
})
