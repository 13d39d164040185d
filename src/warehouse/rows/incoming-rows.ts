import { sql, type RawBuilder } from 'kysely'
import type { Column, EncodedValue } from '../../source/records/column.js'
import type { Resource, Sighting } from '../../source/records/resource.js'
import { anyDistinct, anyTrue, columnList } from '../connection/typed-database.js'

/** How sightings travel into a statement, and when one differs from its row. */

/**
 * The kinds of writers, and what each believes:
 *
 *   sync      a run; a record whose hash equals its row's is not written
 *   backfill  a run that ignores hashes: every row is compared by value, and its children and
 *             versions are derived again
 *   refetch   a worker beside the runs that reads the records of notifications by id
 *   webhook   the notifications themselves
 *
 * The last two work beside other writers, in any order. They raise the stamp of a row even when
 * they only confirm it, so that an older observation cannot replace it.
 */
export type Mode = 'sync' | 'backfill' | 'refetch' | 'webhook'

export interface WriteOptions {
  /** Null outside a run. */
  readonly syncRunId: number | null
  readonly mode: Mode
}

/** Whether a writer works beside the runs. */
export function isConfirming(mode: Mode): boolean {
  return mode === 'refetch' || mode === 'webhook'
}

/** The source that a history records. */
export function sourceOf(mode: Mode): 'sync' | 'webhook' {
  return isConfirming(mode) ? 'webhook' : 'sync'
}

/** Groups sightings for one statement each: equally complete, with the same columns present. */
export function groupByPresence(sightings: readonly Sighting[]): Map<string, Sighting[]> {
  const groups = new Map<string, Sighting[]>()
  for (const sighting of sightings) append(groups, presenceOf(sighting), sighting)
  return groups
}

/** Adds to the list of a key. */
export function append<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [value])
  else list.push(value)
}

/** Like `groupByPresence`, but groups neighbours only: the order of the sightings is kept. */
export function runsByPresence(sightings: readonly Sighting[]): Sighting[][] {
  const runs: Sighting[][] = []
  let last: string | undefined
  for (const sighting of sightings) {
    const presence = presenceOf(sighting)
    if (presence === last) runs.at(-1)?.push(sighting)
    else runs.push([sighting])
    last = presence
  }
  return runs
}

function presenceOf({ values, isComplete }: Sighting): string {
  let presence = isComplete ? 'complete ' : 'partial '
  for (const value of values) presence += value === undefined ? '0' : '1'
  return presence
}

export function presentColumns(
  resource: Resource,
  sighting: Sighting | undefined,
): readonly Column[] {
  return resource.columns.filter((_, index) => sighting?.values[index] !== undefined)
}

/** The parameters of `incoming`. */
export function incomingValues(
  resource: Resource,
  present: readonly Column[],
  group: readonly Sighting[],
): unknown[] {
  const arrays: EncodedValue[][] = present.map(({ name }) => {
    const index = resource.columnIndex.get(name) ?? -1
    return group.map(({ values }) => values[index] ?? null)
  })
  return [
    ...arrays,
    group.map(({ unmapped }) => unmapped),
    group.map(({ coercions }) => coercions),
    group.map(({ fingerprint }) => fingerprint),
    group.map(({ digest }) => digest),
    group.map(({ observedAt }) => observedAt.toISOString()),
    group.map(({ isComplete }) => isComplete),
  ]
}

const OWN_VALUES = [
  '_unmapped',
  '_coercions',
  '_fingerprint',
  '_digest',
  '_observed_at',
  'is_complete',
]

/** The sightings as a relation: their present columns, then those of `OWN_VALUES`. */
export function incoming(
  present: readonly Column[],
  values: readonly RawBuilder<unknown>[],
): RawBuilder<unknown> {
  const names = [...present.map(({ name }) => name), ...OWN_VALUES]
  const arrays = names.map((name, at) =>
    name === 'is_complete' ? sql`${values[at]}::boolean[]` : sql`${values[at]}::text[]`,
  )
  return sql`select ${sql.join(present.map(castColumn))},
        raw._unmapped::jsonb as _unmapped,
        raw._coercions::jsonb as _coercions,
        raw._fingerprint,
        raw._digest,
        raw._observed_at::timestamptz as _observed_at,
        raw.is_complete
    from unnest(${sql.join(arrays)}) as raw (${columnList(names)})`
}

/** Key of a statement over these sightings: equal shapes have equal texts. */
export function shapeOf(
  resource: Resource,
  present: readonly Column[],
  isComplete: boolean,
): string {
  return `${resource.stream} ${isComplete ? 'complete' : 'partial'} ${present.map(({ name }) => name).join(' ')}`
}

/**
 * Whether the sighting `side` would change a value of `stored`. Lifting a tombstone does not count.
 */
export function differs(
  resource: Resource,
  present: readonly Column[],
  isComplete: boolean,
  side: string,
): RawBuilder<boolean> {
  return anyTrue([
    anyDistinct('stored', side, valueColumns(resource, present)),
    sql`${unmappedAfter(side)} is distinct from stored._unmapped`,
    sql`${coercionsAfter(side, present, isComplete)} is distinct from stored._coercions`,
  ])
}

/** Columns outside the key. */
export function valueColumns(resource: Resource, present: readonly Column[]): string[] {
  return present.map(({ name }) => name).filter((name) => !resource.keyColumns.includes(name))
}

function castColumn({ name, type }: Column): RawBuilder<unknown> {
  const column = sql.id('raw', name)
  return type === 'text' ? column : sql`${column}::${sql.raw(type)} as ${sql.id(name)}`
}

/** The unmapped attributes after the write. Absent ones are kept, as with columns. */
export function unmappedAfter(side: string): RawBuilder<unknown> {
  return sql`nullif(coalesce(stored._unmapped, '{}') || coalesce(${sql.id(side)}._unmapped, '{}'), '{}')`
}

/** The coercions after the write: without those of columns that were sent again. */
export function coercionsAfter(
  side: string,
  present: readonly Column[],
  isComplete: boolean,
): RawBuilder<unknown> {
  const names = sql.join(present.map(({ name }) => sql.lit(name)))
  const sent = isComplete
    ? sql`array[${names}]::text[] - '_unmapped'`
    : sql`array[${names}]::text[]`
  return sql`nullif((coalesce(stored._coercions, '{}') - ${sent}) || coalesce(${sql.id(side)}._coercions, '{}'), '{}')`
}
