import { sql } from 'kysely'
import { createHash } from 'node:crypto'
import { ConfigError, LeaseHeldError } from '../../base/errors.js'
import type { ReachFailpoint } from '../../base/failpoint.js'
import { suggest } from '../../base/phrases.js'
import { readSnapshot, type Snapshot } from './read-snapshot.js'
import type { Warehouse } from '../../warehouse/connection/warehouse.js'
import {
  exportTable,
  type KnownTable,
  type SnapshotState,
  type WrittenTable,
} from './export-table.js'
import { Lake, type FinishedFile } from './lake.js'
import type { LakeStore } from './lake-store.js'
import { listLakeTables, type LakeTable } from './lake-tables.js'
import type { Manifest, ManifestFile, WarehouseIdentity } from './manifest.js'
import { ParquetWriter } from './parquet-writer.js'
import { tableRef } from '../../warehouse/connection/typed-database.js'

export interface ExportOptions {
  /** The place to write to. The export closes it. */
  readonly store: LakeStore
  /** Names of tables and answers, or `tables` or `answers` for all of them. Empty: everything. */
  readonly only: readonly string[]
  /** Write all rows of each table again, in place of the present files. */
  readonly isWhole: boolean
  readonly signal: AbortSignal
  readonly reachFailpoint: ReachFailpoint
  /** Rows of a table so far, and whether these were all. */
  readonly onProgress: (table: string, rows: number, isDone: boolean) => void
}

export interface ExportReport {
  /** Number of this export in its place. */
  readonly export: number
  /** The instant that it shows, in UTC. */
  readonly exportedAt: string
  readonly tables: readonly {
    readonly folder: string
    readonly wrote: WrittenTable['wrote']
    /** Rows and files that were written now. */
    readonly rows: number
    readonly files: number
    readonly bytes: number
    /** By column, the number of values that are null because they fit no type of Parquet. */
    readonly beyondType: Readonly<Record<string, number>>
  }[]
}

/**
 * Writes each table and each answer as Parquet into a folder or a bucket: all rows once, and from
 * then on the rows that were written since. All of it shows one instant. A reader sees the whole
 * export or none of it, and each export removes what a killed one left. Throws ConfigError for a
 * place that holds anything else, LeaseHeldError while another export of this warehouse runs. Reads
 * each table once to find its changes.
 */
export async function exportLake(
  warehouse: Pick<Warehouse, 'names' | 'another'>,
  options: ExportOptions,
): Promise<ExportReport> {
  const { store, signal } = options
  const report = await readSnapshot(warehouse, 'export the warehouse', signal, (snapshot) =>
    exportSnapshot(snapshot, options),
  ).catch(async (thrown: unknown) => {
    // The first failure is the one to report.
    await store.close().catch(() => undefined)
    throw thrown
  })
  await store.close()
  return report
}

async function exportSnapshot(snapshot: Snapshot, options: ExportOptions): Promise<ExportReport> {
  await takeTurn(snapshot)
  const tables = chooseTables(await listLakeTables(snapshot), options.only)
  const identity = await identify(snapshot)
  const state = await readState(snapshot)
  const lake = await Lake.open(options.store, identity)
  try {
    const written = await exportTables(tables, { ...options, snapshot, state, lake })
    const manifest = nextManifest(lake.manifest, state, written)
    const added = written.flatMap((one) => one.added)
    await lake.commit(manifest, added, () => {
      options.reachFailpoint('lake_files_placed')
    })
    options.reachFailpoint('lake_committed')
    await lake.removeUnnamed()
    return toReport(manifest, state, written)
  } catch (thrown) {
    await lake.removeUnnamed().catch(() => undefined)
    throw thrown
  }
}

/** Our own constant: the first key of the advisory lock. */
const LOCK_CLASS = 820_316

async function takeTurn({ query, names }: Snapshot): Promise<void> {
  const [turn] = await query(
    'take the turn to export',
    sql<{
      isOurs: boolean
    }>`select pg_try_advisory_xact_lock(${LOCK_CLASS}, hashtext(${names.sync})) as "isOurs"`,
  )
  if (turn?.isOurs === true) return
  throw new LeaseHeldError(`another export of ${names.data} is running; wait until it is done`)
}

function chooseTables(tables: readonly LakeTable[], only: readonly string[]): LakeTable[] {
  const names = ['tables', 'answers', ...tables.map(({ name }) => name)]
  for (const wanted of only) {
    if (names.includes(wanted)) continue
    throw new ConfigError([
      {
        setting: '--only',
        problem: `${wanted} is not a table or answer of the warehouse${suggest(wanted, names)}`,
      },
    ])
  }
  if (only.length === 0) return [...tables]
  return tables.filter(
    ({ folder, name }) => only.includes(name) || only.includes(folder.split('/')[0] ?? ''),
  )
}

/**
 * The identity of the warehouse. It moves to another server with the warehouse, and survives a new
 * key.
 */
