import { sql } from 'kysely'
import { USERS_TABLES, type Schemas } from '../../warehouse/connection/schema-names.js'
import { readShippedQueries } from '../answers/questions/shipped-queries.js'
import { isDistributed } from '../accounts/distribute/citus.js'
import type { CatalogReader } from '../../warehouse/schema/shipped-tables.js'
import { readShippedTables } from '../../warehouse/schema/shipped-tables.js'
import { toLakeColumns, type CatalogColumn, type LakeColumn } from './column-types.js'

/** A table or an answer, as it is exported. */
export interface LakeTable {
  /** Folder in the lake: `tables/containers`, `answers/attention`. */
  readonly folder: string
  readonly schema: keyof Schemas
  readonly name: string
  readonly columns: readonly LakeColumn[]
  /** The columns of the primary key; empty for an answer. */
  readonly key: readonly string[]
  /**
   * `changes`: rows are never removed, a tombstone marks them, so what changed can be added.
   * `whole`: all rows each time.
   */
  readonly kind: 'changes' | 'whole'
  /** For `changes` only: the column whose month, in UTC, names the partition. */
  readonly createdAtSql: string | undefined
  /**
   * PostgreSQL's number of the table. Undefined where transactions do not show which rows are new:
   * for an answer, and for a table spread over nodes.
   */
  readonly relation: number | undefined
}

interface CatalogRow {
  readonly schema: string
  readonly name: string
  readonly relation: number
  readonly is_table: boolean
  readonly columns: readonly CatalogColumn[]
  readonly key: readonly string[]
}

/**
 * All data tables, the tables that users fill, and the answers; the catalogue gives their types.
 * Tables of a distributed warehouse are written whole each time, because every node numbers its
 * transactions by itself.
 */
export async function listLakeTables(reader: CatalogReader): Promise<LakeTable[]> {
  const { query, names } = reader
  const { data, analytics } = names
  const areRowsElsewhere = await isDistributed(reader)
  const shipped = await readShippedTables(names)
  const questions = await readShippedQueries(names)
  const wanted = [
    ...shipped.filter((name) => name.startsWith(`${data}.`)),
    ...USERS_TABLES.map((name) => `${analytics}.${name}`),
    ...questions.map(({ name }) => `${analytics}.${name}`),
  ]
  const rows = await query(
    'list what there is to export',
    sql<CatalogRow>`select
    nspname::text as schema,
    relname::text as name,
    class.oid::int8 as relation,
    relkind = 'r' as is_table,
    (
        select json_agg(
            json_build_object(
                'name', attname,
                'type', format_type(
                    coalesce(nullif(typbasetype, 0), atttypid),
                    case when typbasetype = 0 then atttypmod else typtypmod end
                )
            )
            order by attnum
        )
        from pg_attribute
        inner join pg_type on pg_type.oid = atttypid
        where attrelid = class.oid and attnum > 0 and not attisdropped
    ) as columns,
    array(
        select attname::text
        from pg_constraint
        cross join unnest(conkey) with ordinality as part (attnum, place)
        inner join pg_attribute on attrelid = conrelid and pg_attribute.attnum = part.attnum
        where conrelid = class.oid and contype = 'p'
        order by place
    ) as key
from pg_class as class
inner join pg_namespace on pg_namespace.oid = relnamespace
where relkind in ('r', 'v') and nspname = any(${[data, analytics]}::text[]) and nspname || '.' || relname = any(${wanted}::text[])
order by relkind, nspname, relname`,
  )
  return rows.map((row) => {
    const table = toLakeTable(row, row.schema === data ? 'data' : 'analytics')
    return areRowsElsewhere ? { ...table, relation: undefined } : table
  })
}

function toLakeTable(row: CatalogRow, schema: keyof Schemas): LakeTable {
  const { name, relation, columns, key } = row
  const has = (column: string): boolean => columns.some((one) => one.name === column)
  const isMarked = ['_changed_at', '_deleted_at', '_first_seen_at'].every(has)
  const isByChange = row.is_table && isMarked && key.length > 0
  return {
    folder: `${row.is_table ? 'tables' : 'answers'}/${name}`,
    schema,
    name,
    columns: toLakeColumns(columns),
    key,
    kind: isByChange ? 'changes' : 'whole',
    createdAtSql: !isByChange
      ? undefined
      : has('created_at')
        ? 'coalesce(created_at, _first_seen_at)'
        : '_first_seen_at',
    relation: row.is_table ? relation : undefined,
  }
}
