import { sql, type RawBuilder } from 'kysely'
import type { Resource } from '../../source/records/resource.js'
import { containers } from '../../source/records/index.js'
import { replaceContainerChildren } from './container-children.js'
import { writeVersions } from './history.js'
import { doubtLists } from './unlisted-events.js'
import { compareKeys, tableRef, type Database } from '../connection/typed-database.js'
import type { WriteOptions } from './incoming-rows.js'
import type { Session } from '../connection/warehouse.js'

/** A row whose record the service answered with 404, and when. */
export interface GoneRecord {
  readonly key: string
  readonly observedAt: Date
}

/**
 * Marks rows as gone at the source. Deletes nothing: closes versions and intervals, and marks the
 * events of a container with it. A row seen later than the 404 stays alive; a later sighting
 * revives a marked one. Returns the keys that were marked.
 */
export async function tombstoneRows(
  session: Session,
  resource: Resource,
  gone: readonly GoneRecord[],
  options: WriteOptions,
): Promise<string[]> {
  if (gone.length === 0) return []
  const sorted = [...gone].sort((one, two) => compareKeys(one.key, two.key))
  const key = sql.id(resource.idColumn)
  const rows = await session.query(
    `tombstone ${resource.stream}`,
    sql<{ key: string }>`${markGone(`data.${resource.stream}`, key, sorted, options)}
returning stored.${key} as key`,
  )
  const keys = rows.map((row) => row.key).sort(compareKeys)
  await writeVersions(session, resource, keys, options)
  if (resource === containers && keys.length > 0) {
    await replaceContainerChildren(session, keys, options)
    await tombstoneEventsOf(session, 'transport_events', keys, options)
    await tombstoneEventsOf(session, 'raw_events', keys, options)
    // An event that was seen later than the 404 is still alive.
    await doubtLists(session, keys)
  }
  if (resource === containers) await tombstoneEventsWithoutRow(session, sorted, options)
  return keys
}

/** Marks the rows with these values of `key`, unless they were seen later. */
function markGone(
  table: keyof Database,
  key: RawBuilder<unknown>,
  gone: readonly GoneRecord[],
  { syncRunId }: WriteOptions,
): RawBuilder<unknown> {
  const keys = gone.map((record) => record.key)
  return sql`update ${tableRef(table)} as stored
set
    _deleted_at = gone.observed_at,
    _changed_at = gone.observed_at,
    _observed_at = gone.observed_at,
    _sync_run_id = ${syncRunId}
from unnest(${keys}::text[],
    ${gone.map(({ observedAt }) => observedAt.toISOString())}::timestamptz[]) as gone (key, observed_at)
where stored.${key} = any(${keys}::text[])
    and stored.${key} = gone.key
    and stored._deleted_at is null
    and stored._observed_at <= gone.observed_at`
}

/** Marks the events of containers without a row, whose own record was never usable. */
async function tombstoneEventsWithoutRow(
  session: Session,
  gone: readonly GoneRecord[],
  options: WriteOptions,
): Promise<void> {
  await session.query(
    'tombstone transport events without a container',
    sql`${markGone('data.transport_events', sql.id('container_id'), gone, options)}
    and not exists (
        select from ${tableRef('data.containers')} as owner where owner.container_id = stored.container_id
    )`,
  )
}

async function tombstoneEventsOf(
  session: Session,
  stream: 'transport_events' | 'raw_events',
  containerIds: readonly string[],
  { syncRunId }: WriteOptions,
): Promise<void> {
  await session.query(
    `tombstone ${stream}`,
    sql`update ${tableRef(`data.${stream}`)} as stored
set
    _deleted_at = parent._deleted_at,
    _changed_at = parent._deleted_at,
    _observed_at = parent._deleted_at,
    _sync_run_id = ${syncRunId}
from ${tableRef('data.containers')} as parent
where stored.container_id = any(${containerIds}::text[])
    and parent.container_id = stored.container_id
    and parent._deleted_at is not null
    and stored._deleted_at is null
    and stored._observed_at <= parent._deleted_at`,
  )
}
