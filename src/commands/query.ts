import type { Command } from 'commander'
import type { App } from '../app.js'
import { ConfigError, ConnectorError } from '../base/errors.js'
import type { QuestionOptions } from '../warehouse/connection/read-answer.js'
import { QUERY_PARAMETERS, type QueryParameter } from '../warehouse/questions/questions.js'
import type { UnknownValue } from '../warehouse/questions/explain-empty.js'
import type { SchemaNames } from '../warehouse/connection/schema-names.js'
import type { Warehouse } from '../warehouse/connection/warehouse.js'
import type { ShippedQuery } from '../warehouse/questions/shipped-queries.js'
import type { CommandIo } from './command-io.js'
import { declare } from './declare-command.js'
import { ANSWER_FORMATS, printAnswer, type AnswerFormat } from './output/print-answer.js'
import { formatTable } from './output/print-table.js'
import { nearest, suggest } from '../base/phrases.js'
import { instant, instantText, separatedByCommas, wholeNumber } from './parse-arguments.js'

interface QueryOptions extends Partial<Record<QueryParameter, string>> {
  readonly format: AnswerFormat
  readonly explain?: boolean
  readonly asOf?: string
  readonly timeout: number
  readonly spreadsheetSafe?: boolean
  readonly excel?: boolean
  readonly columns?: readonly string[]
  readonly wide?: boolean
  readonly vertical?: boolean
  readonly all?: boolean
}

export function addQueryCommand(program: Command, io: CommandIo): void {
  declare<QueryOptions, [string | undefined]>(program, io, {
    name: 'query',
    help:
      'Answer a shipped question by name, or your own SQL (read-only). ' +
      'Without a name: list the questions.',
    json: 'The same as --format json.',
    define: (command) => addNarrowing(addOptions(command)),
    run: async (app, options, question) => {
      const { readShippedQueries } = await import('../warehouse/questions/shipped-queries.js')
      const { SchemaNames } = await import('../warehouse/connection/schema-names.js')
      const names = new SchemaNames(app.config.schema)
      const { asOf } = options
      if (asOf !== undefined && question !== undefined) refuseViewsOfNow(question, names)
      const shipped = await readShippedQueries(names, asOf === undefined ? 'analytics' : 'asOf')
      const format =
        options.json === true ? 'json' : options.excel === true ? 'csv' : options.format
      if (question === undefined) listQuestions(io, shipped, format)
      else if (options.explain === true) explain(io, findQuestion(question, shipped), format)
      else await answer(app, io, findQuestion(question, shipped), { ...options, format })
    },
  })
}

function addOptions(command: Command): Command {
  return command
    .argument('[question]', 'Name of a shipped question, or an SQL statement in quotes.')
    .option('--explain', "Print the question's definition, columns and SQL instead of its answer.")
    .addOption(
      command
        .createOption('--format <format>', 'How the answer is printed.')
        .choices(ANSWER_FORMATS)
        .default('table'),
    )
    .option('--spreadsheet-safe', 'In csv: disarm texts that a spreadsheet would run as a formula.')
    .option(
      '--excel',
      'Print csv for spreadsheets: instants in UTC, lists joined, formulas disarmed.',
    )
    .option(
      '--columns <names>',
      'Only these columns, separated by commas, in this order.',
      separatedByCommas,
    )
    .option('--wide', 'In tables: every column, as wide as it is.')
    .option('--vertical', 'In tables: one block per record, one line per column.')
    .option('--all', 'In tables on a terminal: every row, not only one screen.')
    .option('--as-of <instant>', 'Answer with what was known at this instant.', instantText)
    .option('--timeout <seconds>', 'Give up after this long.', wholeNumber(1, 86_400), 60)
}

function addNarrowing(command: Command): Command {
  for (const [name, meaning] of Object.entries(QUERY_PARAMETERS)) {
    const option = command.createOption(`--${name} <value>`, meaning).helpGroup('Narrowing:')
    command.addOption(option.argParser(NARROWING[name as QueryParameter] ?? String))
  }
  return command
}

/** What PostgreSQL would refuse only after everything was opened. Other values are any text. */
const NARROWING: Readonly<Partial<Record<QueryParameter, (text: string) => string>>> = {
  since: instantText,
  until: instantText,
  limit: (text) => String(wholeNumber(0, Number.MAX_SAFE_INTEGER)(text)),
}

