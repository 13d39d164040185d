import { afterEach, describe, expect, it } from 'vitest'
import { knownAt, knownNow, type Known } from '../../support/snapshot-as-of.js'
import { loadTables } from '../../support/snapshot-tables.js'
import { syncToEquality } from './expect-sync.js'
import { closeScenes, HOUR, openScene, START, type Scene } from './sync-scene.js'

afterEach(closeScenes)

interface Look {
  /** Microseconds since 1970. */
  readonly at: bigint
  readonly known: Known
}

async function look(scene: Scene): Promise<Look> {
  const at = BigInt(scene.simulator.clock.now().getTime()) * 1000n
  return { at, known: knownNow(await loadTables(scene.warehouse)) }
}

/**
 * At the instant of each look, and just before the next one, the histories must say what the rows
 * said.
 */
async function expectSameAnswers(scene: Scene, looks: readonly Look[]): Promise<void> {
  const tables = await loadTables(scene.warehouse)
  const end = looks.at(-1)!.at + BigInt(HOUR) * 1000n
  for (const [index, { at, known }] of looks.entries()) {
    expect(known.size).toBeGreaterThan(0)
    const next = looks[index + 1]?.at ?? end
    for (const asked of [at, (at + next) / 2n, next - 1n]) {
      const answered = knownAt(tables, asked)
      const wrong = [...new Set([...known.keys(), ...answered.keys()])].filter(
        (key) => known.get(key) !== answered.get(key),
      )
      const shown = wrong.slice(0, 3).map((key) => [key, answered.get(key), known.get(key)])
      expect({ look: index, wrong: wrong.length, shown }).toEqual({
        look: index,
        wrong: 0,
        shown: [],
      })
    }
  }
}

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

describe('as-of questions', { tags: ['release'] }, () => {
  it('are answered with what the warehouse held, after every sync of a week with values that come, go and return', async () => {
    const scene = await openScene({ shipments: 10, seed: 3 })
    const { world, clock } = scene.simulator
    const [shipment] = world.page('shipment', 4, 1, clock.now())
    const [container] = world.containersOf(shipment!.id, clock.now())
    const ids = { shipment: shipment!.id, container: container!.id }
    const looks: Look[] = []
    for (const change of DAYS) {
      change(scene, ids)
      await syncToEquality(scene, { command: looks.length === 0 ? 'backfill' : 'sync' })
      looks.push(await look(scene))
      clock.advance(23 * HOUR)
    }
    await expectSameAnswers(scene, looks)
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
