import { sql } from 'kysely'
import {
  ConfigError,
  LeaseHeldError,
  MigrationError,
  WarehouseSchemaError,
} from '../../base/errors.js'
import type { ReachFailpoint } from '../../base/failpoint.js'
import { LIFT_TIME_LIMIT } from '../../warehouse/connection/bound-connection.js'
import { CopiedRows } from '../../warehouse/connection/copy-rows.js'
import { type Schemas } from '../../warehouse/connection/schema-names.js'
import type { Session, Warehouse } from '../../warehouse/connection/warehouse.js'
import { readShippedTables } from '../../warehouse/schema/shipped-tables.js'
import { prepareSchemas } from '../../warehouse/schema/prepare-schemas.js'
import { readMigrations, readSchemaVersion } from '../../warehouse/schema/run-migrations.js'
import { holdsStoredRows } from '../../warehouse/schema/shipped-views.js'
import { columnList, relationRef } from '../../warehouse/connection/typed-database.js'

export interface MoveOptions {
  readonly signal: AbortSignal
  readonly sleep: (ms: number) => Promise<void>
  readonly reachFailpoint: ReachFailpoint
  /** Rows of a table that were copied so far, of those it has. */
  readonly onProgress?: (name: string, copied: number, rows: number) => void
}

export interface MoveReport {
  readonly tables: readonly { readonly name: string; readonly rows: number }[]
  /** Tables of others, which stay where they are. */
  readonly foreign: readonly string[]
}

type Reader = Pick<Session, 'query' | 'names'>

/** A table of ours that is moved. */
interface MovedTable {
  readonly name: string
  readonly schema: keyof Schemas
  readonly relname: string
  readonly columns: readonly string[]
  /** The column whose values come from a sequence. */
  readonly identity: string | null
}

/**
 * Copies every row of one warehouse into an empty one of another database, and compares both sides,
 * table by table, by number and digest of the rows. All rows come in one transaction: a move that
 * is killed leaves empty tables, and is run again. The caller holds the source's lease; its tables
 * are locked against writing too, since deliveries do not ask for the lease. Changes nothing at the
 * source. Throws ConfigError for a target with rows.
 */
export async function moveWarehouse(
  source: Warehouse,
  target: Warehouse,
  options: MoveOptions,
): Promise<MoveReport> {
  await requireCurrent(source)
  return source.transaction('read the warehouse', async (reading) => {
    await waitForOtherSide(reading)
    const tables = await listMovedTables(reading)
    for (const { schema, relname } of tables) {
      const table = relationRef(`${schema}.${relname}`)
      await reading.query(`keep writers from ${relname}`, sql`lock table ${table} in share mode`)
    }
    await takeLock(reading)
    return target.transaction('move the warehouse', async (writing) => {
      await waitForOtherSide(writing)
      if (!(await takeLock(writing))) {
        throw new LeaseHeldError(
          'the target is the embedded database itself, or another move is running; name another target or wait',
        )
      }
      await refuseRows(writing, tables)
      await prepareSchemas(target, options)
      const report = []
      for (const moved of tables) {
        options.signal.throwIfAborted()
        report.push({ name: moved.name, rows: await moveTable(moved, reading, writing, options) })
      }
      return { tables: report, foreign: await listForeignTables(reading) }
    })
  })
}

async function requireCurrent(source: Warehouse): Promise<void> {
  const { version, expected } = await readSchemaVersion(source, await readMigrations())
  if (version === expected) return
  throw new MigrationError(
    version === 0
      ? `there is no warehouse ${source.names.data} to move; run \`tracking-sync backfill\` first`
      : `the warehouse is at version ${version} of ${expected}; run \`tracking-sync migrate\` first`,
  )
}

async function waitForOtherSide({ query }: Reader): Promise<void> {
  await query('wait for the other side', LIFT_TIME_LIMIT)
  await query('wait for the other side', sql`set local idle_in_transaction_session_timeout = 0`)
}

/** False when the database is the one that is moved, or another move has it. */
async function takeLock({ query, names }: Reader): Promise<boolean> {
  const [row] = await query(
    'keep other moves away',
    sql<{
      isTaken: boolean
    }>`select pg_try_advisory_xact_lock(820314, hashtext(${names.sync})) as "isTaken"`,
  )
  return row?.isTaken === true
}

/** All tables except those about the place. Referring tables come last. */
async function listMovedTables({ query, names }: Reader): Promise<readonly MovedTable[]> {
  return query(
    'list the tables',
    sql<MovedTable>`select
    nspname || '.' || relname as name,
    schema,
    relname::text as relname,
    array_agg(attname::text order by attnum) as columns,
    max(attname::text) filter (where attidentity <> '') as identity
from pg_class as class
inner join pg_namespace on pg_namespace.oid = relnamespace
inner join unnest(${Object.keys(names)}::text[],
    ${Object.values(names)}::text[]) as ours (schema, nspname) using (nspname)
inner join pg_attribute
    on attrelid = class.oid and attnum > 0 and not attisdropped and attgenerated = ''
where relkind = 'r' and nspname || '.' || relname = any(${await readShippedTables(names)}::text[])
    and relname not in (
        'migrations', 'installed_views', 'lease', 'request_budget', 'stored_views', 'time_zones'
    )
group by class.oid, nspname, schema, relname
order by exists (select from pg_constraint where conrelid = class.oid and contype = 'f'), 1`,
  )
}

