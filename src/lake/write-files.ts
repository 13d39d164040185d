import { stat } from 'node:fs/promises'
import { quoteIdentifier } from '../warehouse/connection/schema-names.js'
import type { LakeColumn } from './column-types.js'
import type { FinishedFile } from './lake-folder.js'
import { quoteText, type ParquetWriter } from './parquet-writer.js'
import { STAGED } from './stage-rows.js'

/** Number of the export that wrote a row: of the rows of a key, the highest is the latest. */
export const EXPORT_COLUMN = '_export'

/** Half of what is usual: a group is in memory while it is written. */
const ROW_GROUP_ROWS = 61_440

export interface WritingOptions {
  readonly writer: ParquetWriter
  readonly workPath: (name: string) => string
  /** Number of this export. */
  readonly export: number
}

/** How the rows of a table are parted: by a column that is left out of the files, or not at all. */
export interface Partitioning {
  /** Name in the path, as in `created_month=2026-03`. */
  readonly name: string
  /** The only partition; or that of an export without rows, where `column` parts them. */
  readonly value: string
  /** A staged column with the value of each row. */
  readonly column?: string
}

/**
 * Writes what is staged, one file for each partition, into the work folder. Without rows it writes
 * one file without rows, so that the columns can be read.
 */
export async function writeFiles(
  folder: string,
  columns: readonly LakeColumn[],
  { name, value, column }: Partitioning,
  { writer, workPath, export: number }: WritingOptions,
): Promise<FinishedFile[]> {
  const found = column === undefined ? [] : await listPartitions(writer, column)
  const partitions = found.length === 0 ? [value] : found
  const selected = columns.map((one) => quoteIdentifier(one.name)).join(', ')
  const files: FinishedFile[] = []
  for (const partition of partitions) {
    const file = `export-${String(number).padStart(8, '0')}.parquet`
    const path = `${folder}/${name}=${partition}/${file}`
    const unplaced = workPath(path.replaceAll('/', '.'))
    const rows =
      column === undefined
        ? STAGED
        : `${STAGED} where ${quoteIdentifier(column)} = ${quoteText(partition)}`
    const [written] = await writer.run(
      `copy (select ${selected}, cast(${number} as bigint) as ${EXPORT_COLUMN} from ${rows})
to ${quoteText(unplaced)} (format parquet, compression zstd, row_group_size ${ROW_GROUP_ROWS}, row_group_size_bytes '32MB')`,
    )
    const { size } = await stat(unplaced)
    files.push({
      path,
      folder,
      export: number,
      row_count: Number(written?.Count ?? 0),
      bytes: size,
      workPath: unplaced,
    })
  }
  return files
}

async function listPartitions(writer: ParquetWriter, column: string): Promise<string[]> {
  const name = quoteIdentifier(column)
  const rows = await writer.run(
    `select distinct ${name} as partition from ${STAGED} order by partition`,
  )
  return rows.map(({ partition }) => String(partition))
}