type Question = ShippedQuery | string

/** With `--as-of`, SQL that names a schema of the present would silently answer for the present. */
function refuseViewsOfNow(question: string, { analytics, stored, asOf }: SchemaNames): void {
  const [named] =
    new RegExp(`\\b(?:${analytics}|${stored})"?\\.(?!"?demurrage_tariffs\\b)\\S+`).exec(question) ??
    []
  if (named === undefined) return
  throw new ConfigError([
    {
      setting: '--as-of',
      problem:
        `answers from the schema ${asOf}, but your SQL names ${named}, which only knows the ` +
        `present; write ${asOf} instead, or no schema`,
    },
  ])
}

async function answer(
  app: App,
  io: CommandIo,
  question: Question,
  options: QueryOptions,
): Promise<void> {
  const { sqlText, ...values } = await bind(question, options)
  await app.openWarehouse()
  const warehouse = await app.openWarehouse({
    isMigrating: false,
    isReadOnly: true,
    statementTimeoutMs: options.timeout * 1000,
  })
  const pieces = warehouse.streamTable('answer a question', sqlText, values)
  const note = typeof question === 'string' ? undefined : question
  for (const text of await explainAsOf(warehouse, options.asOf, note)) io.printNote(text)
  for (const text of explainEffectless(options)) io.printNote(text)
  try {
    const count = await printAnswer(pieces, options.format, io.process.stdout, {
      isSpreadsheetSafe: options.spreadsheetSafe === true,
      isForExcel: options.excel === true,
      terminal: io.terminal,
      isAll: options.all === true || options.limit !== undefined,
      isWide: options.wide === true,
      isVertical: options.vertical === true,
      sums: note?.sums ?? [],
      leading: options.columns === undefined ? (note?.leading ?? []) : [],
      ...(options.columns === undefined ? {} : { columns: options.columns }),
    })
    if (count > 0 || typeof question === 'string') return
    for (const text of await explainEmpty(warehouse, question, options)) io.printNote(text)
  } catch (thrown) {
    throw (typeof question === 'string' ? explainMistake(thrown) : undefined) ?? thrown
  }
}

/** Why an answer as of an instant is not what the reader may expect. */
async function explainAsOf(
  warehouse: Warehouse,
  asOf: string | undefined,
  note: ShippedQuery | undefined,
): Promise<string[]> {
  if (asOf === undefined) return []
  if (note?.isOfNow === true)
    return ['--as-of has no effect here: this answer is always of the present']
  const asked = instant(asOf).getTime()
  if (asked > Date.now()) {
    return [`--as-of ${asOf} is in the future: the answer is what is known now`]
  }
  const { readFirstLoad } = await import('../warehouse/questions/explain-empty.js')
  const first = await readFirstLoad(warehouse)
  if (first === undefined || asked >= Date.parse(first)) return []
  return [`--as-of ${asOf} is before the first load (${first}): nothing was known then`]
}

function explainEffectless(options: QueryOptions): string[] {
  const { format, wide, vertical, all, spreadsheetSafe, excel } = options
  const given: readonly (readonly [string, boolean | undefined, AnswerFormat])[] = [
    ['--wide', wide, 'table'],
    ['--vertical', vertical, 'table'],
    ['--all', all, 'table'],
    ['--spreadsheet-safe', spreadsheetSafe, 'csv'],
    ['--excel', excel, 'csv'],
  ]
  return given.flatMap(([flag, isGiven, takes]) =>
    isGiven === true && format !== takes
      ? [`${flag} has no effect on ${format}; it is for ${takes}`]
      : [],
  )
}

/** Why a shipped question has no rows: a value that is not in the warehouse, or missing data. */
async function explainEmpty(
  warehouse: Warehouse,
  question: ShippedQuery,
  options: QueryOptions,
): Promise<string[]> {
  const { findUnknownValues } = await import('../warehouse/questions/explain-empty.js')
  const values = Object.fromEntries(
    question.parameters.flatMap((name) =>
      options[name] === undefined ? [] : [[name, options[name]]],
    ),
  )
  const unknown = await findUnknownValues(warehouse, values)
  if (unknown.length > 0) return unknown.map(describeUnknown)
  const narrowing = Object.keys(values).filter((name) => name !== 'limit')
  const narrowed =
    narrowing.length > 0 ? ` that match ${narrowing.map((name) => `--${name}`).join(', ')}` : ''
  return [`no rows: ${question.name} needs ${question.needs}${narrowed}`]
}

