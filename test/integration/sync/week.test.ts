import { afterEach, describe, expect, it } from 'vitest'
import { createDice } from '../../../src/extensions/simulator/world/dice.js'
import { closeScenes, HOUR, openScene, type Scene } from './sync-scene.js'
import { atScale } from '../../support/test-scale.js'

afterEach(closeScenes)

/** Hours of the week; more are more weeks. */
const HOURS = atScale(168, 672)
/** Of these hours one has a sync. */
const EVERY = atScale(6, 1)
const SHIPMENTS = 15

/** Includes in the lists of shipments: different on each day. */
const DAYS = [
  ['containers', 'containers.transport_events', 'pod_terminal'],
  ['containers'],
  [],
  ['containers', 'port_of_lading', 'port_of_discharge'],
  ['containers.transport_events', 'containers'],
  ['pod_terminal', 'destination'],
  ['containers', 'containers.transport_events', 'destination_terminal'],
]

/** From now on, requests that include anything else are refused. */
function includeOnly({ simulator }: Scene, accepted: readonly string[]): void {
  simulator.faults.clear()
  simulator.faults.add({
    fault: {
      kind: 'status',
      status: 400,
      body: JSON.stringify({
        errors: [{ status: '400', title: 'Invalid include', source: { parameter: 'include' } }],
      }),
    },
    match: ({ path, query }) => {
      const asked = (query.get('include') ?? '').split(',').filter((name) => name !== '')
      return path === '/shipments' && asked.some((name) => !accepted.includes(name))
    },
    times: Infinity,
  })
}

/**
 * Findings about the service, and what is known of places and vessels, are a day old at the end of
 * a day, on a clock that only the test moves.
 */
async function letFindingsAge({ query }: Scene): Promise<void> {
  await query(`update tracking_sync.reference_checks set due_at = due_at - interval '1 day'`)
  await query(
    `update tracking_sync.source_capabilities set checked_at = checked_at - interval '25 hours'`,
  )
}

describe('a week of changes, with a sync every few hours', () => {
  it(
    'is equal to the source at the end of each day, whatever the service includes that day',
    { tags: ['I1', 'I8'] },
    async () => {
      const scene = await openScene({ shipments: SHIPMENTS })
      const { simulator } = scene
      const { world, clock, edits } = simulator
      const dice = createDice(11)
      const gone: string[] = []
      await scene.sync({ command: 'backfill' })
      for (let hour = 0; hour < HOURS; hour += 1) {
        const day = Math.floor(hour / 24)
        if (hour % 24 === 0) {
          includeOnly(scene, DAYS[day % DAYS.length]!)
          await letFindingsAge(scene)
        }
        clock.advance(HOUR)
        const shipments = [...world.records('shipment', clock.now())]
        const containers = [...world.records('container', clock.now())]
        edits.change('shipment', dice.pick(shipments).id, { customer_name: `Customer ${hour}` })
        const { id } = dice.pick(containers)
        if (hour % 5 === 1)
          edits.addHold(id, { name: 'customs', status: 'hold', description: null })
        if (hour % 5 === 3) edits.clearHold(id, 'customs')
        if (hour % 12 === 4) edits.insertShipments(1)
        if (hour % 24 === 6) {
          gone.push(dice.pick(shipments).id)
          edits.delete('shipment', gone.at(-1)!)
        }
        if (hour % 48 === 30) edits.revive('shipment', gone.shift()!)
        const [event] = world.transportEventsOf(id, clock.now())
        if (hour % 8 === 2 && event !== undefined) edits.withdrawEvent(id, event.id)

        if (hour % EVERY !== EVERY - 1) continue
        const report = await scene.sync({ command: 'sync' })
        expect(report, `hour ${hour}`).toMatchObject({ exitCode: 0, problems: [] })
        if (hour % 24 === 23) {
          expect(await scene.differences({ hasRevivedRows: true }), `day ${day}`).toEqual([])
        }
      }
      expect(await scene.differences({ hasRevivedRows: true })).toEqual([])
      const before = await scene.snapshot()
      await scene.sync({ command: 'sync' })
      expect(await scene.snapshot()).toEqual(before)
    },
  )
})
