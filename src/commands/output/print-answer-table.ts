import type { TableAnswer } from '../../warehouse/connection/read-answer.js'
import {
  cellText,
  escapeControls,
  layHead,
  layRow,
  totalWidth,
  type Column,
} from './print-table.js'
import { AT_SPACES, cutText, NO_TERMINAL, padText, paint, widthOf, wrapText } from './terminal.js'
import type { Terminal, Tone } from './terminal.js'

export interface TableOptions {
  readonly terminal?: Terminal
  /** Every row, also where that is more than a screen. */
  readonly isAll?: boolean
  /** No more rows than this; a screen unless given. */
  readonly mostRows?: number
  /** Every column, as wide as it is. */
  readonly isWide?: boolean
  /** A record a block, a line a column. */
  readonly isVertical?: boolean
  /** Columns that come first where not all fit. */
  readonly leading?: readonly string[]
  /** Columns that are summed below the table; money for each currency. */
  readonly sums?: readonly string[]
}

/** Head, rule, totals, the two closing lines, and the prompt. */
const LINES_AROUND = 9
const FEWEST_ROWS = 5
const SCREEN = 24
/** Columns are as wide as the first rows need: the table begins before the last row is here. */
const MEASURED_ROWS = 1_000
const WIDEST_CELL = 28

/**
 * Writes a table as its rows arrive, in time and memory that grow with the rows alone. On a
 * terminal the columns that fit, from the first on, and a screen of rows; elsewhere everything.
 */
export async function* asTable(
  pieces: AsyncIterable<TableAnswer>,
  options: TableOptions,
): AsyncGenerator<string> {
  const { isVertical = false, isWide = false, terminal = NO_TERMINAL, leading = [] } = options
  let printer: Printer | undefined
  const isFitted = !isVertical && !isWide && terminal.width !== undefined
  for await (const piece of isFitted ? putFirst(pieces, leading) : pieces) {
    if (printer === undefined) {
      printer = isVertical ? new BlockPrinter(piece, options) : new TablePrinter(piece, options)
      yield printer.head()
    }
    const text = printer.rows(piece.rows)
    if (text !== '') yield text
  }
  if (printer !== undefined) yield printer.end()
}

async function* putFirst(
  pieces: AsyncIterable<TableAnswer>,
  leading: readonly string[],
): AsyncGenerator<TableAnswer> {
  for await (const { columns, types, rows } of pieces) {
    const first = leading.map((name) => columns.indexOf(name)).filter((index) => index !== -1)
    const others = columns.map((_, index) => index).filter((index) => !first.includes(index))
    const order = [...first, ...others]
    yield {
      columns: order.map((index) => columns[index] ?? ''),
      types: order.map((index) => types[index] ?? 0),
      rows: rows.map((row) => order.map((index) => row[index])),
    }
  }
}

interface Printer {
  head(): string
  rows(rows: TableAnswer['rows']): string
  end(): string
}

/** How many rows are shown; the rest are counted. */
function rowLimit({ terminal = NO_TERMINAL, isAll = false, mostRows }: TableOptions): number {
  if (isAll) return Infinity
  if (mostRows !== undefined) return mostRows
  if (terminal.width === undefined) return Infinity
  return Math.max(FEWEST_ROWS, (terminal.height ?? SCREEN) - LINES_AROUND)
}

class TablePrinter implements Printer {
  readonly #names: readonly string[]
  readonly #columns: readonly Column[]
  readonly #terminal: Terminal
  readonly #show: Show
  readonly #isCut: boolean
  readonly #isHinting: boolean
  readonly #limit: number
  readonly #totals: Totals
  #count = 0

  constructor(first: TableAnswer, options: TableOptions) {
    const { terminal = NO_TERMINAL, isWide = false, sums = [] } = options
    this.#terminal = terminal
    this.#names = first.columns.map(escapeControls)
    this.#show = createShow(first)
    this.#limit = rowLimit(options)
    this.#totals = new Totals(first.columns, sums)
    this.#isHinting = options.mostRows === undefined
    this.#isCut = !isWide && terminal.width !== undefined
    const expected = new Totals(first.columns, sums)
    for (const row of first.rows) expected.add(row)
    const totals = expected.rows(() => true).map(({ cells }) => cells)
    this.#columns = this.#fit(first, totals, isWide ? undefined : terminal.width)
  }

