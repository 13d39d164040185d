import { sql } from 'kysely'
import type { ResourceIdentifier } from '../jsonapi/document.js'
import { resourceOfType } from '../resources/index.js'
import { quoteIdentifier, type SchemaNames } from './schema-names.js'
import { compareKeys } from './sighting.js'
import type { Session } from './warehouse.js'

/** A record to be read again by id. */
export interface RefetchEntry extends ResourceIdentifier {
  readonly attempts: number
}

/**
 * Queues those of the given references that have no row yet. Written in the transaction of the rows that point to them, so that a
 * killed run forgets none. What is already queued stays as it is.
 */
export async function queueMissingReferences(
  session: Session,
  names: SchemaNames,
  references: readonly ResourceIdentifier[],
): Promise<void> {
  const idsByType = new Map<string, Set<string>>()
  for (const { type, id } of references) {
    const ids = idsByType.get(type)
    if (ids === undefined) idsByType.set(type, new Set([id]))
    else ids.add(id)
  }
  for (const [type, ids] of [...idsByType].sort(([one], [two]) => compareKeys(one, two))) {
    const resource = resourceOfType(type)
    const table = `${quoteIdentifier(names.data)}.${quoteIdentifier(resource.stream)}`
    const key = quoteIdentifier(resource.idColumn)
    await session.query(
      'queue missing references',
      `insert into ${quoteIdentifier(names.sync)}.refetch_queue (resource_type, resource_id, reason)
select $1, wanted.id, 'referenced and not known'
from unnest($2::text[]) as wanted (id)
where not exists (select from ${table} as stored where stored.${key} = wanted.id)
order by wanted.id
on conflict do nothing`,
      [type, [...ids].sort(compareKeys)],
    )
  }
}

/** Queues records to be read again by id. What is already queued stays as it is. */
export async function queueRefetches(
  session: Session,
  records: readonly ResourceIdentifier[],
  reason: string,
): Promise<void> {
  if (records.length === 0) return
  const rows = [...records]
    .sort((one, two) => compareKeys(one.id, two.id))
    .map(({ type, id }) => ({ resource_type: type, resource_id: id, reason }))
  await session.sync
    .insertInto('refetch_queue')
    .values(rows)
    .onConflict((conflict) => conflict.columns(['resource_type', 'resource_id']).doNothing())
    .execute()
}

/** The entries that are due, oldest first. */
export async function loadDueRefetches(session: Session, limit: number): Promise<RefetchEntry[]> {
  const rows = await session.sync
    .selectFrom('refetch_queue')
    .select(['resource_type', 'resource_id', 'attempts'])
    .where(sql<boolean>`coalesce(not_before <= now(), true)`)
    .orderBy('requested_at')
    .orderBy('resource_type')
    .orderBy('resource_id')
    .limit(limit)
    .execute()
  return rows.map((row) => ({
    type: row.resource_type,
    id: row.resource_id,
    attempts: row.attempts,
  }))
}

/** Takes an entry off the queue; called in the transaction that wrote its row. */
export async function removeRefetch(session: Session, entry: ResourceIdentifier): Promise<void> {
  await session.sync
    .deleteFrom('refetch_queue')
    .where('resource_type', '=', entry.type)
    .where('resource_id', '=', entry.id)
    .execute()
}

/** Keeps an entry that could not be read and asks no sooner than in a day: a reference that is gone stays gone. */
export async function postponeRefetch(
  session: Session,
  entry: ResourceIdentifier,
  error: string,
): Promise<void> {
  await session.sync
    .updateTable('refetch_queue')
    .set(({ eb }) => ({
      attempts: eb('attempts', '+', 1),
      error,
      not_before: sql<string>`now() + interval '1 day'`,
    }))
    .where('resource_type', '=', entry.type)
    .where('resource_id', '=', entry.id)
    .execute()
}
