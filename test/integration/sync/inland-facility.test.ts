import { afterEach, expect, it } from 'vitest'
import { notification, openBench, store } from '../webhooks/process-scene.js'
import { syncToEquality } from './expect-sync.js'
import { closeScenes, HOUR, openScene, type Scene } from './sync-scene.js'

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
  const { edits } = scene.simulator
  const { id } = scene.records('container')[0]!
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
  const days = await scene.rows`
    select kind, place, deadline_at from tracking.container_import_deadlines
    where container_id = ${id} and kind <> 'pickup_lfd' order by kind`
  expect(days).toEqual([
    { kind: 'pickup_lfd_line', place: 'port', deadline_at: '2026-03-20 07:00:00+00' },
    { kind: 'pickup_lfd_rail', place: 'ramp', deadline_at: '2026-03-22 05:00:00+00' },
    { kind: 'pickup_lfd_rail.current', place: 'ramp', deadline_at: '2026-03-22 05:00:00+00' },
    { kind: 'pickup_lfd_rail.original', place: 'ramp', deadline_at: '2026-03-21 05:00:00+00' },
  ])
  const versions = () =>
    scene.rows`select count(*) from tracking.container_history where container_id = ${id}`
  const before = await versions()
  clock.advance(HOUR)
  edits.change('container', id, { rail_last_tracking_request_at: clock.now().toISOString() })
  await syncToEquality(scene, { command: 'sync' })
  expect(await versions()).toEqual(before)
})
