import type { Column, EncodedValue } from '../resources/column.js'
import { containers } from '../resources/index.js'
import type { Resource } from '../resources/resource.js'
import { quoteIdentifier, type SchemaNames } from './schema-names.js'
import type { Sighting } from './sighting.js'
import type { Session } from './warehouse.js'

/** A row that was inserted or changed. */
export interface WrittenRow {
  readonly key: string
  /** Values of the key columns. */
  readonly keyValues: readonly string[]
  readonly isInserted: boolean
  /** Containers only: what the rows below them are derived from; undefined elsewhere. */
  readonly stored?: Readonly<Record<string, string | null>>
}

export interface UpsertOptions {
  readonly names: SchemaNames
  readonly syncRunId: number | null
}

/**
 * The one write rule of every path. Inserts and updates the rows of one resource and returns those that changed:
 *
 * - newest wins: a row is replaced only by an observation at the same instant or later (`>=`, because stamps are coarse)
 * - only attributes that were sent are set; absent ones keep their value
 * - a row equal in every value sent is not touched at all, not even locked
 * - `_changed_at` moves only on a material change; a tombstone is lifted
 *
 * `sightings` hold one per key, sorted. One statement per set of present columns, of which a page has one or two. Idempotent.
 */
export async function upsertRows(
  session: Session,
  resource: Resource,
  sightings: readonly Sighting[],
  options: UpsertOptions,
): Promise<WrittenRow[]> {
  const written: WrittenRow[] = []
  for (const group of groupByPresence(sightings).values()) {
    const present = presentColumns(resource, group[0])
    const rows = await session.query<Record<string, unknown>>(
      `write ${resource.stream}`,
      upsertSql(options.names, resource, present, group[0]?.isComplete ?? false),
      upsertParameters(resource, present, group, options),
    )
    for (const row of rows) written.push(toWrittenRow(resource, row))
  }
  return written
}

/** Sightings that are equally complete and have the same columns present go in one statement. */
function groupByPresence(sightings: readonly Sighting[]): Map<string, Sighting[]> {
  const groups = new Map<string, Sighting[]>()
  for (const sighting of sightings) {
    let signature = sighting.isComplete ? 'complete ' : 'partial '
    for (const value of sighting.record.values) signature += value === undefined ? '0' : '1'
    const group = groups.get(signature)
    if (group === undefined) groups.set(signature, [sighting])
    else group.push(sighting)
  }
  return groups
}

function presentColumns(resource: Resource, sighting: Sighting | undefined): readonly Column[] {
  return resource.columns.filter((_, index) => sighting?.record.values[index] !== undefined)
}

function upsertParameters(
  resource: Resource,
  present: readonly Column[],
  group: readonly Sighting[],
  options: UpsertOptions,
): unknown[] {
  const arrays: EncodedValue[][] = present.map(({ name }) => {
    const index = resource.columnIndex.get(name) ?? -1
    return group.map(({ record }) => record.values[index] ?? null)
  })
  return [
    ...arrays,
    group.map(({ record }) => record.unmapped),
    group.map(({ record }) => record.coercions),
    group.map(({ record }) => record.fingerprint),
    group.map(({ observedAt }) => observedAt.toISOString()),
    group.map(({ isComplete }) => isComplete),
    options.syncRunId,
  ]
}

const OWN_PARAMETERS = ['_unmapped', '_coercions', '_fingerprint', '_observed_at', 'is_complete']

