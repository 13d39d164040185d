import { InvalidArgumentError, Option } from 'commander'
import type { App } from '../../../app.js'
import { ConfigError } from '../../../base/errors.js'
import type { NumberPage } from '../number-page.js'
import { PARAMETERS, QUERY_PARAMETERS, type QueryParameter } from '../questions/query-parameters.js'
import { SUBJECTS } from '../questions/subjects.js'
import type { ShippedQuery } from '../questions/shipped-queries.js'
import type { Answer, CommandIo } from '../../../commands/command-io.js'
import {
  argument,
  choice,
  declare,
  flag,
  type Input,
  instantText,
  value,
  wholeNumber,
} from '../../../commands/declare-command.js'
import { OPTIONS } from '../ask/ask-words.js'
import type { PreparedQuestion, Side } from '../ask/prepare-question.js'
import { checkParameter } from '../ask/question-parameters.js'
import { findAnswerFile, putAnswer, type AnswerFile } from '../output/answer-file.js'
import { asChangedCells, asColumns } from '../output/compare-answers.js'
import { ANSWER_FORMATS, asPieces, type AnswerFormat } from '../output/print-answer.js'
import { requireCalendarQuestion } from '../output/print-calendar.js'

const narrowing = Object.fromEntries(
  PARAMETERS.map((name) => {
    const option = new Option(`--${name} <value>`, QUERY_PARAMETERS[name].help)
    const item = option
      .argParser((text: string) => checkParameter(name, text))
      .helpGroup('Narrowing:')
    return [name, { item, read: (given) => given as string | undefined }]
  }),
) as Record<QueryParameter, Input<string | undefined>>

export const query = declare({
  name: 'query',
  help:
    'Answer a shipped question by name, or your own SQL (read-only). ' +
    'Without a name: list the questions.',
  json: 'The same as --format json.',
  takes: {
    question: argument('[question]', 'Name of a shipped question, or an SQL statement in quotes.'),
    isExplaining: flag(
      '--explain',
      "Print the question's definition, columns and SQL instead of its answer.",
    ),
    format: choice(
      '--format <format>',
      'How the answer is printed; xlsx is a workbook, ics a calendar of last free days.',
      ANSWER_FORMATS,
      'table',
    ),
    out: value('--out <file>', 'Write the answer into this file, whole or not at all.'),
    isSpreadsheetSafe: flag(
      '--spreadsheet-safe',
      'In csv: disarm texts that a spreadsheet would run as a formula.',
    ),
    isForExcel: flag(
      '--excel',
      'Print csv for spreadsheets: instants in UTC, lists joined, formulas disarmed.',
    ),
    columns: value(
      '--columns <names>',
      'Only these columns, separated by commas, in this order.',
      separatedByCommas,
    ),
    isWide: flag('--wide', 'In tables: every column, as wide as it is.'),
    isVertical: flag('--vertical', 'In tables: one block per record, one line per column.'),
    isAll: flag('--all', 'In tables on a terminal: every row, not only one screen.'),
    asOf: value('--as-of <instant>', 'Answer with what was known at this instant.', instantText),
    against: value(
      '--against <instant>',
      'Compare with this instant: what came, what went, what changed.',
      instantText,
    ),
    timeout: value('--timeout <seconds>', 'Give up after this long.', wholeNumber(1, 86_400), 60),
    ...narrowing,
  },
  run: async (app, { question: asked, isExplaining, json, out, ...given }, io) => {
    const { readShippedQueries } = await import('../questions/shipped-queries.js')
    const { SchemaNames } = await import('../../../warehouse/connection/schema-names.js')
    const names = new SchemaNames(app.config.schema)
    const { asOf, against } = given
    if (asOf !== undefined && asked !== undefined) {
      const { refuseViewsOfNow } = await import('../ask/own-sql.js')
      refuseViewsOfNow(asked, names, OPTIONS)
    }
    const shipped = await readShippedQueries(names, asOf === undefined ? 'analytics' : 'asOf')
    const isForSheets = given.isForExcel && given.format === 'table'
    const format = json ? 'json' : isForSheets ? 'csv' : given.format
    const question = asked === undefined ? undefined : await findQuestion(asked, shipped)
    if (question === undefined || isExplaining) {
      if (format !== 'table' && format !== 'json') {
        throw refuse('--format', `${format} takes an answer; name a question, or use --json here`)
      }
      if (out !== undefined) {
        throw refuse('--out', 'takes an answer; name a question, and leave --explain away')
      }
      io.show(format === 'json', question === undefined ? listed(shipped) : explained(question))
      return
    }
    refuseUnfit(io, question, { format, out, against })
    const file = out === undefined ? undefined : await findAnswerFile(out, io.process.cwd())
    const { numberPageOf } = await import('../number-page.js')
    const options = { ...given, format, file, pageOf: numberPageOf(app.config) }
    if (typeof question === 'string') {
      if (against !== undefined) throw refuseToCompareSql()
      await answerSql(app, io, question, options)
      return
    }
    const { prepareFound } = await import('../ask/prepare-question.js')
    const values = givenValues(options)
    // An event of a calendar has columns of its own.
    const columns = format === 'ics' ? undefined : given.columns
    const found = { question, values, asOf, against, columns }
    const prepared = await prepareFound(names, found, OPTIONS)
    if (prepared.against === undefined) await answer(app, io, prepared, options)
    else await compare(app, io, { ...prepared, against: prepared.against }, options)
  },
})

