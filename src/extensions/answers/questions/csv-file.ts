import { sql } from 'kysely'
import { CsvError, parse } from 'csv-parse/sync'
import { z } from 'zod'
import { ConfigError } from '../../../base/errors.js'
import { suggest } from '../../../base/phrases.js'
import type { USERS_TABLES } from '../../../warehouse/connection/schema-names.js'
import type { Session } from '../../../warehouse/connection/warehouse.js'
import { tableRef } from '../../../warehouse/connection/typed-database.js'

/** A rejected line of a file, and the reason. */
export interface BadLine {
  readonly line: number
  readonly reason: string
}

/** PostgreSQL cannot store NUL, and an index limits the length of a text. */
const storable = z
  .string()
  .trim()
  .refine(
    (cell) => cell.length <= 500 && !cell.includes('\0'),
    'must be a text without NUL of at most 500 characters',
  )

/** The trimmed text of a cell; null if it is empty. */
export const text = storable.transform((cell) => (cell === '' ? null : cell))
export const name = storable.min(1, 'is empty')

const MONTHS =
  'Jan|Feb|Mar|Mrz|Mär|Apr|May|Mai|Jun|Jul|Aug|Sep|Sept|Oct|Okt|Nov|Dec|Dez|' +
  'ene|abr|ago|dic|janv|févr|mars|avr|mai|juin|juil|août|déc'

/** The forms that spreadsheets give to an identifier that looks like a number or a day. */
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

/** Damaged identifiers may be equal, and one would replace the other. */
const isWhole = z.string().superRefine((cell, context) => {
  const [, what] = DAMAGES.find(([pattern]) => pattern.test(cell)) ?? []
  if (what === undefined) return
  const message =
    `is no longer the identifier that was sent: a spreadsheet ${what}; make its column a column ` +
    'of text and enter it again'
  context.addIssue({ code: 'custom', message })
})

/** An identifier that others assigned; an empty cell is refused. */
export const identifier = name.pipe(isWhole)

/** The same, or an empty cell. */
export const optionalIdentifier = text.pipe(isWhole.nullable())

/** A text that matches, or an empty cell; `must` describes the valid form. */
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

/** One of these words, or the fallback for an empty cell. */
export function wordOr<const Fallback extends string | null, const Word extends string>(
  fallback: Fallback,
  ...words: readonly Word[]
) {
  return z.union([z.literal('').transform(() => fallback), oneOf(...words)])
}

/** A whole number in this range, or an empty cell. */
export function whole(least: number, most: number) {
  return matching(/^\d{1,15}$/, 'a whole number')
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
}, 'is not a day of the calendar')

/** An amount as PostgreSQL reads one, zero or more. */
export const amount = matching(
  /^\d{1,12}(?:\.\d{1,6})?$/,
  'an amount as 150 or 150.00, zero or more',
)

/** The same, or below zero: the refund of a credit note. */
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
 * Reads comma- or semicolon-separated values with a header, columns in any order. Adds rejected
 * lines to `bad`. Throws ConfigError if the header does not fit the schema; the `optional` columns
 * may be missing.
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

/** The cells of a file, with a lower-case header. Throws ConfigError if it is malformed. */
export function splitCsv(fileName: string, csvText: string): CsvCells {
  const [header, ...cells] = readCells(fileName, csvText)
  return { columns: (header?.cells ?? []).map((cell) => cell.trim().toLowerCase()), cells }
}

/** Cells are limited to 500 characters; a longer record has an unclosed quote. */
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
 * Unwraps `="0012345"`, by which files mark texts for a spreadsheet, with its quotes doubled or
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
      'columns are there twice',
      columns.filter((column, at) => columns.indexOf(column) !== at),
    ),
    ...columns.flatMap((column) =>
      wanted.includes(column)
        ? []
        : [
            {
              line: 1,
              reason: `unknown column ${column}${suggest(column, wanted)} (it accepts ${wanted.join(', ')})`,
            },
          ],
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
      const reason = `has ${cells.length} cells, but the header has ${columns.length}`
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

/** The lines whose key is in an earlier line. */
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

/** Throws a ConfigError that names the first twenty bad lines; does nothing without bad lines. */
export function refuse(fileName: string, bad: readonly BadLine[]): never | [] {
  if (bad.length === 0) return []
  const sorted = bad.toSorted((one, other) => one.line - other.line)
  const shown = sorted.slice(0, MOST_SHOWN).map(({ line, reason }) => `\n  line ${line}: ${reason}`)
  const rest = sorted.length - MOST_SHOWN
  const more = rest > 0 ? `\n  and ${rest} more` : ''
  const problem = `cannot be imported; nothing was stored:${shown.join('')}${more}`
  throw new ConfigError([{ setting: fileName, problem }])
}

/** The changes of an import: rules by name, holidays by day, invoices by line. */
export interface ImportReport {
  readonly kind: string
  readonly total: number
  readonly added: number
  readonly changed: number
  readonly removed: number
  /** Names in the file that the warehouse does not know. */
  readonly warnings: readonly string[]
}

/** Makes an import wait for the end of another one: two at once would leave the lines of both. */
export async function waitForOtherImports(
  session: Session,
  name: (typeof USERS_TABLES)[number],
): Promise<void> {
  await session.query(
    'wait for another import',
    sql`lock table ${tableRef(`analytics.${name}`)} in share row exclusive mode`,
  )
}

/** Counts the differences between two states of a table, each a text by its key. */
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
