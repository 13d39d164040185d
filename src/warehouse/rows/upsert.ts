import { sql, type RawBuilder } from 'kysely'
import type { Column } from '../../source/records/column.js'
import type { Resource, Sighting } from '../../source/records/resource.js'
import {
  coercionsAfter,
  differs,
  groupByPresence,
  incoming,
  incomingValues,
  isConfirming,
  presentColumns,
  runsByPresence,
  shapeOf,
  unmappedAfter,
  valueColumns,
  type Mode,
  type WriteOptions,
} from './incoming-rows.js'
import {
  anyDistinct,
  columnList,
  keptStatement,
  lookUp,
  setToExcluded,
  tableRef,
} from '../connection/typed-database.js'
import { pipeline, type Session } from '../connection/warehouse.js'

/** A row that was inserted or changed. */
export interface WrittenRow {
  readonly key: string
  readonly isInserted: boolean
}

/**
 * The write rule that every path uses. Inserts and updates the rows of one resource and returns the
 * changed ones:
 *
 * - newest wins: a row is replaced only by an observation at the same instant or later (`>=`,
 *   because stamps are coarse)
 * - only attributes that were sent are set; absent ones keep their value
 * - a row equal in every value sent is neither changed nor locked, unless its stamp must rise
 * - `_changed_at` moves only on a material change; a tombstone is lifted
 *
 * `sightings` has one per key, sorted. One statement per set of present columns; a page has one or
 * two such sets. Idempotent.
 */
export async function upsertRows(
  session: Session,
  resource: Resource,
  sightings: readonly Sighting[],
  options: WriteOptions,
): Promise<WrittenRow[]> {
  // Writers beside the runs lock rows strictly by key: two of them must not deadlock.
  const groups = isConfirming(options.mode)
    ? runsByPresence(sightings)
    : groupByPresence(sightings).values()
  const answers = await pipeline(
    [...groups].map((group) => {
      const present = presentColumns(resource, group[0])
      const isComplete = group[0]?.isComplete ?? false
      const { mode, syncRunId } = options
      return session.query(
        `write ${resource.stream}`,
        keptStatement(
          `upsert ${isConfirming(mode)} ${shapeOf(resource, present, isComplete)}`,
          [...incomingValues(resource, present, group), syncRunId],
          (values) => upsert(resource, present, isComplete, mode, values),
        ),
      )
    }),
  )
  return answers.flat().map((row) => toWrittenRow(resource, row))
}

/**
 * Locks the rows that an upsert left alone because they equal their sightings, and returns their
 * keys. Their children or versions may have been changed by hand.
 */
export async function lockEqualRows(
  session: Session,
  resource: Resource,
  sightings: readonly Sighting[],
  writtenKeys: readonly string[],
): Promise<string[]> {
  const [idColumn = '', ...others] = resource.keyColumns
  if (resource.historyTable === undefined || others.length > 0) return []
  const written = new Set(writtenKeys)
  const keys = sightings.map(({ key }) => key).filter((key) => !written.has(key))
  if (keys.length === 0) return []
  const rows = await session.query(
    `look at ${resource.stream}`,
    sql<{ key: string }>`select stored.${sql.id(idColumn)} as key
from ${tableRef(`data.${resource.stream}`)} as stored
where stored.${sql.id(idColumn)} = any(${keys}::text[])
    and stored._deleted_at is null
order by 1
for no key update`,
  )
  return rows.map(({ key }) => key)
}

/** `values`: those of `incoming`, then the run. */
function upsert(
  resource: Resource,
  present: readonly Column[],
  isComplete: boolean,
  mode: Mode,
  values: readonly RawBuilder<unknown>[],
): RawBuilder<Record<string, unknown>> {
  const table = tableRef(`data.${resource.stream}`)
  const keys = resource.keyColumns
  const changing = valueColumns(resource, present)
  const own = ['_unmapped', '_coercions', '_fingerprint', '_digest', '_observed_at']
  const sent = [...present.map(({ name }) => name), ...own]
  return sql`with incoming as (
    ${incoming(present, values)}
),
changed as (
    select incoming.*
    from incoming
    left join ${lookUp(table, keys, 'incoming')} as stored
        on true
    where stored._observed_at is null
        or (incoming._observed_at >= stored._observed_at and (
            stored._deleted_at is not null
            or ${differs(resource, present, isComplete, 'incoming')}
            or (incoming.is_complete and incoming._fingerprint is distinct from stored._fingerprint)
        ))
        ${isConfirming(mode) ? sql`or incoming._observed_at > stored._observed_at` : sql``}
)
insert into ${table} as stored
    (${columnList([...sent, '_first_seen_at', '_changed_at', '_sync_run_id'])})
select ${columnList(sent, 'changed')},
    changed._observed_at,
    changed._observed_at,
    ${values.at(-1)}::bigint
from changed
order by ${columnList(keys, 'changed')}
on conflict (${columnList(keys)}) do update
set
    ${changing.length > 0 ? sql`${setToExcluded(changing)},` : sql``}
    _unmapped = ${unmappedAfter('excluded')},
    _coercions = ${coercionsAfter('excluded', present, isComplete)},
    _fingerprint = ${hashAfter('_fingerprint', resource, present, isComplete)},
    _digest = ${hashAfter('_digest', resource, present, isComplete)},
    _changed_at = ${changedAt(present)},
    _observed_at = excluded._observed_at,
    _sync_run_id = excluded._sync_run_id,
    _deleted_at = null
where excluded._observed_at >= stored._observed_at
returning ${columnList(keys, 'stored')}, (xmax = 0) as is_inserted`
}

/**
 * A partial record that changes nothing leaves the hashes of the whole one, so that the next page
 * with that record still equals it.
 */
function hashAfter(
  column: '_fingerprint' | '_digest',
  resource: Resource,
  present: readonly Column[],
  isComplete: boolean,
): RawBuilder<unknown> {
  const sent = sql.id('excluded', column)
  if (isComplete) return sent
  return sql`case when ${differs(resource, present, isComplete, 'excluded')} then ${sent} else ${sql.id('stored', column)} end`
}

function changedAt(present: readonly Column[]): RawBuilder<unknown> {
  const material = present.filter(({ isMaterial }) => isMaterial).map(({ name }) => name)
  return sql`case when stored._deleted_at is not null or ${anyDistinct('stored', 'excluded', material)} then excluded._observed_at else stored._changed_at end`
}

function toWrittenRow(resource: Resource, row: Record<string, unknown>): WrittenRow {
  const key = resource.keyColumns.map((name) => String(row[name])).join(' ')
  return { key, isInserted: row.is_inserted === true }
}