/** Throws ConfigError if a table has rows; empty tables are allowed. */
async function refuseRows({ query, names }: Reader, tables: readonly MovedTable[]): Promise<void> {
  for (const { name, schema, relname } of tables) {
    const table = names.in(schema, relname)
    const found = await query('look for it', sql`select where to_regclass(${table}) is not null`)
    if (found.length === 0) continue
    const rows = await query(
      `look into ${name}`,
      sql`select from ${relationRef(`${schema}.${relname}`)} limit 1`,
    )
    if (rows.length === 0) continue
    const problem =
      `has rows in ${name}; name an empty database, set TRACKING_SCHEMA to a name that is free in ` +
      'both, or drop the schemas of that warehouse'
    throw new ConfigError([{ setting: 'the target', problem }])
  }
}

/** Bytes in memory at a time; a row may be as large as a delivery. */
const PIECE_BYTES = 4 * 1024 * 1024

/** Copies all rows of a table and sets its sequence. Returns how many rows there are. */
async function moveTable(
  moved: MovedTable,
  source: Session,
  target: Session,
  { signal, reachFailpoint, onProgress }: MoveOptions,
): Promise<number> {
  const { name, schema, relname } = moved
  const table = relationRef(`${schema}.${relname}`)
  const wanted = await readContents(source, moved)
  await source.query(
    `read ${name}`,
    sql`declare moved no scroll cursor for
select ${sql.join(moved.columns.map((column) => sql`${sql.id(column)}::text`))} from ${table}`,
  )
  let copied = 0
  for (let piece = 100; ;) {
    signal.throwIfAborted()
    const rows = await source.query(
      `read ${name}`,
      sql<Record<string, string | null>>`fetch ${sql.lit(piece)} from moved`,
    )
    if (rows.length === 0) break
    const sent = new CopiedRows()
    for (const row of rows) sent.addRow(Object.values(row), [])
    const into = sql`copy ${table} (${columnList(moved.columns)}) from stdin`
    await target.copy(`write ${name}`, into, sent)
    reachFailpoint('mid_move')
    copied += rows.length
    onProgress?.(name, copied, wanted.rows)
    piece = Math.ceil((PIECE_BYTES * rows.length) / sent.bytes.length)
  }
  await source.query(`read ${name}`, sql`close moved`)
  const found = await readContents(target, moved)
  if (found.rows !== wanted.rows || found.digest !== wanted.digest) {
    throw new WarehouseSchemaError(
      `the copied rows of ${name} differ from the original; the target was left empty. Try again`,
    )
  }
  await setSequence(moved, source, target)
  await target.query(`analyze ${name}`, sql`analyze ${table}`)
  return wanted.rows
}

/** Equal contents mean equal rows, on any two servers and in any order. */
interface Contents {
  readonly rows: number
  readonly digest: string
}

async function readContents(
  { query }: Reader,
  { name, schema, relname, columns }: MovedTable,
): Promise<Contents> {
  const [contents = { rows: 0, digest: '' }] = await query(
    `count ${name}`,
    sql<Contents>`select count(*) as rows, coalesce(sum(
    ('x' || encode(substr(sha256(convert_to(
        row(${columnList(columns)})::text, 'UTF8'
    )), 1, 8), 'hex'))::bit(64)::bigint::numeric
), 0) as digest
from ${relationRef(`${schema}.${relname}`)}`,
  )
  return contents
}

/** The target continues the sequence of the source. */
async function setSequence(
  { name, schema, relname, identity }: MovedTable,
  source: Session,
  target: Session,
): Promise<void> {
  if (identity === null) return
  const table = source.names.in(schema, relname)
  const [state] = await source.query(
    `read the sequence of ${name}`,
    sql<{
      last: number | null
    }>`select pg_sequence_last_value(pg_get_serial_sequence(${table}, ${identity})::regclass) as last`,
  )
  if (typeof state?.last !== 'number') return
  await target.query(
    `set the sequence of ${name}`,
    sql`select setval(pg_get_serial_sequence(${table}, ${identity}), ${state.last}::bigint)`,
  )
}

/** Tables of others in our schemas. Rows of stored views are ours, and are made at the target. */
async function listForeignTables({ query, names }: Reader): Promise<readonly string[]> {
  const rows = await query(
    'list the tables of others',
    sql<{ schema: string; name: string }>`select nspname::text as schema, relname::text as name
from pg_class
inner join pg_namespace on pg_namespace.oid = relnamespace
where relkind in ('r', 'p', 'm') and nspname = any(${[names.data, names.sync, names.analytics]}::text[])
    and not nspname || '.' || relname = any(${await readShippedTables(names)}::text[])
order by 1, 2`,
  )
  return rows
    .filter(({ schema, name }) => schema !== names.sync || !holdsStoredRows(name))
    .map(({ schema, name }) => `${schema}.${name}`)
}
