import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { exitCodeOf } from '../../../src/base/exit-code.js'
import { openScene } from './sync-scene.js'

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

test('a linked record that is gone rests while a row has it', { tags: ['FG8', 'H5'] }, async () => {
  const scene = await openScene({ shipments: 3 })
  const gone = scene.answers.fail(/^\/terminals\//, 404)
  expect(await scene.sync()).toMatchObject({ outcome: 'complete', exitCode: 0 })
  const left = () =>
    scene.rows<{ id: string; attempts: number }>`
    select resource_id as id, attempts, error from tracking_sync.refetch_queue
    where resource_type = 'terminal' order by 1`
  const [first] = await left()
  expect(first).toMatchObject({ attempts: 1, error: expect.stringContaining('404') as string })
  const { played } = gone
  await scene.sync({ command: 'sync' })
  expect(gone.played).toBe(played)
  const due = `update tracking_sync.refetch_queue set not_before = now()`
  await scene.query(due)
  await scene.sync({ command: 'sync' })
  expect((await left())[0]).toMatchObject({ id: first?.id, attempts: 2 })
  await scene.run`update tracking.containers set pod_terminal_id = null, pickup_facility_id = null`
  await scene.run`update tracking.transport_events set terminal_id = null, location_id = null`
  await scene.query(due)
  await scene.sync({ command: 'sync' })
  expect(await left()).toEqual([])
})