interface QueryOptions extends Partial<Record<QueryParameter, string | undefined>> {
  readonly format: AnswerFormat
  /** Standard output by default. */
  readonly file: AnswerFile | undefined
  readonly isSpreadsheetSafe: boolean
  readonly isForExcel: boolean
  readonly columns: readonly string[] | undefined
  readonly isWide: boolean
  readonly isVertical: boolean
  readonly isAll: boolean
  readonly asOf: string | undefined
  readonly against: string | undefined
  readonly timeout: number
  readonly pageOf: NumberPage | undefined
}

function givenValues(options: QueryOptions): Partial<Record<QueryParameter, string>> {
  return Object.fromEntries(
    PARAMETERS.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]])),
  )
}

function refuse(setting: string, problem: string): ConfigError {
  return new ConfigError([{ setting, problem }])
}

interface Asked {
  readonly format: AnswerFormat
  readonly out: string | undefined
  readonly against: string | undefined
}

/** Throws ConfigError if the format does not fit the question or the destination. */
function refuseUnfit(io: CommandIo, question: Question, { format, out, against }: Asked): void {
  if (format === 'xlsx' && out === undefined && io.process.stdout.isTTY) {
    throw refuse('--format', 'xlsx is not for a terminal; add --out and the name of a file')
  }
  if (format !== 'ics') return
  if (against !== undefined) throw refuse('--against', 'compares rows; ics has events, take csv')
  requireCalendarQuestion(typeof question === 'string' ? undefined : question.name)
}

function separatedByCommas(text: string): readonly string[] {
  const names = text.split(',').map((name) => name.trim())
  if (names.every((name) => name !== '')) return names
  throw new InvalidArgumentError('Separate the names by commas.')
}

type Question = ShippedQuery | string

function refuseToCompareSql(): ConfigError {
  const problem =
    'compares shipped questions: your own SQL does not say which row is the same one at both ' +
    'instants; ask it twice, with --as-of'
  return refuse('--against', problem)
}

async function answer(
  app: App,
  io: CommandIo,
  prepared: PreparedQuestion,
  options: QueryOptions,
): Promise<void> {
  const { openAnswer } = await import('../ask/open-answer.js')
  await app.openWarehouse({ isOfRows: true })
  const { pieces, notes, explainEmpty } = await openAnswer(await connect(app, options), prepared)
  for (const text of [...notes, ...explainEffectless(options)]) io.printNote(text)
  const { format, file, columns } = options
  const { name, sums, leading } = prepared.question
  const to = { format, file, signal: app.signal }
  const count = await putAnswer(io, pieces, to, {
    ...options,
    name,
    columns: undefined,
    isAll: options.isAll || options.limit !== undefined,
    sums,
    leading: columns === undefined ? leading : [],
  })
  if (count > 0) return
  for (const text of await explainEmpty()) io.printNote(text)
}

