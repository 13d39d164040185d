import { afterEach, describe, expect, it } from 'vitest'
import type { ResourceObject } from '../../../src/source/jsonapi/document.js'
import { silentLogger } from '../../../src/base/logger.js'
import type { SimulatorOptions } from '../../../src/extensions/simulator/server.js'
import { estimatePlan, observePlan, type Plan } from '../../../src/extensions/doctor/make-plan.js'
import { TEST_SETTINGS, withTestService } from '../../support/test-service.js'
import { closeScenes, openLoadedScene, openScene, type Scene } from './sync-scene.js'
import { atScale } from '../../support/test-scale.js'

afterEach(closeScenes)

const INCLUDES = {
  default: {},
  'only containers': { acceptedIncludes: { shipment: ['containers'], container: [] } },
  none: { acceptedIncludes: { shipment: [], container: [] } },
} as const satisfies Record<string, SimulatorOptions>

type Includes = keyof typeof INCLUDES

async function planFor({ simulator, warehouse }: Scene): Promise<Plan> {
  return withTestService(simulator, async (service) =>
    estimatePlan(
      await observePlan({
        service,
        warehouse,
        logger: silentLogger,
        settings: TEST_SETTINGS,
        ratePerMinute: RATE,
        signal: new AbortController().signal,
      }),
    ),
  )
}

const RATE = 90

/**
 * Within a tenth, or within what one minute allows; exact where the lists say how much there is.
 */
function expectClose(plan: Plan, made: number, facts: WorldFacts, includes: Includes): void {
  const planned = plan.backfill.requests
  const difference = Math.abs(planned - made)
  expect(difference, `${planned} planned, ${made} made`).toBeLessThan(Math.max(RATE, made / 10))
  const steps = Object.fromEntries(plan.steps.map(({ step, backfill }) => [step, backfill]))
  expect(steps.shipments).toBe(facts.pages.shipment)
  expect(steps.tracking_requests).toBe(facts.pages.tracking_request)
  expect(steps.containers).toBe(includes === 'none' ? facts.pages.container : 0)
  const events = includes === 'default' ? 0 : facts.containersWithEvents
  expect(steps.transport_events).toBeGreaterThanOrEqual(events)
  expect(steps.transport_events).toBeLessThan(events * 1.03 + 1)
  const references = includes === 'default' ? facts.missingReferences : facts.references
  expect(steps.references).toBeGreaterThan(references / 2)
  expect(steps.references).toBeLessThanOrEqual(references)
}

const PAGE = 100
/** Definitions of custom fields, the options of three of them, and the catalogue of events. */
const OTHERS = 1 + 3 + 1
const REFERENCE = /^(?:port|metro_area|terminal|rail_terminal|vessel) /
/** Includes of the lists of shipments among the relations of a shipment. */
const INCLUDED_RELATIONS = [
  'port_of_lading',
  'port_of_discharge',
  'pod_terminal',
  'destination',
  'destination_terminal',
]

interface WorldFacts {
  readonly pages: Readonly<
    Record<'shipment' | 'container' | 'tracking_request' | 'custom_field', number>
  >
  readonly containersWithEvents: number
  /** Ports, terminals and vessels that anything points to. */
  readonly references: number
  /** Those of them that no page of the default includes brings before it needs them. */
  readonly missingReferences: number
}

const factsBySize = new Map<number, WorldFacts>()

/**
 * Everything that a first load must read, from the world itself. Equal for accounts of one size,
 * because the seed is.
 */
function factsOf({ simulator }: Scene, shipments: number): WorldFacts {
  const known = factsBySize.get(shipments)
  if (known !== undefined) return known
  const { world, clock } = simulator
  const at = clock.now()
  const counts = world.counts(at)
  const pages = (count: number): number => Math.ceil(count / PAGE)
  const all = new Set<string>()
  const stored = new Set<string>()
  const missing = new Set<string>()
  let containersWithEvents = 0
  for (let offset = 0; offset < counts.shipment; offset += PAGE) {
    const pointedTo: string[] = []
    for (const shipment of world.page('shipment', offset, PAGE, at)) {
      pointedTo.push(...linksOf(shipment))
      for (const link of linksOf(shipment, INCLUDED_RELATIONS)) stored.add(link)
      for (const container of world.containersOf(shipment.id, at)) {
        const events = world.transportEventsOf(container.id, at)
        if (events.length > 0) containersWithEvents += 1
        pointedTo.push(...[container, ...events].flatMap((record) => linksOf(record)))
      }
    }
    for (const link of pointedTo) {
      all.add(link)
      if (!stored.has(link)) missing.add(link)
    }
  }
  const facts = {
    pages: {
      shipment: pages(counts.shipment),
      container: pages(counts.container),
      tracking_request: pages(counts.tracking_request),
      custom_field: pages(world.customFields(at).total),
    },
    containersWithEvents,
    references: all.size,
    missingReferences: missing.size,
  }
  factsBySize.set(shipments, facts)
  return facts
}