async function identify({ query, names }: Snapshot): Promise<WarehouseIdentity> {
  const [row] = await query(
    'name the warehouse',
    sql<{ source: string | null; started_at: string; sync_run_id: number }>`select
    (select address from ${tableRef('sync.source_account')}) as source,
    started_at,
    sync_run_id
from ${tableRef('sync.sync_runs')}
order by sync_run_id
limit 1`,
  )
  if (row === undefined) {
    const problem = `has nothing to export: ${names.data} was never filled; run \`tracking-sync backfill\``
    throw new ConfigError([{ setting: 'the warehouse', problem }])
  }
  const { source, started_at: startedAt, sync_run_id: runId } = row
  const id = createHash('sha256')
    .update(JSON.stringify([startedAt, runId]))
    .digest('hex')
  return { schema: names.data, source: source ?? '', id }
}

async function readState({ query }: Snapshot): Promise<SnapshotState> {
  const [state] = await query(
    'look at the snapshot',
    sql<SnapshotState>`select
    to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as instant,
    concat_ws(
        '/',
        (select system_identifier from pg_control_system()),
        case
            when pg_is_in_recovery()
                then (select timeline_id::text from pg_control_checkpoint())
            else substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)
        end,
        (select oid from pg_database where datname = current_database())
    ) as cluster,
    pg_snapshot_xmin(pg_current_snapshot())::text as oldest,
    pg_snapshot_xmax(pg_current_snapshot())::text as next`,
  )
  if (state === undefined) throw new Error('a select without a table has one row')
  return state
}

interface Exporting extends ExportOptions {
  readonly snapshot: Snapshot
  readonly state: SnapshotState
  readonly lake: Lake
}

async function exportTables(
  tables: readonly LakeTable[],
  { snapshot, state, lake, ...options }: Exporting,
): Promise<WrittenTable[]> {
  const { signal, reachFailpoint, onProgress } = options
  const missing = await lake.findMissing()
  const { work } = lake
  const writer = await ParquetWriter.open(work)
  try {
    const written: WrittenTable[] = []
    for (const table of tables) {
      signal.throwIfAborted()
      const one = await exportTable(
        {
          table,
          known: findKnown(lake.manifest, table, missing),
          state,
          number: lake.manifest.export + 1,
          isWholeWanted: options.isWhole,
        },
        {
          snapshot,
          writer,
          work,
          reachFailpoint,
          onRows: (count) => {
            onProgress(table.folder, count, false)
          },
        },
      )
      written.push(one)
      onProgress(table.folder, rowsOf(one), true)
    }
    return written
  } finally {
    writer.close()
  }
}

/**
 * A table that is exported by changes needs every file of its own. A table that is exported whole
 * forgets a day whose files were taken away.
 */
function findKnown(
  { tables, files }: Manifest,
  { folder, kind }: LakeTable,
  missing: ReadonlySet<string>,
): KnownTable | undefined {
  const entry = tables.find((one) => one.folder === folder)
  if (entry === undefined) return undefined
  const own = files.filter((one) => one.folder === folder)
  const there = own.filter(({ path }) => !missing.has(path))
  const isDamaged =
    kind === 'changes'
      ? there.length < own.length
      : !there.some((file) => file.export === entry.whole_export)
  return { entry, files: there, isDamaged }
}

function nextManifest(
  before: Manifest,
  { instant }: SnapshotState,
  written: readonly WrittenTable[],
): Manifest {
  const names = new Set(written.map(({ entry }) => entry.folder))
  const isOther = ({ folder }: { readonly folder: string }): boolean => !names.has(folder)
  const added = written.flatMap((one) => one.added)
  return {
    ...before,
    export: before.export + 1,
    exported_at: instant,
    tables: [...before.tables.filter(isOther), ...written.map(({ entry }) => entry)],
    files: [
      ...before.files.filter(isOther),
      ...written.flatMap(({ kept }) => kept),
      ...added.map(fileOf),
    ],
  }
}

function toReport(
  { export: number }: Manifest,
  { instant }: SnapshotState,
  written: readonly WrittenTable[],
): ExportReport {
  const tables = written.map((one) => ({
    folder: one.entry.folder,
    wrote: one.wrote,
    rows: rowsOf(one),
    files: one.added.length,
    bytes: one.added.reduce((sum, { bytes }) => sum + bytes, 0),
    beyondType: sumOf(one.added.map((file) => file.beyond_type)),
  }))
  return { export: number, exportedAt: instant, tables }
}

function rowsOf({ added }: WrittenTable): number {
  return added.reduce((sum, file) => sum + file.row_count, 0)
}

function fileOf(added: FinishedFile): ManifestFile {
  const { path, folder, export: number, row_count, bytes, beyond_type } = added
  return { path, folder, export: number, row_count, bytes, beyond_type }
}

function sumOf(counts: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const sum: Record<string, number> = {}
  for (const [name, count] of counts.flatMap((one) => Object.entries(one))) {
    sum[name] = (sum[name] ?? 0) + count
  }
  return sum
}
