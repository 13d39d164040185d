import { sql } from 'kysely'
import { open } from 'node:fs/promises'
import type { Snapshot } from './read-snapshot.js'
import { onDisk, type WorkFolder } from './lake-store.js'

/** Rows of one partition as CSV, as PostgreSQL wrote it. */
export interface StagedPartition {
  /** Last field of each row, or '' where a table is not parted. */
  readonly value: string
  /** In order. */
  readonly paths: readonly string[]
  readonly rows: number
  /** The length of the longest row, in bytes. */
  readonly longestRow: number
}

export interface StagingOptions {
  readonly snapshot: Snapshot
  /** The last field of a row is its partition; a word without commas and quotes. */
  readonly isParted: boolean
  readonly work: WorkFolder
  /** Called when rows have been written, with the rows so far. */
  readonly onRows: (count: number) => void
}

/** Bytes of rows in memory before they are written. */
const PIECE_BYTES = 4 * 1024 * 1024
/** Bytes of a file: DuckDB keeps the read part of a file until its end. */
const FILE_BYTES = 16 * 1024 * 1024
/** With room for the row that fills it. */
const CAPACITY = PIECE_BYTES + 64 * 1024

const COMMA = ','.charCodeAt(0)

/**
 * Copies the rows of a query of PostgreSQL into files of the work folder, some for each partition,
 * in the order of their values. `name` names the rows in messages. One piece of rows is in memory
 * at a time: PostgreSQL waits while it is written.
 */
export async function stageRows(
  name: string,
  queryText: string,
  options: StagingOptions,
): Promise<StagedPartition[]> {
  const stage = new Stage(options)
  try {
    await options.snapshot.copyOut(
      `read ${name}`,
      sql`copy (${sql.raw(queryText)}) to stdout (format csv, null '\\N')`,
      (row) => stage.add(row),
    )
  } finally {
    await stage.settle()
  }
  await stage.flush()
  return stage.partitions()
}

interface OpenPartition {
  readonly value: string
  readonly paths: string[]
  /** The bytes in the last of its files. */
  fileBytes: number
  rows: number
  longestRow: number
  /** Start and end of each of its rows in the piece, alternating. */
  waiting: number[]
}

class Stage {
  readonly #options: StagingOptions
  readonly #partitions = new Map<string, OpenPartition>()
  #piece = Buffer.allocUnsafe(CAPACITY)
  /** For the rows that arrive while the piece is written. */
  #spare = Buffer.allocUnsafe(CAPACITY)
  #end = 0
  #rows = 0
  #files = 0
  #writing: Promise<void> | undefined

  constructor(options: StagingOptions) {
    this.#options = options
  }

  /** A promise, where the server is to wait. */
  add(row: Buffer): Promise<void> | undefined {
    const start = this.#end
    const end = start + row.length
    if (end > this.#piece.length) this.#grow(end)
    row.copy(this.#piece, start)
    this.#end = end
    this.#rows += 1
    note(this.#partitionOf(row), start, end)
    if (end < PIECE_BYTES) return undefined
    return this.#writing ?? this.flush()
  }

  /** Appends the waiting rows to the files. Not while another flush is under way. */
  async flush(): Promise<void> {
    this.#writing = this.#write()
    try {
      await this.#writing
    } finally {
      this.#writing = undefined
    }
  }

  /** Waits for a write that is under way. Does not throw: the caller of `add` gets the failure. */
  async settle(): Promise<void> {
    await this.#writing?.catch(() => undefined)
  }

  partitions(): StagedPartition[] {
    return [...this.#partitions.values()].sort((one, other) => (one.value < other.value ? -1 : 1))
  }

  #partitionOf(row: Buffer): OpenPartition {
    const value = this.#options.isParted
      ? row.toString('latin1', row.lastIndexOf(COMMA) + 1, row.length - 1)
      : ''
    const known = this.#partitions.get(value)
    if (known !== undefined) return known
    const partition = { value, paths: [], fileBytes: 0, rows: 0, longestRow: 0, waiting: [] }
    this.#partitions.set(value, partition)
    return partition
  }

  async #write(): Promise<void> {
    const rows = this.#rows
    const piece = this.#piece
    const parts = [...this.#partitions.values()].flatMap((partition) => {
      const bytes = takeWaiting(partition, piece)
      return bytes.length === 0 ? [] : [{ path: this.#fileFor(partition, bytes), bytes }]
    })
    this.#piece = this.#spare
    this.#end = 0
    for (const { path, bytes } of parts) {
      await onDisk(this.#options.work.name, () => append(path, bytes))
    }
    // One that a large row has made larger goes.
    this.#spare = piece.length === CAPACITY ? piece : Buffer.allocUnsafe(CAPACITY)
    this.#options.onRows(rows)
  }

  #fileFor(partition: OpenPartition, bytes: readonly Buffer[]): string {
    const last = partition.paths.at(-1)
    const size = bytes.reduce((sum, { length }) => sum + length, 0)
    partition.fileBytes += size
    if (last !== undefined && partition.fileBytes <= FILE_BYTES) return last
    const path = this.#options.work.pathOf(`${this.#files}.csv`)
    this.#files += 1
    partition.paths.push(path)
    partition.fileBytes = size
    return path
  }

  #grow(needed: number): void {
    const grown = Buffer.allocUnsafe(Math.max(needed, this.#piece.length * 2))
    this.#piece.copy(grown, 0, 0, this.#end)
    this.#piece = grown
  }
}

function note(partition: OpenPartition, start: number, end: number): void {
  const { waiting } = partition
  partition.rows += 1
  partition.longestRow = Math.max(partition.longestRow, end - start)
  // Rows of one month mostly come together.
  if (waiting.at(-1) === start) waiting[waiting.length - 1] = end
  else waiting.push(start, end)
}

function takeWaiting({ waiting }: OpenPartition, piece: Buffer): Buffer[] {
  const bytes: Buffer[] = []
  for (let at = 0; at < waiting.length; at += 2) {
    bytes.push(piece.subarray(waiting[at], waiting[at + 1]))
  }
  waiting.length = 0
  return bytes
}

async function append(path: string, parts: readonly Buffer[]): Promise<void> {
  const file = await open(path, 'a')
  try {
    await file.writev(parts)
  } finally {
    await file.close()
  }
}
