import {
  OperationNodeTransformer,
  sql,
  CompiledQuery,
  type Kysely,
  type KyselyPlugin,
  type QueryResult,
  type RawBuilder,
  type RootOperationNode,
  type SchemableIdentifierNode,
  type UnknownRow,
} from 'kysely'
import type { AnalyticsTables, DataTables } from './data-tables.js'
import type { Schemas } from './schema-names.js'
import type { SyncTables } from './tables.js'

type InSchema<Schema extends string, Tables> = {
  [Name in keyof Tables as `${Schema}.${Name & string}`]: Tables[Name]
}

/**
 * Every table of a warehouse, with its schema: `data.containers`, `sync.lease`. `SchemaPlugin`
 * replaces the schemas by those of run time (`TRACKING_SCHEMA`).
 */
export type Database = InSchema<'data', DataTables> &
  InSchema<'sync', SyncTables> &
  InSchema<'analytics', AnalyticsTables>

/** A statement of the `sql` tag or kysely's builder, compiled or not. */
export type Statement<Row> =
  { compile(by: Kysely<Database>): CompiledQuery<Row> } | CompiledQuery<Row>

/** A table in a `sql` text; a misspelt name is an error of the compiler. */
export function tableRef(name: keyof Database): RawBuilder<unknown> {
  return sql.table(name)
}

/** A view or a function of one of the schemas in a `sql` text: `relationRef('analytics.stays')`. */
export function relationRef(name: `${keyof Schemas}.${string}`): RawBuilder<unknown> {
  return sql.table(name)
}

/** A statement from a finished text: shipped in `sql/`, or made of quoted names alone. */
export function rawStatement<Row = unknown>(
  sqlText: string,
  parameters: readonly unknown[] = [],
): CompiledQuery<Row> {
  return CompiledQuery.raw(sqlText, [...parameters])
}

/**
 * Puts the schema names of one warehouse into each statement of the builder and of the `sql` tag.
 */
export class SchemaPlugin implements KyselyPlugin {
  readonly #transformer: OperationNodeTransformer

  constructor(names: Schemas) {
    this.#transformer = new SchemaTransformer(names)
  }

  transformQuery({
    node,
    queryId,
  }: Parameters<KyselyPlugin['transformQuery']>[0]): RootOperationNode {
    return this.#transformer.transformNode(node, queryId)
  }

  transformResult({
    result,
  }: Parameters<KyselyPlugin['transformResult']>[0]): Promise<QueryResult<UnknownRow>> {
    return Promise.resolve(result)
  }
}

class SchemaTransformer extends OperationNodeTransformer {
  readonly #names: ReadonlyMap<string, string>

  constructor(names: Schemas) {
    super()
    this.#names = new Map(Object.entries(names))
  }

  protected override transformSchemableIdentifier(
    node: SchemableIdentifierNode,
  ): SchemableIdentifierNode {
    const name = this.#names.get(node.schema?.name ?? '')
    if (node.schema === undefined || name === undefined) return node
    return { ...node, schema: { ...node.schema, name } }
  }
}

/** A column, by its name or as `side.name`. */
export function columnRef(name: string, side?: string): RawBuilder<unknown> {
  return side === undefined ? sql.id(name) : sql.id(side, name)
}

/** The named members of rows, one list each, for `unnest`. */
export function textLists<Name extends string>(
  rows: readonly Readonly<Record<Name, string | null | undefined>>[],
  names: readonly Name[],
): RawBuilder<unknown> {
  return sql.join(names.map((name) => sql`${rows.map((row) => row[name])}::text[]`))
}

/** Columns with commas between them. */
export function columnList(names: readonly string[], side?: string): RawBuilder<unknown> {
  return sql.join(names.map((name) => columnRef(name, side)))
}

/** `name = excluded.name` for each: the other half of an upsert. */
export function setToExcluded(names: readonly string[]): RawBuilder<unknown> {
  return sql.join(names.map((name) => sql`${sql.id(name)} = ${sql.id('excluded', name)}`))
}

