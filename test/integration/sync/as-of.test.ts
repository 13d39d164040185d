import { afterEach, describe, expect, it } from 'vitest'
import type { FaultRequest } from '../../../src/extensions/simulator/faults/faults.js'
import { knownAt, knownNow, type Known } from '../../support/snapshot-as-of.js'
import { loadTables } from '../../support/snapshot-tables.js'
import { syncToEquality } from './expect-sync.js'
import { closeScenes, HOUR, openLoadedScene, openScene, START, type Scene } from './sync-scene.js'

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

  it('are answered with both of two values that one run saw', async () => {
    const settings = { pageSize: 5 }
    const acceptedIncludes = { shipment: ['containers'] }
    const scene = await openLoadedScene({ shipments: 16, acceptedIncludes }, settings)
    const { world, clock, edits, faults } = scene.simulator
    clock.advance(HOUR)
    const [shipment] = world.page('shipment', 7, 1, clock.now())
    const [container] = world.containersOf(shipment!.id, clock.now())
    const change = (value: string): void => {
      edits.change('shipment', shipment!.id, { customer_name: value })
      edits.change('container', container!.id, { seal_number: value })
    }
    change('first')
    const firstAt = clock.now()
    // The second page is asked for at the first instant and the third half a minute later.
    // Meanwhile five newer shipments came, so that the third page shows the records of the second
    // again, changed.
    onRequest(faults, 2, () => {
      clock.advance(30_000)
    })
    onRequest(faults, 3, () => {
      edits.insertShipments(5)
      change('second')
    })
    const report = await scene.sync({ command: 'sync', settings })
    // A page that came again proves nothing: the list was walked again.
    expect(report.exitCode).toBe(0)
    faults.clear()
    const secondAt = new Date(firstAt.getTime() + 30_000)
    clock.advance(HOUR)
    await scene.sync({ command: 'sync', settings })
    const tables = await loadTables(scene.warehouse)
    const answers = [START, firstAt, secondAt].map((at) => {
      const known = knownAt(tables, BigInt(at.getTime()) * 1000n)
      return [
        /customer_name (.*?), /.exec(known.get(`shipment_history ${shipment!.id}`) ?? '')?.[1],
        /seal_number (.*?), /.exec(known.get(`container_history ${container!.id}`) ?? '')?.[1],
      ]
    })
    expect(answers.slice(1)).toEqual([
      ['first', 'first'],
      ['second', 'second'],
    ])
    expect(answers[0]).not.toContain('first')
    const [row] = await scene.rows`
      select count(*) as versions from tracking.shipment_history
      where shipment_id = ${shipment!.id} and _sync_run_id = ${report.syncRunId}`
    expect(row).toEqual({ versions: 2 })
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

/**
 * Does something once, when a page of the list of shipments is asked for and before it is answered.
 */
function onRequest(faults: Scene['simulator']['faults'], page: number, act: () => void): void {
  let isDone = false
  faults.add({
    fault: { kind: 'status', status: 500 },
    match: ({ path, query }: FaultRequest) => {
      if (!isDone && path === '/shipments' && query.get('page[number]') === String(page)) {
        isDone = true
        act()
      }
      return false
    },
  })
}
