import { ConfigError, type ConfigProblem } from '../../../base/errors.js'
import type { TableAnswer } from '../read-answer.js'
import { asMoney, currencyColumn, NUMERIC_TYPES, plain, scaled, Totals } from './amounts.js'
import { requireColumns } from './print-answer.js'
import { cellText } from '../../../commands/output/print-table.js'

type Row = readonly unknown[]

/** Two answers to one question, compared; memory grows with the differences only. */
export interface Comparison {
  readonly columns: readonly string[]
  readonly types: readonly number[]
  /** Indexes of the compared and shown columns. */
  readonly shown: readonly number[]
  /** Rows that came, went or changed; each group in the order of the question. */
  readonly differences: readonly Difference[]
  readonly unchanged: number
  /** Sums that differ between the instants: `fee_amount in USD: 1200 → 2800 (+1600)`. */
  readonly sums: readonly string[]
}

export interface Difference {
  readonly change: Change
  /** The earlier row; undefined for a row that came. */
  readonly was: Row | undefined
  /** The later row; undefined for a row that went. */
  readonly is: Row | undefined
}

const CHANGES = ['came', 'went', 'changed'] as const
export type Change = (typeof CHANGES)[number]

export interface ComparedColumns {
  /** The compared and shown columns, in this order; all by default. */
  readonly columns?: readonly string[] | undefined
  /** The name of `columns`, for an error. */
  readonly setting?: string
  /** The key of a row, as text; rows are sorted by its bytes. */
  readonly key: string
  /** The position of the row in the answer, from 1. */
  readonly position: string
  /** Columns that are summed at both instants. */
  readonly sums: readonly string[]
  /** Differences that are kept, each in memory; one more is an error. */
  readonly most?: number | undefined
}

/**
 * Compares two answers with the same columns, both sorted by their key; rows with equal keys are
 * paired in the order of the answers. Reads both once, row by row. Numbers are equal if their
 * values are, in any notation. Throws ConfigError for an unknown column.
 */
export async function compareAnswers(
  earlier: AsyncIterable<TableAnswer>,
  later: AsyncIterable<TableAnswer>,
  { columns: wanted, setting, key, position, sums, most = Infinity }: ComparedColumns,
): Promise<Comparison> {
  const readers = [new RowReader(earlier, key, position), new RowReader(later, key, position)]
  const [was, is] = readers as [RowReader, RowReader]
  const found: (Difference & { readonly position: number })[] = []
  let unchanged = 0
  try {
    await Promise.all(readers.map((reader) => reader.advance()))
    const { columns, types } = is
    const shown = (wanted ?? columns).map((name) => columns.indexOf(name))
    if (wanted !== undefined) requireColumns(wanted, columns, setting)
    const [before, after] = [new Totals(columns, sums), new Totals(columns, sums)]
    while (was.row !== undefined || is.row !== undefined) {
      const order = compareKeys(was, is)
      const pair = { was: order <= 0 ? was.row : undefined, is: order >= 0 ? is.row : undefined }
      if (pair.was !== undefined) before.add(pair.was)
      if (pair.is !== undefined) after.add(pair.is)
      const change = pair.was === undefined ? 'came' : pair.is === undefined ? 'went' : 'changed'
      const isUnchanged =
        change === 'changed' &&
        shown.every((index) => isSame(pair.was?.[index], pair.is?.[index], types[index]))
      if (found.length >= most && !isUnchanged) throw new ConfigError([tooMany(most)])
      if (isUnchanged) unchanged += 1
      else found.push({ change, ...pair, position: (order < 0 ? was : is).position })
      if (order <= 0) await was.advance()
      if (order >= 0) await is.advance()
    }
    found.sort(
      (one, other) =>
        CHANGES.indexOf(one.change) - CHANGES.indexOf(other.change) ||
        one.position - other.position,
    )
    const compared = compareSums(before, after, columns)
    return { columns, types, shown, differences: found, unchanged, sums: compared }
  } finally {
    await Promise.all(readers.map((reader) => reader.close()))
  }
}

function tooMany(most: number): ConfigProblem {
  const problem = `has more than ${most} differences; narrow the question, or compare nearer instants`
  return { setting: 'the comparison', problem }
}

/** The rows of an answer, one at a time; its columns are known after the first `advance`. */
class RowReader {
  columns: readonly string[] = []
  types: readonly number[] = []
  row: Row | undefined
  key = ''
  position = 0
  readonly #pieces: AsyncIterator<TableAnswer>
  readonly #names: readonly [key: string, position: string]
  #piece: TableAnswer = { columns: [], types: [], rows: [] }
  #next = 0

  constructor(pieces: AsyncIterable<TableAnswer>, key: string, position: string) {
    this.#pieces = pieces[Symbol.asyncIterator]()
    this.#names = [key, position]
  }

