import { afterEach, describe, expect, it } from 'vitest'
import type { SimulatorOptions } from '../../../src/extensions/simulator/server.js'
import type { Plan } from '../../../src/extensions/doctor/make-plan.js'
import { planOf } from '../../support/test-service.js'
import { closeScenes, openScene, requestCounts } from './sync-scene.js'

afterEach(closeScenes)

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

const ALL_INCLUDES = ['default', 'only containers', 'none'] as const

describe('the plans of an account of 110 shipments', { tags: ['release'] }, () => {
  it.each(ALL_INCLUDES)('are close to its backfill, then exact, includes: %s', async (includes) => {
    const scene = await openScene({ shipments: 110, ...INCLUDES[includes] })
    const first = await planOf(scene)
    expect(first.requestsMade).toBeLessThan(20)
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
  })
})

describe('the plan of a sync', () => {
  it('writes nothing but what the service includes', async () => {
    const scene = await openScene({ shipments: 12, ...INCLUDES.none })
    await planOf(scene)
    const rows = await scene.rows`
      select (select count(*) from tracking.shipments) as shipments,
      (select count(*) from tracking_sync.sync_runs) as runs,
      (select count(*) from tracking_sync.refetch_queue) as queued,
      (select array_agg(capability order by capability)
      from tracking_sync.source_capabilities) as found`
    const found = ['include on containers', 'include on shipments']
    expect(rows).toEqual([{ shipments: 0, runs: 0, queued: 0, found }])
  })
})