  /**
   * The leading columns that fit, as wide as their cells and the totals of the first piece; a name
   * may take several lines.
   */
  #fit(
    first: TableAnswer,
    totals: readonly (readonly (string | undefined)[])[],
    width: number | undefined,
  ): Column[] {
    const sample = first.rows.slice(0, Math.min(this.#limit, MEASURED_ROWS))
    const columns = this.#names.map((name, index): Column => {
      const shown = sample.map((row) => this.#show(row, index))
      const summed = totals.map((cells) => cells[index] ?? '')
      const cells = [...shown, ...summed].reduce((most, text) => Math.max(most, widthOf(text)), 0)
      const isRight = isNumeric(first.types[index])
      if (width === undefined) return { width: Math.max(cells, widthOf(name)), isRight }
      const words = name.split(/(?<=[ _])/).map(widthOf)
      const least = words.reduce((most, word) => Math.max(most, word), 0)
      return { width: Math.min(Math.max(cells, least), width, WIDEST_CELL), isRight }
    })
    if (width === undefined) return columns
    const fitting = columns.findIndex(
      (_, index) => totalWidth(columns.slice(0, index + 1).map((one) => one.width)) > width,
    )
    return fitting === -1 ? columns : columns.slice(0, Math.max(1, fitting))
  }

  head(): string {
    return `${layHead(this.#columns, this.#names)}\n`
  }

  rows(rows: TableAnswer['rows']): string {
    const shown = rows.slice(0, Math.max(0, this.#limit - this.#count))
    this.#count += rows.length
    for (const row of rows) this.#totals.add(row)
    return shown.map((row) => `${this.#line(row)}\n`).join('')
  }

  #line(row: readonly unknown[]): string {
    const cells = this.#columns.map(({ width }, index) => {
      const text = this.#show(row, index)
      return [this.#isCut ? cutText(text, width) : text]
    })
    const tones = this.#columns.map((_, index) => toneOf(this.#names[index] ?? '', row[index]))
    return layRow(this.#columns, cells, this.#terminal, tones)
  }

  end(): string {
    const { width } = this.#terminal
    const isShown = (index: number): boolean => index < this.#columns.length
    const totals = this.#totals.rows(isShown).map(({ label, cells }) => {
      const line = this.#columns.map(({ width: most }, index) => {
        const text = cells[index] ?? ''
        return [index === 0 && text === '' ? cutText(label, most) : text]
      })
      return layRow(this.#columns, line)
    })
    const rule = layRow(
      this.#columns,
      this.#columns.map((one) => ['-'.repeat(one.width)]),
    )
    const hidden = this.#names.slice(this.#columns.length)
    const hint = this.#isHinting ? '; see --columns, --wide, --vertical' : ''
    const lines = [
      ...(totals.length > 0 ? [rule, ...totals] : []),
      describeCount(this.#count, this.#limit, this.#isHinting),
      ...(hidden.length === 0
        ? []
        : wrapText(`(not shown: ${hidden.join(', ')}${hint})`, width ?? Infinity, AT_SPACES)),
    ]
    return `${lines.join('\n')}\n`
  }
}

function describeCount(count: number, limit: number, isHinting = true): string {
  const rows = `${count} ${count === 1 ? 'row' : 'rows'}`
  if (count <= limit) return `(${rows})`
  return `(${rows}, the first ${limit} shown${isHinting ? '; --all shows all' : ''})`
}

class BlockPrinter implements Printer {
  readonly #names: readonly string[]
  readonly #show: Show
  readonly #options: TableOptions
  readonly #limit: number
  #count = 0

  constructor(first: TableAnswer, options: TableOptions) {
    this.#names = first.columns.map(escapeControls)
    this.#show = createShow(first)
    this.#options = options
    const rows = rowLimit(options)
    const isScreen = options.mostRows === undefined && rows !== Infinity
    this.#limit = isScreen ? Math.max(1, Math.floor(rows / (this.#names.length + 1))) : rows
  }

  head(): string {
    return ''
  }

  rows(rows: TableAnswer['rows']): string {
    const shown = rows.slice(0, Math.max(0, this.#limit - this.#count))
    const blocks = shown.map((row, index) => this.#block(row, this.#count + index + 1))
    this.#count += rows.length
    return blocks.join('')
  }

  #block(row: readonly unknown[], number: number): string {
    const { terminal = NO_TERMINAL } = this.#options
    const margin = this.#names.reduce((most, name) => Math.max(most, widthOf(name)), 0) + 2
    const width = Math.max(10, (terminal.width ?? Infinity) - margin)
    const lines = this.#names.map((name, index) => {
      const tone = toneOf(name, row[index])
      const text = wrapText(this.#show(row, index), width).map((line) =>
        paint(line, tone, terminal),
      )
      return `${padText(name, margin, false)}${text.join(`\n${' '.repeat(margin)}`)}`.trimEnd()
    })
    return `${[`--- ${number}`, ...lines].join('\n')}\n`
  }

  end(): string {
    return `${describeCount(this.#count, this.#limit)}\n`
  }
}

/**
 * Object ids of PostgreSQL's types of numbers: 2, 4 and 8 bytes, numeric, and the two that round.
 */
const NUMERIC_TYPES = new Set([20, 21, 23, 1700, 700, 701])
const NUMERIC = 1700

function isNumeric(type: number | undefined): boolean {
  return type !== undefined && NUMERIC_TYPES.has(type)
}

