import { describe, expect, it } from 'vitest'
import { formatPlan } from '../../../../src/commands/plan.js'
import { estimatePlan, type PlanObservations } from '../../../../src/sync/plan/make-plan.js'

const none = { added: 0, addedToFetch: 0, known: 0, knownToFetch: 0 }

const observed: PlanObservations = {
  lists: [
    { stream: 'shipments', pages: 10, total: 1000, pageSize: 100 },
    { stream: 'tracking_requests', pages: 3, total: 300, pageSize: 100 },
  ],
  areContainersIncluded: true,
  events: {
    total: 2000,
    live: 0,
    firstPages: { ...none, added: 200, addedToFetch: 100 },
    spread: { ...none, added: 20, addedToFetch: 20 },
    requestsPerFetch: 1,
  },
  transportEventChecks: 0,
  referenceSamples: [],
  dueRefetches: 2,
  vesselsWithPositions: undefined,
  isWarehouseEmpty: true,
  ratePerMinute: 90,
  requestsMade: 7,
}

const requestsOf = (observations: PlanObservations) =>
  Object.fromEntries(estimatePlan(observations).steps.map((step) => [step.step, step.backfill]))

describe('a plan', () => {
  it('counts the first pages as they are and lets the spread sample stand for the rest', () => {
    expect(requestsOf(observed)).toEqual({
      shipments: 10,
      tracking_requests: 3,
      containers: 0,
      transport_events: 100 + 1800,
      webhook_event_categories: 1,
      references: 2,
    })
  })

  it('takes requests by the configured rate for minutes', () => {
    const plan = estimatePlan(observed)
    expect(plan.backfill).toEqual({ requests: 1916, minutes: 21.3 })
    expect(plan.sync).toEqual({ requests: 13, minutes: 0.1 })
  })

  it('adds the checks of transport events to a sync, one request or more each, and none to a backfill', () => {
    const events = { ...observed.events, live: 2000, requestsPerFetch: 1.5 }
    const checking = { ...observed, events, transportEventChecks: 4, isWarehouseEmpty: false }
    const step = (observations: PlanObservations) =>
      estimatePlan(observations).steps.find((one) => one.step === 'transport event checks')
    expect(step(checking)).toMatchObject({ backfill: 0, sync: 6 })
    expect(step({ ...checking, events: { ...events, total: 2 } })).toMatchObject({ sync: 3 })
    expect(step(observed)).toBeUndefined()
  })

  it('costs a backfill over a full warehouse like a sync, but for the catalogue', () => {
    const events = { ...observed.events, live: 2000, firstPages: { ...none, known: 200 } }
    const plan = estimatePlan({ ...observed, events, dueRefetches: 0, isWarehouseEmpty: false })
    expect(plan.backfill.requests).toBe(plan.sync.requests + 1)
    expect(plan.sync.requests).toBe(13)
  })

  it('counts changed containers of the first page once, and does not multiply them', () => {
    const events = {
      ...observed.events,
      live: 2000,
      firstPages: { ...none, known: 200, knownToFetch: 30 },
      spread: { ...none, known: 20 },
    }
    const plan = estimatePlan({ ...observed, events, isWarehouseEmpty: false })
    expect(plan.sync.requests).toBe(13 + 30 + 2)
  })

  it('says what it does not know, and prints every reason', () => {
    const lists = [{ stream: 'shipments', pages: undefined, total: undefined, pageSize: 30 }]
    const text = formatPlan(estimatePlan({ ...observed, lists }))
    expect(text).toContain('not known: how many shipments there are')
    expect(text).toContain('not known: how many containers change until the run')
    expect(text).toMatch(/^transport_events +1900 +0 +one read for each container/m)
    expect(text).toMatch(/backfill: \d+ requests, about [\d.]+ minutes at 90 requests a minute/)
  })

  it('adds a request for each vessel when positions are asked for', () => {
    const plan = estimatePlan({ ...observed, vesselsWithPositions: 55 })
    expect(plan.steps.at(-1)).toMatchObject({ backfill: 55, sync: 55 })
  })
})
