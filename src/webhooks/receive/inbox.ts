import { compareKeys } from '../../warehouse/rows/sighting.js'
import type { Session, Warehouse } from '../../warehouse/connection/warehouse.js'
import type { Delivery } from './delivery.js'

export type { Delivery } from './delivery.js'

/** Further deliveries of one notification with the same bytes, to be added to its counts. */
export interface Repeat {
  readonly notificationId: string
  readonly bodyHash: Buffer
  readonly deliveries: number
}

export interface StoredDeliveries {
  /** Notifications that were not known before. */
  readonly newIds: ReadonlySet<string>
  /**
   * Stored long since, only not counted, because somebody else held the row. To be handed in with
   * the next deliveries.
   */
  readonly uncounted: readonly Repeat[]
}

/**
 * Stores deliveries: when it returns, all of them are committed, the new ones in one statement. The
 * first delivery of a notification becomes its row and its bytes stay; later ones are only counted,
 * those with other bytes also apart. Safe to repeat.
 *
 * No processor can delay an answer: a row that is there already is not inserted again, which would
 * wait for whoever is changing it, and a row that somebody holds is not counted now; its repeats
 * come back as `uncounted`.
 */
export async function storeDeliveries(
  warehouse: Session & Pick<Warehouse, 'names'>,
  deliveries: readonly Delivery[],
  uncounted: readonly Repeat[] = [],
): Promise<StoredDeliveries> {
  const inbox = warehouse.names.table('webhook_notifications')
  const newIds = await insertNew(warehouse, inbox, deliveries)
  const known = deliveries.filter(({ notificationId }) => !newIds.has(notificationId))
  const repeats = addUp([...known.map(toRepeat), ...uncounted])
  const counted = await countRepeats(warehouse, inbox, repeats)
  return {
    newIds,
    uncounted: repeats.filter(({ notificationId }) => !counted.has(notificationId)),
  }
}

/** Written and taken back: nobody ever sees it. */
const TRIAL: Delivery = {
  notificationId: 'sha256:a trial',
  event: null,
  webhookId: null,
  createdAt: null,
  referenceType: null,
  referenceId: null,
  headers: {},
  body: Buffer.alloc(8_192),
  bodyHash: Buffer.alloc(32),
  deadReason: null,
}

/**
 * Whether the database would take a delivery now: a server whose disk is full still answers
 * questions.
 */
export async function canStoreDeliveries(warehouse: Warehouse): Promise<boolean> {
  const { names } = warehouse
  const inbox = names.table('webhook_notifications')
  let isTaken = false
  await warehouse
    .transaction('try the inbox', async (session) => {
      await insertNew(session, inbox, [TRIAL])
      isTaken = true
      throw new Error('to be taken back')
    })
    .catch(() => undefined)
  return isTaken
}

/** Returns the ids of the notifications that were not known. */
async function insertNew(
  session: Session,
  inbox: string,
  deliveries: readonly Delivery[],
): Promise<Set<string>> {
  if (deliveries.length === 0) return new Set()
  const rows = await session.query<{ notification_id: string }>(
    'store webhook deliveries',
    // The bodies come as one value: as elements of an array each would be sent as a text of twice
    // its length, and be parsed.
    `insert into ${inbox} (
    notification_id, event, webhook_id, created_at, observed_at, reference_type, reference_id, headers, body, body_hash,
    state, error, deliveries, differing_bodies
)
select
    given.notification_id, given.event, given.webhook_id, given.created_at,
    -- A clock may be ahead a little; see STAMP_TOLERANCE_MS.
    least(coalesce(given.created_at, now()), now() + interval '10 seconds'),
    given.reference_type, given.reference_id, given.headers,
    substr($14::bytea, given.body_start, given.body_bytes), given.body_hash,
    case when given.error is null then 'received' else 'dead' end, given.error, given.deliveries, given.differing_bodies
from unnest(
    $1::text[], $2::text[], $3::text[], $4::timestamptz[], $5::text[], $6::text[], $7::jsonb[], $8::bytea[], $9::text[],
    $10::integer[], $11::integer[], $12::integer[], $13::integer[]
) as given (
    notification_id, event, webhook_id, created_at, reference_type, reference_id, headers, body_hash, error,
    deliveries, differing_bodies, body_start, body_bytes
)
where not exists (select from ${inbox} as stored where stored.notification_id = given.notification_id)
order by given.notification_id
on conflict (notification_id) do nothing
returning notification_id`,
    deliveryColumns(deliveries),
  )
  return new Set(rows.map((row) => row.notification_id))
}

