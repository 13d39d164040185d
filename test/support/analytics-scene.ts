import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { quoteIdentifier, USERS_TABLES } from '../../src/warehouse/connection/schema-names.js'
import { readViews } from '../../src/warehouse/schema/shipped-views.js'
import { deleteRows } from './empty-warehouse.js'
import { borrowTestWarehouse } from './reused-warehouse.js'
import { cellOf, linesOf, rowsOf, toLines } from './tables.js'
import type { Warehouse } from '../../src/warehouse/connection/warehouse.js'
import { rawStatement } from '../../src/warehouse/connection/typed-database.js'

type Row = Readonly<Record<string, unknown>>

/** Rows to insert, or a table of them, over a base. */
type Given = [rows: string | readonly Row[], base?: Row]

/** From when we knew it, and what. */
export type Version = readonly [from: string, known: Row]

/** The instant that a view answers for (now), SQL after `from <view>`, columns to read (all). */
export interface ReadOptions {
  readonly asOf?: string
  readonly rest?: string
  readonly columns?: readonly string[]
}

const HISTORY = {
  shipments: 'shipment_history',
  containers: 'container_history',
  container_import_deadlines: 'container_import_deadline_history',
  container_holds: 'container_hold_history',
  container_fees: 'container_fee_history',
} as const

/** Columns that the histories do not have. */
const LIVE_ONLY =
  /^(?:is_zone_known|terminal_checked_at|details|is_total|position|_first_seen_at|_deleted_at)$/

const OWN = {
  _observed_at: '2026-01-01T00:00:00Z',
  _first_seen_at: '2026-01-01T00:00:00Z',
  _changed_at: '2026-01-01T00:00:00Z',
  source: 'sync',
  is_zone_known: true,
  is_total: false,
}

/** A warehouse for golden tests: rows are written by hand, views are read as of an instant. */
export type AnalyticsScene = Awaited<ReturnType<typeof openAnalyticsScene>>

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
  return new Proxy({} as AnalyticsScene, { get: (_, name) => Reflect.get(here(), name) as unknown })
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

