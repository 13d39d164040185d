import { describe, expect, it } from 'vitest'
import { DEFAULT_INCLUDES } from '../../../src/extensions/simulator/interface/included-records.js'
import { HOUR, openLoadedScene, OTHER_LISTS, requestCounts, type Scene } from './sync-scene.js'

const VESSELS_INCLUDED = {
  acceptedIncludes: {
    ...DEFAULT_INCLUDES,
    shipment: [...DEFAULT_INCLUDES.shipment!, 'containers.transport_events.vessel'],
  },
}

/** A complete sync that finds no check due. */
const QUIET = { '/shipments': 1, '/tracking_requests': 1, ...OTHER_LISTS }

/** The name, code and zone of each place and vessel, by column and id. */
async function wordsOf(scene: Scene): Promise<Map<string, string | null>> {
  const rows = await scene.rows<{ id: string; value: string | null }>`
    select 'ports.' || word || ' ' || port_id as id, value from tracking.ports,
        lateral (values ('name', name), ('code', code), ('time_zone', time_zone)) as said (word, value)
    union all select 'terminals.name ' || terminal_id, name from tracking.terminals
    union all select 'vessels.name ' || vessel_id, name from tracking.vessels`
  return new Map(rows.map(({ id, value }) => [id, value]))
}

it('two sightings of a vessel keep its positions', { tags: ['JC4', 'release'] }, async () => {
  const settings = { vesselPositions: true }
  const scene = await openLoadedScene(VESSELS_INCLUDED, settings)
  expect(await scene.differences({ hasVesselPositions: true })).toEqual([])
  const vessels = await scene.count('tracking.vessels')
  expect(vessels).toBeGreaterThan(3)
  expect(await scene.count('tracking.vessel_positions')).toBe(40 * vessels)
  const before = await scene.snapshot()
  await scene.sync({ command: 'sync', settings })
  expect(await scene.snapshot()).toEqual(before)
})

describe('places and vessels', { tags: ['JC5'] }, () => {
  it('are read again when due: included ones for nothing', { tags: ['release'] }, async () => {
    const scene = await openLoadedScene()
    const port = await scene.value<string>`select min(port_id) from tracking.ports`
    const vessel = await scene.value<string>`select min(vessel_id) from tracking.vessels`
    const vessels = await scene.count('tracking.vessels')
    const shown = await scene.value<string>`
      select min(port_of_discharge_id) from tracking.shipments`
    scene.simulator.edits.change('vessel', vessel, { name: 'Renamed' })
    await scene.run`update tracking.ports set time_zone = 'Europe/Oslo' where port_id = ${shown}`
    await scene.run`update tracking.ports set name = 'Elsewhere' where port_id = ${port}`

    scene.simulator.requests.reset()
    await scene.sync({ command: 'sync' })
    expect(requestCounts(scene.simulator)).toEqual(QUIET)
    expect(await scene.differences()).not.toEqual([])

    scene.simulator.requests.reset()
    await scene.sync({ command: 'sync', areChecksDue: true })
    expect(await scene.differences()).toEqual([])
    const requests = requestCounts(scene.simulator)
    expect(requests['/vessels/*']).toBe(vessels)
    expect(requests['/ports/*'] ?? 0).toBeLessThan(await scene.count('tracking.ports'))

    const before = await scene.snapshot()
    scene.simulator.requests.reset()
    await scene.sync({ command: 'sync' })
    expect(await scene.snapshot()).toEqual(before)
    expect(requestCounts(scene.simulator)).toEqual(QUIET)
  })

  it('that a load brought together are not due together', async () => {
    const scene = await openLoadedScene({ shipments: 20 })
    const [spread] = await scene.rows<{ first: number; last: number; days: number }>`
      select min(due_at) > now() + interval '23 hours' as first,
          max(due_at) < now() + interval '6 days' as last,
          count(distinct due_at::date)::int as days
      from tracking_sync.reference_checks`
    expect(spread).toMatchObject({ first: true, last: true })
    expect(spread!.days).toBeGreaterThanOrEqual(4)
  })
  it('that change as days pass are known within a week', { tags: ['JC3', 'release'] }, async () => {
    // Its first week brings a change of every kind.
    const settings = { fullSyncHours: 0 }
    const scene = await openLoadedScene({ seed: 11, shipments: 30 }, settings)
    const before = await wordsOf(scene)
    for (let day = 2; day <= 14; day += 2) {
      scene.simulator.clock.advance(48 * HOUR)
      await scene.run`
        update tracking_sync.reference_checks set due_at = due_at - interval '2 days'`
      await scene.sync({ command: 'sync', settings })
      expect(await scene.differences(), `day ${day}`).toEqual([])
    }
    const after = await wordsOf(scene)
    const changed = [...before].filter(([name, value]) => after.get(name) !== value)
    expect([...new Set(changed.map(([name]) => name.split(' ')[0]))].sort()).toEqual([
      'ports.code',
      'ports.name',
      'ports.time_zone',
      'terminals.name',
      'vessels.name',
    ])
    expect(changed.length).toBeLessThan(before.size / 10)
  })
})
