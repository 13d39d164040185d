import { sql } from 'kysely'
import type { ResourceIdentifier } from '../../source/jsonapi/document.js'
import { resourceOfType } from '../../source/records/index.js'
import { compareKeys, tableRef, textLists } from '../connection/typed-database.js'
import { pipeline, type Session, type Warehouse } from '../connection/warehouse.js'

/**
 * The life of an entry of the refetch queue.
 *
 *             asked                                failed, released
 *    absent ─────────▶ later ◀──────────────────────────────────────┐
 *       ▲                │                                          │
 *       │                │ (time)            claimed                │
 *       │                └───────▶ due ──────────────▶ being read ──┤
 *       │                           ▲                               │
 *       │                           └───────────────────────────────┤
 *       │                       outdated, (60 seconds)              │
 *       └───────────────────────────────────────────────────────────┘
 *                                answered
 *
 * A record that arrives another way answers its entry too, even while nobody reads it. `asked`
 * raises the generation of an entry: a read under way no longer answers it and becomes `outdated`.
 * The two transitions in brackets take only time.
 */
export const REFETCH_TRANSITIONS = {
  absent: { asked: 'later' },
  later: { asked: 'later', answered: 'absent', failed: 'later', released: 'later' },
  due: {
    asked: 'due',
    claimed: 'being read',
    answered: 'absent',
    failed: 'later',
    released: 'later',
  },
  'being read': {
    asked: 'being read',
    answered: 'absent',
    outdated: 'due',
    failed: 'later',
    released: 'later',
  },
} as const

export type RefetchState = keyof typeof REFETCH_TRANSITIONS

/** SQL: the state of the entry `queued`. */
export const REFETCH_STATE = sql`case
        when queued.claimed_until > now() then 'being read'
        when queued.not_before > now() then 'later'
        else 'due'
    end`

/** An entry of the queue that this process reads. */
export interface ClaimedRefetch extends ResourceIdentifier {
  readonly attempts: number
  /** Rises with each request for the record. */
  readonly generation: number
}

/** Entry type: all transport events of the container with this id. */
export const EVENT_LIST_ENTRY = 'transport_events'

/** Entry type: a notification whose delivery lacked its subject. */
export const NOTIFICATION_ENTRY = 'webhook_notification'

/**
 * Queues the references that lack a row. Called in the transaction of the rows that point to them,
 * so that a killed run forgets none. Queued references stay as they are.
 */
export async function queueMissingReferences(
  session: Session,
  references: readonly ResourceIdentifier[],
  reason = 'referenced and unknown',
): Promise<void> {
  const sorted = eachOnce(references)
  const types = [...new Set(sorted.map((reference) => reference.type))]
  const queued = types.map((type) => {
    const ids = sorted.flatMap((reference) => (reference.type === type ? [reference.id] : []))
    const resource = resourceOfType(type)
    const table = tableRef(`data.${resource.stream}`)
    const key = sql.id(resource.idColumn)
    return session.query(
      'queue missing references',
      sql`insert into ${tableRef('sync.refetch_queue')} (resource_type, resource_id, reason)
select ${type}, wanted.id, ${reason}
from unnest(${ids}::text[]) as wanted (id)
where not exists (select from ${table} as stored where stored.${key} = wanted.id)
order by wanted.id
on conflict do nothing`,
    )
  })
  await pipeline(queued)
}

/**
 * Asks for refetches, due `delayMs` from now: several requests for one record within that time cost
 * one read. A queued entry becomes due no later than a new one would, and a read under way no
 * longer answers it.
 */
export async function queueRefetches(
  session: Session,
  records: readonly ResourceIdentifier[],
  reason: string,
  delayMs = 0,
): Promise<void> {
  if (records.length === 0) return
  const entries = eachOnce(records)
  await session.query(
    'queue refetches',
    sql`insert into ${tableRef('sync.refetch_queue')} as queued
    (resource_type, resource_id, reason, not_before)
select entry.type, entry.id, ${reason}, now() + make_interval(secs => ${delayMs / 1000}::double precision)
from unnest(${textLists(entries, ['type', 'id'])}) as entry (type, id)
on conflict (resource_type, resource_id) do update
set
    generation = queued.generation + 1,
    reason = excluded.reason,
    not_before = least(queued.not_before, excluded.not_before)`,
  )
}

