import { createHash } from 'node:crypto'
import { Writable } from 'node:stream'
import {
  MOST_DIFFERENCES,
  openAnswer,
  openComparison,
  type OpenAnswer,
} from '../../answers/ask/open-answer.js'
import type { NumberPage } from '../../answers/number-page.js'
import type { PreparedQuestion } from '../../answers/ask/prepare-question.js'
import { asColumns } from '../../answers/output/compare-answers.js'
import { asPieces, printAnswer } from '../../answers/output/print-answer.js'
import type { TableAnswer } from '../../answers/read-answer.js'
import type { Warehouse } from '../../../warehouse/connection/warehouse.js'
import type { AskedOverHttp } from './read-request.js'
import { Refused } from './refused.js'

export interface AnswerLimits {
  readonly rows: number
  /** A workbook is made at once, and deliveries wait meanwhile. */
  readonly rowsOfWorkbook: number
  readonly bytes: number
  /** For all rows: the limit of the statement holds for each thousand. */
  readonly readMs: number
}

export interface CollectedAnswer {
  readonly body: Buffer
  /** Of the rows, not of the bytes: a calendar has the time of its making in it. */
  readonly etag: string
  /** Sentences beside the rows, as the command line prints them; one says why there are none. */
  readonly notes: readonly string[]
}

/**
 * The whole answer in memory, printed as the command line prints it. Whole, because a status comes
 * before the first byte. Throws `Refused` for an answer beyond the limits.
 */
export async function collectAnswer(
  warehouse: Warehouse,
  prepared: PreparedQuestion,
  asked: AskedOverHttp & { readonly pageOf?: NumberPage | undefined },
  limits: AnswerLimits,
): Promise<CollectedAnswer> {
  const { format, isForExcel, isSpreadsheetSafe, pageOf } = asked
  const most = format === 'xlsx' ? limits.rowsOfWorkbook : limits.rows
  const hash = createHash('sha256').update(JSON.stringify([format, isForExcel, isSpreadsheetSafe]))
  const chunks: Buffer[] = []
  let [bytes, count] = [0, 0]
  const began = performance.now()
  const refuseMore = (): void => {
    if (performance.now() - began > limits.readMs) throw tooSlow(limits.readMs)
    if (bytes > limits.bytes) throw tooLarge(`${limits.bytes / 2 ** 20} MiB`)
  }
  async function* bounded(pieces: AsyncIterable<TableAnswer>): AsyncGenerator<TableAnswer> {
    for await (const piece of pieces) {
      refuseMore()
      count += piece.rows.length
      if (count > most) throw tooLarge(`${most.toLocaleString('en')} rows in ${format}`)
      hash.update(JSON.stringify([piece.columns, piece.rows]))
      yield piece
    }
  }
  const output = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      bytes += chunk.length
      chunks.push(chunk)
      done()
    },
  })
  const { pieces, notes, explainEmpty } = await open(warehouse, prepared)
  await printAnswer(bounded(pieces), format, output, {
    isForExcel,
    isSpreadsheetSafe,
    name: prepared.question.name,
    pageOf,
  })
  refuseMore()
  return {
    body: Buffer.concat(chunks),
    etag: `W/"${hash.digest('base64url')}"`,
    notes: count > 0 ? notes : [...notes, ...(await explainEmpty())],
  }
}

async function open(warehouse: Warehouse, prepared: PreparedQuestion): Promise<OpenAnswer> {
  const { against, question } = prepared
  if (against === undefined) return openAnswer(warehouse, prepared)
  const opened = await openComparison(warehouse, { ...prepared, against }, MOST_DIFFERENCES)
  const { shown, summary, isEmpty } = await opened.compare()
  return {
    pieces: asPieces(asColumns(shown, question.key)),
    notes: [...opened.notes, ...opened.sameInstants, ...summary],
    explainEmpty: isEmpty ? opened.explainEmpty : () => Promise.resolve([]),
  }
}

function tooSlow(mostMs: number): Refused {
  const fix = 'narrow the question by a filter'
  return new Refused(504, `the answer takes more than ${mostMs / 1000} seconds; ${fix}`)
}

function tooLarge(most: string): Refused {
  return new Refused(
    413,
    `the answer has more than ${most}; narrow it by a filter, add limit=, or run ` +
      '`tracking-sync query`, which has no such limit',
  )
}