/** Returns the ids of those that nobody held. */
async function countRepeats(
  session: Session,
  inbox: string,
  repeats: readonly Repeat[],
): Promise<Set<string>> {
  if (repeats.length === 0) return new Set()
  const rows = await session.query<{ notification_id: string }>(
    'count repeated webhook deliveries',
    `with free as (
    select stored.notification_id, stored.body_hash
    from ${inbox} as stored
    where stored.notification_id = any ($1::text[])
    order by stored.notification_id
    for no key update skip locked
),
later as (
    select
        free.notification_id,
        sum(again.deliveries)::integer as deliveries,
        coalesce(sum(again.deliveries) filter (where again.body_hash <> free.body_hash), 0)::integer as differing_bodies
    from unnest($1::text[], $2::bytea[], $3::integer[]) as again (notification_id, body_hash, deliveries)
    inner join free using (notification_id)
    group by free.notification_id
)
update ${inbox} as stored
set
    deliveries = stored.deliveries + later.deliveries,
    differing_bodies = stored.differing_bodies + later.differing_bodies,
    last_received_at = now()
from later
where stored.notification_id = later.notification_id
returning stored.notification_id`,
    [
      repeats.map(({ notificationId }) => notificationId),
      repeats.map(({ bodyHash }) => bodyHash),
      repeats.map(({ deliveries }) => deliveries),
    ],
  )
  return new Set(rows.map((row) => row.notification_id))
}

function toRepeat({ notificationId, bodyHash }: Delivery): Repeat {
  return { notificationId, bodyHash, deliveries: 1 }
}

/** One entry per notification and bytes. */
function addUp(repeats: readonly Repeat[]): Repeat[] {
  const sums = new Map<string, Repeat>()
  for (const repeat of repeats) {
    const key = `${repeat.bodyHash.toString('hex')} ${repeat.notificationId}`
    const deliveries = repeat.deliveries + (sums.get(key)?.deliveries ?? 0)
    sums.set(key, { ...repeat, deliveries })
  }
  return [...sums.values()]
}

interface NewRow {
  readonly first: Delivery
  deliveries: number
  differingBodies: number
}

/**
 * The rows of what is new, as columns. Ordered by id: two receivers must not wait for each other's
 * rows crosswise.
 */
function deliveryColumns(deliveries: readonly Delivery[]): unknown[] {
  const rowsById = new Map<string, NewRow>()
  for (const delivery of deliveries) {
    const row = rowsById.get(delivery.notificationId)
    if (row === undefined) {
      rowsById.set(delivery.notificationId, { first: delivery, deliveries: 1, differingBodies: 0 })
    } else {
      row.deliveries += 1
      if (!row.first.bodyHash.equals(delivery.bodyHash)) row.differingBodies += 1
    }
  }
  const rows = [...rowsById.values()].sort((one, two) =>
    compareKeys(one.first.notificationId, two.first.notificationId),
  )
  const bodies = rows.map(({ first }) => first.body)
  let end = 1
  const starts = bodies.map(({ length }) => (end += length) - length)
  return [
    rows.map(({ first }) => first.notificationId),
    rows.map(({ first }) => first.event),
    rows.map(({ first }) => first.webhookId),
    rows.map(({ first }) => first.createdAt),
    rows.map(({ first }) => first.referenceType),
    rows.map(({ first }) => first.referenceId),
    rows.map(({ first }) => JSON.stringify(first.headers)),
    rows.map(({ first }) => first.bodyHash),
    rows.map(({ first }) => first.deadReason),
    rows.map((row) => row.deliveries),
    rows.map((row) => row.differingBodies),
    starts,
    bodies.map(({ length }) => length),
    Buffer.concat(bodies),
  ]
}
