import { afterEach, expect, it } from 'vitest'
import type { Warehouse } from '../../../src/warehouse/connection/warehouse.js'
import { closeScenes, openScene, OTHER_LISTS, requestCounts, type Scene } from './sync-scene.js'

afterEach(closeScenes)

async function requestsOfSync(scene: Scene): Promise<Record<string, number>> {
  scene.simulator.requests.reset()
  expect((await scene.sync({ command: 'sync' })).exitCode).toBe(0)
  return requestCounts(scene.simulator)
}

it('asks once more, and not in every run, when the service takes an include no longer', async () => {
  const scene = await openScene({ shipments: 6 })
  await scene.sync()
  expect(await requestsOfSync(scene)).toEqual({
    '/shipments': 1,
    '/tracking_requests': 1,
    ...OTHER_LISTS,
  })
  scene.simulator.faults.add({
    fault: {
      kind: 'status',
      status: 400,
      body: JSON.stringify({ errors: [{ status: '400', title: 'pod_terminal is no include' }] }),
    },
    match: ({ query }) => (query.get('include') ?? '').split(',').includes('pod_terminal'),
    times: Infinity,
  })
  expect(await requestsOfSync(scene)).toEqual({
    '/shipments': 2,
    '/tracking_requests': 1,
    ...OTHER_LISTS,
  })
  expect(await requestsOfSync(scene)).toEqual({
    '/shipments': 1,
    '/tracking_requests': 1,
    ...OTHER_LISTS,
  })
  expect(await scene.differences()).toEqual([])
})

it(
  'a run that was taken over before its first answer leaves no finding about includes',
  { tags: ['C10'] },
  async () => {
    const scene = await openScene({ shipments: 6 })
    const warehouse: Warehouse = {
      ...scene.warehouse,
      transaction: async (action, work) => {
        if (action === 'remember includes') {
          await scene.query('update tracking_sync.lease set fencing_token = fencing_token + 1')
        }
        return scene.warehouse.transaction(action, work)
      },
    }
    expect(await scene.sync({ warehouse })).toMatchObject({ outcome: 'failed', exitCode: 7 })
    expect(await scene.query('select * from tracking_sync.source_capabilities')).toEqual([])
  },
)
