import { describe, expect, it } from 'vitest'
import type { Fault } from '../../../src/extensions/simulator/faults/faults.js'
import { verifySource } from '../../../src/extensions/doctor/verify/verify-warehouse.js'
import { withRunDependencies } from '../../support/test-service.js'
import { openLoadedScene, openScene, requestCounts, type Scene } from './sync-scene.js'

async function requestsOfSync(scene: Scene): Promise<Record<string, number>> {
  scene.simulator.requests.reset()
  expect((await scene.sync({ command: 'sync' })).exitCode).toBe(0)
  return requestCounts(scene.simulator)
}

interface Shown {
  readonly type: string
  readonly attributes?: Readonly<Record<string, unknown>>
}

/** Leaves attributes out of records, of the list itself or of included ones. */
function without(
  member: 'data' | 'included',
  lacking: Readonly<Record<string, readonly string[] | undefined>>,
): Fault {
  const thin = (record: Shown): Shown => {
    const gone = lacking[record.type] ?? []
    const kept = Object.entries(record.attributes ?? {}).filter(([name]) => !gone.includes(name))
    return { ...record, attributes: Object.fromEntries(kept) }
  }
  return {
    kind: 'transform',
    apply: (document) => {
      const given = document as Record<string, Shown[] | undefined>
      return { ...given, [member]: given[member]?.map(thin) }
    },
  }
}

describe('records that come with less than they have', { tags: ['JC10', 'release'] }, () => {
  it('are read by id, where they are places that come included', async () => {
    const scene = await openScene({ shipments: 6 })
    const fault = without('included', { port: ['time_zone'], terminal: ['name'] })
    scene.simulator.faults.add({ fault, match: { path: /^\/shipments$/ }, times: Infinity })
    expect(await scene.sync()).toMatchObject({ exitCode: 0 })
    expect(await scene.sync({ command: 'sync', areChecksDue: true })).toMatchObject({
      exitCode: 0,
    })
    expect(await scene.differences()).toEqual([])
    const before = await scene.snapshot()
    await requestsOfSync(scene)
    expect(await scene.snapshot()).toEqual(before)
  })

  it.each([
    { lacking: { container: ['number', 'equipment_length'] }, readAlso: '/containers' },
    {
      lacking: { transport_event: ['voyage_number'] },
      readAlso: '/containers/*/transport_events',
    },
  ])('come by $readAlso, where they are included', async ({ lacking, readAlso }) => {
    const scene = await openScene({ shipments: 6 })
    const match = { path: /^\/(?:shipments|containers)$/ }
    scene.simulator.faults.add({ fault: without('included', lacking), match, times: Infinity })
    expect(await scene.sync()).toMatchObject({ exitCode: 0 })
    // Nothing that came thin was stored first.
    expect(requestCounts(scene.simulator)).toHaveProperty([readAlso])
    expect(await scene.differences()).toEqual([])
    const before = await scene.snapshot()
    await requestsOfSync(scene)
    expect(await scene.snapshot()).toEqual(before)
  })

  it('are found by a backfill, where a list became thin after the first load', async () => {
    const scene = await openLoadedScene({ shipments: 6 })
    const thin = without('included', { container: ['number'] })
    const match = { path: /^\/shipments$/ }
    scene.simulator.faults.add({ fault: thin, match, times: Infinity })
    expect(await requestsOfSync(scene)).not.toHaveProperty('/containers')
    await scene.run`update tracking.containers set number = 'Edited'`
    expect(await scene.differences()).not.toEqual([])
    expect(await scene.sync()).toMatchObject({ exitCode: 0 })
    expect(await scene.differences()).toEqual([])
    expect(await requestsOfSync(scene)).toMatchObject({ '/containers': 1 })
  })

  it('differ not for ever by verify, which names what a list lacks', async () => {
    const scene = await openScene({ shipments: 6 })
    const thin = {
      container: ['number'],
      transport_event: ['voyage_number'],
      shipment: ['customer_name'],
    }
    for (const member of ['data', 'included'] as const) {
      const match = { path: /^\/(?:shipments|containers(?:\/[^/]+\/transport_events)?)$/ }
      scene.simulator.faults.add({ fault: without(member, thin), match, times: Infinity })
    }
    expect(await scene.sync()).toMatchObject({ exitCode: 0 })
    expect(await requestsOfSync(scene)).not.toHaveProperty('/containers')
    const verify = () =>
      withRunDependencies(scene, (dependencies) =>
        verifySource({ ...dependencies, sample: 4, seed: 1 }),
      )
    const report = await verify()
    expect(report).toMatchObject({ isEqual: true, differences: [] })
    expect(report.notCompared).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^containers: number: only reads of one record show this/),
        expect.stringMatching(/^shipments: customer_name: only reads/),
      ]),
    )
    await scene.run`update tracking.containers set seal_number = 'Edited'`
    const found = await verify()
    const columns = found.differences.filter(({ stream }) => stream === 'containers')
    expect(new Set(columns.map(({ column }) => column))).toEqual(new Set(['seal_number']))
  })
})
