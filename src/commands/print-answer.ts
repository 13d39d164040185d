import { once } from 'node:events'
import type { TableAnswer } from '../warehouse/read-answer.js'
import { formatCsv, formatCsvLines, type CsvOptions } from './print-csv.js'
import { formatTable } from './print-table.js'

export const ANSWER_FORMATS = ['table', 'csv', 'json', 'ndjson'] as const
export type AnswerFormat = (typeof ANSWER_FORMATS)[number]

/** Nobody reads more of a table, and laying it out takes seconds and then fails. */
const MOST_TABLE_ROWS = 10_000

/**
 * Writes an answer as it arrives: csv, json (one array) and ndjson (an object a line) take no memory whatever the size; a table is laid out at the end and cut
 * at ten thousand rows. Ends early, without an error, when the reader has gone away (`| head`).
 */
export async function printAnswer(
  pieces: AsyncIterable<TableAnswer>,
  format: AnswerFormat,
  output: NodeJS.WriteStream,
  csv: CsvOptions = {},
): Promise<void> {
  const texts = FORMATS[format](pieces, csv)
  for await (const text of texts) {
    if (output.destroyed || output.errored !== null) return
    if (!output.write(text)) await drained(output)
  }
}

/** Also settles when the reader goes away. */
async function drained(output: NodeJS.WriteStream): Promise<void> {
  const stop = new AbortController()
  const { signal } = stop
  try {
    await Promise.race([once(output, 'drain', { signal }), once(output, 'close', { signal })])
  } catch {
    // The stream failed: the caller sees it and ends.
  } finally {
    stop.abort()
  }
}

type Formatter = (
  pieces: AsyncIterable<TableAnswer>,
  csv: CsvOptions,
) => AsyncGenerator<string, void, undefined>

const FORMATS: Readonly<Record<AnswerFormat, Formatter>> = {
  table: asTable,
  csv: asCsv,
  json: asJson,
  ndjson: asNdjson,
}

async function* asTable(pieces: AsyncIterable<TableAnswer>): AsyncGenerator<string> {
  let columns: readonly string[] = []
  const shown: (readonly unknown[])[] = []
  let count = 0
  for await (const piece of pieces) {
    columns = piece.columns
    count += piece.rows.length
    shown.push(...piece.rows.slice(0, MOST_TABLE_ROWS - shown.length))
  }
  const rows = `${count} ${count === 1 ? 'row' : 'rows'}`
  const cut =
    shown.length < count ? `, the first ${MOST_TABLE_ROWS} shown; --format csv gives all` : ''
  yield `${formatTable(columns, shown)}\n(${rows}${cut})\n`
}

async function* asCsv(pieces: AsyncIterable<TableAnswer>, csv: CsvOptions): AsyncGenerator<string> {
  let isFirst = true
  for await (const { columns, rows } of pieces) {
    yield isFirst ? formatCsv(columns, rows, csv) : formatCsvLines(rows, csv)
    isFirst = false
  }
}

async function* asNdjson(pieces: AsyncIterable<TableAnswer>): AsyncGenerator<string> {
  for await (const piece of pieces) {
    yield toObjects(piece)
      .map((row) => `${JSON.stringify(row)}\n`)
      .join('')
  }
}

async function* asJson(pieces: AsyncIterable<TableAnswer>): AsyncGenerator<string> {
  let separator = '[\n'
  for await (const piece of pieces) {
    for (const row of toObjects(piece)) {
      yield `${separator}  ${JSON.stringify(row)}`
      separator = ',\n'
    }
  }
  yield separator === '[\n' ? '[]\n' : '\n]\n'
}

function toObjects({ columns, rows }: TableAnswer): Record<string, unknown>[] {
  return rows.map((row) => Object.fromEntries(columns.map((name, index) => [name, row[index]])))
}