/** Whether two rows have the same key, which is never null. */
export function haveSameKey(
  one: string,
  two: string,
  keys: readonly string[],
): RawBuilder<boolean> {
  return allTrue(keys.map((key) => sql`${sql.id(one, key)} = ${sql.id(two, key)}`))
}

/** Whether two rows differ in one of the columns; false without columns. */
export function anyDistinct(
  one: string,
  two: string,
  columns: readonly string[],
): RawBuilder<boolean> {
  if (columns.length === 0) return sql`false`
  return sql`(${columnList(columns, one)}) is distinct from (${columnList(columns, two)})`
}

/** `= any (…)` for texts: one parameter for a list of any length. */
export function anyOf(texts: readonly string[]) {
  return sql<string>`any(${texts}::text[])`
}

export function allTrue(conditions: readonly RawBuilder<unknown>[]): RawBuilder<boolean> {
  return sql`(${sql.join(conditions, sql` and `)})`
}

export function anyTrue(conditions: readonly RawBuilder<unknown>[]): RawBuilder<boolean> {
  return sql`(${sql.join(conditions, sql` or `)})`
}

/** The values of the key columns as one text, with spaces between them. */
export function keyText(keys: readonly string[], side: string): RawBuilder<string> {
  return sql`${sql.join(
    keys.map((key) => sql.id(side, key)),
    sql` || ' ' || `,
  )}`
}

/**
 * The row of `table` with the key of `side`, for a lateral join: one index look-up each. For a
 * plain join the planner reads the whole table for every page while the table is small or lacks
 * statistics, as in a first load.
 */
export function lookUp(
  table: RawBuilder<unknown>,
  keys: readonly string[],
  side: string,
): RawBuilder<unknown> {
  return sql`lateral (select candidate.* from ${table} as candidate where ${haveSameKey('candidate', side, keys)} offset 0)`
}

interface Kept {
  readonly sql: string
  /** By parameter of the text, the index of its value. */
  readonly places: readonly number[]
}

/** Placeholder for a value while a text is made. */
class Place {
  readonly at: number
  constructor(at: number) {
    this.at = at
  }
}

const keptBy = new WeakMap<Kysely<Database>, Map<string, Kept>>()

/** A bound on memory: texts depend on the attributes that records carry. */
const MOST_KEPT = 2000

/**
 * A wide statement that is built once for each `key` and warehouse, and only gets new values later:
 * building one of sixty columns takes as long as running it. `key` must contain everything that the
 * text depends on; `build` gets one fragment for each value and may use it any number of times.
 */
export function keptStatement<Row>(
  key: string,
  values: readonly unknown[],
  build: (values: readonly RawBuilder<unknown>[]) => RawBuilder<Row>,
): Statement<Row> {
  return {
    compile(db) {
      const { sql: text, places } = textOf(db, key, () =>
        build(values.map((_, at) => sql`${new Place(at)}`)),
      )
      return CompiledQuery.raw(
        text,
        places.map((at) => values[at]),
      )
    },
  }
}

function textOf(db: Kysely<Database>, key: string, build: () => RawBuilder<unknown>): Kept {
  const kept = keptBy.get(db) ?? new Map<string, Kept>()
  keptBy.set(db, kept)
  const found = kept.get(key)
  if (found !== undefined) return found
  const { sql: text, parameters } = build().compile(db)
  const places = parameters.map((value) => {
    if (!(value instanceof Place)) throw new Error(`a value is fixed in the statement ${key}`)
    return value.at
  })
  if (kept.size >= MOST_KEPT) kept.clear()
  const made = { sql: text, places }
  kept.set(key, made)
  return made
}

/** The order of collation "C" for the ids that we accept. */
export function compareKeys(one: string, two: string): number {
  return one < two ? -1 : one > two ? 1 : 0
}
