import { sql } from 'kysely'
import { anyOf } from '../connection/typed-statements.js'
import type { SchemaDriftTable } from '../connection/tables.js'
import type { Session, Warehouse } from '../connection/warehouse.js'

/** One thing in which the source differs from what this version knows. */
export interface DriftFinding extends Pick<SchemaDriftTable, 'stream' | 'kind'> {
  /** The attribute, `attribute: value` or the type, shortened. */
  readonly name: string
}

/**
 * Records what was found and returns what is new. What is known is touched at most once a day, so
 * that a run over an unchanged source writes nothing: it costs one query.
 */
export async function recordSchemaDrift(
  warehouse: Warehouse,
  findings: readonly DriftFinding[],
  syncRunId: number,
): Promise<DriftFinding[]> {
  if (findings.length === 0) return []
  const table = warehouse.names.table('schema_drift')
  const due = await warehouse.query<DriftFinding>(
    'look for schema drift',
    `select found.stream, found.kind, found.name
from unnest($1::text[], $2::text[], $3::text[]) as found (stream, kind, name)
where not exists (
    select from ${table} as known
    where known.stream = found.stream
        and known.kind = found.kind
        and known.name = found.name
        and known.last_seen_at >= now() - interval '1 day'
)`,
    toColumns(findings),
  )
  if (due.length === 0) return []
  const written = await warehouse.transaction('record schema drift', (session) =>
    session.query<DriftFinding & { is_new: boolean }>(
      'record schema drift',
      `insert into ${table} as known (stream, kind, name, sync_run_id)
select found.stream, found.kind, found.name, $4::bigint
from unnest($1::text[], $2::text[], $3::text[]) as found (stream, kind, name)
order by found.stream, found.kind, found.name
on conflict (stream, kind, name) do update
set last_seen_at = excluded.last_seen_at
returning stream, kind, name, first_seen_at = last_seen_at as is_new`,
      [...toColumns(due), syncRunId],
    ),
  )
  return written
    .filter(({ is_new }) => is_new)
    .map(({ stream, kind, name }) => ({ stream, kind, name }))
}

function toColumns(findings: readonly DriftFinding[]): string[][] {
  return [
    findings.map(({ stream }) => stream),
    findings.map(({ kind }) => kind),
    findings.map(({ name }) => name),
  ]
}

/** The attributes that records of the given streams were last seen to carry. */
export async function loadSeenAttributes(
  session: Session,
  streams: readonly string[],
): Promise<Map<string, ReadonlySet<string>>> {
  const rows = await session.sync
    .selectFrom('seen_attributes')
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

/** Adds and removes attributes of a stream. */
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
      `insert into ${session.names.table('seen_attributes')} (stream, attribute, sync_run_id)
select $1, attribute, $3::bigint
from unnest($2::text[]) as added (attribute)
on conflict do nothing`,
      [stream, added, syncRunId],
    )
  }
  if (gone.length > 0) {
    await session.sync
      .deleteFrom('seen_attributes')
      .where('stream', '=', stream)
      .where('attribute', '=', anyOf(gone))
      .execute()
  }
}

/** Live rows of a stream. Reads the whole table. */
export async function countLiveRows(warehouse: Warehouse, stream: string): Promise<number> {
  const [row] = await warehouse.query<{ count: number }>(
    `count ${stream}`,
    `select count(*) as count
from ${warehouse.names.in('data', stream)}
where _deleted_at is null`,
  )
  return row?.count ?? 0
}

/** What the service was found to understand, for example the includes of a list. */
export interface Capability {
  readonly capability: string
  readonly isSupported: boolean
  readonly detail: Readonly<Record<string, unknown>>
}

/** Remembers a finding in place of the last one. */
export async function saveCapability(session: Session, found: Capability): Promise<void> {
  const values = {
    is_supported: found.isSupported,
    detail: JSON.stringify(found.detail),
    checked_at: sql<string>`now()`,
  }
  await session.sync
    .insertInto('source_capabilities')
    .values({ capability: found.capability, ...values })
    .onConflict((conflict) => conflict.column('capability').doUpdateSet(values))
    .execute()
}

export interface FoundCapability extends Capability {
  /** Older than a day: time to try again. */
  readonly isStale: boolean
}

export async function loadCapability(
  session: Session,
  capability: string,
): Promise<FoundCapability | undefined> {
  const row = await session.sync
    .selectFrom('source_capabilities')
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
