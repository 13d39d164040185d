import { sql } from 'kysely'
import type { ReachFailpoint } from '../../base/failpoint.js'
import type { Snapshot } from './read-snapshot.js'
import type { FinishedFile } from './lake.js'
import type { WorkFolder } from './lake-store.js'
import type { LakeTable } from './lake-tables.js'
import type { ManifestFile, ManifestTable, Since } from './manifest.js'
import type { ParquetWriter } from './parquet-writer.js'
import { stageRows } from './stage-rows.js'
import { PARTITION, writeFiles, type Partitioning } from './write-files.js'
import { relationRef } from '../../warehouse/connection/typed-database.js'

/** The facts that an export has about the server and its own snapshot. */
export interface SnapshotState {
  /** In UTC, as ISO 8601. */
  readonly instant: string
  /** Server, timeline and database: in another one transactions have other numbers. */
  readonly cluster: string
  /** The oldest transaction that was open, with its epoch. */
  readonly oldest: string
  /** The next number to be given. */
  readonly next: string
}

/** The table as the folder has it. */
export interface KnownTable {
  readonly entry: ManifestTable
  readonly files: readonly ManifestFile[]
  /** A file of changes or of all rows is missing or altered, so it must be written again. */
  readonly isDamaged: boolean
}

export interface TableExport {
  readonly table: LakeTable
  readonly known: KnownTable | undefined
  readonly state: SnapshotState
  /** Number of this export. */
  readonly number: number
  readonly isWholeWanted: boolean
}

export interface TableDependencies {
  readonly snapshot: Snapshot
  readonly writer: ParquetWriter
  readonly work: WorkFolder
  readonly reachFailpoint: ReachFailpoint
  readonly onRows: (count: number) => void
}

export interface WrittenTable {
  /** The table's entry in the manifest from now on. */
  readonly entry: ManifestTable
  /** The earlier files that still count. */
  readonly kept: readonly ManifestFile[]
  readonly added: readonly FinishedFile[]
  /** All rows, changes only, or nothing because nothing has changed. */
  readonly wrote: 'all' | 'changes' | 'nothing'
}

/** Writes one table or answer into the work folder, as far as that is necessary. */
export async function exportTable(
  exported: TableExport,
  dependencies: TableDependencies,
): Promise<WrittenTable> {
  const { table, known, state } = exported
  const since = known === undefined ? undefined : usableSince(exported, known)
  const news =
    since === undefined ? undefined : await countNews(table, since, dependencies.snapshot)
  if (known !== undefined && news !== undefined) {
    const { rows, changed } = news
    const isSame = changed === 0 && (table.kind === 'changes' || rows === known.entry.row_count)
    if (isSame) {
      const entry = { ...known.entry, exported_at: state.instant, since: sinceNow(exported) }
      return { entry, kept: known.files, added: [], wrote: 'nothing' }
    }
    if (table.kind === 'changes' && !isWorn(known, news)) {
      return writeChanges(exported, known, rows, dependencies)
    }
  }
  return writeAll(exported, dependencies)
}

/**
 * The transaction from which changes can be told from the rest. Undefined where all rows must be
 * written: the numbers are those of another server or too far back, or the files no longer fit.
 */
function usableSince(exported: TableExport, known: KnownTable): Since | undefined {
  const { table, state, isWholeWanted } = exported
  const { entry, isDamaged } = known
  const { since } = entry
  if (since === null || isWholeWanted || isDamaged || entry.kind !== table.kind) return undefined
  if (since.cluster !== state.cluster || since.relation !== table.relation) return undefined
  const shape = JSON.stringify([table.key, columnsOf(table)])
  if (JSON.stringify([entry.key, entry.columns]) !== shape) return undefined
  const distance = BigInt(state.next) - BigInt(since.xid)
  return distance >= 0n && distance < FURTHEST ? since : undefined
}

/** Transaction numbers go round after 2^32, and one half of them is older than any other. */
const FURTHEST = 2n ** 31n - 2n ** 24n
const EPOCH = 2n ** 32n

/**
 * The row was written by a transaction that may have been open at the export before. A row of a
 * transaction that was over more than 2^31 others ago may look new: it is then written twice, never
 * missed.
 */
const IS_NEW = `age(xmin) <= (select age(current_setting('tracking_sync.exported')::xid))`

