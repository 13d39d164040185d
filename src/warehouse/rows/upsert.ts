import type { Column } from '../../source/records/column.js'
import type { Resource, Sighting } from '../../source/records/resource.js'
import {
  anyDistinct,
  coercionsAfter,
  differsSql,
  groupByPresence,
  runsByPresence,
  incomingParameters,
  incomingSql,
  lookUpSql,
  OWN_PARAMETERS,
  presentColumns,
  unmappedAfter,
  valueColumns,
  isConfirming,
  type WriteOptions,
} from './incoming-rows.js'
import { quoteIdentifier, type SchemaNames } from '../connection/schema-names.js'
import { together } from '../connection/together.js'
import type { Session } from '../connection/warehouse.js'

/** A row that was inserted or changed. */
export interface WrittenRow {
  readonly key: string
  readonly isInserted: boolean
}

/**
 * The one write rule of every path. Inserts and updates the rows of one resource and returns those
 * that changed:
 *
 * - newest wins: a row is replaced only by an observation at the same instant or later (`>=`,
 *   because stamps are coarse)
 * - only attributes that were sent are set; absent ones keep their value
 * - a row equal in every value sent is not touched at all, not even locked, unless its stamp is to
 *   be raised
 * - `_changed_at` moves only on a material change; a tombstone is lifted
 *
 * `sightings` hold one per key, sorted. One statement per set of present columns, of which a page
 * has one or two. Idempotent.
 */
export async function upsertRows(
  session: Session,
  resource: Resource,
  sightings: readonly Sighting[],
  options: WriteOptions,
): Promise<WrittenRow[]> {
  // Writers beside the runs take rows strictly by key: two of them must not deadlock.
  const groups = isConfirming(options.mode)
    ? runsByPresence(sightings)
    : groupByPresence(sightings).values()
  const answers = await together(
    [...groups].map((group) => {
      const present = presentColumns(resource, group[0])
      return session.query<Record<string, unknown>>(
        `write ${resource.stream}`,
        upsertSql(resource, present, group[0]?.isComplete ?? false, options),
        [...incomingParameters(resource, present, group), options.syncRunId],
      )
    }),
  )
  return answers.flat().map((row) => toWrittenRow(resource, row))
}

/**
 * Keys of the rows that an upsert left alone because they equal their sightings; locked, as a write
 * would have them. For those whose children or versions may have been changed by hand.
 */
export async function lockEqualRows(
  session: Session,
  names: SchemaNames,
  resource: Resource,
  sightings: readonly Sighting[],
  writtenKeys: readonly string[],
): Promise<string[]> {
  const [idColumn = '', ...others] = resource.keyColumns
  if (resource.historyTable === undefined || others.length > 0) return []
  const written = new Set(writtenKeys)
  const keys = sightings.map(({ key }) => key).filter((key) => !written.has(key))
  if (keys.length === 0) return []
  const rows = await session.query<{ key: string }>(
    `look at ${resource.stream}`,
    `select stored.${quoteIdentifier(idColumn)} as key
from ${names.table(resource.stream)} as stored
where stored.${quoteIdentifier(idColumn)} = any($1::text[])
    and stored._deleted_at is null
order by 1
for no key update`,
    [keys],
  )
  return rows.map(({ key }) => key)
}

function upsertSql(
  resource: Resource,
  present: readonly Column[],
  isComplete: boolean,
  { names, mode }: WriteOptions,
): string {
  const table = names.table(resource.stream)
  const keys = resource.keyColumns.map(quoteIdentifier)
  const columns = present.map(({ name }) => quoteIdentifier(name))
  const values = valueColumns(resource, present)
  const runId = `$${present.length + OWN_PARAMETERS.length + 1}::bigint`
  const own = ['_unmapped', '_coercions', '_fingerprint', '_digest', '_observed_at']
  const inserted = [...columns, ...own, '_first_seen_at', '_changed_at', '_sync_run_id']
  return `with incoming as (
    ${incomingSql(present)}
),
changed as (
    select incoming.*
    from incoming
    left join ${lookUpSql(table, keys, 'incoming')} as stored
        on true
    where stored._observed_at is null
        or (incoming._observed_at >= stored._observed_at and (
            stored._deleted_at is not null
            or ${differsSql(resource, present, isComplete, 'incoming')}
            or (incoming.is_complete and incoming._fingerprint is distinct from stored._fingerprint)
        ))${isConfirming(mode) ? '\n        or incoming._observed_at > stored._observed_at' : ''}
)
insert into ${table} as stored (${inserted.join(', ')})
select ${[...columns, ...own].map((column) => `changed.${column}`).join(', ')},
    changed._observed_at,
    changed._observed_at,
    ${runId}
from changed
order by ${keys.map((key) => `changed.${key}`).join(', ')}
on conflict (${keys.join(', ')}) do update
set
    ${values.map((column) => `${column} = excluded.${column}`).join(',\n    ')}${values.length > 0 ? ',' : ''}
    _unmapped = ${unmappedAfter('excluded')},
    _coercions = ${coercionsAfter('excluded', present, isComplete)},
    _fingerprint = ${hashAfter('_fingerprint', resource, present, isComplete)},
    _digest = ${hashAfter('_digest', resource, present, isComplete)},
    _changed_at = ${changedAt(present)},
    _observed_at = excluded._observed_at,
    _sync_run_id = excluded._sync_run_id,
    _deleted_at = null
where excluded._observed_at >= stored._observed_at
returning ${keys.map((key) => `stored.${key}`).join(', ')}, (xmax = 0) as is_inserted`
}

/**
 * Of a partial record that changes nothing, the hashes of the whole one stay: the next page that
 * brings it is still equal.
 */
function hashAfter(
  column: '_fingerprint' | '_digest',
  resource: Resource,
  present: readonly Column[],
  isComplete: boolean,
): string {
  if (isComplete) return `excluded.${column}`
  return `case when ${differsSql(resource, present, isComplete, 'excluded')} then excluded.${column} else stored.${column} end`
}

function changedAt(present: readonly Column[]): string {
  const material = present.filter(({ isMaterial }) => isMaterial)
  const distinct = anyDistinct(
    'stored',
    'excluded',
    material.map(({ name }) => quoteIdentifier(name)),
  )
  return `case when stored._deleted_at is not null or ${distinct} then excluded._observed_at else stored._changed_at end`
}

function toWrittenRow(resource: Resource, row: Record<string, unknown>): WrittenRow {
  const key = resource.keyColumns.map((name) => String(row[name])).join(' ')
  return { key, isInserted: row.is_inserted === true }
}
