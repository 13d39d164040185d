import { expect, it } from 'vitest'
import type { SimulatorOptions } from '../../../src/extensions/simulator/server.js'
import type { Plan } from '../../../src/extensions/doctor/make-plan.js'
import { planOf } from '../../support/test-service.js'
import { openScene, requestCounts } from './sync-scene.js'

const INCLUDES = {
  default: {},
  'only containers': { acceptedIncludes: { shipment: ['containers'], container: [] } },
  none: { acceptedIncludes: { shipment: [], container: [] } },
} as const satisfies Record<string, SimulatorOptions>

const RATE = 90

const REFERENCES = ['ports', 'metro_areas', 'terminals', 'rail_terminals', 'vessels']

/** The reckoning from samples, against the requests that were made. */
function expectClose({ steps }: Plan, made: Readonly<Record<string, number>>): void {
  const planned = Object.fromEntries(steps.map(({ step, backfill }) => [step, backfill]))
  const events = made['/containers/*/transport_events'] ?? 0
  expect(planned.transport_events).toBeGreaterThanOrEqual(events)
  expect(planned.transport_events).toBeLessThan(events * 1.03 + 1)
  const read = REFERENCES.map((list) => made[`/${list}/*`] ?? 0)
  const references = read.reduce((sum, one) => sum + one)
  expect(planned.references).toBeGreaterThan(references / 2)
  expect(planned.references).toBeLessThanOrEqual(references)
}

it.each(Object.entries(INCLUDES))(
  'the plans of an account of 110 shipments are close to its backfill, then exact, includes: %s',
  { tags: ['release'] },
  async (includes, options) => {
    const scene = await openScene({ shipments: 110, ...options })
    const first = await planOf(scene)
    expect(first.requestsMade).toBeLessThan(20)
    // It writes what the service includes, and nothing else.
    const written = ['tracking.shipments', 'tracking_sync.sync_runs', 'tracking_sync.refetch_queue']
    for (const table of written) expect(await scene.count(table), table).toBe(0)
    scene.simulator.requests.reset()
    const { requests, exitCode } = await scene.sync()
    expect(exitCode).toBe(0)
    expectClose(first, requestCounts(scene.simulator))
    // Within a tenth, or within what one minute allows.
    const difference = Math.abs(first.backfill.requests - requests)
    expect(difference).toBeLessThan(Math.max(RATE, requests / 10))

    const second = await planOf(scene)
    const report = await scene.sync({ command: 'sync' })
    const pages = report.streams.reduce((sum, { counts }) => sum + counts.pages, 0)
    // Options and the catalogue are not pages.
    const all = pages + 4
    expect(report.requests, 'requests of the sync').toBe(all)
    expect(second.sync.requests, 'sync planned after the backfill').toBe(all)
    // Over a warehouse that has everything a backfill reads places and vessels again as well. Of
    // types that come included the plan cannot tell which records do not.
    const again = await scene.sync()
    expect(again.exitCode).toBe(0)
    const planned = second.backfill.requests
    expect(planned, 'backfill planned after the backfill').toBeGreaterThan(all)
    expect(planned, 'backfill planned after the backfill').toBeLessThanOrEqual(again.requests)
    if (includes !== 'default') expect(planned).toBe(again.requests)
    expect(first.sync.requests, 'sync planned before the backfill').toBe(all)
  },
)
