import { describe, expect, it } from 'vitest'
import { HOUR, type Scene } from '../sync/sync-scene.js'
import { openBench, statesOf, store } from '../webhooks/process-scene.js'
import { doubledRows } from '../../support/doubled-rows.js'
import { useFaultScenes, wrongCounts } from './fault-scene.js'
import { changeAll } from './notify-of-all.js'

const scenes = useFaultScenes()

/** One thorough pass, and a second that finds nothing to do. */
/**
 * A row that is put right changes; its version does not, for at the source it was never otherwise.
 */
const LATER_THAN_ITS_VERSION = /_history .+: opened at .+, the row changed at /

async function expectHealed(scene: Scene): Promise<void> {
  scene.simulator.clock.advance(2_000)
  expect(await scene.sync({ command: 'backfill' })).toMatchObject({ exitCode: 0, problems: [] })
  expect(await wrongCounts(scene)).toEqual([])
  const differences = await scene.differences()
  expect(differences.filter((text) => !LATER_THAN_ITS_VERSION.test(text))).toEqual([])
  expect(await doubledRows(scene.warehouse)).toEqual([])
  const before = await scene.snapshot()
  scene.simulator.clock.advance(2_000)
  expect(await scene.sync({ command: 'backfill' })).toMatchObject({ exitCode: 0 })
  expect(await scene.snapshot()).toEqual(before)
}

const SYNCED = [
  ...['shipments', 'containers', 'transport_events', 'tracking_requests', 'ports', 'terminals'],
  ...['vessels', 'custom_fields', 'container_import_deadlines', 'container_holds'],
  ...['container_fees', 'shipment_history', 'container_history'],
]

/** Both kinds of service: transport events come with the lists, or must be fetched. */
const SERVICES = {
  'includes them': {},
  'does not': { acceptedIncludes: { shipment: ['containers'], container: [] } },
} as const

describe('a warehouse that somebody has changed by hand', { tags: ['C20'] }, () => {
  it.each(Object.entries(SERVICES))(
    'by emptying every table, or only what hangs on other rows, is rebuilt by one backfill, where the service includes transport events (%s)',
    { tags: ['release'] },
    async (_, service) => {
      const scene = await scenes.open(service)
      await scene.sync()
      const hanging = SYNCED.filter((table) => !/^(?:shipments|containers)$/.test(table))
      for (const tables of [SYNCED, hanging]) {
        for (const table of tables) await scene.query(`truncate tracking.${table}`)
        await expectHealed(scene)
      }
    },
  )

  it('by editing values is set right, without a version of what was never so', async () => {
    const scene = await scenes.open()
    await scene.sync()
    const versions = 'select count(*)::int as versions from tracking.container_history'
    const before = await scene.query(versions)
    await scene.run`update tracking.containers set number = 'EDIT0000000', weight_in_lbs = 1`
    await scene.run`update tracking.shipments set customer_name = null`
    await scene.run`update tracking.transport_events set event = 'edited'`
    // A reference with a row is not read again: to repair an edited one, delete it.
    await scene.run`delete from tracking.ports`
    await scene.run`delete from tracking.container_import_deadlines`
    await scene.run`
      delete from tracking.containers where container_id = (
      select min(container_id) from tracking.containers)`
    await expectHealed(scene)
    expect(await scene.query(versions)).toEqual(before)
  })

  it('by taking checkpoints, runs and memories away costs nothing but a pass', async () => {
    const scene = await scenes.open()
    await scene.sync()
    for (const table of ['checkpoints', 'pass_positions', 'source_capabilities', 'sync_runs']) {
      await scene.query(`truncate tracking_sync.${table} cascade`)
    }
    const before = await scene.snapshot()
    scene.simulator.clock.advance(2_000)
    expect(await scene.sync({ command: 'sync' })).toMatchObject({ exitCode: 0, problems: [] })
    const { source_capabilities: learned, ...after } = await scene.snapshot()
    expect(learned).not.toBe(before.source_capabilities)
    expect(after).toEqual(expect.objectContaining({ containers: before.containers }))
    expect(await scene.differences()).toEqual([])
  })

  it('by restoring a backup is made equal by one sync', { tags: ['release'] }, async () => {
    const scene = await scenes.open()
    const { simulator, warehouse } = scene
    const bench = openBench(warehouse, simulator)
    scenes.atEnd(() => bench.close())
    await scene.sync()
    const early = changeAll(scene, 'BEFORE')
    await store(warehouse, ...early)
    await bench.settle()
    const backup = await backUp(scene)
    // A week passes, of which the backup knows nothing.
    simulator.clock.advance(7 * 24 * HOUR)
    const late = changeAll(scene, 'AFTER')
    await store(warehouse, ...late)
    await bench.settle()
    await scene.sync({ command: 'sync' })
    await backup.restore()
    await store(warehouse, ...early, ...late)
    await bench.settle()
    simulator.clock.advance(2_000)
    expect(await scene.sync({ command: 'sync' })).toMatchObject({ exitCode: 0, problems: [] })
    expect(await scene.differences()).toEqual([])
    expect(await doubledRows(scene.warehouse)).toEqual([])
    expect(new Set(Object.values(await statesOf(warehouse)))).toEqual(new Set(['processed']))
    expect(Object.keys(await statesOf(warehouse))).toHaveLength(early.length + late.length)
  })
})

/** Copies of all tables, and a way back to them. */
async function backUp({ query }: Scene): Promise<{ restore(): Promise<void> }> {
  const tables = await query<{ name: string; columns: string }>(
    `select format('%I.%I', table_schema, table_name) as name,
      string_agg(format('%I', column_name), ', ' order by ordinal_position) as columns
    from information_schema.columns inner join information_schema.tables using (table_schema, table_name)
    where table_schema in ('tracking', 'tracking_sync') and table_type = 'BASE TABLE'
        and is_generated = 'NEVER'
    group by 1
    order by bool_or(table_name = 'sync_runs') desc`,
  )
  await query('create schema backup')
  scenes.atEnd(() => query('drop schema if exists backup cascade'))
  const copy = (name: string): string => `backup.${name.replace('.', '_')}`
  for (const { name } of tables) await query(`create table ${copy(name)} as table ${name}`)
  return {
    restore: async () => {
      await query(`truncate ${tables.map(({ name }) => name).join(', ')}`)
      for (const { name, columns } of tables) {
        await query(
          `insert into ${name} (${columns}) overriding system value select ${columns} from ${copy(name)}`,
        )
      }
    },
  }
}
