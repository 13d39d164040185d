import { once } from 'node:events'
import { ConfigError } from '../../base/errors.js'
import { suggest } from '../../base/phrases.js'
import type { TableAnswer } from '../../warehouse/connection/read-answer.js'
import { formatCsv, formatCsvLines, type CsvOptions } from './print-csv.js'
import { asTable, type TableOptions } from './print-answer-table.js'

export const ANSWER_FORMATS = ['table', 'csv', 'json', 'ndjson'] as const
export type AnswerFormat = (typeof ANSWER_FORMATS)[number]

export interface AnswerOptions extends CsvOptions, TableOptions {
  /** These columns, in this order; all of them unless given. */
  readonly columns?: readonly string[]
}

/**
 * Writes an answer as it arrives and gives its number of rows. Ends early, without an error, when
 * the reader has gone away (`| head`).
 */
export async function printAnswer(
  pieces: AsyncIterable<TableAnswer>,
  format: AnswerFormat,
  output: NodeJS.WriteStream,
  options: AnswerOptions = {},
): Promise<number> {
  const { columns } = options
  let count = 0
  async function* counted(): AsyncGenerator<TableAnswer> {
    for await (const piece of columns === undefined ? pieces : pickColumns(pieces, columns)) {
      count += piece.rows.length
      yield piece
    }
  }
  const texts = FORMATS[format](counted(), options)
  for await (const text of texts) {
    if (output.destroyed || output.errored !== null) return count
    if (!output.write(text)) await drained(output)
  }
  return count
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
  options: AnswerOptions,
) => AsyncGenerator<string, void, undefined>

const FORMATS: Readonly<Record<AnswerFormat, Formatter>> = {
  table: asTable,
  csv: asCsv,
  json: asJson,
  ndjson: asNdjson,
}

/** Throws ConfigError for a column that the answer does not have. */
async function* pickColumns(
  pieces: AsyncIterable<TableAnswer>,
  names: readonly string[],
): AsyncGenerator<TableAnswer> {
  for await (const { columns, types, rows } of pieces) {
    const indices = names.map((name) => columns.indexOf(name))
    const unknown = names.filter((name) => !columns.includes(name))
    if (unknown.length > 0) throw unknownColumns(unknown, columns)
    yield {
      columns: names,
      types: indices.map((index) => types[index] ?? 0),
      rows: rows.map((row) => indices.map((index) => row[index])),
    }
  }
}

function unknownColumns(unknown: readonly string[], columns: readonly string[]): ConfigError {
  return new ConfigError(
    unknown.map((name) => ({
      setting: '--columns',
      problem:
        `names ${name}, which the answer does not have${suggest(name, columns)}; ` +
        `it has ${columns.join(', ')}`,
    })),
  )
}

async function* asCsv(
  pieces: AsyncIterable<TableAnswer>,
  options: AnswerOptions,
): AsyncGenerator<string> {
  let isFirst = true
  for await (const { columns, types, rows } of pieces) {
    yield isFirst ? formatCsv(columns, rows, options, types) : formatCsvLines(rows, options, types)
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
