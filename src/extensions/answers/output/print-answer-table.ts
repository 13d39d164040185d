import { countOf } from '../../../base/phrases.js'
import type { TableAnswer } from '../read-answer.js'
import {
  asAge,
  asMoney,
  asPercent,
  currencyColumn,
  isShare,
  NUMERIC,
  NUMERIC_TYPES,
  Totals,
} from './amounts.js'
import {
  AT_SPACES,
  cellText,
  cutText,
  escapeControls,
  layHead,
  layRow,
  layRule,
  NO_TERMINAL,
  padText,
  paint,
  totalWidth,
  widthOf,
  wrapText,
  type Column,
  type Terminal,
  type Tone,
} from '../../../commands/output/print-table.js'

export interface TableOptions {
  readonly terminal?: Terminal
  /** Every row, even if that is more than a screen. */
  readonly isAll?: boolean
  /** Most rows; a screen by default. */
  readonly mostRows?: number
  /** Every column at its full width. */
  readonly isWide?: boolean
  /** A block for each record, a line for each column. */
  readonly isVertical?: boolean
  /** Columns that come first if not all fit. */
  readonly leading?: readonly string[]
  /** Columns with a sum below the table; money for each currency. */
  readonly sums?: readonly string[]
}

/** Head, rule, totals, the two closing lines, and the prompt. */
const LINES_AROUND = 9
const FEWEST_ROWS = 5
const SCREEN = 24
/** The first rows decide the widths: the table begins before the last row arrives. */
const MEASURED_ROWS = 1_000
const WIDEST_CELL = 28
/** The last leading column gets the remaining room if it is at least this wide. */
const NARROWEST_CUT = 14

/** The layout of an answer, known from its first piece. */
interface Layout {
  readonly head: string
  /** Rows to show; the rest are counted. */
  readonly limit: number
  /** A row with its number, from 1. */
  row(row: readonly unknown[], number: number): string
  /** The lines below the table. */
  end(count: number, totals: Totals): readonly string[]
}

/**
 * Writes a table as its rows arrive; time and memory grow with the rows alone. On a terminal it
 * shows the columns that fit, from the first on, and a screen of rows; elsewhere everything.
 */
export async function* asTable(
  pieces: AsyncIterable<TableAnswer>,
  options: TableOptions,
): AsyncGenerator<string> {
  const { isVertical = false, isWide = false, terminal = NO_TERMINAL } = options
  const { leading = [], sums = [] } = options
  const isFitted = !isVertical && !isWide && terminal.width !== undefined
  let layout: Layout | undefined
  let totals = new Totals([], [])
  let count = 0
  for await (const piece of isFitted ? putFirst(pieces, leading) : pieces) {
    if (layout === undefined) {
      layout = isVertical ? layBlocks(piece, options) : layTable(piece, options)
      totals = new Totals(piece.columns, sums)
      yield layout.head
    }
    const { limit } = layout
    let text = ''
    for (const row of piece.rows) {
      totals.add(row)
      count += 1
      if (count <= limit) text += `${layout.row(row, count)}\n`
    }
    if (text !== '') yield text
  }
  if (layout !== undefined) yield `${layout.end(count, totals).join('\n')}\n`
}

async function* putFirst(
  pieces: AsyncIterable<TableAnswer>,
  leading: readonly string[],
): AsyncGenerator<TableAnswer> {
  for await (const piece of pieces) {
    // Columns of own SQL keep their order, and several may have one name.
    if (piece.elements !== undefined) {
      yield piece
      continue
    }
    const currencies = currencyColumns(piece.columns)
    const isShown = (name: string): boolean => !currencies.includes(name)
    const first = leading.filter((name) => piece.columns.includes(name) && isShown(name))
    const rest = piece.columns.filter((name) => !leading.includes(name) && isShown(name))
    yield pickColumns(piece, [...first, ...rest, ...currencies])
  }
}

/** Currency columns whose values the amounts show. */
function currencyColumns(columns: readonly string[]): string[] {
  const indexes = columns.map((name) => currencyColumn(columns, name))
  return columns.filter((_, index) => indexes.includes(index))
}

/** The named columns, in this order. */
export function pickColumns(
  { columns, types, rows, elements, ...rest }: TableAnswer,
  names: readonly string[],
): TableAnswer {
  const order = names.map((name) => columns.indexOf(name))
  return {
    ...rest,
    columns: names,
    types: order.map((index) => types[index] ?? 0),
    rows: rows.map((row) => order.map((index) => row[index])),
    ...(elements && { elements: order.map((index) => elements[index] ?? 0) }),
  }
}

function rowLimit({ terminal = NO_TERMINAL, isAll = false, mostRows }: TableOptions): number {
  if (isAll) return Infinity
  if (mostRows !== undefined) return mostRows
  if (terminal.width === undefined) return Infinity
  return Math.max(FEWEST_ROWS, (terminal.height ?? SCREEN) - LINES_AROUND)
}

