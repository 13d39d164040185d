import { sql, type RawBuilder } from 'kysely'
import type { SyncTables } from '../connection/tables.js'
import type { Session, Warehouse } from '../connection/warehouse.js'
import { anyOf, tableRef, relationRef, textLists } from '../connection/typed-database.js'

/** One difference between the source and the schema that this version knows. */
export interface DriftFinding extends Pick<SyncTables['schema_drift'], 'stream' | 'kind'> {
  /** The attribute, `attribute: value` or the type, shortened. */
  readonly name: string
}

/**
 * Records findings and returns the new ones. A known finding is touched at most once a day, so that
 * a run over an unchanged source costs one query and writes nothing.
 */
export async function recordSchemaDrift(
  warehouse: Warehouse,
  findings: readonly DriftFinding[],
  syncRunId: number,
): Promise<DriftFinding[]> {
  if (findings.length === 0) return []
  const table = tableRef('sync.schema_drift')
  const due = await warehouse.query(
    'look for schema drift',
    sql<DriftFinding>`select found.stream, found.kind, found.name
from ${asRows(findings)} as found
where not exists (
    select from ${table} as known
    where known.stream = found.stream
        and known.kind = found.kind
        and known.name = found.name
        and known.last_seen_at >= now() - interval '1 day'
)`,
  )
  if (due.length === 0) return []
  const written = await warehouse.transaction('record schema drift', (session) =>
    session.query(
      'record schema drift',
      sql<
        DriftFinding & { is_new: boolean }
      >`insert into ${table} as known (stream, kind, name, sync_run_id)
select found.stream, found.kind, found.name, ${syncRunId}::bigint
from ${asRows(due)} as found
order by found.stream, found.kind, found.name
on conflict (stream, kind, name) do update
set last_seen_at = excluded.last_seen_at
returning stream, kind, name, first_seen_at = last_seen_at as is_new`,
    ),
  )
  return written
    .filter(({ is_new }) => is_new)
    .map(({ stream, kind, name }) => ({ stream, kind, name }))
}

/** A relation with the columns `stream`, `kind` and `name`. */
function asRows(findings: readonly DriftFinding[]): RawBuilder<unknown> {
  return sql`(
    select * from unnest(${textLists(findings, ['stream', 'kind', 'name'])}) as given (stream, kind, name)
)`
}

/** The attributes that records of the given streams last carried. */
export async function loadSeenAttributes(
  session: Session,
  streams: readonly string[],
): Promise<Map<string, ReadonlySet<string>>> {
  const rows = await session.db
    .selectFrom('sync.seen_attributes')
    .select(['stream', 'attribute'])
    .where('stream', '=', anyOf(streams))
    .execute()
  const byStream = new Map<string, Set<string>>()
  for (const { stream, attribute } of rows) {
    const attributes = byStream.get(stream)
    if (attributes === undefined) byStream.set(stream, new Set([attribute]))
    else attributes.add(attribute)
  }
  return byStream
}

/** Adds and removes seen attributes of a stream. */
export async function reviseSeenAttributes(
  session: Session,
  stream: string,
  revision: { readonly added: readonly string[]; readonly gone: readonly string[] },
  syncRunId: number,
): Promise<void> {
  const { added, gone } = revision
  if (added.length > 0) {
    await session.query(
      'record attributes',
      sql`insert into ${tableRef('sync.seen_attributes')} (stream, attribute, sync_run_id)
select ${stream}, attribute, ${syncRunId}::bigint
from unnest(${added}::text[]) as added (attribute)
on conflict do nothing`,
    )
  }
  if (gone.length > 0) {
    await session.db
      .deleteFrom('sync.seen_attributes')
      .where('stream', '=', stream)
      .where('attribute', '=', anyOf(gone))
      .execute()
  }
}

/** Live rows of a stream. Reads the whole table. */
export async function countLiveRows(warehouse: Warehouse, stream: string): Promise<number> {
  const [row] = await warehouse.query(
    `count ${stream}`,
    sql<{ count: number }>`select count(*) as count
from ${relationRef(`data.${stream}`)}
where _deleted_at is null`,
  )
  return row?.count ?? 0
}

/** A capability of the service, such as the includes that a list understands. */
export interface Capability {
  readonly capability: string
  readonly isSupported: boolean
  readonly detail: Readonly<Record<string, unknown>>
}

/** Saves a finding in place of the last one. */
export async function saveCapability(session: Session, found: Capability): Promise<void> {
  const values = {
    is_supported: found.isSupported,
    detail: JSON.stringify(found.detail),
    checked_at: sql<string>`now()`,
  }
  await session.db
    .insertInto('sync.source_capabilities')
    .values({ capability: found.capability, ...values })
    .onConflict((conflict) => conflict.column('capability').doUpdateSet(values))
    .execute()
}

export interface FoundCapability extends Capability {
  /** The finding is older than a day: test the service again. */
  readonly isStale: boolean
}

export async function loadCapability(
  session: Session,
  capability: string,
): Promise<FoundCapability | undefined> {
  const row = await session.db
    .selectFrom('sync.source_capabilities')
    .select(['capability', 'is_supported', 'detail'])
    .select(sql<boolean>`checked_at < now() - interval '1 day'`.as('is_stale'))
    .where('capability', '=', capability)
    .executeTakeFirst()
  if (row === undefined) return undefined
  return {
    capability: row.capability,
    isSupported: row.is_supported,
    detail: row.detail ?? {},
    isStale: row.is_stale,
  }
}
