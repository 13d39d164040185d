import { afterEach, describe, expect, it } from 'vitest'
import { syncToEquality } from './expect-sync.js'
import { closeScenes, HOUR, openScene, START, type Scene } from './sync-scene.js'

afterEach(closeScenes)

const deadlines = (terminal: string | null) => ({
  pickup_lfd_terminal: terminal,
  pickup_lfd_rail: null,
  pickup_lfd_line: null,
})

const FEE = { type: 'demurrage', currency_code: 'USD' }

/** Changes by hand before each sync, in addition to those of the world itself. */
const DAYS: readonly ((scene: Scene, ids: { shipment: string; container: string }) => void)[] = [
  () => undefined,
  ({ simulator: { edits } }, { shipment, container }) => {
    edits.change('shipment', shipment, { pod_eta_at: '2026-04-01T10:00:00Z' })
    edits.change('container', container, {
      pickup_lfd: '2026-04-05T04:00:00Z',
      import_deadlines: deadlines('2026-04-05T04:00:00Z'),
      fees_at_pod_terminal: [{ ...FEE, amount: '100.00' }],
    })
    edits.addHold(container, { name: 'customs', status: 'hold', description: null })
  },
  ({ simulator: { edits } }, { shipment, container }) => {
    edits.change('shipment', shipment, { pod_eta_at: '2026-04-02T10:00:00Z' })
    edits.change('container', container, {
      pickup_lfd: '2026-04-07T04:00:00Z',
      import_deadlines: deadlines('2026-04-07T04:00:00Z'),
      fees_at_pod_terminal: [{ ...FEE, amount: '250.50' }],
    })
    edits.clearHold(container, 'customs')
  },
  () => undefined,
  // Everything as it was two days ago.
  (scene, ids) => {
    DAYS[1]!(scene, ids)
  },
  ({ simulator: { edits } }, { container }) => {
    edits.change('container', container, {
      pickup_lfd: null,
      import_deadlines: deadlines(null),
      fees_at_pod_terminal: [],
    })
    edits.clearHold(container, 'customs')
  },
  ({ simulator: { edits } }, { shipment, container }) => {
    edits.change('shipment', shipment, { pod_eta_at: null })
    edits.change('container', container, { fees_at_pod_terminal: [{ ...FEE, amount: '250.50' }] })
    edits.addHold(container, { name: 'customs', status: 'pending', description: null })
  },
  () => undefined,
]

describe('histories', { tags: ['release'] }, () => {
  it('begin an interval each time that a value returns', async () => {
    const scene = await openScene({ shipments: 10, seed: 3 })
    const { world, clock } = scene.simulator
    const [shipment] = world.page('shipment', 4, 1, clock.now())
    const [container] = world.containersOf(shipment!.id, clock.now())
    const ids = { shipment: shipment!.id, container: container!.id }
    for (const [day, change] of DAYS.entries()) {
      change(scene, ids)
      await syncToEquality(scene, { command: day === 0 ? 'backfill' : 'sync' })
      clock.advance(23 * HOUR)
    }
    // The changes by hand made the expected intervals: each return begins a new one.
    expect(await intervals(scene, 'container_hold_history', 'status', ids.container)).toEqual([
      ['customs', 'hold', 1, 2],
      ['customs', 'hold', 4, 5],
      ['customs', 'pending', 6, null],
    ])
    expect(await intervals(scene, 'container_fee_history', 'amount', ids.container)).toEqual([
      ['demurrage', '100.00', 1, 2],
      ['demurrage', '250.50', 2, 4],
      ['demurrage', '100.00', 4, 5],
      ['demurrage', '250.50', 6, null],
    ])
  })
})

/** Name, value, and the numbers of the syncs between which it was valid. */
async function intervals(
  scene: Scene,
  table: string,
  value: string,
  containerId: string,
): Promise<unknown[]> {
  const name = table === 'container_fee_history' ? 'type' : 'name'
  const rows = await scene.query<{
    name: string
    value: string
    first: number
    last: number | null
  }>(
    `select ${name} as name, ${value}::text as value,
        (extract(epoch from valid_from - $2::timestamptz) / 82800)::float8 as first,
        (extract(epoch from valid_to - $2::timestamptz) / 82800)::float8 as last
    from tracking.${table}
    where container_id = $1 and ${name} in ('customs', 'demurrage') order by valid_from`,
    containerId,
    START.toISOString(),
  )
  return rows.map((row) => [row.name, row.value, row.first, row.last])
}
