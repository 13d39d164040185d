import { describe, expect, it } from 'vitest'
import { formatParts } from '../../../src/commands/output/print-table.js'
import { describePlan } from '../../../src/extensions/doctor/commands/plan.js'
import { estimatePlan, type PlanObservations } from '../../../src/extensions/doctor/make-plan.js'

const observed: PlanObservations = {
  lists: [
    { stream: 'shipments', pages: 10, total: 1000, pageSize: 100 },
    { stream: 'tracking_requests', pages: 3, total: 300, pageSize: 100 },
  ],
  areContainersIncluded: true,
  fieldsWithOptions: 3,
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
  it('takes requests by the configured rate for minutes', () => {
    const plan = estimatePlan(observed)
    expect(plan.backfill).toEqual({ requests: 1959, minutes: 21.8 })
    expect(plan.sync).toEqual({ requests: 17, minutes: 0.2 })
  })

  it('counts what only a complete pass reads, at its interval', { tags: ['JC1', 'JE5'] }, () => {
    const field = { stream: 'custom_fields', pages: 40, total: 4000, pageSize: 100 }
    const lists = [{ ...field, isLong: true }]
    const read = (fullSyncHours: number) => stepsOf({ ...observed, lists, fullSyncHours })
    for (const [step, requests] of [
      ['custom_fields', 40],
      ['custom_field_options', 3],
      ['webhook_event_categories', 1],
    ] as const) {
      expect(read(0).get(step)).toEqual([requests, requests])
      expect(read(24).get(step)).toEqual([requests, 0])
    }
    const refused = stepsOf({ ...observed, fieldsWithOptions: undefined })
    expect(refused.has('custom_field_options')).toBe(false)
  })

  it('says what it does not know, and prints every reason', () => {
    const lists = [{ stream: 'shipments', pages: undefined, total: undefined, pageSize: 30 }]
    const text = formatParts(describePlan(estimatePlan({ ...observed, lists })))
    expect(text).toContain('unknown: how many shipments there are')
    expect(text).toContain('unknown: how many containers change until the run')
    expect(text).toMatch(/^transport_events +1900 +0 +one read for each new container/m)
    expect(text).toMatch(/backfill: \d+ requests, about [\d.]+ minutes at 90 requests a minute/)
  })
})
