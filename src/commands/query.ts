import { InvalidArgumentError, Option } from 'commander'
import type { App } from '../app.js'
import { ConfigError, ConnectorError } from '../base/errors.js'
import { suggest } from '../base/phrases.js'
import type { QuestionOptions } from '../warehouse/connection/read-answer.js'
import { USERS_TABLES, type SchemaNames } from '../warehouse/connection/schema-names.js'
import { QUERY_PARAMETERS, type QueryParameter } from '../warehouse/questions/query-parameters.js'
import type { ShippedQuery } from '../warehouse/questions/shipped-queries.js'
import type { Answer, CommandIo } from './command-io.js'
import {
  argument,
  choice,
  declare,
  flag,
  type Input,
  instantText,
  value,
  wholeNumber,
} from './declare-command.js'
import {
  explainAsOf,
  explainEffectless,
  explainEmpty,
  givenValues,
  PARAMETERS,
  type QueryOptions,
} from './explain-answer.js'
import { ANSWER_FORMATS, printAnswer } from './output/print-answer.js'

/** What PostgreSQL would refuse only after everything was opened. Other values are any text. */
const NARROWING: Readonly<Partial<Record<QueryParameter, (text: string) => string>>> = {
  since: instantText,
  until: instantText,
  'custom-field': (text) => {
    if (/^[^=]+=/.test(text)) return text
    throw new InvalidArgumentError('It must be a name and a value, like department=Garden.')
  },
  limit: (text) => String(wholeNumber(0, Number.MAX_SAFE_INTEGER)(text)),
}

const narrowing = Object.fromEntries(
  PARAMETERS.map((name) => {
    const option = new Option(`--${name} <value>`, QUERY_PARAMETERS[name])
    const item = option.argParser(NARROWING[name] ?? String).helpGroup('Narrowing:')
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
    format: choice('--format <format>', 'How the answer is printed.', ANSWER_FORMATS, 'table'),
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
  run: async (app, { question: asked, isExplaining, json, ...given }, io) => {
    const { readShippedQueries } = await import('../warehouse/questions/shipped-queries.js')
    const { SchemaNames } = await import('../warehouse/connection/schema-names.js')
    const names = new SchemaNames(app.config.schema)
    const { asOf, against } = given
    if (asOf !== undefined && asked !== undefined) refuseViewsOfNow(asked, names)
    const shipped = await readShippedQueries(names, asOf === undefined ? 'analytics' : 'asOf')
    const options = { ...given, format: json ? 'json' : given.isForExcel ? 'csv' : given.format }
    const question = asked === undefined ? undefined : findQuestion(asked, shipped)
    if (question === undefined || isExplaining) {
      const shown = question === undefined ? listed(shipped) : explained(question)
      io.show(options.format === 'json', shown)
    } else if (against === undefined) await answer(app, io, question, options)
    else {
      const asOfViews = await readShippedQueries(names, 'asOf')
      const other = asOfViews.find(({ name }) => name === asked)
      if (typeof question === 'string' || other === undefined) throw refuseToCompareSql()
      const { compareInstants } = await import('./compare-instants.js')
      await compareInstants(
        app,
        io,
        { asOf, question },
        { asOf: against, question: other },
        options,
      )
    }
  },
})

function separatedByCommas(text: string): readonly string[] {
  const names = text.split(',').map((name) => name.trim())
  if (names.every((name) => name !== '')) return names
  throw new InvalidArgumentError('Separate the names by commas.')
}

type Question = ShippedQuery | string

/** With `--as-of`, SQL that names a schema of the present would silently answer for the present. */
function refuseViewsOfNow(question: string, { analytics, stored, asOf }: SchemaNames): void {
  const ofAnyTime = USERS_TABLES.join('|')
  const [named] =
    new RegExp(`\\b(?:${analytics}|${stored})"?\\.(?!"?(?:${ofAnyTime})\\b)\\S+`).exec(question) ??
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

function refuseToCompareSql(): ConfigError {
  const problem =
    'compares shipped questions: your own SQL does not say which row is the same one at both ' +
    'instants; ask it twice, with --as-of'
  return new ConfigError([{ setting: '--against', problem }])
}

async function answer(
  app: App,
  io: CommandIo,
  question: Question,
  options: QueryOptions,
): Promise<void> {
  const { format, columns, asOf } = options
  const { sqlText, ...values } = await bind(question, options)
  await app.openWarehouse()
  const warehouse = await app.connect({
    isReadOnly: true,
    statementTimeoutMs: options.timeout * 1000,
  })
  const pieces = warehouse.streamTable('answer a question', sqlText, values)
  const shipped = typeof question === 'string' ? undefined : question
  const asOfNotes = await explainAsOf(warehouse, '--as-of', asOf, shipped)
  for (const text of [...asOfNotes, ...explainEffectless(options)]) io.printNote(text)
  try {
    const count = await printAnswer(pieces, format, io.process.stdout, {
      ...options,
      terminal: io.terminal,
      isAll: options.isAll || options.limit !== undefined,
      sums: shipped?.sums ?? [],
      leading: columns === undefined ? (shipped?.leading ?? []) : [],
    })
    if (count > 0 || shipped === undefined) return
    for (const text of await explainEmpty(warehouse, shipped, options)) io.printNote(text)
  } catch (thrown) {
    throw (shipped === undefined ? explainMistake(thrown) : undefined) ?? thrown
  }
}

async function bind(
  question: Question,
  options: QueryOptions,
): Promise<QuestionOptions & { readonly sqlText: string }> {
  const { asOf } = options
  const values = givenValues(options, PARAMETERS)
  if (typeof question !== 'string') {
    const { bindQuery } = await import('../warehouse/questions/shipped-queries.js')
    return { ...bindQuery(question, values), asOf }
  }
  const given = Object.keys(values)
  if (given.length === 0) return { sqlText: question, asOf }
  const problem = 'narrows shipped questions only; write the condition into your SQL'
  throw new ConfigError(given.map((name) => ({ setting: `--${name}`, problem })))
}

function listed(shipped: readonly ShippedQuery[]): Answer {
  const rows = shipped.map(({ name, title, parameters }) => [
    name,
    title,
    parameters.map((parameter) => `--${parameter}`).join(' '),
  ])
  return {
    data: shipped.map(({ name, title, parameters }) => ({
      question: name,
      answers: title,
      parameters,
    })),
    text: [{ columns: ['question', 'answers', 'narrowed by'], rows }],
  }
}

function explained(question: Question): Answer {
  if (typeof question === 'string') {
    const problem = 'works for shipped questions, not for your own SQL'
    throw new ConfigError([{ setting: '--explain', problem }])
  }
  const { definition, columns, sqlText } = question
  const rows = columns.map(({ name, meaning }) => [name, meaning])
  const table = rows.length === 0 ? [] : [{ columns: ['column', 'meaning'], rows }, '']
  const text = [...definition.split('\n'), '', ...table, ...sqlText.trimEnd().split('\n')]
  return { data: question, text }
}

function findQuestion(question: string, shipped: readonly ShippedQuery[]): Question {
  const named = shipped.find(({ name }) => name === question)
  if (named !== undefined) return named
  const names = shipped.map(({ name }) => name)
  // A single word is a misspelt name; a statement has more.
  if (/\s/.test(question.trim())) return question
  const fix = suggest(question, names) || '; `tracking-sync query` lists them'
  const problem = `is not one of the questions${fix}`
  throw new ConfigError([{ setting: question, problem }])
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
