import { afterEach, describe, expect, it } from 'vitest'
import type { Fault } from '../../../src/simulator/faults/faults.js'
import { queueRefetches } from '../../../src/warehouse/bookkeeping/refetch-queue.js'
import { closeScenes, HOUR, openScene, type Scene } from './sync-scene.js'

afterEach(closeScenes)

/** Another record than the one that was asked for. */
function another(document: unknown): unknown {
  const { data } = document as { data: object }
  return { ...(document as object), data: { ...data, id: '' } }
}

/**
 * What each of ten records is answered with, and what becomes of its entry. No three outages in a
 * row.
 */
const ANSWERS: readonly (readonly [name: string, fault: Fault, rests: boolean])[] = [
  ['500 for good', { kind: 'status', status: 500 }, true],
  ['403', { kind: 'status', status: 403 }, true],
  ['503 for good', { kind: 'status', status: 503 }, true],
  ['404', { kind: 'status', status: 404 }, false],
  ['garbage', { kind: 'status', status: 200, body: '{"data":', contentType: 'text/json' }, true],
  ['410', { kind: 'status', status: 410 }, false],
  ['no answer', { kind: 'drop' }, true],
  ['422', { kind: 'status', status: 422 }, true],
  ['a web page', { kind: 'html', status: 403 }, true],
  ['a redirect', { kind: 'redirect', status: 302, location: 'https://evil.test/' }, true],
]

async function ask({ warehouse }: Scene, type: string, ids: readonly string[]): Promise<void> {
  await warehouse.transaction('ask', (session) =>
    queueRefetches(
      session,
      ids.map((id) => ({ type, id })),
      'in doubt',
    ),
  )
}

const PLACES = [
  { type: 'container', path: (id: string) => `/containers/${id}` },
  { type: 'shipment', path: (id: string) => `/shipments/${id}` },
  { type: 'transport_events', path: (id: string) => `/containers/${id}/transport_events` },
] as const

describe('an entry of the refetch queue that cannot be read', { tags: ['JD2'] }, () => {
  it('rests with its reason and costs no run its exit code, whatever is answered', async () => {
    const scene = await openScene({ shipments: 12 })
    const { faults, world, clock } = scene.simulator
    expect((await scene.sync()).exitCode).toBe(0)
    const idsOf = (type: 'container' | 'shipment'): string[] =>
      [...world.records(type, clock.now())].map(({ id }) => id)
    for (const { type, path } of PLACES) {
      const known = idsOf(type === 'shipment' ? 'shipment' : 'container').sort()
      const ids = known.slice(0, ANSWERS.length)
      expect(ids).toHaveLength(ANSWERS.length)
      await ask(scene, type, known.slice(0, ANSWERS.length + 1))
      for (const [at, [, fault]] of ANSWERS.entries()) {
        faults.add({ fault, match: { path: path(ids[at]!) }, times: Infinity })
      }
      clock.advance(HOUR)
      const settings = { fullSyncHours: 0 }
      const first = await scene.sync({ command: 'sync', settings })
      expect({ type, ...first }).toMatchObject({ type, exitCode: 0, problems: [] })
      // The one behind them was read.
      const left = await scene.query<{ id: string; attempts: number; error: string }>(
        `select resource_id as id, attempts::int, error from tracking_sync.refetch_queue
        where resource_type = $1 order by resource_id`,
        type,
      )
      const resting = ids.filter((_, at) => ANSWERS[at]![2])
      expect(left.map(({ id, attempts }) => [id, attempts])).toEqual(resting.map((id) => [id, 1]))
      for (const { error } of left) expect(error).toMatch(/GET \/v2\//)
      // The next run is not worse: none of them is asked for again at once.
      scene.simulator.requests.reset()
      const second = await scene.sync({ command: 'sync', settings })
      expect({ type, ...second }).toMatchObject({ type, exitCode: 0, problems: [] })
      const asked = scene.simulator.requests.recent.map((one) => one.path.replace(/^\/v2/, ''))
      expect(asked.filter((one) => ids.some((id) => one === path(id)))).toEqual([])
      faults.clear()
      await scene.query(`delete from tracking_sync.refetch_queue`)
    }
  })

  it('stops the reading when several in a row look like an outage, and the lists stand', async () => {
    const scene = await openScene({ shipments: 12 })
    await scene.sync()
    const { faults, world, clock, requests } = scene.simulator
    const ids = [...world.records('container', clock.now())].map(({ id }) => id)
    await ask(scene, 'container', ids)
    faults.add({
      fault: { kind: 'status', status: 500 },
      match: ({ path }) => /^\/containers\/[^/]+$/.test(path),
      times: Infinity,
    })
    requests.reset()
    const report = await scene.sync({ command: 'sync' })
    expect(report).toMatchObject({ exitCode: 0, problems: [] })
    expect(requests.recent.filter(({ status }) => status === 500)).toHaveLength(3 * 6)
    faults.clear()
    expect(await scene.sync({ command: 'sync' })).toMatchObject({ exitCode: 0 })
  })

  it('rests as well when another record comes', async () => {
    const scene = await openScene({ shipments: 2 })
    await scene.sync()
    const { faults, world, clock } = scene.simulator
    const [container] = [...world.records('container', clock.now())]
    await ask(scene, 'container', [container!.id])
    const match = { path: `/containers/${container!.id}` }
    faults.add({ fault: { kind: 'transform', apply: another }, match, times: Infinity })
    const settings = { quarantineLimitPercent: 100 }
    for (let run = 0; run < 2; run += 1) {
      expect(await scene.sync({ command: 'sync', settings })).toMatchObject({ exitCode: 0 })
    }
    const [entry] = await scene.query('select attempts::int from tracking_sync.refetch_queue')
    expect(entry).toEqual({ attempts: 1 })
  })
})