function linksOf({ relationships = {} }: ResourceObject, names?: readonly string[]): string[] {
  return Object.entries(relationships).flatMap(([name, { data }]) => {
    if (names?.includes(name) === false) return []
    const { type, id } = (data ?? {}) as { type?: string; id?: string }
    const link = `${type ?? ''} ${id ?? ''}`
    return REFERENCE.test(link) ? [link] : []
  })
}

function requestsOfWorld(facts: WorldFacts, includes: Includes): number {
  const { pages, containersWithEvents, references, missingReferences } = facts
  const lists = pages.shipment + pages.tracking_request + pages.custom_field + OTHERS
  switch (includes) {
    case 'default':
      return lists + missingReferences
    case 'only containers':
      return lists + containersWithEvents + references
    case 'none':
      return lists + pages.container + containersWithEvents + references
    default:
      return includes satisfies never
  }
}

/** Shipments of accounts that are too large to be loaded here. */
const ACCOUNTS = atScale([1_000], [1_000, 3_000])

const ALL_INCLUDES = ['default', 'only containers', 'none'] as const

describe('the plans of an account of 110 shipments', { tags: ['release'] }, () => {
  it.each(ALL_INCLUDES)('are close to its backfill, then exact, includes: %s', async (includes) => {
    const scene = await openScene({ shipments: 110, ...INCLUDES[includes] })
    const first = await planFor(scene)
    expect(first.requestsMade).toBeLessThan(20)
    const { requests, exitCode } = await scene.sync()
    expect(exitCode).toBe(0)
    const facts = factsOf(scene, 110)
    expectClose(first, requests, facts, includes)
    // The reckoning of the larger accounts below.
    expect(requestsOfWorld(facts, includes)).toBe(requests)

    const second = await planFor(scene)
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

describe('the plan of a backfill', { tags: ['release'] }, () => {
  // A backfill of these takes most of a minute: it is reckoned from the world.
  it.each(ACCOUNTS.flatMap((shipments) => ALL_INCLUDES.map((one) => [shipments, one] as const)))(
    'is close to what %i shipments take, includes: %s',
    async (shipments, includes) => {
      const scene = await openScene({ shipments, ...INCLUDES[includes] })
      const plan = await planFor(scene)
      const facts = factsOf(scene, shipments)
      expectClose(plan, requestsOfWorld(facts, includes), facts, includes)
    },
  )
})

describe('the plan of a sync', () => {
  it('counts the containers whose list of events changed', { tags: ['release'] }, async () => {
    const scene = await openLoadedScene({ shipments: 12, ...INCLUDES.none })
    const { simulator } = scene
    const at = simulator.clock.now()
    for (const container of simulator.world.page('container', 0, 3, at)) {
      const [event] = simulator.world.transportEventsOf(container.id, at)
      if (event !== undefined) simulator.edits.withdrawEvent(container.id, event.id)
    }
    const plan = await planFor(scene)
    const { requests } = await scene.sync({ command: 'sync' })
    expect(plan.sync.requests).toBe(requests)
  })

  it('writes nothing but what the service includes', async () => {
    const scene = await openScene({ shipments: 12, ...INCLUDES.none })
    await planFor(scene)
    const rows = await scene.query(
      `select (select count(*) from tracking.shipments) as shipments,
        (select count(*) from tracking_sync.sync_runs) as runs,
        (select count(*) from tracking_sync.refetch_queue) as queued,
        (select array_agg(capability order by capability) from tracking_sync.source_capabilities) as found`,
    )
    const found = ['include on containers', 'include on shipments']
    expect(rows).toEqual([{ shipments: 0, runs: 0, queued: 0, found }])
  })
})
