import { describe, expect, it } from 'vitest'
import { formatParts } from '../../../src/commands/output/print-table.js'
import { describePlan } from '../../../src/commands/sync.js'
import { estimatePlan, type PlanObservations } from '../../../src/sync/make-plan.js'

const observed: PlanObservations = {
  lists: [
    { stream: 'shipments', pages: 10, total: 1000, pageSize: 100 },
    { stream: 'tracking_requests', pages: 3, total: 300, pageSize: 100 },
  ],
  areContainersIncluded: true,
  eventReads: 1900,
  eventChecks: 0,
  references: 40,
  dueRefetches: 2,
  rereads: { backfill: 0, sync: 0 },
  vesselsWithPositions: undefined,
  fullSyncHours: 0,
  isWarehouseEmpty: true,
  ratePerMinute: 90,
  requestsMade: 7,
}

const stepsOf = (observations: PlanObservations) =>
  new Map(
    estimatePlan(observations).steps.map(({ step, backfill, sync }) => [step, [backfill, sync]]),
  )

describe('a plan', () => {
  it('counts the pages of the lists, and what is read one by one', () => {
    expect(Object.fromEntries(stepsOf(observed))).toEqual({
      shipments: [10, 10],
      tracking_requests: [3, 3],
      containers: [0, 0],
      transport_events: [1900, 0],
      webhook_event_categories: [1, 0],
      references: [42, 0],
    })
  })

  it('takes requests by the configured rate for minutes', () => {
    const plan = estimatePlan(observed)
    expect(plan.backfill).toEqual({ requests: 1956, minutes: 21.7 })
    expect(plan.sync).toEqual({ requests: 13, minutes: 0.1 })
  })

  it('adds the checks of transport events to a sync, and none to a backfill', () => {
    expect(stepsOf({ ...observed, eventChecks: 4 }).get('transport event checks')).toEqual([0, 4])
    expect(stepsOf(observed).has('transport event checks')).toBe(false)
  })

  it('costs a backfill over a full warehouse like a sync, but for the catalogue', () => {
    const plan = estimatePlan({ ...observed, eventReads: 30, isWarehouseEmpty: false })
    expect(plan.backfill.requests).toBe(plan.sync.requests + 1)
    expect(plan.sync.requests).toBe(13 + 30 + 42)
  })

  it('counts the pages of what can still change for a sync', () => {
    const [shipments] = observed.lists
    const list = { ...shipments!, changingPages: 2 }
    expect(stepsOf({ ...observed, lists: [list] }).get('shipments')).toEqual([10, 2])
  })

  it('says what it does not know, and prints every reason', () => {
    const lists = [{ stream: 'shipments', pages: undefined, total: undefined, pageSize: 30 }]
    const text = formatParts(describePlan(estimatePlan({ ...observed, lists })))
    expect(text).toContain('unknown: how many shipments there are')
    expect(text).toContain('unknown: how many containers change until the run')
    expect(text).toMatch(/^transport_events +1900 +0 +one read for each new container/m)
    expect(text).toMatch(/backfill: \d+ requests, about [\d.]+ minutes at 90 requests a minute/)
  })

  it('adds a request for each vessel when positions are asked for', () => {
    const plan = estimatePlan({ ...observed, vesselsWithPositions: 55 })
    expect(plan.steps.at(-1)).toMatchObject({ backfill: 55, sync: 55 })
  })
})
