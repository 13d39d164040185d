import { writeFile, rm } from 'node:fs/promises'
import { quoteIdentifier } from '../warehouse/connection/schema-names.js'
import type { Snapshot } from '../warehouse/connection/read-snapshot.js'
import type { LakeColumn } from './column-types.js'
import { withFolder } from './lake-folder.js'
import { quoteText, type ParquetWriter } from './parquet-writer.js'

/** Where the rows of a table wait until all are there. */
export const STAGED = 'staged'

/** Two such pieces are in memory: one is filled while the other is read. */
const PIECE_BYTES = 4 * 1024 * 1024
/** In one transaction, so that pieces become whole blocks; its rows are in memory until its end. */
const PIECES_TOGETHER = 16
/** With room for rows that arrive after it is full. */
const CAPACITY = PIECE_BYTES + 1024 * 1024

/** A row may be as large as a value of PostgreSQL. */
const LONGEST_ROW_BYTES = 1024 * 1024 * 1024

export interface StagingOptions {
  readonly snapshot: Snapshot
  readonly writer: ParquetWriter
  readonly workPath: (name: string) => string
  /** Called when a piece has been read, with the rows so far. */
  readonly onRows: (count: number) => void
}

/**
 * Copies the rows of a query of PostgreSQL into DuckDB's table `staged`, which is made anew, and
 * gives their number. `name` is what they are, for messages. Memory is bounded however many they
 * are: PostgreSQL waits while DuckDB is behind.
 */
export async function stageRows(
  name: string,
  queryText: string,
  columns: readonly LakeColumn[],
  { snapshot, writer, workPath, onRows }: StagingOptions,
): Promise<number> {
  const types = columns.map((column) => `${quoteIdentifier(column.name)} ${column.type}`)
  await writer.run('begin transaction')
  await writer.run(`create or replace table ${STAGED} (${types.join(', ')})`)
  let count = 0
  let number = 0
  const read = async (bytes: Buffer, rows: number): Promise<void> => {
    number += 1
    const path = workPath(`${number}.csv`)
    await withFolder(writer.name, () => writeFile(path, bytes))
    await writer.run(
      `insert into ${STAGED} ${readPiece(path, columns, Math.max(bytes.length, PIECE_BYTES))}`,
    )
    await rm(path)
    if (number % PIECES_TOGETHER === 0) {
      await writer.run('commit')
      await writer.run('begin transaction')
    }
    count += rows
    onRows(count)
  }
  const pieces = new Pieces(read)
  try {
    await snapshot.copyOut(
      `read ${name}`,
      `copy (${queryText}) to stdout (format csv, null '\\N')`,
      (row) => pieces.add(row),
    )
    await pieces.finish()
  } finally {
    // DuckDB must be at rest before anybody closes it.
    await pieces.settle()
  }
  await writer.run('commit')
  return count
}

/**
 * All columns as texts, as PostgreSQL wrote them: it puts a text in quotes where it would read as
 * null otherwise.
 */
function readPiece(path: string, columns: readonly LakeColumn[], bytes: number): string {
  const values = columns.map(({ targetSql }) => targetSql)
  const texts = columns.map(({ name }) => `${quoteText(name)}: 'varchar'`)
  return `select ${values.join(', ')}
from read_csv(
    ${quoteText(path)},
    auto_detect = false, header = false, delim = ',', quote = '"', escape = '"', nullstr = '\\N',
    allow_quoted_nulls = false, parallel = false, strict_mode = true, new_line = '\\n',
    max_line_size = ${Math.min(bytes, LONGEST_ROW_BYTES)}, buffer_size = ${2 * bytes},
    columns = {${texts.join(', ')}}
)`
}

/** Rows gathered into pieces, one of which is read while the next is filled. */
class Pieces {
  readonly #read: (bytes: Buffer, rows: number) => Promise<void>
  #bytes: Buffer = Buffer.allocUnsafe(CAPACITY)
  #spare: Buffer | undefined
  #end = 0
  #rows = 0
  #reading: Promise<void> | undefined
  #waiting: Promise<void> | undefined

  constructor(read: (bytes: Buffer, rows: number) => Promise<void>) {
    this.#read = read
  }

  /** A promise, where the server is to wait: this piece is full, and the one before is not read. */
  add(row: Buffer): Promise<void> | undefined {
    const end = this.#end + row.length
    if (end > this.#bytes.length) this.#grow(end)
    row.copy(this.#bytes, this.#end)
    this.#end = end
    this.#rows += 1
    if (end < PIECE_BYTES) return undefined
    if (this.#reading === undefined) {
      this.#begin()
      return undefined
    }
    this.#waiting ??= this.#reading.then(() => {
      this.#waiting = undefined
      this.#begin()
    })
    return this.#waiting
  }

  /** Reads what is left. */
  async finish(): Promise<void> {
    await this.#waiting
    await this.#reading
    if (this.#rows > 0) this.#begin()
    await this.#reading
  }

  /** Waits for what is under way, however it ends. */
  async settle(): Promise<void> {
    await Promise.allSettled([this.#waiting, this.#reading])
    await this.#reading?.catch(() => undefined)
  }

  #begin(): void {
    const [filled, end, rows] = [this.#bytes, this.#end, this.#rows]
    this.#bytes = this.#spare ?? Buffer.allocUnsafe(CAPACITY)
    this.#spare = undefined
    this.#end = 0
    this.#rows = 0
    const reading = this.#read(filled.subarray(0, end), rows).then(() => {
      this.#reading = undefined
      // One that a large row has made larger goes.
      if (filled.length === CAPACITY) this.#spare = filled
    })
    // Whoever waits for it, or the end, is told.
    reading.catch(() => undefined)
    this.#reading = reading
  }

  #grow(needed: number): void {
    const grown = Buffer.allocUnsafe(Math.max(needed, this.#bytes.length * 2))
    this.#bytes.copy(grown, 0, 0, this.#end)
    this.#bytes = grown
  }
}