async function countNews(
  table: LakeTable,
  { xid }: Since,
  { query }: Snapshot,
): Promise<{ readonly rows: number; readonly changed: number }> {
  await query(
    'say since when',
    sql`select set_config('tracking_sync.exported', ${String(BigInt(xid) % EPOCH)}, true)`,
  )
  const [row] = await query(
    `look for changes of ${table.name}`,
    sql<{
      rows: number
      changed: number
    }>`select count(*) as rows, count(*) filter (where ${sql.raw(IS_NEW)}) as changed
from ${relationRef(`${table.schema}.${table.name}`)}`,
  )
  if (row === undefined) throw new Error('an aggregate has one row')
  return row
}

/** More files than a reader opens with ease. */
const MOST_FILES = 400

/** Whether the changes outgrow the table: then reading all rows once is cheaper. */
function isWorn({ entry, files }: KnownTable, news: { rows: number; changed: number }): boolean {
  if (files.length > MOST_FILES) return true
  const changes = files.filter((file) => file.export > entry.whole_export)
  return changes.reduce((sum, file) => sum + file.row_count, news.changed) > news.rows
}

async function writeChanges(
  exported: TableExport,
  known: KnownTable,
  rows: number,
  dependencies: TableDependencies,
): Promise<WrittenTable> {
  const { files } = await write(exported, `where ${IS_NEW}`, dependencies)
  const entry = entryOf(exported, { rows, wholeExport: known.entry.whole_export })
  return { entry, kept: known.files, added: files, wrote: 'changes' }
}

async function writeAll(
  exported: TableExport,
  dependencies: TableDependencies,
): Promise<WrittenTable> {
  const { table, known, number } = exported
  const { rows, files } = await write(exported, '', dependencies)
  const paths = files.map(({ path }) => partitionOf(path))
  // An answer keeps one file a day: those of earlier days stay, an earlier one of this day goes.
  const kept =
    table.kind === 'changes'
      ? []
      : (known?.files ?? []).filter(({ path }) => !paths.includes(partitionOf(path)))
  return {
    entry: entryOf(exported, { rows, wholeExport: number }),
    kept,
    added: files,
    wrote: 'all',
  }
}

function partitionOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'))
}

function entryOf(
  exported: TableExport,
  { rows, wholeExport }: { readonly rows: number; readonly wholeExport: number },
): ManifestTable {
  const { table, state } = exported
  return {
    folder: table.folder,
    kind: table.kind,
    key: [...table.key],
    columns: columnsOf(table),
    whole_export: wholeExport,
    exported_at: state.instant,
    since: sinceNow(exported),
    row_count: rows,
  }
}

function sinceNow({ table, state }: TableExport): Since | null {
  const { relation } = table
  return relation === undefined ? null : { cluster: state.cluster, relation, xid: state.oldest }
}

function columnsOf({ columns }: LakeTable): { name: string; type: string }[] {
  return columns.map(({ name, type }) => ({ name, type }))
}

async function write(
  { table, state, number }: TableExport,
  condition: string,
  { snapshot, writer, work, reachFailpoint, onRows }: TableDependencies,
): Promise<{ readonly rows: number; readonly files: readonly FinishedFile[] }> {
  const { createdAtSql, columns } = table
  const day = state.instant.slice(0, 10)
  const selected = columns.map(({ sourceSql }) => sourceSql)
  if (createdAtSql !== undefined) {
    // An infinite instant lies in no month.
    const month = `to_char(${createdAtSql} at time zone 'UTC', 'YYYY-MM')`
    selected.push(`coalesce(${month}, 'unknown') as ${PARTITION}`)
  }
  const staged = await stageRows(
    table.name,
    `select ${selected.join(', ')} from ${snapshot.names.in(table.schema, table.name)} ${condition}`,
    {
      snapshot,
      isParted: createdAtSql !== undefined,
      work,
      onRows: (count) => {
        reachFailpoint('mid_lake_table')
        onRows(count)
      },
    },
  )
  const partitioning: Partitioning =
    createdAtSql === undefined
      ? { name: 'exported_on', value: day, isInRows: false }
      : { name: 'created_month', value: day.slice(0, 7), isInRows: true }
  const files = await writeFiles(table.folder, columns, staged, partitioning, {
    writer,
    work,
    export: number,
  })
  reachFailpoint('lake_table_written')
  const rows = staged.reduce((sum, partition) => sum + partition.rows, 0)
  return { rows, files }
}
