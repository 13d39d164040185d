import type { Row } from 'write-excel-file/node'
import { ConfigError } from '../../../base/errors.js'
import { countOf } from '../../../base/phrases.js'
import type { NumberPage } from '../number-page.js'
import type { TableAnswer } from '../read-answer.js'
import { linksFeature, type CellLink } from './workbook-links.js'
import { asMoney, currencyColumn, NUMERIC, NUMERIC_TYPES } from './amounts.js'
import { cellText, widthOf } from '../../../commands/output/print-table.js'

export interface WorkbookOptions {
  /** The name of the sheet: the question. */
  readonly name?: string
  /** Called with notes that the file does not show. */
  readonly note?: (text: string) => void
  /** Page of a container or bill of lading, which the cell of its number links to. */
  readonly pageOf?: NumberPage | undefined
}

/** Excel's limit without the header row. */
const MOST_ROWS = 1_048_575
/** A workbook is made in memory: this many cells take a gigabyte, and a minute. */
const MOST_CELLS = 4_000_000
/** All texts of a workbook are joined while it is made, and V8 ends at 500 million characters. */
const MOST_CHARACTERS = 100_000_000
/** Excel's limit for the text of a cell. */
const LONGEST_TEXT = 32_767
const LARGEST_NUMBER = 9.99e307
const MEASURED_ROWS = 1_000
const NARROWEST = 8
const WIDEST = 60

/** Columns whose cells link to the page of their number. */
const NUMBER_COLUMNS = ['container_number', 'bill_of_lading_number']

/** Object ids of PostgreSQL's types. */
const DATE = 1082
const TIMESTAMP = 1114
const TIMESTAMPTZ = 1184

/** Before this day Excel counts a 29 February 1900, which did not exist. */
const FIRST_DAY = Date.UTC(1900, 2, 1)

type Cell = Row[number]

/**
 * A workbook of one sheet: a header that stays in sight, and each value in its own type. Texts
 * never become formulas.
 */
export async function* asWorkbook(
  pieces: AsyncIterable<TableAnswer>,
  { name = 'answer', note = () => undefined, pageOf }: WorkbookOptions,
): AsyncGenerator<Uint8Array> {
  const sheet: Row[] = []
  const texts = new Texts()
  const links: CellLink[] = []
  for await (const { columns, types, rows } of pieces) {
    if (sheet.length === 0) sheet.push(columns.map((column, at) => head(column, types[at])))
    const count = sheet.length - 1 + rows.length
    if (count > MOST_ROWS) throw tooLarge(MOST_ROWS, 'rows, the most that a sheet holds')
    if (count * columns.length > MOST_CELLS) throw tooLarge(MOST_CELLS, 'cells')
    const formats = columns.map((column) => currencyColumn(columns, column))
    const linked = NUMBER_COLUMNS.map((name) => columns.indexOf(name)).filter((at) => at >= 0)
    for (const row of rows) {
      for (const column of linked) {
        const address = pageOf?.(row[column])
        if (address !== undefined) links.push({ row: sheet.length, column, address })
      }
      sheet.push(
        row.map((value, at) => {
          const type = types[at] ?? 0
          if (value === null || value === undefined) return null
          if (typeof value === 'boolean') return value
          if (typeof value === 'number' || NUMERIC_TYPES.has(type)) {
            const currency = type === NUMERIC ? formats[at] : undefined
            return numberCell(value, currency === undefined ? undefined : row[currency])
          }
          const isTime = type === DATE || type === TIMESTAMP || type === TIMESTAMPTZ
          const time = isTime && typeof value === 'string' ? timeCell(value) : undefined
          return time ?? texts.cell(value, columns[at] ?? '')
        }),
      )
    }
    if (texts.length > MOST_CHARACTERS) throw tooLarge(MOST_CHARACTERS, 'characters')
  }
  for (const text of texts.notes()) note(text)
  const { default: writeWorkbook } = await import('write-excel-file/node')
  const workbook = writeWorkbook(
    sheet,
    {
      sheet: name,
      stickyRowsCount: 1,
      columns: (sheet[0] ?? []).map((_, at) => ({ width: widthOfColumn(sheet, at) })),
    },
    { features: [linksFeature(links)] },
  )
  yield await workbook.toBuffer()
}

