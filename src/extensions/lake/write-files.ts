import { rm, stat } from 'node:fs/promises'
import { quoteIdentifier } from '../../warehouse/connection/schema-names.js'
import { BEYOND_TYPE, type LakeColumn } from './column-types.js'
import type { FinishedFile } from './lake.js'
import type { WorkFolder } from './lake-store.js'
import { quoteText, type ParquetWriter } from './parquet-writer.js'
import type { StagedPartition } from './stage-rows.js'

/** Number of the export that wrote a row: of the rows of a key, the highest is the latest. */
export const EXPORT_COLUMN = '_export'

/** A column of the staged rows that the files leave out. */
export const PARTITION = '_partition'

/** Half of the usual size, because a group is in memory while it is written. */
const ROW_GROUP_ROWS = 61_440

/** The size of the read buffer: two of the longest row, and at least this. */
const LEAST_BUFFER_BYTES = 2 * 1024 * 1024

export interface WritingOptions {
  readonly writer: ParquetWriter
  readonly work: WorkFolder
  /** Number of this export. */
  readonly export: number
}

/** The names of a table's files. */
export interface Partitioning {
  /** Name in the path, as in `created_month=2026-03`. */
  readonly name: string
  /** For a table without partitions, and for an export without rows. */
  readonly value: string
  /** Whether the last field of each row is its partition, which only the path keeps. */
  readonly isInRows: boolean
}

/**
 * Writes the staged rows, one file for each partition, into the work folder, and removes the staged
 * files. Without rows it writes one empty file, so that the columns can be read.
 */
export async function writeFiles(
  folder: string,
  columns: readonly LakeColumn[],
  staged: readonly StagedPartition[],
  partitioning: Partitioning,
  options: WritingOptions,
): Promise<FinishedFile[]> {
  if (staged.length === 0) {
    return [await writeFile(folder, columns, undefined, partitioning, options)]
  }
  const files: FinishedFile[] = []
  for (const partition of staged) {
    files.push(await writeFile(folder, columns, partition, partitioning, options))
    for (const path of partition.paths) await rm(path)
  }
  return files
}

async function writeFile(
  folder: string,
  columns: readonly LakeColumn[],
  staged: StagedPartition | undefined,
  { name, value, isInRows }: Partitioning,
  { writer, work, export: number }: WritingOptions,
): Promise<FinishedFile> {
  const partition = staged !== undefined && isInRows ? staged.value : value
  const file = `export-${String(number).padStart(8, '0')}.parquet`
  const path = `${folder}/${name}=${partition}/${file}`
  const unplaced = work.pathOf(path.replaceAll('/', '.'))
  const [written] = await writer.run(
    `copy (${selectRows(columns, staged, isInRows, number)})
to ${quoteText(unplaced)} (
    format parquet, compression zstd, row_group_size ${ROW_GROUP_ROWS}, row_group_size_bytes '32MB'
)`,
  )
  const rows = Number(written?.Count ?? 0)
  if (rows !== (staged?.rows ?? 0)) {
    throw new Error(`${path} got ${rows} rows of ${staged?.rows ?? 0}`)
  }
  const { size } = await stat(unplaced)
  const beyond = columns.some((column) => column.name === BEYOND_TYPE)
    ? await countBeyond(unplaced, writer)
    : {}
  const told = { row_count: rows, bytes: size, beyond_type: beyond }
  return { path, folder, export: number, ...told, workPath: unplaced }
}

/** By column, the number of values that are null in a file because its types cannot hold them. */
async function countBeyond(
  path: string,
  writer: ParquetWriter,
): Promise<Readonly<Record<string, number>>> {
  const rows = await writer.run(
    `select name, count(*) as count
from (
    select unnest(json_keys(${BEYOND_TYPE})) as name
    from read_parquet(${quoteText(path)})
    where ${BEYOND_TYPE} is not null
)
group by name
order by name`,
  )
  return Object.fromEntries(rows.map(({ name, count }) => [String(name), Number(count)]))
}

/**
 * All columns are read as texts, as PostgreSQL wrote them: it puts a text in quotes where it would
 * read as null otherwise.
 */
function selectRows(
  columns: readonly LakeColumn[],
  staged: StagedPartition | undefined,
  isInRows: boolean,
  number: number,
): string {
  const exported = `cast(${number} as bigint) as ${EXPORT_COLUMN}`
  if (staged === undefined) {
    const empty = columns.map(
      ({ name, type }) => `cast(null as ${type}) as ${quoteIdentifier(name)}`,
    )
    return `select ${[...empty, exported].join(', ')} where false`
  }
  const values = columns.map(({ name, targetSql }) => `${targetSql} as ${quoteIdentifier(name)}`)
  const names = columns.map(({ name }) => name)
  const texts = [...names, ...(isInRows ? [PARTITION] : [])].map(
    (name) => `${quoteText(name)}: 'varchar'`,
  )
  const bytes = Math.max(2 * staged.longestRow, LEAST_BUFFER_BYTES)
  return `select ${[...values, exported].join(', ')}
from read_csv(
    [${staged.paths.map(quoteText).join(', ')}],
    auto_detect = false, header = false, delim = ',', quote = '"', escape = '"', nullstr = '\\N',
    allow_quoted_nulls = false, parallel = false, strict_mode = true, new_line = '\\n',
    max_line_size = ${bytes}, buffer_size = ${bytes},
    columns = {${texts.join(', ')}}
)`
}
