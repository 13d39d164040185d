import { sql } from 'kysely'
import { CsvError, parse } from 'csv-parse/sync'
import { z } from 'zod'
import { ConfigError } from '../../../base/errors.js'
import type { USERS_TABLES } from '../../../warehouse/connection/schema-names.js'
import type { Session } from '../../../warehouse/connection/warehouse.js'
import { tableRef } from '../../../warehouse/connection/typed-database.js'

/** A line of a file that cannot be taken, and why. */
export interface BadLine {
  readonly line: number
  readonly reason: string
}

/** PostgreSQL stores no NUL, and no index holds a text without end. */
const storable = z
  .string()
  .trim()
  .refine(
    (cell) => cell.length <= 500 && !cell.includes('\0'),
    'must be a text without NUL of at most 500 characters',
  )

/** The text of a cell without the space around it; null where it is empty. */
export const text = storable.transform((cell) => (cell === '' ? null : cell))
export const name = storable.min(1, 'is empty')

const MONTHS =
  'Jan|Feb|Mar|Mrz|Mär|Apr|May|Mai|Jun|Jul|Aug|Sep|Sept|Oct|Okt|Nov|Dec|Dez|' +
  'ene|abr|ago|dic|janv|févr|mars|avr|mai|juin|juil|août|déc'