  async advance(): Promise<void> {
    while (this.#next >= this.#piece.rows.length) {
      const next = await this.#pieces.next()
      if (next.done === true) {
        this.row = undefined
        return
      }
      const { value } = next
      this.#piece = value
      this.#next = 0
      this.columns = value.columns.filter((name) => !this.#names.includes(name))
      this.types = this.columns.map((name) => value.types[value.columns.indexOf(name)] ?? 0)
    }
    const row = this.#piece.rows[this.#next] ?? []
    this.#next += 1
    const [key, position] = this.#names.map((name) => row[this.#piece.columns.indexOf(name)])
    this.key = String(key)
    this.position = Number(position)
    this.row = row.filter((_, index) => !this.#names.includes(this.#piece.columns[index] ?? ''))
  }

  async close(): Promise<void> {
    await this.#pieces.return?.()
  }
}

/** Below 0 if the first is alone or comes first; by bytes, as PostgreSQL sorts. */
function compareKeys(one: RowReader, other: RowReader): number {
  if (other.row === undefined) return -1
  if (one.row === undefined) return 1
  if (one.key === other.key) return 0
  return Buffer.compare(Buffer.from(one.key), Buffer.from(other.key))
}

function isSame(was: unknown, is: unknown, type: number | undefined): boolean {
  const [before, after] = [cellText(was), cellText(is)]
  if (before === after) return (was === null) === (is === null)
  if (!NUMERIC_TYPES.has(type ?? 0)) return false
  const amount = scaled(before)
  return amount !== undefined && amount === scaled(after)
}

/** Exact to six digits; null if one value is not a number, or the currencies differ. */
function differenceOf({ columns, types }: Comparison, { was, is }: Difference, index: number) {
  if (was === undefined || is === undefined || !NUMERIC_TYPES.has(types[index] ?? 0)) return null
  const currency = currencyColumn(columns, columns[index] ?? '')
  if (currency !== undefined && was[currency] !== is[currency]) return null
  const [before, after] = [scaled(cellText(was[index])), scaled(cellText(is[index]))]
  if (before === undefined || after === undefined) return null
  const text = plain(after - before)
  // In the form of its column: exact numbers are texts.
  return typeof is[index] === 'number' ? Number(text) : text
}

function compareSums(before: Totals, after: Totals, columns: readonly string[]): string[] {
  const [was, is] = [before.list(columns), after.list(columns)]
  return [...new Set([...was.keys(), ...is.keys()])].sort().flatMap((name) => {
    const [first, last] = [was.get(name) ?? 0n, is.get(name) ?? 0n]
    if (first === last) return []
    const [, currency] = name.split(' in ')
    const show = (sum: bigint) => (currency ? asMoney(plain(sum), currency) : plain(sum))
    return [`${name}: ${changed(show(first), show(last), show(last - first))}`]
  })
}

const NOTHING = '–'

function changed(was: string, is: string, difference: unknown): string {
  const text = `${was === '' ? NOTHING : was} → ${is === '' ? NOTHING : is}`
  if (difference === null) return text
  const shown = cellText(difference)
  return `${text} (${shown.startsWith('-') ? '' : '+'}${shown})`
}

/**
 * The form for people: `change`, then the columns of the question; a changed value is `3 → 10
 * (+7)`.
 */
export function asChangedCells(comparison: Comparison): TableAnswer {
  const { columns, types, shown, differences } = comparison
  const isChanged = new Set<number>()
  const rows = differences.map((difference) => {
    const { change, was, is } = difference
    const cells = shown.map((index) => {
      const [before, after] = [was?.[index], is?.[index]]
      if (change !== 'changed') return is === undefined ? before : after
      if (isSame(before, after, types[index])) return after
      isChanged.add(index)
      const amount = differenceOf(comparison, difference, index)
      return changed(cellText(before), cellText(after), amount)
    })
    return [change, ...cells]
  })
  return {
    columns: ['change', ...shown.map((index) => columns[index] ?? '')],
    types: [0, ...shown.map((index) => (isChanged.has(index) ? 0 : (types[index] ?? 0)))],
    rows,
  }
}

/**
 * The form for programs: `change`, then each column of the question with its later value (or the
 * earlier one of a row that went), then, except for key columns, `…_was` and, for a number,
 * `…_difference`. The columns are always the same.
 */
export function asColumns(comparison: Comparison, key: readonly string[]): TableAnswer {
  const { columns, types, shown, differences } = comparison
  const cells = shown.flatMap((index) => {
    const [name = '', type = 0] = [columns[index], types[index]]
    const one = {
      name,
      type,
      read: ({ was, is }: Difference): unknown => (is ?? was)?.[index] ?? null,
    }
    const before = {
      name: `${name}_was`,
      type,
      read: ({ was }: Difference): unknown => was?.[index] ?? null,
    }
    const amount = {
      name: `${name}_difference`,
      type,
      read: (difference: Difference): unknown => differenceOf(comparison, difference, index),
    }
    if (key.includes(name)) return [one]
    return NUMERIC_TYPES.has(type) ? [one, before, amount] : [one, before]
  })
  return {
    columns: ['change', ...cells.map(({ name }) => name)],
    types: [0, ...cells.map(({ type }) => type)],
    rows: differences.map((one) => [one.change, ...cells.map(({ read }) => read(one))]),
  }
}

/** One line, then the sums. */
export function describeComparison({ differences, unchanged, sums }: Comparison): string[] {
  const count = (change: Change): number =>
    differences.filter((one) => one.change === change).length
  const counts = CHANGES.map((change) => `${count(change)} ${change}`).join(', ')
  return [`${counts}, ${unchanged} did not change`, ...sums]
}
