import { afterEach, describe, expect, it } from 'vitest'
import { closeScenes, HOUR, openLoadedScene, openScene, type Scene } from './sync-scene.js'

afterEach(closeScenes)

/** Records of a type have another; what points to them is as it was. */
const rename = (scene: Scene, type: string, isRenamed: (id: string) => boolean = () => true) =>
  scene.answers.showType(type, (record) =>
    isRenamed(record.id) ? { ...record, type: `${type}s` } : record,
  )

const countRows = (scene: Scene, table: string, condition?: string): Promise<number> =>
  scene.count(`tracking.${table}`, condition)

async function openBackfilled(shipments = 6): Promise<Scene> {
  const scene = await openLoadedScene({
    shipments,
    acceptedIncludes: { shipment: [], container: [] },
  })
  scene.simulator.clock.advance(HOUR)
  return scene
}

const STREAMS = [
  { type: 'shipment', stream: 'shipments' },
  { type: 'container', stream: 'containers' },
  { type: 'tracking_request', stream: 'tracking_requests' },
] as const

describe('a type that was renamed', { tags: ['K6'] }, () => {
  it.each(STREAMS)(
    'ends the run with 6 that names it, keeps its records, and harms no row: $type',
    { tags: ['release'] },
    async ({ type, stream }) => {
      const scene = await openBackfilled()
      const rows = await countRows(scene, stream)
      rename(scene, type)
      // Two complete passes and a 404 would mark records missing on all pages as deleted.
      for (let run = 1; run <= 3; run += 1) {
        const report = await scene.sync({ command: 'sync' })
        expect(report).toMatchObject({ outcome: 'incomplete', exitCode: 6 })
        expect(report.problems).toEqual([
          expect.stringMatching(new RegExp(`^${stream}: every record that came .*"${type}s"`)),
        ])
        expect(report.streams.find((one) => one.stream === stream)?.outcome).toBe('incomplete')
      }
      expect(await countRows(scene, stream, '_deleted_at is null')).toBe(rows)
      expect(await countRows(scene, 'other_resources', `resource_type = '${type}s'`)).toBe(rows)
      expect(await scene.rows`select * from tracking_sync.absences`).toEqual([])
      scene.simulator.faults.clear()
      const report = await scene.sync({ command: 'sync' })
      expect(report).toMatchObject({ outcome: 'complete', exitCode: 0 })
      expect(await scene.differences()).toEqual([])
    },
  )

  it('ends with 6 where events of containers have it too', { tags: ['release'] }, async () => {
    const scene = await openBackfilled()
    const { world, clock, edits } = scene.simulator
    const [container] = world.page('container', 0, 1, clock.now())
    const [event] = world.transportEventsOf(container!.id, clock.now())
    const standing = `_deleted_at is null and transport_event_id != '${event!.id}'`
    const rows = await countRows(scene, 'transport_events', standing)
    edits.withdrawEvent(container!.id, event!.id)
    rename(scene, 'transport_event')
    const report = await scene.sync({
      command: 'sync',
      settings: { transportEventChecksPerSync: 100 },
    })
    expect(report).toMatchObject({ outcome: 'incomplete', exitCode: 6 })
    expect(report.problems[0]).toMatch(/^transport_events: every record .*"transport_events"/)
    expect(await countRows(scene, 'transport_events', standing)).toBe(rows)
    expect(await countRows(scene, 'other_resources')).toBeGreaterThan(0)
    scene.simulator.faults.clear()
    scene.simulator.clock.advance(HOUR)
    expect((await scene.sync({ command: 'sync' })).exitCode).toBe(0)
    expect(await scene.differences()).toEqual([])
  })

  it('is told also by the run that goes on after a kill at the end of such a stream', async () => {
    const scene = await openBackfilled()
    rename(scene, 'container')
    await scene.crash('before_run_complete', { command: 'sync' })
    expect((await scene.sync({ command: 'sync' })).exitCode).toBe(6)
  })

  it.each([
    ['some records have it', 0, 20],
    ['every record of the last page has it', 18, 2],
  ])('is no fault of the run when only %s', { tags: ['release'] }, async (_, start, pageSize) => {
    const scene = await openBackfilled(20)
    const { world, clock } = scene.simulator
    const last = world.page('shipment', start, start === 0 ? 1 : 2, clock.now())
    rename(scene, 'shipment', (id) => last.some((record) => record.id === id))
    const report = await scene.sync({ command: 'sync', settings: { pageSize } })
    expect(report).toMatchObject({ outcome: 'complete', exitCode: 0 })
    expect(report.drift).toContain(
      'new type of record, "shipments"; its records are kept in other_resources',
    )
  })
})

it('ids that are no UUIDs are taken as they are', { tags: ['K6', 'release'] }, async () => {
  const scene = await openScene({
    shipments: 6,
    acceptedIncludes: {
      shipment: ['containers', 'containers.transport_events'],
      container: [],
    },
  })
  const withOddIds = (text: string) =>
    text.replaceAll(/"([0-9a-f]{8})-([0-9a-f]{4})-[0-9a-f-]{17}([0-9a-f]{5})"/g, '"$1/Ü_$2:$3"')
  const apply = (document: unknown) => JSON.parse(withOddIds(JSON.stringify(document))) as unknown
  scene.simulator.faults.add({ fault: { kind: 'transform', apply }, times: Infinity })
  const report = await scene.sync()
  expect(report).toMatchObject({ outcome: 'complete', exitCode: 0 })
  for (const { type, stream } of [
    ...STREAMS,
    { type: 'transport_event', stream: 'transport_events' },
  ] as const) {
    const records = scene.records(type)
    expect(await countRows(scene, stream, `${type}_id ~ '^[0-9a-f]{8}/Ü_[0-9a-f]{4}:'`)).toBe(
      records.length,
    )
  }
  const again = await scene.sync({ command: 'sync' })
  expect(again.streams.every(({ counts }) => counts.inserted + counts.updated === 0)).toBe(true)
})
