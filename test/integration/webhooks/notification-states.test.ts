import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  closeUnresolved,
  deferNotifications,
  recordFailure,
  recordOutcomes,
} from '../../../src/webhooks/process/claim-notifications.js'
import { replayNotifications } from '../../../src/webhooks/process/replay-notifications.js'
import { readDelivery } from '../../../src/webhooks/receive/delivery.js'
import { storeDeliveries } from '../../../src/webhooks/receive/inbox.js'
import {
  NOTIFICATION_EVENTS,
  type NotificationEvent,
  type Outcome,
} from '../../../src/webhooks/receive/notification-states.js'
import { borrowTestWarehouse } from '../../support/reused-warehouse.js'
import type { TestWarehouse } from '../../support/test-warehouse.js'
import { rawStatement } from '../../../src/warehouse/connection/typed-database.js'

const ID = 'one'
let target: TestWarehouse

beforeAll(async () => {
  target = await borrowTestWarehouse()
  await target.run`
    insert into tracking_sync.checkpoints (stream, scope, position, completed_pass_started_at)
    select stream, 'whole', '{}', now() + interval '1 hour'
    from unnest(array['shipments', 'containers', 'tracking_requests']) as given (stream)`
})

afterAll(() => target.drop())

const EVENTS: Readonly<Record<NotificationEvent, () => Promise<unknown>>> = {
  delivered: () => deliver(`{"data":{"id":"${ID}"}}`),
  unreadable: () => deliver('no json'),
  processed: () => record('processed'),
  ignored: () => record('ignored'),
  foreign: () => record('foreign'),
  unresolved: () => record('unresolved'),
  deferred: () => deferNotifications(target.warehouse, [ID], 60_000),
  failed: () => recordFailure(target.warehouse, ID, 'an error'),
  gave_up: async () => {
    await target.run`update tracking_sync.webhook_notifications set attempts = 9`
    await recordFailure(target.warehouse, ID, 'an error')
  },
  synced: () => closeUnresolved(target.warehouse),
  replayed: () => replayNotifications(target.warehouse, {}),
}

function deliver(body: string): Promise<unknown> {
  return storeDeliveries(target.warehouse, [readDelivery(Buffer.from(body), {})])
}

function record(outcome: Outcome): Promise<unknown> {
  return recordOutcomes(target.warehouse, new Map([[ID, outcome]]))
}

function query<Row>(sqlText: string): Promise<Row[]> {
  return target.warehouse.query('look at the inbox', rawStatement<Row>(sqlText))
}

/** A delivery with a readable id is in the inbox once; every other event finds it there. */
const ARRIVALS: readonly string[] = ['delivered', 'unreadable']

const pairs = (['absent', ...NOTIFICATION_EVENTS.replayed.from] as const).flatMap((state) =>
  (Object.keys(EVENTS) as NotificationEvent[]).map((event) => {
    const { from, to }: { from: readonly string[]; to: string } = NOTIFICATION_EVENTS[event]
    return [state, event, from.includes(state) ? to : state] as const
  }),
)

it.each(pairs)('a notification that is %s, once %s, is %s', async (before, event, after) => {
  await target.run`delete from tracking_sync.webhook_notifications`
  if (before !== 'absent') {
    await query(
      `insert into tracking_sync.webhook_notifications (notification_id, state, body, attempts)
      values ('${ID}', '${before}', '{}', 1)`,
    )
  }
  await EVENTS[event]()
  const rows = await target.rows<{ id: string; state: string }>`
    select notification_id as id, state from tracking_sync.webhook_notifications`
  const [row] = rows.filter(({ id }) => id === ID || before === 'absent')
  expect(row?.state ?? 'absent').toBe(after)
  expect(rows).toHaveLength(
    before === 'absent' ? Number(ARRIVALS.includes(event)) : event === 'unreadable' ? 2 : 1,
  )
})
