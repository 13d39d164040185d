import { ConfigError, ConnectorError } from '../../../base/errors.js'
import { instant } from '../../../commands/declare-command.js'
import type { Warehouse } from '../../../warehouse/connection/warehouse.js'
import { compareAnswers, describeComparison, type Comparison } from '../output/compare-answers.js'
import { pickExisting } from '../output/print-answer.js'
import { ROW_KEY, ROW_POSITION } from '../questions/shipped-queries.js'
import { streamTable, type TableAnswer } from '../read-answer.js'
import { explainAsOf, explainEmpty } from './explain-answer.js'
import type { PreparedQuestion, Side } from './prepare-question.js'

/** An answer whose rows arrive as they are read. */
export interface OpenAnswer {
  readonly pieces: AsyncIterable<TableAnswer>
  /** Notes on the instant, known before the rows. */
  readonly notes: readonly string[]
  /** The reason for an answer without rows. */
  readonly explainEmpty: () => Promise<string[]>
}

/** A comparison of two instants, from the earlier to the later one. */
export interface OpenComparison extends Pick<OpenAnswer, 'explainEmpty'> {
  readonly notes: readonly string[]
  /** A note if both instants are the same. */
  readonly sameInstants: readonly string[]
  /** Reads both answers. */
  readonly compare: () => Promise<ReadComparison>
}

export interface ReadComparison {
  /** Without the differences behind the limit. */
  readonly shown: Comparison
  /** The counts, then the sums that differ. */
  readonly summary: readonly string[]
  /** Neither instant has a row. */
  readonly isEmpty: boolean
}

const ACTION = 'answer a question'

/** Of a comparison by a door: some 40 MB. The command keeps all. */
export const MOST_DIFFERENCES = 10_000

/** Opens the answer to one question. The connection gives the time limit, and only reads. */
export async function openAnswer(
  warehouse: Warehouse,
  prepared: PreparedQuestion,
  mostRows?: number,
): Promise<OpenAnswer> {
  const { side, columns, words } = prepared
  const all = streamTable(warehouse, ACTION, side.statement, { asOf: side.asOf, mostRows })
  const pieces = columns === undefined ? all : pickExisting(all, columns, words.columns)
  return {
    pieces: inTime(pieces, prepared),
    notes: await explainAsOf(warehouse, words.asOf, side.asOf),
    explainEmpty: reasonOf(warehouse, prepared),
  }
}

/** Opens the comparison of a question that was prepared with a second instant. */
export async function openComparison(
  warehouse: Warehouse,
  prepared: PreparedQuestion & { readonly against: Side },
  mostDifferences?: number,
): Promise<OpenComparison> {
  const { question, side, against, columns, words, values } = prepared
  const now = Date.now()
  const timeOf = ({ asOf }: Side): number => (asOf === undefined ? now : instant(asOf).getTime())
  const [earlier, later] = inOrder(side, against, timeOf)
  const readSide = ({ asOf, statement }: Side) =>
    inTime(streamTable(warehouse, ACTION, statement, { asOf }), prepared)
  return {
    notes: [
      ...(await explainAsOf(warehouse, words.asOf, side.asOf)),
      ...(await explainAsOf(warehouse, words.against, against.asOf)),
    ],
    sameInstants:
      timeOf(side) === timeOf(against) ? ['both instants are the same: nothing differs'] : [],
    explainEmpty: reasonOf(warehouse, prepared),
    compare: async () => {
      const compared = await compareAnswers(readSide(earlier), readSide(later), {
        columns,
        setting: words.columns,
        key: ROW_KEY,
        position: ROW_POSITION,
        sums: question.sums,
        most: mostDifferences,
      })
      const most = values.limit === undefined ? undefined : Number(values.limit)
      const differences = compared.differences.slice(0, most)
      const [from, to] = [earlier, later].map(({ asOf }) => asOf ?? 'now')
      const [counts = '', ...totals] = describeComparison(compared)
      return {
        shown: { ...compared, differences },
        summary: [`from ${from} to ${to}: ${counts}`, ...totals],
        isEmpty: differences.length === 0 && compared.unchanged === 0,
      }
    },
  }
}

/** Equal instants stay in the order in which they were given. */
export function inOrder(one: Side, other: Side, timeOf: (side: Side) => number): [Side, Side] {
  return timeOf(one) <= timeOf(other) ? [one, other] : [other, one]
}

function reasonOf(warehouse: Warehouse, prepared: PreparedQuestion): () => Promise<string[]> {
  const { question, values, words } = prepared
  return async () => {
    try {
      return await explainEmpty(warehouse, question, values, words)
    } catch (thrown) {
      throw explainOvertime(thrown, prepared)
    }
  }
}

async function* inTime(
  pieces: AsyncIterable<TableAnswer>,
  prepared: PreparedQuestion,
): AsyncGenerator<TableAnswer> {
  try {
    yield* pieces
  } catch (thrown) {
    throw explainOvertime(thrown, prepared)
  }
}

/** Raised by the time limit of every question. */
const QUERY_CANCELED = '57014'

/** The same error, but a sentence with the fix for the time limit. */
export function explainOvertime(
  thrown: unknown,
  { words }: Pick<PreparedQuestion, 'words'>,
): unknown {
  if (!(thrown instanceof ConnectorError) || thrown.context.code !== QUERY_CANCELED) return thrown
  return new ConfigError([words.overtime], { cause: thrown })
}
