import { sql, type RawBuilder } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  claimRefetches,
  postponeRefetch,
  queueRefetches,
  releaseRefetches,
  removeRefetches,
  REFETCH_STATE,
  REFETCH_TRANSITIONS,
  type RefetchState,
} from '../../../src/warehouse/bookkeeping/refetch-queue.js'
import { borrowTestWarehouse } from '../../support/reused-warehouse.js'
import type { TestWarehouse } from '../../support/test-warehouse.js'
import { type Statement } from '../../../src/warehouse/connection/typed-database.js'

const ENTRY = { type: 'container', id: 'one' }
let target: TestWarehouse

beforeAll(async () => {
  target = await borrowTestWarehouse()
})

afterAll(() => target.drop())

/** Each is done to an entry of generation 1. */
const EVENTS = {
  asked: () => queueRefetches(target.warehouse, [ENTRY], 'a test', 60_000),
  claimed: () => claimRefetches(target.warehouse, 'refetch', 1),
  answered: () => remove(1),
  outdated: () => remove(0),
  failed: () => postponeRefetch(target.warehouse, ENTRY, 'an error'),
  released: () => releaseRefetches(target.warehouse, [ENTRY], 60_000),
}

function remove(generation: number): Promise<void> {
  const { warehouse } = target
  return removeRefetches(warehouse, [{ ...ENTRY, attempts: 0, generation }])
}

const SET_UP: Readonly<Record<RefetchState, RawBuilder<unknown> | undefined>> = {
  absent: undefined,
  later: sql`now() + interval '1 minute', null`,
  due: sql`now(), null`,
  'being read': sql`now(), now() + interval '1 minute'`,
}

function query<Row>(statement: Statement<Row>): Promise<Row[]> {
  return target.warehouse.query('look at the queue', statement)
}

const pairs = Object.entries(REFETCH_TRANSITIONS).flatMap(([state, row]) =>
  Object.keys(EVENTS).map(
    (event) => [state, event, (row as Record<string, string>)[event] ?? state] as const,
  ),
)

it.each(pairs)('an entry that is %s, once %s, is %s', async (before, event, after) => {
  await query(sql`delete from tracking_sync.refetch_queue`)
  const times = SET_UP[before as RefetchState]
  if (times !== undefined) {
    await query(
      sql`insert into tracking_sync.refetch_queue
        (resource_type, resource_id, reason, not_before, claimed_until)
      values ('container', 'one', 'a test', ${times})`,
    )
  }
  await EVENTS[event as keyof typeof EVENTS]()
  const [row] = await query(
    sql<{
      state: string
    }>`select ${REFETCH_STATE} as state from tracking_sync.refetch_queue as queued`,
  )
  expect(row?.state ?? 'absent').toBe(after)
})

it('an entry whose reader is gone is claimed after a minute', { tags: ['C9'] }, async () => {
  await query(sql`delete from tracking_sync.refetch_queue`)
  await query(
    sql`insert into tracking_sync.refetch_queue (resource_type, resource_id, reason, claimed_until)
    values ('container', 'one', 'a test', now())`,
  )
  expect(
    await query(sql`select ${REFETCH_STATE} as state from tracking_sync.refetch_queue as queued`),
  ).toEqual([{ state: 'due' }])
  expect(await EVENTS.claimed()).toMatchObject([ENTRY])
})
