import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll } from 'vitest'
import { quoteIdentifier, USERS_TABLES } from '../../src/warehouse/connection/schema-names.js'
import { readViews } from '../../src/warehouse/schema/shipped-views.js'
import { deleteRows } from './empty-warehouse.js'
import { borrowTestWarehouse } from './reused-warehouse.js'
import type { Warehouse } from '../../src/warehouse/connection/warehouse.js'
import { rawStatement } from '../../src/warehouse/connection/typed-database.js'

type Row = Readonly<Record<string, unknown>>

export interface ReadOptions {
  /** The instant the view answers for; now unless given. */
  readonly asOf?: string
  /** SQL after `from <view>`: a filter, an order. */
  readonly rest?: string
  /** Columns to read; all unless named. */
  readonly columns?: readonly string[]
}

/** A warehouse for golden tests: rows are written by hand, views are read as of an instant. */
export interface AnalyticsScene {
  readonly warehouse: Warehouse
  /**
   * Inserts rows of a table of the data schema; our own columns (`_observed_at` and so on) are
   * filled in where they are not given.
   */
  insert(table: string, rows: readonly Row[]): Promise<void>
  /** The same in one statement, for many rows of the same columns, none of them a list. */
  insertMany(table: string, rows: readonly Row[]): Promise<void>
  /** Inserts rows of a table of another of our schemas, as given. */
  insertInto(schema: 'sync' | 'analytics', table: string, rows: readonly Row[]): Promise<void>
  /**
   * Rows of `schema.view` (of a view for people or a part unless it names another), numbers and
   * times as PostgreSQL's texts if JavaScript cannot hold them exactly.
   */
  read(view: string, options?: ReadOptions): Promise<Record<string, unknown>[]>
  query(sqlText: string, parameters?: readonly unknown[]): Promise<Record<string, unknown>[]>
  /** Empties the tables of the data schema and the tables that users fill. */
  clear(): Promise<void>
  drop(): Promise<void>
}

const OWN = {
  _observed_at: '2026-01-01T00:00:00Z',
  _first_seen_at: '2026-01-01T00:00:00Z',
  _changed_at: '2026-01-01T00:00:00Z',
  source: 'sync',
  is_zone_known: true,
  is_total: false,
}

/** Columns of a container without customer, references, tags and custom fields. */
export const OF_NOBODY = {
  customer_name: null,
  ref_numbers_text: null,
  tags_text: null,
  custom_fields: null,
}

/** The scene of a file: opened before its first test, emptied after each, dropped after the last. */
export function useAnalyticsScene(): AnalyticsScene {
  let opened: AnalyticsScene | undefined
  const here = (): AnalyticsScene => {
    if (opened === undefined) throw new Error('the scene is opened before the tests')
    return opened
  }
  beforeAll(async () => {
    opened = await openAnalyticsScene()
  })
  afterEach(() => here().clear())
  afterAll(() => here().drop())
  return {
    get warehouse() {
      return here().warehouse
    },
    insert: (...given) => here().insert(...given),
    insertMany: (...given) => here().insertMany(...given),
    insertInto: (...given) => here().insertInto(...given),
    read: (...given) => here().read(...given),
    query: (...given) => here().query(...given),
    clear: () => here().clear(),
    drop: () => here().drop(),
  }
}

/** The plan of a statement over tables that count as large: of small ones PostgreSQL reads all. */
export async function planOf(warehouse: Warehouse, sqlText: string): Promise<string> {
  const plan = await warehouse.transaction('explain', async (session) => {
    await session.query('set', sql`set local enable_seqscan = off`)
    const statement = rawStatement<Record<string, string>>(`explain ${sqlText}`)
    return session.query('explain', statement)
  })
  return plan.map((row) => row['QUERY PLAN']).join('\n')
}

export async function openAnalyticsScene(): Promise<AnalyticsScene> {
  const { warehouse, drop } = await borrowTestWarehouse()
  const { names } = warehouse
  const write = async (schema: string, table: string, rows: readonly Row[]): Promise<void> => {
    for (const row of rows) {
      const columns = Object.keys(row).map(quoteIdentifier)
      await warehouse.query(
        `insert into ${table}`,
        rawStatement(
          `insert into ${quoteIdentifier(schema)}.${quoteIdentifier(table)} (${columns.join(', ')})
        values (${columns.map((_, index) => `$${index + 1}`).join(', ')})`,
          [...Object.values(row)],
        ),
      )
    }
  }
  const known = new Map<string, Promise<Row>>()
  const required = (table: string): Promise<Row> => {
    const found = known.get(table) ?? readRequired(table)
    known.set(table, found)
    return found
  }
  const readRequired = async (table: string): Promise<Row> => {
    const rows = await warehouse.query(
      'read the columns',
      sql<{ name: string }>`select attname as name from pg_attribute
      where attrelid = ${`${names.data}.${table}`}::regclass and attnum > 0 and attnotnull and not attisdropped`,
    )
    const wanted = new Set(rows.map(({ name }) => name))
    return Object.fromEntries(Object.entries(OWN).filter(([name]) => wanted.has(name)))
  }
  const tables = await warehouse.query(
    'look',
    sql<{ tablename: string }>`select tablename from pg_tables where schemaname = ${names.data}`,
  )
  const clear = async (): Promise<void> => {
    const all = tables.map(({ tablename }) => `${names.data}.${quoteIdentifier(tablename)}`)
    const rules = USERS_TABLES.map((table) => names.table(table))
    await deleteRows(warehouse, [...all, ...rules])
  }
  const parts = new Set(
    (await readViews()).filter(({ schema }) => schema === 'parts').map(({ name }) => name),
  )
  return {
    warehouse,
    insert: async (table, rows) => {
      const own = await required(table)
      await write(
        names.data,
        table,
        rows.map((row) => ({ ...own, ...row })),
      )
    },
    insertMany: async (table, rows) => {
      const own = await required(table)
      const path = `${quoteIdentifier(names.data)}.${quoteIdentifier(table)}`
      const columns = Object.keys({ ...own, ...rows[0] })
        .map(quoteIdentifier)
        .join(', ')
      await warehouse.query(
        `insert into ${table}`,
        sql`insert into ${sql.raw(path)} (${sql.raw(columns)})
        select ${sql.raw(columns)} from jsonb_populate_recordset(null::${sql.raw(path)}, ${JSON.stringify(rows.map((row) => ({ ...own, ...row })))}::jsonb)`,
      )
    },
    insertInto: (schema, table, rows) => write(names[schema], table, rows),
    query: (sqlText, parameters) => warehouse.query('ask', rawStatement(sqlText, parameters)),
    read: (view, { asOf, rest = '', columns = [] } = {}) =>
      warehouse.transaction('read a view', async (session) => {
        await session.query('set', sql`set local citus.propagate_set_commands = 'local'`)
        await session.query('set', sql`set local tracking_sync.as_of = '${sql.raw(asOf ?? '')}'`)
        const isOfNow = asOf === undefined || asOf === ''
        const schema = isOfNow ? names[parts.has(view) ? 'parts' : 'analytics'] : names.asOf
        const path = view.includes('.') ? view : `${schema}.${view}`
        const shown = columns.length === 0 ? '*' : columns.map(quoteIdentifier).join(', ')
        return session.query(
          'read',
          sql<
            Record<string, unknown>
          >`select ${sql.raw(shown)} from ${sql.raw(path)} ${sql.raw(rest)}`,
        )
      }),
    clear,
    drop: async () => {
      // Giving a warehouse back empties our own tables alone.
      await clear()
      await drop()
    },
  }
}