export async function openAnalyticsScene() {
  const { warehouse, drop } = await borrowTestWarehouse()
  const { names } = warehouse
  const tables = await warehouse.query(
    'look',
    sql<{ table: string; required: string[] }>`select relname as table,
      coalesce(array_agg(attname::text) filter (where attnotnull), '{}') as required
    from pg_class
    inner join pg_attribute on attrelid = pg_class.oid and attnum > 0 and not attisdropped
    where relnamespace = ${names.data}::regnamespace and relkind = 'r'
    group by 1`,
  )
  const own = new Map(
    tables.map(({ table, required }) => [
      table,
      Object.fromEntries(Object.entries(OWN).filter(([name]) => required.includes(name))),
    ]),
  )
  /** Rows of equal columns in one statement; columns that are not given get their defaults. */
  const write = async (schema: string, table: string, rows: readonly Row[]): Promise<void> => {
    const path = `${quoteIdentifier(schema)}.${quoteIdentifier(table)}`
    const columnsOf = (row: Row) => Object.keys(row).map(quoteIdentifier).join(', ')
    for (const named of new Set(rows.map(columnsOf))) {
      const alike = JSON.stringify(rows.filter((row) => columnsOf(row) === named))
      await warehouse.query(
        `insert into ${table}`,
        rawStatement(
          `insert into ${path} (${named})
          select ${named} from jsonb_populate_recordset(null::${path}, $1::jsonb)`,
          [alike],
        ),
      )
    }
  }
  const clear = async (): Promise<void> => {
    const all = [...own.keys()].map((table) => `${names.data}.${quoteIdentifier(table)}`)
    await deleteRows(warehouse, [...all, ...USERS_TABLES.map((table) => names.table(table))])
  }
  const parts = new Set(
    (await readViews()).filter(({ schema }) => schema === 'parts').map(({ name }) => name),
  )
  /**
   * Inserts rows of a table of the data schema; our own columns (`_observed_at` and so on) are
   * filled in where they are not given. A value of a list can be a list or its text.
   */
  const insert = (table: string, ...given: Given) =>
    write(
      names.data,
      table,
      rowsOfEither(...given).map((row) => ({ ...own.get(table), ...row })),
    )
  /**
   * The same, valid since the beginning of 2026, into the table and its history, so that a question
   * as of an instant finds them too.
   */
  const insertKnown = async (table: keyof typeof HISTORY, ...given: Given): Promise<void> => {
    await insert(table, ...given)
    const versions = rowsOfEither(...given).map((row) =>
      Object.fromEntries(Object.entries(row).filter(([name]) => !LIVE_ONLY.test(name))),
    )
    await insert(HISTORY[table], versions, { valid_from: '2026-01-01T00:00:00Z' })
  }
  /** Inserts the versions of a shipment, each valid until the next one. */
  const insertVersions = (shipment_id: string, versions: readonly Version[]) =>
    insert(
      'shipment_history',
      follow(versions).map((row) => ({ ...row, shipment_id })),
    )
  const read = (view: string, { asOf = '', rest = '', columns = [] }: ReadOptions = {}) =>
    warehouse.transaction('read a view', async (session) => {
      await session.query('set', sql`set local citus.propagate_set_commands = 'local'`)
      await session.query('set', sql`set local tracking_sync.as_of = '${sql.raw(asOf)}'`)
      const schema = asOf === '' ? names[parts.has(view) ? 'parts' : 'analytics'] : names.asOf
      const path = view.includes('.') ? view : `${schema}.${view}`
      const list = columns.length === 0 ? '*' : columns.map(quoteIdentifier).join(', ')
      const statement = `select ${list} from ${path} ${rest}`
      return session.query('read', rawStatement<Record<string, unknown>>(statement))
    })
  return {
    warehouse,
    insert,
    insertKnown,
    insertVersions,
    /** Those of many shipments: in each line the shipment, since when we knew it, and what. */
    insertVersionTable: async (base: Row, table: string): Promise<void> => {
      const versions = rowsOf(table)
      for (const id of new Set(versions.map(({ shipment_id }) => shipment_id!))) {
        const ofOne = versions.filter(({ shipment_id }) => shipment_id === id)
        await insertVersions(
          id,
          ofOne.map(({ valid_from, ...known }) => [valid_from!, { ...base, ...known }]),
        )
      }
    },
    /** A container with its versions; its row says what the last of them says. */
    insertContainer: async (container: Row, versions: readonly Version[]): Promise<void> => {
      await insert('containers', [{ ...container, ...versions.at(-1)?.[1] }])
      await insert('container_history', follow(versions), container)
    },
    /** Transport events of the container c1 unless given; `event` without its prefix. */
    insertEvents: (table: string, base: Row = {}) =>
      insert(
        'transport_events',
        rowsOf(table).map((row) => ({
          container_id: 'c1',
          transport_event_id: `e${serial++}`,
          ...base,
          ...row,
          event: `container.transport.${row.event!}`,
          is_estimated: row.event!.startsWith('estimated'),
        })),
      ),
    /** Inserts rows of a table of another of our schemas, as given. */
    insertInto: (schema: 'sync' | 'analytics', table: string, rows: readonly Row[]) =>
      write(names[schema], table, rows),
    query: (sqlText: string, parameters?: readonly unknown[]) =>
      warehouse.query('ask', rawStatement<Record<string, unknown>>(sqlText, parameters)),
    /**
     * Rows of `schema.view` (of a view for people or a part unless it names another), numbers and
     * times as PostgreSQL's texts if JavaScript cannot hold them exactly.
     */
    read,
    /** Expects the rows of a view, in the columns and in the order of the table. */
    expectRows: async (view: string, options: ReadOptions, table: string): Promise<void> => {
      const [columns = [], ...expected] = linesOf(table)
      const rows = await read(view, { ...options, columns })
      expect(toLines(rows.map((row) => columns.map((name) => cellOf(row[name]))))).toEqual(
        toLines(expected),
      )
    },
    /** Empties the tables of the data schema and the tables that users fill. */
    clear,
    drop: async () => {
      // Giving a warehouse back empties our own tables alone.
      await clear()
      await drop()
    },
  }
}

let serial = 0

function rowsOfEither(...[rows, base = {}]: Given): Row[] {
  return typeof rows === 'string' ? rowsOf(rows, base) : rows.map((row) => ({ ...base, ...row }))
}

function follow(versions: readonly Version[]): Row[] {
  return versions.map(([valid_from, known], nth) => ({
    ...known,
    valid_from,
    valid_to: versions[nth + 1]?.[0] ?? null,
  }))
}