function tooLarge(most: number, what: string): ConfigError {
  const problem =
    `xlsx cannot hold this answer: it has more than ${most.toLocaleString('en')} ${what}; ` +
    'narrow it, add --limit, or take --format csv'
  return new ConfigError([{ setting: '--format', problem }])
}

function head(column: string, type: number | undefined): Cell {
  return { value: type === TIMESTAMPTZ ? `${column} (UTC)` : column, fontWeight: 'bold' }
}

/** Returns a text if a number would lose whole digits. */
function numberCell(value: unknown, currency: unknown): Cell {
  const number = Number(value)
  const isExact = typeof value === 'number' || Math.abs(number) <= Number.MAX_SAFE_INTEGER
  if (!isExact || !(Math.abs(number) <= LARGEST_NUMBER)) return String(value)
  if (typeof currency !== 'string') return number
  const [, decimals = ''] = asMoney(String(value), currency).split('.')
  const format = decimals === '' ? '0' : `0.${'0'.repeat(decimals.length)}`
  return { value: number, type: Number, format }
}

const TIME = /^(\d{4}-\d\d-\d\d)(?: (\d\d:\d\d:\d\d(?:\.\d+)?)(?:([+-]\d\d)(?::?(\d\d))?)?)?$/

/** Undefined for values that are not a date of Excel: infinity, and the years before 1900. */
function timeCell(text: string): Cell {
  const [, day, time, hours, minutes = '00'] = TIME.exec(text) ?? []
  if (day === undefined) return undefined
  const zone = hours === undefined ? 'Z' : `${hours}:${minutes}`
  const value = new Date(`${day}T${time ?? '00:00:00'}${zone}`)
  if (!(value.getTime() >= FIRST_DAY)) return undefined
  return { value, type: Date, format: time === undefined ? 'yyyy-mm-dd' : 'yyyy-mm-dd hh:mm:ss' }
}

/** The texts of a workbook, with a count of the cut ones. */
class Texts {
  /** Characters of all texts. */
  length = 0
  readonly #cut = new Map<string, number>()

  cell(value: unknown, column: string): Cell {
    const whole = plainText(value)
    if (whole.length > LONGEST_TEXT) this.#cut.set(column, (this.#cut.get(column) ?? 0) + 1)
    const text = whole.slice(0, LONGEST_TEXT)
    this.length += text.length
    // Otherwise Excel would read `_x0041_` as the character with that number.
    const escaped = text.replaceAll(/_(?=x[\dA-Fa-f]{4}_)/g, '_x005F_')
    return { value: escaped, type: String }
  }

  notes(): string[] {
    const most = LONGEST_TEXT.toLocaleString('en')
    return [...this.#cut].map(
      ([column, count]) =>
        `cut ${countOf(count, 'text')} of the column ${column} to ${most} characters, the most ` +
        'that a cell holds; csv has all of it',
    )
  }
}

function plainText(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (Array.isArray(value)) return value.map(plainText).join(', ')
  if (value instanceof Date) return value.toISOString()
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** In characters, from the widest of the first rows. */
function widthOfColumn(sheet: readonly Row[], at: number): number {
  const widest = sheet
    .slice(0, MEASURED_ROWS)
    .reduce((most, row) => Math.max(most, widthOf(shownText(row[at]).slice(0, WIDEST))), NARROWEST)
  return Math.min(widest, WIDEST) + 2
}

function shownText(cell: Cell): string {
  const value = typeof cell === 'object' && cell !== null && 'value' in cell ? cell.value : cell
  return value instanceof Date ? 'yyyy-mm-dd hh:mm:ss' : cellText(value)
}