function upsertSql(
  names: SchemaNames,
  resource: Resource,
  present: readonly Column[],
  isComplete: boolean,
): string {
  const sent = [...present.map(({ name }) => name), ...(isComplete ? ['_unmapped'] : [])]
  const table = `${quoteIdentifier(names.data)}.${quoteIdentifier(resource.stream)}`
  const keys = resource.keyColumns.map(quoteIdentifier)
  const columns = present.map(({ name }) => quoteIdentifier(name))
  const valueColumns = present
    .filter(({ name }) => !resource.keyColumns.includes(name))
    .map(({ name }) => quoteIdentifier(name))
  const runId = `$${present.length + OWN_PARAMETERS.length + 1}::bigint`
  const own = ['_unmapped', '_coercions', '_fingerprint', '_observed_at']
  const inserted = [...columns, ...own, '_first_seen_at', '_changed_at', '_sync_run_id']
  return `with incoming as (
    select ${present.map(castColumn).join(', ')},
        raw._unmapped::jsonb as _unmapped,
        raw._coercions::jsonb as _coercions,
        raw._fingerprint,
        raw._observed_at::timestamptz as _observed_at,
        raw.is_complete
    from unnest(${arrayParameters(present.length)}) as raw (${[...columns, ...OWN_PARAMETERS].join(', ')})
),
changed as (
    select incoming.*
    from incoming
    left join ${table} as stored
        on ${keys.map((key) => `stored.${key} = incoming.${key}`).join(' and ')}
    where stored._observed_at is null
        or (incoming._observed_at >= stored._observed_at and (
            stored._deleted_at is not null
            or ${anyDistinct('stored', 'incoming', valueColumns)}
            or ${unmappedAfter('incoming')} is distinct from stored._unmapped
            or ${coercionsAfter('incoming', sent)} is distinct from stored._coercions
            or (incoming.is_complete and incoming._fingerprint is distinct from stored._fingerprint)
        ))
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
    ${valueColumns.map((column) => `${column} = excluded.${column}`).join(',\n    ')}${valueColumns.length > 0 ? ',' : ''}
    _unmapped = ${unmappedAfter('excluded')},
    _coercions = ${coercionsAfter('excluded', sent)},
    _fingerprint = excluded._fingerprint,
    _changed_at = ${changedAt(present)},
    _observed_at = excluded._observed_at,
    _sync_run_id = excluded._sync_run_id,
    _deleted_at = null
where excluded._observed_at >= stored._observed_at
returning ${keys.map((key) => `stored.${key}`).join(', ')}, (xmax = 0) as is_inserted${childInputs(resource)}`
}

function castColumn({ name, type }: Column): string {
  const column = quoteIdentifier(name)
  return type === 'text' ? `raw.${column}` : `raw.${column}::${type} as ${column}`
}

function arrayParameters(presentColumnCount: number): string {
  const types = [...OWN_PARAMETERS.slice(0, -1).map(() => 'text[]'), 'boolean[]']
  return [...Array<string>(presentColumnCount).fill('text[]'), ...types]
    .map((type, index) => `$${index + 1}::${type}`)
    .join(', ')
}

function anyDistinct(one: string, two: string, columns: readonly string[]): string {
  if (columns.length === 0) return 'false'
  const row = (side: string): string => `(${columns.map((name) => `${side}.${name}`).join(', ')})`
  return `${row(one)} is distinct from ${row(two)}`
}

/** What was unmapped and is absent now is kept, as with columns. */
function unmappedAfter(side: string): string {
  return `nullif(coalesce(stored._unmapped, '{}') || coalesce(${side}._unmapped, '{}'), '{}')`
}

/** A coercion is dropped when its column is sent again; that of `_unmapped` when the whole record is. */
function coercionsAfter(side: string, sent: readonly string[]): string {
  const names = sent.map((name) => `'${name}'`).join(', ')
  return `nullif((coalesce(stored._coercions, '{}') - array[${names}]::text[]) || coalesce(${side}._coercions, '{}'), '{}')`
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

const CHILD_INPUTS = [
  'pickup_lfd',
  'pickup_lfd_terminal',
  'pickup_lfd_rail',
  'pickup_lfd_line',
  'pod_timezone',
  'final_destination_timezone',
  'holds_at_pod_terminal',
  'fees_at_pod_terminal',
] as const

/** Texts, so that digits of amounts survive; instants in RFC 3339. */
function childInputs(resource: Resource): string {
  if (resource !== containers) return ''
  const texts = CHILD_INPUTS.map((name) => {
    const isInstant = name.startsWith('pickup_lfd')
    return isInstant
      ? `to_char(stored.${name}, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as ${name}`
      : `stored.${name}::text as ${name}`
  })
  return `, ${texts.join(', ')}, stored._coercions::text as coercions`
}

function toWrittenRow(resource: Resource, row: Record<string, unknown>): WrittenRow {
  const keyValues = resource.keyColumns.map((name) => String(row[name]))
  const base = { key: keyValues.join(' '), keyValues, isInserted: row.is_inserted === true }
  if (resource !== containers) return base
  const stored: Record<string, string | null> = {}
  for (const name of [...CHILD_INPUTS, 'coercions']) {
    const value = row[name]
    stored[name] = typeof value === 'string' ? value : null
  }
  return { ...base, stored }
}
