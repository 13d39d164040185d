import fc from 'fast-check'
import { afterAll, beforeAll, expect } from 'vitest'
import { SYNC_FAILPOINTS, type Failpoint } from '../../../src/base/failpoint.js'
import { playHistories } from '../../support/corpus.js'
import { createTestWarehouse, type TestWarehouse } from '../../support/test-warehouse.js'
import { playHistory, prepare, type Crash, type History, type Step } from './permutation-scene.js'
import { atScale } from '../../support/test-scale.js'

let target: TestWarehouse

beforeAll(async () => {
  target = await createTestWarehouse()
  await prepare(target.warehouse)
})

afterAll(() => target.drop())

function crashAt(points: readonly Failpoint[]): fc.Arbitrary<Crash | null> {
  const crash = fc.record({
    point: fc.constantFrom(...points),
    hit: fc.integer({ min: 1, max: 4 }),
  })
  return fc.option(crash, { freq: 3, nil: null })
}

const processing = crashAt(['mid_batch', 'mid_notifications', 'after_notifications'])
const refetching = crashAt(['mid_batch', 'before_checkpoint', 'after_commit', 'events_received'])
const syncing = crashAt(SYNC_FAILPOINTS)

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.record({
      kind: fc.constant('change' as const),
      what: fc.constantFrom(0, 0, 0, 1),
      value: fc.nat({ max: 11 }),
      seconds: fc.constantFrom(0, 0, 1, 2),
      shape: fc.constantFrom(0, 0, 0, 0, 0, 1, 1, 1, 2, 4),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('arrive' as const), which: fc.nat({ max: 9 }) }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('process' as const), crash: processing }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('refetch' as const), crash: refetching }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('sync' as const), crash: syncing }) },
)

const history: fc.Arbitrary<History> = fc.record({
  steps: fc.array(step, { minLength: 4, maxLength: 18 }),
  order: fc.array(fc.nat({ max: 100 }), { minLength: 18, maxLength: 18 }),
  lost: fc.constantFrom(0, 0, 0, 0, 3),
})

playHistories(
  'any order, repetition, loss and crash of deliveries, mixed with syncs, ends in the source, and no row goes backwards',
  {
    name: 'webhooks',
    tags: ['I1', 'I3', 'I4'],
    histories: history,
    // `npm run test:long -- webhooks` plays thousands.
    runs: atScale(12, 5_000),
    play: async (given) => {
      expect(await playHistory(target.warehouse, given)).toEqual([])
    },
  },
)
