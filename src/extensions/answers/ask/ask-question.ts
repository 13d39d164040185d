import type { Warehouse } from '../../../warehouse/connection/warehouse.js'
import { plain, Totals } from '../output/amounts.js'
import { asColumns } from '../output/compare-answers.js'
import type { ViewColumn } from '../../../warehouse/schema/view-descriptions.js'
import type { readShippedQueries, ShippedQuery } from '../questions/shipped-queries.js'
import type { AskWords } from './ask-words.js'
import { MOST_DIFFERENCES, openAnswer, openComparison } from './open-answer.js'
import { prepareQuestion, type Asked, type PreparedQuestion } from './prepare-question.js'

/** A whole answer, or its first rows, with everything that a reader needs to trust it. */
export interface AskedAnswer {
  readonly question: ShippedQuery
  /** Columns of `rows`, in order, with meaning and unit. */
  readonly columns: readonly ViewColumn[]
  /** Exact numbers, dates and instants are PostgreSQL's own texts. */
  readonly rows: readonly (readonly unknown[])[]
  /** Rows of the whole answer, in `rows` or behind them. */
  readonly total: number
  /** Exact sums, money by currency, as `cost_amount in USD`; undefined unless `rows` has all. */
  readonly totals: Readonly<Record<string, string>> | undefined
  readonly isTruncated: boolean
  /** Undefined: now. */
  readonly asOf: string | undefined
  readonly against: string | undefined
  /** One for an answer; for a comparison two, of `asOf` and of `against`. */
  readonly statements: readonly BoundStatement[]
  /** Sentences on its instant, on an empty answer, and on the counts and sums that differ. */
  readonly notes: readonly string[]
  /** Things that an answer to this question does not say. */
  readonly limits: string | undefined
}

export interface BoundStatement {
  readonly asOf: string | undefined
  readonly sql: string
  /** Values of `$1`, `$2`, … */
  readonly parameters: readonly unknown[]
}

export interface AskOptions {
  readonly words: AskWords
  /** Rows in `rows` at most, at least 1. Default: all. */
  readonly mostRows?: number
  /** See `prepareQuestion`. */
  readonly read?: typeof readShippedQueries
}

/**
 * Asks a shipped question by name and gathers the answer, for MCP and HTTP; the command line prints
 * rows as they arrive. The connection gives the time limit, and only reads. Throws ConfigError with
 * one sentence and the fix for an unknown question, filter, column or instant, and for the time
 * limit; else an error of the taxonomy.
 */
export async function askQuestion(
  warehouse: Warehouse,
  asked: Asked,
  { words, mostRows, read: readQuestions }: AskOptions,
): Promise<AskedAnswer> {
  const prepared = await prepareQuestion(warehouse.names, asked, words, readQuestions)
  const read = await (prepared.against === undefined
    ? readRows(warehouse, prepared, mostRows)
    : readDifferences(warehouse, { ...prepared, against: prepared.against }, mostRows))
  const { question, side, against } = prepared
  return {
    ...read,
    question,
    isTruncated: read.total > read.rows.length,
    asOf: side.asOf,
    against: against?.asOf,
    statements: [side, ...(against === undefined ? [] : [against])].map(({ asOf, statement }) => ({
      asOf,
      sql: statement.sql,
      parameters: statement.parameters,
    })),
    limits: question.guide.limits,
  }
}

type Read = Pick<AskedAnswer, 'columns' | 'rows' | 'total' | 'totals' | 'notes'>

async function readRows(
  warehouse: Warehouse,
  prepared: PreparedQuestion,
  mostRows: number | undefined,
): Promise<Read> {
  const answer = await openAnswer(warehouse, prepared, mostRows)
  const rows: (readonly unknown[])[] = []
  let names: readonly string[] = []
  let total = 0
  for await (const piece of answer.pieces) {
    names = piece.columns
    rows.push(...piece.rows)
    total += piece.rows.length + (piece.unread ?? 0)
  }
  const notes = total === 0 ? await answer.explainEmpty() : []
  const columns = meaningsOf(names, prepared.question.columns)
  const totals = total === rows.length ? sumsOf(names, rows, prepared.question.sums) : undefined
  return { columns, rows, total, totals, notes: [...answer.notes, ...notes] }
}

function sumsOf(names: readonly string[], rows: Read['rows'], sums: readonly string[]) {
  const totals = new Totals(names, sums)
  for (const row of rows) totals.add(row)
  const list = [...totals.list(names)].map(([name, sum]) => [name, plain(sum)])
  return list.length === 0 ? undefined : (Object.fromEntries(list) as Record<string, string>)
}

async function readDifferences(
  warehouse: Warehouse,
  prepared: Parameters<typeof openComparison>[1],
  mostRows: number | undefined,
): Promise<Read> {
  const { question } = prepared
  const comparison = await openComparison(warehouse, prepared, MOST_DIFFERENCES)
  const { shown, summary, isEmpty } = await comparison.compare()
  const { columns, rows } = asColumns(shown, question.key)
  const reasons = isEmpty ? await comparison.explainEmpty() : []
  return {
    columns: meaningsOf(columns, question.columns),
    rows: rows.slice(0, mostRows),
    total: rows.length,
    totals: undefined,
    notes: [...comparison.notes, ...comparison.sameInstants, ...summary, ...reasons],
  }
}

const OF_COMPARISON: readonly (readonly [string, string])[] = [
  ['_was', 'At the earlier instant; null for a row that came.'],
  ['_difference', 'Later value less the earlier one.'],
]

/** Meanings by name. A comparison adds columns, each named after a column of the question. */
export function meaningsOf(names: readonly string[], known: readonly ViewColumn[]): ViewColumn[] {
  const meanings = new Map(known.map(({ name, meaning }) => [name, meaning]))
  return names.map((name) => {
    const meaning = meanings.get(name)
    if (meaning !== undefined) return { name, meaning }
    const of = OF_COMPARISON.find(
      ([end]) => name.endsWith(end) && meanings.has(name.slice(0, -end.length)),
    )
    const own = 'came, went or changed, from the earlier to the later instant.'
    return { name, meaning: of?.[1] ?? (name === 'change' ? own : '') }
  })
}
