import { sql, type RawBuilder } from 'kysely'
import { expect, it } from 'vitest'
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
import { useTestWarehouse } from '../../support/reused-warehouse.js'

const ENTRY = { type: 'container', id: 'one' }
const target = useTestWarehouse()

const ask = () => queueRefetches(target.warehouse, [ENTRY], 'a test', 60_000)

/** Each is done to an entry of generation 1. */
const EVENTS = {
  asked: ask,
  claimed: () => claimRefetches(target.warehouse, 'refetch', 1),
  answered: () => remove(1),
  /** Another asked while it was read. */
  outdated: async () => {
    await ask()
    await remove(1)
  },
  failed: () => postponeRefetch(target.warehouse, ENTRY, 'an error'),
  released: () => releaseRefetches(target.warehouse, [ENTRY], 60_000),
}

function remove(generation: number): Promise<void> {
  return removeRefetches(target.warehouse, [{ ...ENTRY, attempts: 0, generation }])
}

const SET_UP: Readonly<Record<RefetchState, RawBuilder<unknown> | undefined>> = {
  absent: undefined,
  later: sql`now() + interval '1 minute', null`,
  // Also where a reader that is gone has claimed it.
  due: sql`now(), now()`,
  'being read': sql`now(), now() + interval '1 minute'`,
}

const pairs = Object.entries(REFETCH_TRANSITIONS).flatMap(([state, row]) =>
  Object.keys(EVENTS).map(
    (event) => [state, event, (row as Record<string, string>)[event] ?? state] as const,
  ),
)

it.each(pairs)(
  'an entry that is %s, once %s, is %s',
  { tags: ['C9', 'D7'] },
  async (before, event, after) => {
    await target.run`delete from tracking_sync.refetch_queue`
    const times = SET_UP[before as RefetchState]
    if (times !== undefined) {
      await target.run`
      insert into tracking_sync.refetch_queue
        (resource_type, resource_id, reason, not_before, claimed_until)
      values ('container', 'one', 'a test', ${times})`
    }
    await EVENTS[event as keyof typeof EVENTS]()
    const states = await target.column`
    select ${REFETCH_STATE} as state from tracking_sync.refetch_queue as queued`
    expect(states[0] ?? 'absent').toBe(after)
  },
)
