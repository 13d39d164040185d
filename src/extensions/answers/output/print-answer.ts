import { once } from 'node:events'
import type { Writable } from 'node:stream'
import { ConfigError } from '../../../base/errors.js'
import { suggest } from '../../../base/phrases.js'
import type { TableAnswer } from '../read-answer.js'
import { asTable, pickColumns, type TableOptions } from './print-answer-table.js'
import { asCalendar, type CalendarOptions } from './print-calendar.js'
import { asJsonText, listElements } from './postgres-texts.js'
import { asWorkbook, type WorkbookOptions } from './print-workbook.js'

export const ANSWER_FORMATS = ['table', 'csv', 'json', 'ndjson', 'xlsx', 'ics'] as const
export type AnswerFormat = (typeof ANSWER_FORMATS)[number]

interface CsvOptions {
  /**
   * Put `'` before texts that a spreadsheet would run as a formula. Such a file is for spreadsheets
   * only.
   */
  readonly isSpreadsheetSafe?: boolean
  /**
   * Write the file for Excel and similar programs: instants as UTC without an offset, lists joined,
   * formulas disarmed, and a byte order mark, which marks UTF-8 for them.
   */
  readonly isForExcel?: boolean
}

export interface AnswerOptions extends CsvOptions, TableOptions, WorkbookOptions, CalendarOptions {
  /** The columns to print, in this order; all by default. A calendar has its own. */
  readonly columns?: readonly string[] | undefined
}

/**
 * Writes an answer as it arrives and returns its number of rows. Ends early, without an error, when
 * the reader has gone (`| head`).
 */
export async function printAnswer(
  pieces: AsyncIterable<TableAnswer>,
  format: AnswerFormat,
  output: Writable,
  options: AnswerOptions = {},
): Promise<number> {
  const columns = format === 'ics' ? undefined : options.columns
  let count = 0
  async function* counted(): AsyncGenerator<TableAnswer> {
    for await (const piece of columns === undefined ? pieces : pickExisting(pieces, columns)) {
      count += piece.rows.length
      yield piece
    }
  }
  for await (const chunk of FORMATS[format](counted(), options)) {
    if (output.destroyed || output.errored !== null) return count
    if (!output.write(chunk)) await drained(output)
  }
  return count
}