const CANDIDATES_SHOWN = 8

function describeUnknown({ parameter, value, candidates }: UnknownValue): string {
  const byName = new Map(
    candidates.flatMap(
      ({ taken, name }) =>
        [[taken, taken], ...(name === null ? [] : [[name, taken]])] as [string, string][],
    ),
  )
  const name = nearest(value, [...byName.keys()])
  const taken = name === undefined ? undefined : byName.get(name)
  const hint =
    taken === undefined
      ? ''
      : `; did you mean ${taken === name ? taken : `${taken} (${name ?? ''})`}?`
  const shown = candidates.slice(0, CANDIDATES_SHOWN).map((one) => one.taken)
  const more =
    candidates.length > shown.length ? `, and ${candidates.length - shown.length} more` : ''
  const list = hint !== '' || shown.length === 0 ? '' : `; there are ${shown.join(', ')}${more}`
  return `the warehouse has no ${parameter} ${JSON.stringify(value)}${hint}${list}`
}

async function bind(
  question: Question,
  options: QueryOptions,
): Promise<QuestionOptions & { readonly sqlText: string }> {
  const { asOf } = options
  const names = Object.keys(QUERY_PARAMETERS) as QueryParameter[]
  const given = names.filter((name) => options[name] !== undefined)
  if (typeof question !== 'string') {
    const { bindQuery } = await import('../warehouse/questions/shipped-queries.js')
    const values = Object.fromEntries(given.map((name) => [name, options[name]]))
    return { ...bindQuery(question, values), asOf }
  }
  if (given.length === 0) return { sqlText: question, asOf }
  throw new ConfigError(
    given.map((name) => ({
      setting: `--${name}`,
      problem: 'narrows shipped questions only; write the condition into your SQL',
    })),
  )
}

function listQuestions(
  io: CommandIo,
  shipped: readonly ShippedQuery[],
  format: AnswerFormat,
): void {
  if (format === 'json') {
    io.printJson(
      shipped.map(({ name, title, parameters }) => ({
        question: name,
        answers: title,
        parameters,
      })),
    )
    return
  }
  const rows = shipped.map(({ name, title, parameters }) => [
    name,
    title,
    parameters.map((parameter) => `--${parameter}`).join(' '),
  ])
  io.print(formatTable(['question', 'answers', 'narrowed by'], rows, io.terminal))
}

function explain(io: CommandIo, question: Question, format: AnswerFormat): void {
  if (typeof question === 'string') {
    throw new ConfigError([
      { setting: '--explain', problem: 'works for shipped questions, not for your own SQL' },
    ])
  }
  if (format === 'json') {
    io.printJson(question)
    return
  }
  const { definition, columns, sqlText } = question
  const meanings = columns.map(({ name, meaning }) => [name, meaning])
  const table =
    meanings.length === 0 ? '' : formatTable(['column', 'meaning'], meanings, io.terminal)
  io.print([definition, table, sqlText.trimEnd()].filter((part) => part !== '').join('\n\n'))
}

function findQuestion(question: string, shipped: readonly ShippedQuery[]): Question {
  const named = shipped.find(({ name }) => name === question)
  if (named !== undefined) return named
  const names = shipped.map(({ name }) => name)
  // A single word is a misspelt name; a statement has more.
  if (/\s/.test(question.trim())) return question
  throw new ConfigError([
    {
      setting: question,
      problem:
        `is not one of the questions${suggest(question, names)}; ` +
        `choose from ${names.join(', ')}, or write SQL of more than one word`,
    },
  ])
}

/** SQLSTATEs that come from the words of a statement, not from the state of the server. */
const MISTAKES = /^(?:0A|21|22|25|3F|42(?!501)|P0)/

/** PostgreSQL's own words: advice about our tables would mislead. */
function explainMistake(thrown: unknown): ConfigError | undefined {
  if (!(thrown instanceof ConnectorError) || !(thrown.cause instanceof Error)) return undefined
  const { code } = thrown.context
  if (typeof code !== 'string' || !MISTAKES.test(code)) return undefined
  const problem = `is refused by PostgreSQL: ${thrown.cause.message} (${code})`
  return new ConfigError([{ setting: 'the SQL', problem }], { cause: thrown })
}
