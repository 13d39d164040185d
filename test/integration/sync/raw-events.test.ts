import { afterEach, expect, it } from 'vitest'
import { planOf } from '../../support/test-service.js'
import { closeScenes, HOUR, openLoadedScene, openScene, requestCounts } from './sync-scene.js'

afterEach(closeScenes)

const LIST = '/containers/*/raw_events'

it('raw events are read on request and kept as sent', { tags: ['JC2', 'release'] }, async () => {
  const scene = await openLoadedScene({ shipments: 12 })
  const { simulator } = scene
  const { world, clock, requests, faults } = simulator
  expect(await scene.rows`select 1 from tracking.raw_events`).toEqual([])
  const settings = { rawEvents: true }
  const plan = await planOf(scene, settings)
  const containers = scene.records('container')
  const [refused] = containers
  faults.add({
    fault: { kind: 'status', status: 403 },
    match: { path: `/containers/${refused!.id}/raw_events` },
  })
  requests.reset()
  expect(await scene.sync({ settings })).toMatchObject({ outcome: 'complete', exitCode: 0 })
  expect(requestCounts(simulator)[LIST]).toBe(containers.length)
  expect(plan.steps.find(({ step }) => step === 'raw_events')?.backfill).toBe(containers.length)
  const stored = await scene.rows<{ id: string; attributes: object }>`
    select raw_event_id as id, attributes from tracking.raw_events order by 1`
  const sent = containers
    .filter((container) => container !== refused)
    .flatMap(({ id }) => world.rawEventsOf(id, clock.now()))
  expect(stored.length).toBeGreaterThan(30)
  expect(stored).toEqual(
    sent
      .map(({ id, attributes }) => ({ id, attributes }))
      .sort((one, two) => (one.id < two.id ? -1 : 1)),
  )
  const [filled] = await scene.rows`
    select count(*) filter (where estimated) as planned, count(event) as named,
      count(original_event) as carriers, count(timestamp) as times, count(location_id) as places,
      count(vessel_id) as vessels, count(container_id) as containers, count(index) as places_in,
      count(actual_on) as days, count(_coercions) as refused
    from tracking.raw_events`
  const { refused: coerced, ...counts } = filled as Record<string, number>
  for (const count of Object.values(counts)) expect(count).toBeGreaterThan(5)
  expect(coerced).toBe(0)
  // Only the refused list is asked for again.
  requests.reset()
  await scene.sync({ command: 'sync', settings })
  expect(requestCounts(simulator)[LIST]).toBe(1)
  const before = await scene.snapshot()
  requests.reset()
  await scene.sync({ command: 'sync', settings })
  expect(requestCounts(simulator)[LIST]).toBeUndefined()
  expect(await scene.snapshot()).toEqual(before)
  // One that names another event is read, though the rest of it stays.
  await scene.query(
    `update tracking_sync.raw_event_reads set event_ids_hash = 'of others'
      where container_id = '${containers[1]!.id}'`,
  )
  requests.reset()
  await scene.sync({ command: 'sync', settings })
  expect(requestCounts(simulator)[LIST]).toBe(1)
  clock.advance(40 * HOUR)
  requests.reset()
  await scene.sync({ command: 'sync', settings })
  const changed = requestCounts(simulator)[LIST] ?? 0
  expect(changed).toBeGreaterThan(0)
  expect(changed).toBeLessThan(containers.length)
  // One that stays as it is, too: once a day while it is tracked.
  await scene.run`update tracking_sync.raw_event_reads set read_at = now() - interval '1 day'`
  requests.reset()
  await scene.sync({ command: 'sync', settings })
  const tracked = requestCounts(simulator)[LIST] ?? 0
  expect(tracked).toBeGreaterThan(0)
  expect(tracked).toBeLessThan(containers.length)
  requests.reset()
  await scene.sync({ command: 'sync', settings })
  expect(requestCounts(simulator)[LIST]).toBeUndefined()
})

it('an account without raw events is told once', { tags: ['JC2'] }, async () => {
  const scene = await openScene({ shipments: 6 })
  const played = scene.answers.fail(/raw_events$/, 403)
  const report = await scene.sync({ settings: { rawEvents: true } })
  expect(report).toMatchObject({ outcome: 'complete', exitCode: 0, problems: [] })
  expect(report.streams).toContainEqual(
    expect.objectContaining({ stream: 'raw_events', outcome: 'not_entitled' }),
  )
  expect(played.played).toBe(3)
})
