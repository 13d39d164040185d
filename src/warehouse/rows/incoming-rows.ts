import type { Column, EncodedValue } from '../../source/records/column.js'
import type { Resource, Sighting } from '../../source/records/resource.js'
import { quoteIdentifier, type SchemaNames } from '../connection/schema-names.js'

/**
 * How sightings travel into a statement, and when one differs from its row: the same for writing
 * and for comparing.
 */

/**
 * Who writes, and what it believes:
 *
 *   sync      a run; what equals its row by its hash is not written
 *   backfill  a run that believes no hash: every row is compared by value, and what hangs on it is
 *             derived anew
 *   refetch   a worker beside the runs that reads by id what notifications told of
 *   webhook   the notifications themselves
 *
 * The last two are not alone and write in any order: they raise the stamp of a row that they only
 * confirm, so that nothing older can take its place.
 */
export type Mode = 'sync' | 'backfill' | 'refetch' | 'webhook'

export interface WriteOptions {
  readonly names: SchemaNames
  /** Null outside of a run. */
  readonly syncRunId: number | null
  readonly mode: Mode
}

/** Whether a writer works beside the runs. */
export function isConfirming(mode: Mode): boolean {
  return mode === 'refetch' || mode === 'webhook'
}

/** What a history names as its source. */
export function sourceOf(mode: Mode): 'sync' | 'webhook' {
  return isConfirming(mode) ? 'webhook' : 'sync'
}

/** Sightings that are equally complete and have the same columns present go in one statement. */
export function groupByPresence(sightings: readonly Sighting[]): Map<string, Sighting[]> {
  const groups = new Map<string, Sighting[]>()
  for (const sighting of sightings) {
    const presence = presenceOf(sighting)
    const group = groups.get(presence)
    if (group === undefined) groups.set(presence, [sighting])
    else group.push(sighting)
  }
  return groups
}

/** The same, but neighbours only: one group after the other, the order of the sightings is kept. */
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

/** What `incomingSql` binds: $1 and on. */
export function incomingParameters(
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

export const OWN_PARAMETERS = [
  '_unmapped',
  '_coercions',
  '_fingerprint',
  '_digest',
  '_observed_at',
  'is_complete',
]

/** The sightings as a relation: their present columns, then the `OWN_PARAMETERS`. */
export function incomingSql(present: readonly Column[]): string {
  const columns = present.map(({ name }) => quoteIdentifier(name))
  return `select ${present.map(castColumn).join(', ')},
        raw._unmapped::jsonb as _unmapped,
        raw._coercions::jsonb as _coercions,
        raw._fingerprint,
        raw._digest,
        raw._observed_at::timestamptz as _observed_at,
        raw.is_complete
    from unnest(${arrayParameters(present.length)}) as raw (${[...columns, ...OWN_PARAMETERS].join(', ')})`
}

/**
 * The row of `table` with the key of `side`, for a lateral join: one look into the index for each.
 * Of a plain join the planner reads the whole table for every page while that is small or has no
 * statistics, as in a first load.
 */
export function lookUpSql(table: string, keys: readonly string[], side: string): string {
  const condition = keys.map((key) => `candidate.${key} = ${side}.${key}`).join(' and ')
  return `lateral (select candidate.* from ${table} as candidate where ${condition} offset 0)`
}

/**
 * Whether the sighting `side` would change the values of `stored`; a lifted tombstone not counted.
 */
export function differsSql(
  resource: Resource,
  present: readonly Column[],
  isComplete: boolean,
  side: string,
): string {
  const values = valueColumns(resource, present)
  return `${anyDistinct('stored', side, values)}
            or ${unmappedAfter(side)} is distinct from stored._unmapped
            or ${coercionsAfter(side, present, isComplete)} is distinct from stored._coercions`
}

/** Columns that are no part of the key, quoted. */
export function valueColumns(resource: Resource, present: readonly Column[]): string[] {
  return present
    .filter(({ name }) => !resource.keyColumns.includes(name))
    .map(({ name }) => quoteIdentifier(name))
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

export function anyDistinct(one: string, two: string, columns: readonly string[]): string {
  if (columns.length === 0) return 'false'
  const row = (side: string): string => `(${columns.map((name) => `${side}.${name}`).join(', ')})`
  return `${row(one)} is distinct from ${row(two)}`
}

/** What was unmapped and is absent now is kept, as with columns. */
export function unmappedAfter(side: string): string {
  return `nullif(coalesce(stored._unmapped, '{}') || coalesce(${side}._unmapped, '{}'), '{}')`
}

/** A coercion goes when its column is sent again; that of `_unmapped` when the whole record is. */
export function coercionsAfter(
  side: string,
  present: readonly Column[],
  isComplete: boolean,
): string {
  const names = present.map(({ name }) => `'${name}'`).join(', ')
  const sent = `array[${names}]::text[]${isComplete ? ` - '_unmapped'` : ''}`
  return `nullif((coalesce(stored._coercions, '{}') - ${sent}) || coalesce(${side}._coercions, '{}'), '{}')`
}