/** How many entries with this reason are still untried. */
export async function countUntried(session: Session, reason: string): Promise<number> {
  const [row] = await session.query(
    'count refetches that were not tried',
    sql<{ count: number }>`select count(*)::int as count
from ${tableRef('sync.refetch_queue')}
where reason = ${reason} and attempts = 0`,
  )
  return row?.count ?? 0
}

/** The queued records of a type that are not due yet. */
export async function findResting(
  session: Session,
  type: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await session.query(
    'look for refetches that rest',
    sql<{ id: string }>`select queued.resource_id as id
from ${tableRef('sync.refetch_queue')} as queued
where queued.resource_type = ${type} and queued.resource_id = any(${ids}::text[])
    and ${REFETCH_STATE} = 'later'`,
  )
  return new Set(rows.map(({ id }) => id))
}

function eachOnce(entries: readonly ResourceIdentifier[]): ResourceIdentifier[] {
  return [...new Map(entries.map((entry) => [keyOf(entry), entry])).values()].sort(inLockOrder)
}

/** One order for all statements, so that no two of them deadlock. */
function inLockOrder(one: ResourceIdentifier, two: ResourceIdentifier): number {
  return compareKeys(one.type, two.type) || compareKeys(one.id, two.id)
}

function keyOf({ type, id }: ResourceIdentifier): string {
  return `${type} ${id}`
}

/** A run, one at a time, or a worker beside it. */
export type RefetchReader = 'sync' | 'refetch'

export interface RefetchBounds {
  /** Only entries that were requested by then; see `readDueRefetches`. */
  readonly askedUntil?: string | null
  /** Only entries of these types. */
  readonly types?: readonly string[] | null
}

/** A reader that does not answer within this time counts as dead, and another reads the entry. */
const CLAIM_SECONDS = 60
const CLAIMABLE: RefetchState = 'due'
const CLAIMED = REFETCH_TRANSITIONS[CLAIMABLE].claimed

/**
 * Claims due entries, oldest first: no other reader gets them for a minute. A run takes over the
 * claims of earlier runs, which have ended; it leaves notifications to the workers. A notification
 * waits until the containers and shipments that were requested with it or before it have been tried
 * once: its payload may be about one of them. Claim few at a time: the service's pace allows about
 * seventy reads a minute.
 */
export async function claimRefetches(
  session: Session,
  reader: RefetchReader,
  limit: number,
  { askedUntil = null, types = null }: RefetchBounds = {},
): Promise<ClaimedRefetch[]> {
  const queue = tableRef('sync.refetch_queue')
  return session.query(
    'claim refetches',
    sql<ClaimedRefetch>`with due as (
    select queued.resource_type, queued.resource_id
    from ${queue} as queued
    where (
            ${REFETCH_STATE} = ${CLAIMABLE}
            or ${REFETCH_STATE} = ${CLAIMED} and queued.claimed_by = 'sync' and ${reader} = 'sync'
        )
        and (
            queued.resource_type != ${NOTIFICATION_ENTRY}
            or ${reader} = 'refetch' and queued.requested_at < (
                select coalesce(min(owner.requested_at), 'infinity')
                from ${queue} as owner
                where owner.resource_type in ('container', 'shipment') and owner.attempts = 0
            )
        )
        and (${askedUntil}::timestamptz is null or queued.requested_at <= ${askedUntil}::timestamptz)
        and (${types}::text[] is null or queued.resource_type = any(${types}::text[]))
    order by queued.requested_at, queued.resource_type, queued.resource_id
    limit ${limit}
    for update skip locked
),
claimed as (
    update ${queue} as queued
    set claimed_until = now() + make_interval(secs => ${CLAIM_SECONDS}), claimed_by = ${reader}
    from due
    where queued.resource_type = due.resource_type and queued.resource_id = due.resource_id
    returning queued.*
)
select resource_type as type, resource_id as id, attempts, generation
from claimed
order by requested_at, resource_type, resource_id`,
  )
}

