import { sql } from 'kysely'
import { spawnSync } from 'node:child_process'
import { afterEach, expect, test } from 'vitest'
import { exitCodeOf } from '../../../src/base/exit-code.js'
import type { Warehouse } from '../../../src/warehouse/connection/warehouse.js'
import { closeScenes, openScene, type Scene } from './sync-scene.js'

afterEach(closeScenes)

/** As another starter does when it finds the lease stale. */
function takeOver({ warehouse }: Scene): Promise<unknown> {
  return warehouse.query(
    'take over',
    sql`update tracking_sync.lease
set fencing_token = fencing_token + 1, holder = 'another', heartbeat_at = clock_timestamp()`,
  )
}

test('a run gives the lease back, also when it fails', async () => {
  const scene = await openScene({ shipments: 3 })
  const failed = await scene.sync({ source: { url: scene.simulator.url, apiKey: 'wrong-key' } })
  expect(failed.exitCode).toBe(3)
  expect(await scene.sync()).toMatchObject({ exitCode: 0 })
  expect(await scene.rows`select holder, fencing_token from tracking_sync.lease`).toEqual([
    { holder: null, fencing_token: 2 },
  ])
})

test('a run that was taken over puts nothing off', { tags: ['C10'] }, async () => {
  const scene = await openScene({ shipments: 3 })
  const fault = { kind: 'status', status: 404 } as const
  scene.simulator.faults.add({ fault, match: { path: /^\/vessels\// }, times: Infinity })
  const warehouse: Warehouse = {
    ...scene.warehouse,
    transaction: async (action, work) => {
      if (action === 'postpone a refetch') await takeOver(scene)
      return scene.warehouse.transaction(action, work)
    },
  }
  expect(await scene.sync({ warehouse })).toMatchObject({ outcome: 'failed', exitCode: 7 })
  const left = await scene.rows`
    select distinct attempts, not_before from tracking_sync.refetch_queue
    where resource_type = 'vessel'`
  expect(left).toEqual([{ attempts: 0, not_before: null }])
})

test('a holder has ended only where its process could be seen', { tags: ['FG8'] }, async () => {
  const scene = await openScene({ shipments: 3 })
  let holder = ''
  await scene.sync({
    watch: (service) => ({
      ...service,
      listRecords: (stream, options) => {
        void scene.rows<{ holder: string }>`select holder from tracking_sync.lease`.then(
          ([row]) => (holder = row?.holder ?? ''),
        )
        return service.listRecords(stream, options)
      },
    }),
  })
  const [, host = '', place = ''] = / on (\S+) \((\w+)\)$/.exec(holder) ?? []
  expect(host).not.toBe('')
  const { pid: ended } = spawnSync(process.execPath, ['--version'])
  const heldBy = async (text: string): Promise<number> => {
    await scene.run`
      update tracking_sync.lease
      set holder = ${text}, acquired_at = clock_timestamp(), heartbeat_at = clock_timestamp()`
    return scene.sync({ command: 'sync' }).then(
      ({ exitCode }) => exitCode,
      (thrown: unknown) => exitCodeOf(thrown),
    )
  }
  const other = place.replace(/./, (first) => (first === '0' ? '1' : '0'))
  expect(await heldBy(`sync, process ${ended} on ${host} (${other})`)).toBe(7)
  expect(await heldBy(`sync, process ${ended} on ${host}`)).toBe(7)
  expect(await heldBy(`sync, process ${process.pid} on ${host} (${place})`)).toBe(7)
  expect(await heldBy(`sync, process ${ended} on ${host} (${place})`)).toBe(0)
})

test('a reference is asked for while a row has it', { tags: ['FG8', 'release'] }, async () => {
  const scene = await openScene({ shipments: 3 })
  const { simulator } = scene
  const fault = { kind: 'status', status: 404 } as const
  simulator.faults.add({ fault, match: { path: /^\/terminals\// }, times: Infinity })
  await scene.sync()
  const left = () =>
    scene.rows<{ id: string; attempts: number }>`
      select resource_id as id, attempts from tracking_sync.refetch_queue
      where resource_type = 'terminal' order by 1`
  const [first] = await left()
  expect(first?.attempts).toBe(1)
  const due = `update tracking_sync.refetch_queue set not_before = now()`
  await scene.query(due)
  await scene.sync({ command: 'sync' })
  expect((await left())[0]).toEqual({ id: first?.id, attempts: 2 })
  await scene.run`update tracking.containers set pod_terminal_id = null, pickup_facility_id = null`
  await scene.run`update tracking.transport_events set terminal_id = null, location_id = null`
  await scene.query(due)
  await scene.sync({ command: 'sync' })
  expect(await left()).toEqual([])
})