/** Shows the differences between two instants, from the earlier to the later one. */
async function compare(
  app: App,
  io: CommandIo,
  prepared: PreparedQuestion & { readonly against: Side },
  options: QueryOptions,
): Promise<void> {
  const { openComparison } = await import('../ask/open-answer.js')
  await app.openWarehouse({ isOfRows: true })
  const opened = await openComparison(await connect(app, options), prepared)
  const notes = [...opened.notes, ...explainEffectless(options), ...opened.sameInstants]
  for (const text of notes) io.printNote(text)
  const { format, file, columns, limit } = options
  const { name, key, leading } = prepared.question
  const { shown, summary, isEmpty } = await opened.compare()
  await putAnswer(
    io,
    asPieces(format === 'table' ? asChangedCells(shown) : asColumns(shown, key)),
    { format, file, signal: app.signal },
    {
      ...options,
      name,
      columns: undefined,
      isAll: options.isAll || limit !== undefined,
      leading: columns === undefined ? ['change', ...leading] : [],
    },
  )
  for (const text of summary) io.printNote(text)
  if (!isEmpty) return
  for (const text of await opened.explainEmpty()) io.printNote(text)
}

async function answerSql(
  app: App,
  io: CommandIo,
  text: string,
  options: QueryOptions,
): Promise<void> {
  const given = Object.keys(givenValues(options))
  if (given.length > 0) {
    const problem = 'narrows shipped questions only; write the condition into your SQL'
    throw new ConfigError(given.map((name) => ({ setting: `--${name}`, problem })))
  }
  const { explainAsOf } = await import('../ask/explain-answer.js')
  const { connectOwnSql, streamOwnSql } = await import('../ask/own-sql.js')
  const { format, file, asOf, timeout } = options
  const opened = await app.openWarehouse({ isOfRows: true })
  const warehouse = await connect(app, options)
  const pieces = streamOwnSql(await connectOwnSql(app, opened, timeout), { text, asOf }, OPTIONS)
  const notes = [...(await explainAsOf(warehouse, '--as-of', asOf)), ...explainEffectless(options)]
  for (const note of notes) io.printNote(note)
  await putAnswer(io, pieces, { format, file, signal: app.signal }, options)
}

function connect(app: App, { timeout }: QueryOptions) {
  return app.connect({ isReadOnly: true, statementTimeoutMs: timeout * 1000 })
}

function explainEffectless(options: QueryOptions): string[] {
  const { format, columns, isWide, isVertical, isAll, isSpreadsheetSafe, isForExcel } = options
  const given: readonly (readonly [string, boolean, AnswerFormat])[] = [
    ['--wide', isWide, 'table'],
    ['--vertical', isVertical, 'table'],
    ['--all', isAll, 'table'],
    ['--spreadsheet-safe', isSpreadsheetSafe, 'csv'],
    ['--excel', isForExcel, 'csv'],
  ]
  const isPicked = columns !== undefined && format === 'ics'
  return [
    ...given
      .filter(([, isGiven, takes]) => isGiven && format !== takes)
      .map(([option, , takes]) => `${option} has no effect on ${format}; it is for ${takes}`),
    ...(isPicked ? ['--columns has no effect on ics; an event has columns of its own'] : []),
  ]
}

/** One screen: the filters of a question are in its explanation. */
function listed(shipped: readonly ShippedQuery[]): Answer {
  const bySubject = Object.keys(SUBJECTS).flatMap((subject) =>
    shipped.filter((one) => one.subject === subject),
  )
  return {
    data: bySubject.map(({ name, question, subject, parameters }) => ({
      question: name,
      answers: question,
      subject,
      parameters,
    })),
    text: [
      {
        columns: ['question', 'answers'],
        rows: bySubject.map(({ name, question }) => [name, question]),
      },
      '',
      'tracking-sync query <question> --explain shows its filters, columns and SQL.',
    ],
  }
}

function explained(question: Question): Answer {
  if (typeof question === 'string') {
    throw refuse('--explain', 'works for shipped questions, not for your own SQL')
  }
  const { definition, columns, sqlText } = question
  const rows = columns.map(({ name, meaning }) => [name, meaning])
  const table = rows.length === 0 ? [] : [{ columns: ['column', 'meaning'], rows }, '']
  const filters = question.parameters.map((parameter) => `--${parameter}`).join(' ')
  const text = [
    ...definition.split('\n'),
    '',
    `Filters: ${filters}`,
    '',
    ...table,
    ...sqlText.trimEnd().split('\n'),
  ]
  return { data: question, text }
}

/** A single word is a name, perhaps a misspelt one; a statement has more words. */
async function findQuestion(asked: string, shipped: readonly ShippedQuery[]): Promise<Question> {
  if (/\s/.test(asked.trim())) return asked
  const { findQuestion: find } = await import('../ask/find-question.js')
  return find(asked, shipped, OPTIONS)
}
