import { afterEach, expect, it } from 'vitest'
import { expectNothingToWrite, syncToEquality } from './expect-sync.js'
import { closeScenes, openLoadedScene } from './sync-scene.js'

afterEach(closeScenes)

it('makes no version of what changes only because the service looked', async () => {
  const scene = await openLoadedScene({ shipments: 6 })
  const { clock, edits } = scene.simulator
  const container = scene.records('container')[0]!
  const stamps = () =>
    scene.rows`
      select containers._changed_at, containers._observed_at, containers.terminal_checked_at,
          (select count(*) from tracking.container_history as history
              where history.container_id = containers.container_id) as versions
      from tracking.containers where container_id = ${container.id}`
  clock.advance(60_000)
  edits.change('container', container.id, { terminal_checked_at: '2026-03-02T08:00:30Z' })
  await syncToEquality(scene)
  expect(await stamps()).toEqual([
    {
      _changed_at: '2026-03-02 08:00:00+00',
      _observed_at: '2026-03-02 08:01:00+00',
      terminal_checked_at: '2026-03-02 08:00:30+00',
      versions: 1,
    },
  ])
  await expectNothingToWrite(scene)
})

it('keeps one version of two changes at one instant', { tags: ['release'] }, async () => {
  const scene = await openLoadedScene({ shipments: 6 })
  const { clock, edits } = scene.simulator
  const shipment = scene.records('shipment')[0]!
  clock.advance(60_000)
  for (const customer_name of ['first', 'second', 'third']) {
    edits.change('shipment', shipment.id, { customer_name })
    await syncToEquality(scene)
  }
  const versions = await scene.rows`
    select customer_name, valid_from, valid_to from tracking.shipment_history
    where shipment_id = ${shipment.id} order by valid_from`
  const changed = '2026-03-02 08:01:00+00'
  expect(versions).toEqual([
    {
      customer_name: shipment.attributes?.customer_name,
      valid_from: '2026-03-02 08:00:00+00',
      valid_to: changed,
    },
    { customer_name: 'third', valid_from: changed, valid_to: null },
  ])
  await expectNothingToWrite(scene)
})
