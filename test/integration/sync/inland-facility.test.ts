import { sql } from 'kysely'
import { afterEach, expect, it } from 'vitest'
import { notification, openBench, store } from '../webhooks/process-scene.js'
import { syncToEquality } from './expect-sync.js'
import { closeScenes, HOUR, openScene, type Scene } from './sync-scene.js'
import { setAsOf } from '../../support/set-as-of.js'

afterEach(closeScenes)

const FREIGHT = {
  name: 'freight',
  status: 'hold',
  description: 'LINE HOLD',
  detail: 'Call the line',
}
const STORAGE = { type: 'demurrage', amount: 75, currency_code: 'USD', description: 'Storage' }

/** A container without any hold or fee of the world's own. */
async function openBox(): Promise<{ scene: Scene; id: string }> {
  const scene = await openScene({ shipments: 8 })
  const { world, clock, edits } = scene.simulator
  const { id } = [...world.records('container', clock.now())][0]!
  edits.change('container', id, {
    holds_at_pod_terminal: [],
    fees_at_pod_terminal: [],
    ind_facility_holds: null,
    ind_facility_fees: null,
  })
  return { scene, id }
}

const read = (scene: Scene, table: string, columns: string, id: string) =>
  scene.query(
    `select ${columns} from tracking.${table} where container_id = $1 order by place, name_or_type, 1`.replace(
      'name_or_type',
      table.includes('hold') ? 'name' : 'type',
    ),
    id,
  )

/** Holds and fees in the view of an instant. */
async function readAsOf({ warehouse }: Scene, id: string, asOf: Date): Promise<unknown[]> {
  return warehouse.transaction('read as of', async (session) => {
    await setAsOf(session, asOf.toISOString())
    return session.query(
      'read',
      sql`select place, name as what, status as how from tracking_as_of.known_holds where container_id = ${id}
      union all
      select place, type, amount::text from tracking_as_of.known_fees where container_id = ${id}
      order by place, what`,
    )
  })
}

it('keeps holds and fees of the inland facility beside others', { tags: ['release'] }, async () => {
  const { scene, id } = await openBox()
  const { clock, edits } = scene.simulator
  const change = (attributes: Record<string, unknown>): void => {
    edits.change('container', id, attributes)
  }
  const instants: Date[] = []
  const look = async (): Promise<void> => {
    await syncToEquality(scene, { command: instants.length === 0 ? 'backfill' : 'sync' })
    instants.push(clock.now())
    clock.advance(5 * HOUR)
  }
  await look()
  change({
    holds_at_pod_terminal: [FREIGHT],
    ind_facility_holds: [FREIGHT],
    ind_facility_fees: [STORAGE],
  })
  await look()
  // The same one at the port goes; at the ramp only the text of the terminal changes.
  change({
    holds_at_pod_terminal: [],
    ind_facility_holds: [{ ...FREIGHT, detail: 'Paid' }],
    ind_facility_fees: [{ ...STORAGE, amount: 150 }],
  })
  await look()
  change({ ind_facility_holds: [], ind_facility_fees: [] })
  await look()

  const intervals = 'place, detail, valid_from, valid_to'
  const [, first, second, third] = instants.map((at) => at.toISOString())
  const holds = (await read(scene, 'container_hold_history', intervals, id)).map((row) => [
    row.place,
    row.detail,
    new Date(row.valid_from as string).toISOString(),
    new Date(row.valid_to as string).toISOString(),
  ])
  expect(holds).toEqual([
    ['port', 'Call the line', first, second],
    ['ramp', 'Call the line', first, second],
    ['ramp', 'Paid', second, third],
  ])
  const fees = await read(scene, 'container_fee_history', 'place, amount, description', id)
  expect(fees).toEqual([
    { place: 'ramp', amount: '75', description: 'Storage' },
    { place: 'ramp', amount: '150', description: 'Storage' },
  ])
  expect(await Promise.all(instants.map((at) => readAsOf(scene, id, at)))).toEqual([
    [],
    [
      { place: 'port', what: 'freight', how: 'hold' },
      { place: 'ramp', what: 'demurrage', how: '75' },
      { place: 'ramp', what: 'freight', how: 'hold' },
    ],
    [
      { place: 'ramp', what: 'demurrage', how: '150' },
      { place: 'ramp', what: 'freight', how: 'hold' },
    ],
    [],
  ])
})

it('takes them from a webhook as from a sync, and makes no version of when the railway was asked', async () => {
  const { scene, id } = await openBox()
  const { world, clock, edits } = scene.simulator
  await syncToEquality(scene)
  clock.advance(HOUR)
  edits.change('container', id, {
    ind_facility_holds: [FREIGHT],
    ind_facility_fees: [STORAGE],
    ssl_lfd: '2026-03-20T07:00:00Z',
    import_deadlines: {
      pickup_lfd_rail: { original: '2026-03-21T05:00:00Z', current: '2026-03-22T05:00:00Z' },
    },
  })
  const container = world.record('container', id, clock.now())
  const bench = openBench(scene.warehouse, scene.simulator)
  await store(
    scene.warehouse,
    notification({
      createdAt: clock.now(),
      about: { type: 'container', id },
      included: [container],
    }),
  )
  await bench.settle()
  await bench.close()
  expect(await read(scene, 'container_holds', 'place, name, detail', id)).toEqual([
    { place: 'ramp', name: 'freight', detail: 'Call the line' },
  ])
  expect(await read(scene, 'container_fees', 'place, amount', id)).toEqual([
    { place: 'ramp', amount: '75' },
  ])
  const days = await scene.query(
    `select kind, place, deadline_at from tracking.container_import_deadlines
    where container_id = $1 and kind <> 'pickup_lfd' order by kind`,
    id,
  )
  expect(days).toEqual([
    { kind: 'pickup_lfd_line', place: 'port', deadline_at: '2026-03-20 07:00:00+00' },
    { kind: 'pickup_lfd_rail', place: 'ramp', deadline_at: '2026-03-22 05:00:00+00' },
    { kind: 'pickup_lfd_rail.current', place: 'ramp', deadline_at: '2026-03-22 05:00:00+00' },
    { kind: 'pickup_lfd_rail.original', place: 'ramp', deadline_at: '2026-03-21 05:00:00+00' },
  ])
  const versions = () =>
    scene.query(`select count(*) from tracking.container_history where container_id = $1`, id)
  const before = await versions()
  clock.advance(HOUR)
  edits.change('container', id, { rail_last_tracking_request_at: clock.now().toISOString() })
  await syncToEquality(scene, { command: 'sync' })
  expect(await versions()).toEqual(before)
})