/** The forms that spreadsheets give to an identifier that they take for a number or a day. */
const DAMAGES: readonly (readonly [RegExp, string])[] = [
  [/^[+-]?\d+(?:[.,]\d+)?E[+-]\d+$|^[+-]?\d+[.,]\d+E\d+$/i, 'rounded it to a short number'],
  [/^\d{15}0+$/, 'kept 15 digits of it'],
  [/^\d+\.0+$/, 'took it for a number'],
  [
    new RegExp(`^(?:\\d{1,2}[- ])?(?:${MONTHS})\\.?[- ]\\d{2,4}$|^\\d{1,2}[- ](?:${MONTHS})\\.?$`),
    'took it for a day',
  ],
  [/^\d{1,2}([/.])\d{1,2}\1(?:\d{2}|\d{4})$/, 'took it for a day'],
  [/^#(?:N\/A|NAME\?|NUM!|REF!|VALUE!|DIV\/0!|#+)$/, 'shows an error in its place'],
]

/** Two damaged ones may be equal, and then one would replace the other. */
const isWhole = z.string().superRefine((cell, context) => {
  const [, what] = DAMAGES.find(([pattern]) => pattern.test(cell)) ?? []
  if (what === undefined) return
  const message =
    `is no longer the identifier that was sent: a spreadsheet ${what}; make its column a column ` +
    'of text and enter it again'
  context.addIssue({ code: 'custom', message })
})

/** A number or name that others gave; an empty cell is refused. */
export const identifier = name.pipe(isWhole)

/** The same, or an empty cell. */
export const optionalIdentifier = text.pipe(isWhole.nullable())

/** A text that matches, or an empty cell; `must` says what it must be. */
export function matching(pattern: RegExp, must: string) {
  return text.refine((cell) => cell === null || pattern.test(cell), `must be ${must}`)
}

/** One of these words; an empty cell is refused. */
export function oneOf<const Word extends string>(...words: readonly Word[]) {
  const must = `must be ${words.slice(0, -1).join(', ')} or ${words.at(-1) ?? ''}`
  return z
    .string()
    .trim()
    .refine((cell): cell is Word => (words as readonly string[]).includes(cell), must)
}

/** A whole number between these, or an empty cell. */
export function whole(least: number, most: number) {
  return matching(/^\d{1,6}$/, 'a whole number')
    .transform((cell) => (cell === null ? null : Number(cell)))
    .refine(
      (days) => days === null || (days >= least && days <= most),
      `must be between ${least} and ${most}`,
    )
}

const DAY = /^[12]\d{3}-\d\d-\d\d$/

/** A calendar day as PostgreSQL reads one. */
export const day = matching(DAY, 'a day as 2026-11-30').refine((cell) => {
  if (cell === null || !DAY.test(cell)) return true
  const at = new Date(`${cell}T00:00:00Z`)
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(cell)
}, 'is a day that the calendar does not have')

/** An amount as PostgreSQL reads one, zero or more. */
export const amount = matching(
  /^\d{1,12}(?:\.\d{1,6})?$/,
  'an amount as 150 or 150.00, zero or more',
)

/** The same, or less than zero: what a credit note gives back. */
export const signedAmount = matching(
  /^-?\d{1,12}(?:\.\d{1,6})?$/,
  'an amount as 150, 150.00 or, of a credit note, -150.00',
)

export const currency = z
  .string()
  .trim()
  .regex(/^[A-Z]{3}$/, 'must be a currency as USD')

export const CHARGES = ['demurrage', 'storage', 'detention'] as const

export interface Line<Value> {
  readonly line: number
  readonly value: Value
}

/**
 * Reads comma- or semicolon-separated values with a header, in any order of columns. Lines that
 * cannot be taken are added to `bad`. Throws ConfigError when the header is not the schema's; the
 * `optional` columns may be missing.
 */
export function readCsv<Value>(
  fileName: string,
  { columns, cells }: CsvCells,
  schema: z.ZodType<Value>,
  wanted: readonly string[],
  bad: BadLine[],
  optional: readonly string[] = [],
): Line<Value>[] {
  refuse(fileName, compareHeader(columns, wanted, optional))
  return readLines(cells, columns, schema, bad, optional)
}

export interface CsvCells {
  readonly columns: readonly string[]
  readonly cells: readonly { readonly line: number; readonly cells: readonly string[] }[]
}

/** The cells of a file, its header in small letters. Throws ConfigError when it is malformed. */
export function splitCsv(fileName: string, csvText: string): CsvCells {
  const [header, ...cells] = readCells(fileName, csvText)
  return { columns: (header?.cells ?? []).map((cell) => cell.trim().toLowerCase()), cells }
}

/** A cell is refused beyond 500 characters; a longer record has a quote that was never closed. */
const LONGEST_RECORD = 64 * 1024

function readCells(fileName: string, csvText: string) {
  const { delimiter, rows, skipped } = readSeparator(csvText)
  try {
    const records = parse(unwrapTexts(rows, delimiter), {
      delimiter,
      info: true,
      max_record_size: LONGEST_RECORD,
      relax_column_count: true,
      skip_empty_lines: true,
      skip_records_with_empty_values: true,
    }) as unknown as readonly { record: string[]; info: { lines: number } }[]
    return records.map(({ record, info }) => ({
      line: info.lines + skipped,
      cells: record.map((cell) => cell.replace(/^="([\s\S]*)"$/, '$1')),
    }))
  } catch (thrown) {
    if (!(thrown instanceof CsvError)) throw thrown
    const { lines: line = 1 } = thrown as { lines?: number }
    const isEndless = thrown.code === 'CSV_MAX_RECORD_SIZE'
    const reason = isEndless
      ? `the row that ends here has more than ${LONGEST_RECORD} characters; is a quote missing?`
      : `cannot be read: ${thrown.message.slice(0, 200)}`
    return refuse(fileName, [{ line: line + skipped, reason }])
  }
}

/** The separator of cells: a spreadsheet may name it in a first line `sep=;`. */
function readSeparator(csvText: string) {
  const [first = ''] = csvText.split(/\r?\n/, 1)
  const [, said] = /^"?sep=([,;\t])"?[,;\t]*$/i.exec(first) ?? []
  if (said !== undefined) {
    return { delimiter: said, rows: csvText.slice(first.length).replace(/^\r?\n/, ''), skipped: 1 }
  }
  const count = (separator: string): number => first.split(separator).length
  const [delimiter = ','] = [',', ';', '\t'].sort((one, other) => count(other) - count(one))
  return { delimiter, rows: csvText, skipped: 0 }
}

/**
 * `="0012345"` is how a spreadsheet is told that something is a text, with its quotes doubled or
 * not.
 */
function unwrapTexts(rows: string, delimiter: string): string {
  const cell = `="([^"\\r\\n]*)"(?=[${delimiter}\\r\\n]|$)`
  return rows.replaceAll(new RegExp(`(^|[${delimiter}\\n])${cell}`, 'g'), '$1"$2"')
}

function compareHeader(
  columns: readonly string[],
  wanted: readonly string[],
  optional: readonly string[],
): BadLine[] {
  const list = (which: string, names: readonly string[]) =>
    names.length === 0 ? [] : [{ line: 1, reason: `${which}: ${names.join(', ')}` }]
  return [
    ...list(
      'columns are missing',
      wanted.filter((column) => !columns.includes(column) && !optional.includes(column)),
    ),
    ...list(
      `columns that it does not take (it takes ${wanted.join(', ')})`,
      columns.filter((column, at) => !wanted.includes(column) || columns.indexOf(column) !== at),
    ),
  ]
}

function readLines<Value>(
  lines: readonly { readonly line: number; readonly cells: readonly string[] }[],
  columns: readonly string[],
  schema: z.ZodType<Value>,
  bad: BadLine[],
  optional: readonly string[],
): Line<Value>[] {
  return lines.flatMap(({ line, cells }) => {
    if (cells.length !== columns.length) {
      const reason = `has ${cells.length} cells and the header ${columns.length}`
      bad.push({ line, reason })
      return []
    }
    const given = Object.fromEntries([
      ...optional.map((column) => [column, '']),
      ...columns.map((column, at) => [column, cells[at] ?? '']),
    ]) as Record<string, string>
    const result = schema.safeParse(given)
    if (result.success) return [{ line, value: result.data }]
    for (const { path, message, ...issue } of result.error.issues) {
      const column = String(path[0] ?? '')
      const inner = issue.code === 'invalid_union' ? issue.errors.at(-1)?.[0]?.message : undefined
      bad.push({ line, reason: `${column} ${JSON.stringify(given[column])} ${inner ?? message}` })
    }
    return []
  })
}

/** The lines whose key an earlier line has already. */
export function findTwice<Value>(
  lines: readonly Line<Value>[],
  keyOf: (value: Value) => string,
): BadLine[] {
  const first = new Map<string, number>()
  return lines.flatMap(({ line, value }) => {
    const key = keyOf(value)
    const earlier = first.get(key)
    if (earlier === undefined) first.set(key, line)
    return earlier === undefined ? [] : [{ line, reason: `${key} is in line ${earlier} already` }]
  })
}

const MOST_SHOWN = 20

/** Throws ConfigError that names the first twenty bad lines; does nothing where there are none. */
export function refuse(fileName: string, bad: readonly BadLine[]): never | [] {
  if (bad.length === 0) return []
  const sorted = bad.toSorted((one, other) => one.line - other.line)
  const shown = sorted.slice(0, MOST_SHOWN).map(({ line, reason }) => `\n  line ${line}: ${reason}`)
  const rest = sorted.length - MOST_SHOWN
  const more = rest > 0 ? `\n  and ${rest} more` : ''
  const problem = `cannot be taken, and nothing of it was stored:${shown.join('')}${more}`
  throw new ConfigError([{ setting: fileName, problem }])
}

/** How the tables differ from before: rules by name, holidays by day, invoices by line. */
export interface ImportReport {
  readonly kind: string
  readonly total: number
  readonly added: number
  readonly changed: number
  readonly removed: number
  /** What the file names and the warehouse does not know. */
  readonly warnings: readonly string[]
}

/**
 * Two imports at once would leave the lines of both: the second waits until the transaction of the
 * first ends.
 */
export async function waitForOtherImports(
  session: Session,
  name: (typeof USERS_TABLES)[number],
): Promise<void> {
  await session.query(
    'wait for another import',
    sql`lock table ${tableRef(`analytics.${name}`)} in share row exclusive mode`,
  )
}

/** Counts what differs between two states of a table, each a text by its key. */
export function compareRows(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
) {
  const count = (keys: Iterable<string>, isCounted: (key: string) => boolean) =>
    [...keys].filter(isCounted).length
  return {
    added: count(after.keys(), (key) => !before.has(key)),
    changed: count(after.keys(), (key) => before.has(key) && before.get(key) !== after.get(key)),
    removed: count(before.keys(), (key) => !after.has(key)),
  }
}