/** How many entries are due or being read, without notifications, and the database's now. */
export async function readDueRefetches(
  session: Session,
  types: readonly string[] | null = null,
): Promise<{ readonly askedUntil: string; readonly due: number }> {
  const [row] = await session.query(
    'count due refetches',
    sql<{ asked_until: string; due: number }>`select to_json(now()) #>> '{}' as asked_until, (
        select count(*) from ${tableRef('sync.refetch_queue')} as queued
        where (queued.not_before is null or queued.not_before <= now())
            and queued.resource_type != ${NOTIFICATION_ENTRY}
            and (${types}::text[] is null or queued.resource_type = any(${types}::text[]))
    ) as due`,
  )
  return { askedUntil: row?.asked_until ?? '-infinity', due: row?.due ?? 0 }
}

/**
 * Takes answered entries off the queue; called in the transaction that wrote their rows. An entry
 * that was requested since it was claimed stays, due as if requested now. An entry without a
 * generation goes in any case.
 */
export async function removeRefetches(
  session: Session,
  entries: readonly (ResourceIdentifier & Partial<ClaimedRefetch>)[],
): Promise<void> {
  if (entries.length === 0) return
  const queue = tableRef('sync.refetch_queue')
  const sorted = [...entries].sort(inLockOrder)
  const removed = await session.query(
    'take answered refetches off the queue',
    sql<ResourceIdentifier>`with answered as (
    select queued.resource_type, queued.resource_id
    from unnest(${textLists(sorted, ['type', 'id'])},
        ${sorted.map(({ generation }) => generation ?? null)}::bigint[]) as entry (type, id, generation)
    cross join lateral (
        select * from ${queue} as candidate
        where candidate.resource_type = entry.type
            and candidate.resource_id = entry.id
            and candidate.generation = coalesce(entry.generation, candidate.generation)
        for update
    ) as queued
)
delete from ${queue} as queued
using answered
where queued.resource_type = answered.resource_type and queued.resource_id = answered.resource_id
returning queued.resource_type as type, queued.resource_id as id`,
  )
  const gone = new Set(removed.map(keyOf))
  const left = sorted.filter((entry) => !gone.has(keyOf(entry)))
  if (left.length === 0) return
  await session.query(
    'free refetches that were asked for again',
    sql`update ${queue} as queued
set claimed_until = null, claimed_by = null, requested_at = clock_timestamp()
from unnest(${textLists(left, ['type', 'id'])}) as entry (type, id)
where queued.resource_type = entry.type and queued.resource_id = entry.id`,
  )
}

/**
 * Keeps an entry whose read failed, for `waitMs`, by default a day: a reference that is gone stays
 * gone. Runs in a transaction of its own, so that a run without its lease changes nothing.
 */
export async function postponeRefetch(
  warehouse: Pick<Warehouse, 'transaction'>,
  entry: ResourceIdentifier,
  error: string,
  waitMs = DAY_MS,
): Promise<void> {
  await warehouse.transaction('postpone a refetch', (session) =>
    session.query(
      'postpone a refetch',
      sql`update ${tableRef('sync.refetch_queue')}
set
    attempts = attempts + 1,
    error = ${error},
    not_before = now() + make_interval(secs => ${waitMs / 1000}::double precision),
    claimed_until = null,
    claimed_by = null
where resource_type = ${entry.type} and resource_id = ${entry.id}`,
    ),
  )
}

const DAY_MS = 24 * 3_600_000

/** Lets others read claimed entries from `waitMs` on, after a read without a result. */
export async function releaseRefetches(
  session: Session,
  entries: readonly ResourceIdentifier[],
  waitMs = 0,
): Promise<void> {
  if (entries.length === 0) return
  await session.query(
    'release refetches',
    sql`update ${tableRef('sync.refetch_queue')} as queued
set
    claimed_until = null,
    claimed_by = null,
    not_before = greatest(queued.not_before, now() + make_interval(secs => ${waitMs / 1000}::double precision))
from unnest(${textLists(entries, ['type', 'id'])}) as entry (type, id)
where queued.resource_type = entry.type and queued.resource_id = entry.id`,
  )
}
