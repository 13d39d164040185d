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

  constructor({ data, sync, analytics, asOf, datasync, stored }: Schemas) {
    super()
    this.#names = new Map(Object.entries({ data, sync, analytics, asOf, datasync, stored }))
  }

  protected override transformSchemableIdentifier(
    node: SchemableIdentifierNode,
  ): SchemableIdentifierNode {
    const name = this.#names.get(node.schema?.name ?? '')
    if (node.schema === undefined || name === undefined) return node
    return { ...node, schema: { ...node.schema, name } }
  }
}
