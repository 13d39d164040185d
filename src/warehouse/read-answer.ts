import pg from 'pg'
import Cursor from 'pg-cursor'
import { quoteIdentifier, type SchemaNames } from './schema-names.js'

export interface TableAnswer {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly unknown[])[]
}

export interface QuestionOptions {
  /** Values of `$1`, `$2` and so on. */
  readonly parameters?: readonly unknown[]
  /** The instant the views answer for, as PostgreSQL reads one; now unless given. */
  readonly asOf?: string | undefined
}

const ROWS_PER_PIECE = 1_000

/**
 * One statement of a person's, on a connection of its own, read piece by piece. That nothing can be written is the transaction's doing: it is read-only,
 * has taken a snapshot (after which PostgreSQL lets nobody make it read-write), and the extended protocol takes one statement and no second. Leaving the loop
 * early ends the statement.
 */
export async function* streamAnswer(
  settings: pg.ClientConfig,
  names: SchemaNames,
  sqlText: string,
  { parameters = [], asOf }: QuestionOptions = {},
): AsyncGenerator<TableAnswer, void, undefined> {
  const client = new pg.Client(settings)
  // A lost connection fails the statement as well, and is told there.
  client.on('error', () => undefined)
  await client.connect()
  try {
    // Tables that both schemas of views use, such as tariffs, stand in the first.
    const views = asOf === undefined ? [names.analytics] : [names.asOf, names.analytics]
    const path = [names.data, ...views, names.sync].map(quoteIdentifier).join(', ')
    await client.query('begin transaction read only')
    await client.query(`set local search_path = ${path}, pg_catalog`)
    if (asOf !== undefined) {
      await client.query(`select set_config('tracking_sync.as_of', $1::timestamptz::text, true)`, [
        asOf,
      ])
    }
    await client.query('select 1')
    const cursor = client.query(
      new Cursor<unknown[]>(sqlText, [...parameters], { rowMode: 'array', ...typesOf(settings) }),
    )
    for (let isFirst = true; ; isFirst = false) {
      const piece = await readPiece(cursor)
      if (isFirst || piece.rows.length > 0) yield piece
      if (piece.rows.length < ROWS_PER_PIECE) return
    }
  } finally {
    await client.end()
  }
}

/** A cursor does not take the type parsers of its client. */
function typesOf({ types }: pg.ClientConfig): { types?: pg.CustomTypesConfig } {
  return types === undefined ? {} : { types }
}

function readPiece(cursor: Cursor<unknown[]>): Promise<TableAnswer> {
  return new Promise((resolve, reject) => {
    cursor.read(ROWS_PER_PIECE, (error: Error | null | undefined, rows, result) => {
      if (error) reject(error)
      else resolve({ columns: result.fields.map(({ name }) => name), rows })
    })
  })
}

/** All pieces as one table. */
export async function collectAnswer(
  pieces: AsyncGenerator<TableAnswer, void, undefined>,
): Promise<TableAnswer> {
  let columns: readonly string[] = []
  const rows: (readonly unknown[])[] = []
  for await (const piece of pieces) {
    columns = piece.columns
    for (const row of piece.rows) rows.push(row)
  }
  return { columns, rows }
}