/** Money has the decimals of its currency. */
type Show = (row: readonly unknown[], index: number) => string

function createShow({ columns, types }: TableAnswer): Show {
  const currencyOf = columns.map((name, index) =>
    types[index] === NUMERIC ? currencyColumn(columns, name) : undefined,
  )
  return (row, index) => {
    const currency = currencyOf[index]
    const text = cellText(row[index])
    return currency === undefined ? text : asMoney(text, row[currency])
  }
}

/** `fee_amount` is in `fee_currency_code`; any other amount in `currency_code`. */
function currencyColumn(columns: readonly string[], name: string): number | undefined {
  if (!isAmount(name)) return undefined
  const own = columns.indexOf(name.replace(/amount$/, 'currency_code'))
  const shared = columns.indexOf('currency_code')
  const index = own === -1 ? shared : own
  return index === -1 ? undefined : index
}

function isAmount(name: string): boolean {
  return /(?:^|_)amount(?:_|$)/.test(name)
}

/** Never fewer digits than there are. */
function asMoney(text: string, currency: unknown): string {
  const [, whole = '', digits = ''] = /^(-?\d+)(?:\.(\d*))?$/.exec(text) ?? []
  if (whole === '') return text
  const decimals = digits.replace(/0+$/, '').padEnd(decimalsOf(currency), '0')
  return decimals === '' ? whole : `${whole}.${decimals}`
}

const MOST_CURRENCIES = 300
const decimals = new Map<unknown, number>()

function decimalsOf(currency: unknown): number {
  const known = decimals.get(currency)
  if (known !== undefined) return known
  const count = /^[A-Z]{3}$/.test(String(currency))
    ? (new Intl.NumberFormat('en', {
        style: 'currency',
        currency: String(currency),
      }).resolvedOptions().maximumFractionDigits ?? 2)
    : 2
  if (decimals.size < MOST_CURRENCIES) decimals.set(currency, count)
  return count
}

/** What is good or bad news at a glance. */
function toneOf(name: string, value: unknown): Tone | undefined {
  if (name === 'is_ready') return value === true ? 'good' : undefined
  if (name === 'days_left') return Number(value) < 0 && value !== null ? 'bad' : undefined
  if (name === 'days_over') return Number(value) > 0 ? 'bad' : undefined
  if (name === 'state' || name.endsWith('outcome')) return TONES[String(value)]
  return undefined
}

const TONES: Readonly<Record<string, Tone>> = {
  overdue: 'bad',
  failed: 'bad',
  incomplete: 'bad',
  complete: 'good',
}

const SCALE = 6

/** Sums of columns, money by currency, without a rounding. */
class Totals {
  readonly #summed: readonly { readonly index: number; readonly currency: number | undefined }[]
  /** By currency ('' for other numbers), then by column. */
  readonly #sums = new Map<string, Map<number, bigint>>()

  constructor(columns: readonly string[], sums: readonly string[]) {
    this.#summed = sums.flatMap((name) => {
      const index = columns.indexOf(name)
      const currency = currencyColumn(columns, name)
      // Without its currency among the columns, a sum would add dollars to euros.
      const isMixed = isAmount(name) && currency === undefined
      return index === -1 || isMixed ? [] : [{ index, currency }]
    })
  }

  add(row: readonly unknown[]): void {
    for (const { index, currency } of this.#summed) {
      const amount = scaled(cellText(row[index]))
      if (amount === undefined) continue
      const key = currency === undefined ? '' : cellText(row[currency]) || 'no currency'
      const sums = this.#sums.get(key) ?? new Map<number, bigint>()
      this.#sums.set(key, sums.set(index, (sums.get(index) ?? 0n) + amount))
    }
  }

  rows(isShown: (index: number) => boolean): { label: string; cells: string[] }[] {
    return [...this.#sums].sort().flatMap(([currency, sums]) => {
      const cells: string[] = []
      for (const [index, sum] of sums) {
        if (isShown(index))
          cells[index] = currency === '' ? plain(sum) : asMoney(plain(sum), currency)
      }
      return cells.length === 0 ? [] : [{ label: `total ${currency}`.trimEnd(), cells }]
    })
  }
}

function scaled(text: string): bigint | undefined {
  const [, sign = '', whole = '', digits = ''] = /^(-?)(\d+)(?:\.(\d{0,6})\d*)?$/.exec(text) ?? []
  return whole === '' ? undefined : BigInt(`${sign}${whole}${digits.padEnd(SCALE, '0')}`)
}

function plain(amount: bigint): string {
  const digits = String(amount < 0n ? -amount : amount).padStart(SCALE + 1, '0')
  const text = `${digits.slice(0, -SCALE)}.${digits.slice(-SCALE)}`.replace(/\.?0+$/, '')
  return amount < 0n ? `-${text}` : text
}