/** Also settles when the reader goes away. */
async function drained(output: Writable): Promise<void> {
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

/** A whole answer as a single piece. */
// eslint-disable-next-line @typescript-eslint/require-await -- answers come in pieces
export async function* asPieces(answer: TableAnswer): AsyncGenerator<TableAnswer> {
  yield answer
}

type Formatter = (
  pieces: AsyncIterable<TableAnswer>,
  options: AnswerOptions,
) => AsyncGenerator<string | Uint8Array, void, undefined>

const FORMATS: Readonly<Record<AnswerFormat, Formatter>> = {
  table: asTable,
  csv: asCsv,
  json: asJson,
  ndjson: asNdjson,
  xlsx: asWorkbook,
  ics: asCalendar,
}

/** The named columns; throws ConfigError for those that the answer lacks. */
export async function* pickExisting(
  pieces: AsyncIterable<TableAnswer>,
  names: readonly string[],
  setting = '--columns',
): AsyncGenerator<TableAnswer> {
  for await (const piece of pieces) {
    requireColumns(names, piece.columns, setting)
    const named = piece.columns.filter((name) => names.includes(name))
    refuseEqualNames(setting, named, 'needs unique column names, but several are called')
    yield pickColumns(piece, names)
  }
}

/** More are not named: a stranger may send thousands. */
const MOST_PROBLEMS = 3

/** Throws ConfigError for names that the answer lacks. */
export function requireColumns(
  names: readonly string[],
  columns: readonly string[],
  setting = '--columns',
): void {
  const unknown = names.filter((name) => !columns.includes(name)).slice(0, MOST_PROBLEMS)
  const problems = unknown.map((name) => {
    const fix = suggest(name, columns) || `; it has ${columns.join(', ')}`
    const problem = `names ${name}, which the answer does not have${fix}`
    return { setting, problem }
  })
  if (problems.length > 0) throw new ConfigError(problems)
}

/**
 * Comma-separated values by RFC 4180, with a header line and equal line ends; null is an empty
 * field, an empty text is `""`.
 */
export async function* asCsv(
  pieces: AsyncIterable<TableAnswer>,
  { isSpreadsheetSafe = false, isForExcel = false }: AnswerOptions,
): AsyncGenerator<string> {
  const safe = isSpreadsheetSafe || isForExcel ? disarm : (value: unknown) => value
  const shown = isForExcel ? forExcel : (value: unknown) => value
  const line = (
    row: readonly unknown[],
    types: readonly number[] = [],
    elements: readonly number[] = [],
  ): string => {
    const fields = row.map((value, index) =>
      field(safe(shown(value, types[index], elements[index]))),
    )
    return `${fields.join(',')}\r\n`
  }
  let isFirst = true
  for await (const { columns, types, rows, elements } of pieces) {
    if (isFirst) yield `${isForExcel ? '\ufeff' : ''}${line(columns)}`
    isFirst = false
    yield rows.map((row) => line(row, types, elements)).join('')
  }
}

/** The same as one text, safe for a spreadsheet. */
export async function formatCsv(answer: TableAnswer): Promise<string> {
  let text = ''
  for await (const piece of asCsv(asPieces(answer), { isSpreadsheetSafe: true })) text += piece
  return text
}

/** Object ids of PostgreSQL's `timestamp` and `timestamptz`. */
const INSTANTS = new Set([1114, 1184])

function forExcel(value: unknown, type?: number, element = 0): unknown {
  if (Array.isArray(value)) return value.map(asText).join('; ')
  if (element !== 0 && typeof value === 'string') return listElements(value).join('; ')
  if (type === undefined || !INSTANTS.has(type) || typeof value !== 'string') return value
  return value.replace(/^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(?:\.\d+)?(?:\+00)?$/, '$1')
}

function field(value: unknown): string {
  if (value === null || value === undefined) return ''
  const text = asText(value)
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Characters that begin a formula in spreadsheets. A plain number may begin with a sign. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/
const NUMBER = /^[+-]?\d+(?:\.\d+)?$/

function disarm(value: unknown): unknown {
  if (value === null || value === undefined) return value
  const text = asText(value)
  return FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text
}

async function* asNdjson(pieces: AsyncIterable<TableAnswer>): AsyncGenerator<string> {
  for await (const piece of pieces) {
    yield toObjects(piece)
      .map((row) => `${row}\n`)
      .join('')
  }
}

async function* asJson(pieces: AsyncIterable<TableAnswer>): AsyncGenerator<string> {
  let separator = '[\n'
  for await (const piece of pieces) {
    for (const row of toObjects(piece)) {
      yield `${separator}  ${row}`
      separator = ',\n'
    }
  }
  yield separator === '[\n' ? '[]\n' : '\n]\n'
}

/** Each row as JSON, as every output has it. */
export function toObjects({ columns, types, rows, elements }: TableAnswer): string[] {
  refuseEqualNames('--format', columns, 'json needs unique column names, but several are called')
  const keys = columns.map((name) => JSON.stringify(name))
  return rows.map((row) => {
    const members = row.map((value, at) => {
      const text =
        elements === undefined
          ? JSON.stringify(value)
          : asJsonText(value, types[at] ?? 0, elements[at] ?? 0)
      return `${keys[at] ?? ''}:${text}`
    })
    return `{${members.join(',')}}`
  })
}

/** Throws ConfigError if two columns of an answer have one name. */
function refuseEqualNames(setting: string, columns: readonly string[], problem: string): void {
  const twice = columns.find((name, index) => columns.indexOf(name) !== index)
  if (twice === undefined) return
  const fix = 'give each a name of its own with `as`'
  throw new ConfigError([{ setting, problem: `${problem} ${twice}; ${fix}` }])
}
