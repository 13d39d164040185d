import type { App } from '../../../app.js'
import {
  bindQuery,
  ROW_KEY,
  ROW_POSITION,
  type ShippedQuery,
} from '../questions/shipped-queries.js'
import { streamTable } from '../read-answer.js'
import type { CommandIo } from '../../../commands/command-io.js'
import { instant } from '../../../commands/declare-command.js'
import {
  explainAsOf,
  explainEffectless,
  explainEmpty,
  givenValues,
  PARAMETERS,
  type QueryOptions,
} from './explain-answer.js'
import {
  asChangedCells,
  asColumns,
  compareAnswers,
  describeComparison,
} from '../output/compare-answers.js'
import { putAnswer } from '../output/answer-file.js'
import { asPieces } from '../output/print-answer.js'

/** One side of a comparison: an instant, or now. */
export interface Side {
  readonly asOf: string | undefined
  readonly question: ShippedQuery
}

/** Shows the differences between two instants, from the earlier to the later one. */
export async function compareInstants(
  app: App,
  io: CommandIo,
  { asOf, question }: Side,
  { asOf: against, question: other }: Side,
  options: QueryOptions,
): Promise<void> {
  const { format, file, columns } = options
  // Drops the limit: rows behind it would seem to have gone.
  const { limit, ...values } = givenValues(options, PARAMETERS)
  await app.openWarehouse({ isOfRows: true })
  const warehouse = await app.connect({
    isReadOnly: true,
    statementTimeoutMs: options.timeout * 1000,
  })
  const now = Date.now()
  const timeOf = (text: string | undefined): number =>
    text === undefined ? now : instant(text).getTime()
  const sides = [
    { asOf, question },
    { asOf: against, question: other },
  ].sort((one, two) => timeOf(one.asOf) - timeOf(two.asOf))
  const [earlier, later] = sides.map((side) => {
    const statement = bindQuery(side.question, values, side.question.comparedSqlText)
    return streamTable(warehouse, 'answer a question', statement, { asOf: side.asOf })
  })
  if (earlier === undefined || later === undefined) return
  const notes = [
    ...(await explainAsOf(warehouse, '--as-of', asOf)),
    ...(await explainAsOf(warehouse, '--against', against)),
    ...explainEffectless(options),
    ...(timeOf(asOf) === timeOf(against) ? ['both instants are the same: nothing differs'] : []),
  ]
  for (const text of notes) io.printNote(text)
  const { key, sums, leading } = question
  const compared = await compareAnswers(earlier, later, {
    columns,
    key: ROW_KEY,
    position: ROW_POSITION,
    sums,
  })
  const differences = compared.differences.slice(0, limit === undefined ? undefined : Number(limit))
  const shown = { ...compared, differences }
  await putAnswer(
    io,
    asPieces(format === 'table' ? asChangedCells(shown) : asColumns(shown, key)),
    { format, file, signal: app.signal },
    {
      ...options,
      name: question.name,
      columns: undefined,
      isAll: options.isAll || limit !== undefined,
      leading: columns === undefined ? ['change', ...leading] : [],
    },
  )
  const [from, to] = sides.map((side) => side.asOf ?? 'now')
  const [counts = '', ...totals] = describeComparison(compared)
  for (const text of [`from ${from} to ${to}: ${counts}`, ...totals]) io.printNote(text)
  const isEmpty = differences.length === 0 && compared.unchanged === 0
  if (!isEmpty) return
  for (const text of await explainEmpty(warehouse, question, options)) io.printNote(text)
}
