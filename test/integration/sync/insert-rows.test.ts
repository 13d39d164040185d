import { expect, it } from 'vitest'
import { openLoadedScene, openScene } from './sync-scene.js'

it('rows that came meanwhile are written otherwise', { tags: ['I1'] }, async () => {
  const settings = { pageSize: 4 }
  const scene = await openScene({ shipments: 8 })
  const other = await openLoadedScene()
  const events = await other.rows<{ container_id: string; event_id: string }>`
    select container_id, transport_event_id as event_id from tracking.transport_events`
  // Containers do not have a row yet, so nobody looks for these.
  await scene.run`
    insert into tracking.transport_events
      (container_id, transport_event_id, _observed_at, _first_seen_at, _changed_at)
    select container_id, event_id, early, early, early
    from json_to_recordset(${JSON.stringify(events)}) as event (container_id text, event_id text)
    cross join (values (timestamptz '2026-03-01 00:00Z')) as seen (early)`
  expect(await scene.sync({ settings })).toMatchObject({ exitCode: 0, outcome: 'complete' })
  expect(await scene.differences()).toEqual([])
  const count = await scene.value<number>`
    select count(*)::int as count
    from tracking.transport_events
    where _first_seen_at < _observed_at`
  expect(count).toBe(events.length)
  const before = await scene.snapshot()
  await scene.sync({ command: 'sync', settings })
  expect(await scene.snapshot()).toEqual(before)
})