function layTable(first: TableAnswer, options: TableOptions): Layout {
  const { terminal = NO_TERMINAL, sums = [], leading = [], mostRows } = options
  const width = options.isWide === true ? undefined : terminal.width
  const isFitted = width !== undefined
  const isOwnSql = first.elements !== undefined
  const last = isFitted && !isOwnSql ? currencyColumns(first.columns).length : 0
  const names = first.columns.slice(0, first.columns.length - last).map(escapeControls)
  const show = createShow(first, isFitted)
  const limit = rowLimit(options)
  const isHinting = mostRows === undefined
  const expected = new Totals(first.columns, sums)
  for (const row of first.rows) expected.add(row)
  const totalled = expected.rows(() => true, isFitted)
  const lastLeading = first.columns.indexOf(leading.at(-1) ?? '')
  const sample = first.rows.slice(0, Math.min(limit, MEASURED_ROWS))
  const all = names.map((name, index): Column => {
    const texts = [
      ...sample.map((row) => show(row, index)),
      ...totalled.map(({ label, cells }) => cells[index] ?? (index === 0 ? label : '')),
    ]
    const cells = widest(texts)
    const isRight = NUMERIC_TYPES.has(first.types[index] ?? 0)
    if (width === undefined) return { width: Math.max(cells, widthOf(name)), isRight }
    // A heading may take several lines.
    const word = widest(name.split(/(?<=[ _])/))
    const most = index === lastLeading ? width : Math.min(width, WIDEST_CELL)
    return { width: Math.min(Math.max(cells, word), most), isRight }
  })
  const columns = width === undefined ? all : takeFitting(all, width, lastLeading)
  const hidden = names.slice(columns.length)
  return {
    head: `${layHead(columns, names)}\n`,
    limit,
    row: (row) => {
      const cells = columns.map(({ width: most }, index) => {
        const text = show(row, index)
        return [width === undefined ? text : cutText(text, most)]
      })
      const tones = columns.map((_, index) => toneOf(names[index] ?? '', row[index]))
      return layRow(columns, cells, terminal, tones)
    },
    end: (count, totals) => {
      const lines = totals
        .rows((index) => index < columns.length, isFitted)
        .map(({ label, cells }) => {
          const [first] = columns
          const head = cells[0] ?? cutText(label, first?.width ?? 0)
          return layRow(
            columns,
            columns.map((_, index) => [index === 0 ? head : (cells[index] ?? '')]),
          )
        })
      const hint = isHinting ? '; see --columns, --wide, --vertical' : ''
      const note = `(not shown: ${hidden.join(', ')}${hint})`
      return [
        ...(lines.length > 0 ? [layRule(columns), ...lines] : []),
        describeCount(count, limit, isHinting),
        ...(hidden.length > 0 ? wrapText(note, terminal.width ?? Infinity, AT_SPACES) : []),
      ]
    },
  }
}

function widest(texts: readonly string[]): number {
  return texts.reduce((most, text) => Math.max(most, widthOf(text)), 0)
}

/**
 * The columns that fit, from the first on, and at least one. The last leading text is cut to fit.
 */
function takeFitting(columns: readonly Column[], width: number, lastLeading: number): Column[] {
  const widths = columns.map((one) => one.width)
  const fitting = columns.filter((_, index) => totalWidth(widths.slice(0, index + 1)) <= width)
  const count = Math.max(1, fitting.length)
  const taken = columns.slice(0, count)
  const room = width - totalWidth([...widths.slice(0, count), 0])
  const isCut = count === lastLeading && columns[count]?.isRight === false && room >= NARROWEST_CUT
  return isCut ? [...taken, { width: room, isRight: false }] : taken
}

function layBlocks(first: TableAnswer, options: TableOptions): Layout {
  const { terminal = NO_TERMINAL, mostRows } = options
  const names = first.columns.map(escapeControls)
  const show = createShow(first)
  const margin = widest(names) + 2
  const width = Math.max(10, (terminal.width ?? Infinity) - margin)
  const rows = rowLimit(options)
  const isScreen = mostRows === undefined && rows !== Infinity
  const limit = isScreen ? Math.max(1, Math.floor(rows / (names.length + 1))) : rows
  return {
    head: '',
    limit,
    row: (row, number) => {
      const lines = names.map((name, index) => {
        const tone = toneOf(name, row[index])
        const text = wrapText(show(row, index), width).map((line) => paint(line, tone, terminal))
        return `${padText(name, margin, false)}${text.join(`\n${' '.repeat(margin)}`)}`.trimEnd()
      })
      return [`--- ${number}`, ...lines].join('\n')
    },
    end: (count) => [describeCount(count, limit, true)],
  }
}

function describeCount(count: number, limit: number, isHinting: boolean): string {
  if (count <= limit) return `(${countOf(count, 'row')})`
  const hint = isHinting ? '; --all shows all' : ''
  return `(${countOf(count, 'row')}, the first ${limit} shown${hint})`
}

type Show = (row: readonly unknown[], index: number) => string

/**
 * Money gets the decimals of its currency, and its code unless a column shows it; shares are per
 * cent, and ages have a unit. Own SQL is shown as PostgreSQL writes it.
 */
function createShow({ columns, types, elements }: TableAnswer, isWithCurrency = false): Show {
  const shows = columns.map((name, index): Show => {
    const text = (row: readonly unknown[]): string => cellText(row[index])
    if (types[index] !== NUMERIC || elements !== undefined) return text
    if (isShare(name)) return (row) => asPercent(text(row))
    if (name.endsWith('age_hours')) return (row) => asAge(text(row), 3_600)
    if (name.endsWith('age_days')) return (row) => asAge(text(row), 86_400)
    const currency = currencyColumn(columns, name)
    if (currency === undefined) return text
    return (row) => asMoney(text(row), row[currency], isWithCurrency)
  })
  return (row, index) => shows[index]?.(row, index) ?? ''
}

/** The tone of a value that is good or bad news. */
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
