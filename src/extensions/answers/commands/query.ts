import { InvalidArgumentError, Option } from 'commander'
import type { App } from '../../../app.js'
import { ConfigError, ConnectorError } from '../../../base/errors.js'
import { suggest } from '../../../base/phrases.js'
import type { Statement } from '../../../warehouse/connection/typed-database.js'
import { USERS_TABLES, type SchemaNames } from '../../../warehouse/connection/schema-names.js'
import type { Warehouse } from '../../../warehouse/connection/warehouse.js'
import { QUERY_PARAMETERS, type QueryParameter } from '../questions/query-parameters.js'
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
import {
  explainAsOf,
  explainEffectless,
  explainEmpty,
  givenValues,
  PARAMETERS,
  type QueryOptions,
} from './explain-answer.js'
import { findAnswerFile, putAnswer } from '../output/answer-file.js'
import { ANSWER_FORMATS, type AnswerFormat } from '../output/print-answer.js'
import { requireCalendarQuestion } from '../output/print-calendar.js'

/**
 * Checks of values that PostgreSQL would refuse only after everything was opened. Other values are
 * free text.
 */
const NARROWING: Readonly<Partial<Record<QueryParameter, (text: string) => string>>> = {
  since: instantText,
  until: instantText,
  'custom-field': (text) => {
    if (/^[^=]+=/.test(text)) return text
    throw new InvalidArgumentError('It must be a name and a value, like department=Garden.')
  },
  'at-least': (text) => String(wholeNumber(0, Number.MAX_SAFE_INTEGER)(text)),
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
    if (asOf !== undefined && asked !== undefined) refuseViewsOfNow(asked, names)
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
    const options = { ...given, format, file }
    if (against === undefined) {
      await answer(app, io, question, options)
      return
    }
    const asOfViews = await readShippedQueries(names, 'asOf')
    const other = asOfViews.find(({ name }) => name === asked)
    if (typeof question === 'string' || other === undefined) throw refuseToCompareSql()
    const { compareInstants } = await import('./compare-instants.js')
    await compareInstants(app, io, { asOf, question }, { asOf: against, question: other }, options)
  },
})

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

/** With `--as-of`, SQL that names a schema of the present would silently answer for the present. */
function refuseViewsOfNow(question: string, { analytics, stored, asOf }: SchemaNames): void {
  const ofAnyTime = USERS_TABLES.join('|')
  const [named] =
    new RegExp(`\\b(?:${analytics}|${stored})"?\\.(?!"?(?:${ofAnyTime})\\b)\\S+`).exec(question) ??
    []
  if (named === undefined) return
  throw refuse(
    '--as-of',
    `answers from the schema ${asOf}, but your SQL names ${named}, which only knows the ` +
      `present; write ${asOf} instead, or no schema`,
  )
}

function refuseToCompareSql(): ConfigError {
  const problem =
    'compares shipped questions: your own SQL does not say which row is the same one at both ' +
    'instants; ask it twice, with --as-of'
  return refuse('--against', problem)
}

async function answer(
  app: App,
  io: CommandIo,
  question: Question,
  options: QueryOptions,
): Promise<void> {
  const { format, file, columns, asOf } = options
  const statement = await bind(question, options)
  const { streamTable } = await import('../read-answer.js')
  const opened = await app.openWarehouse({ isOfRows: true })
  const limits = { isReadOnly: true, statementTimeoutMs: options.timeout * 1000 }
  const warehouse = await app.connect(limits)
  const action = 'answer a question'
  const pieces =
    typeof question === 'string'
      ? streamTable(await openReader(app, opened, limits), action, statement, {
          asOf,
          isOwnSql: true,
          // The reader's role protects nothing: a login of its own does.
          isAsReader: (await app.openDatabase()).readerUrl === undefined,
        })
      : streamTable(warehouse, action, statement, { asOf })
  const shipped = typeof question === 'string' ? undefined : question
  const asOfNotes = await explainAsOf(warehouse, '--as-of', asOf)
  for (const text of [...asOfNotes, ...explainEffectless(options)]) io.printNote(text)
  try {
    const to = { format, file, signal: app.signal }
    const count = await putAnswer(io, pieces, to, {
      ...options,
      ...(shipped === undefined ? {} : { name: shipped.name }),
      isAll: options.isAll || options.limit !== undefined,
      sums: shipped?.sums ?? [],
      leading: columns === undefined ? (shipped?.leading ?? []) : [],
    })
    if (count > 0 || shipped === undefined) return
    for (const text of await explainEmpty(warehouse, shipped, options)) io.printNote(text)
  } catch (thrown) {
    if (thrown instanceof ConnectorError && thrown.context.code === QUERY_CANCELED) {
      const problem =
        'is over before the answer is there: narrow the question, or give it more seconds'
      throw new ConfigError([{ setting: '--timeout', problem }], { cause: thrown })
    }
    throw (shipped === undefined ? await explainMistake(thrown, opened) : undefined) ?? thrown
  }
}

/** By the login of own SQL, or else that of the program with the reader's role. */
async function openReader(
  app: App,
  opened: Warehouse,
  limits: { readonly statementTimeoutMs: number },
): Promise<Warehouse> {
  await app.keepReader(opened)
  return app.connectReader(limits)
}

async function bind(question: Question, options: QueryOptions): Promise<Statement<unknown>> {
  const values = givenValues(options, PARAMETERS)
  if (typeof question !== 'string') {
    const { bindQuery } = await import('../questions/shipped-queries.js')
    return bindQuery(question, values)
  }
  const given = Object.keys(values)
  if (given.length === 0) {
    const { rawStatement } = await import('../../../warehouse/connection/typed-database.js')
    return rawStatement(question)
  }
  const problem = 'narrows shipped questions only; write the condition into your SQL'
  throw new ConfigError(given.map((name) => ({ setting: `--${name}`, problem })))
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

async function findQuestion(question: string, shipped: readonly ShippedQuery[]): Promise<Question> {
  const named = shipped.find(({ name }) => name === question)
  if (named !== undefined) return named
  const names = shipped.map(({ name }) => name)
  // A single word is a misspelt name; a statement has more words.
  if (/\s/.test(question.trim())) return question
  const { readFormerQuestions } = await import('../questions/shipped-queries.js')
  const now = (await readFormerQuestions()).get(question)
  if (now !== undefined) {
    throw refuse(question, `is asked by another name: \`tracking-sync query ${now}\``)
  }
  const fix = suggest(question, names) || '; `tracking-sync query` lists them'
  const problem = `is not one of the questions${fix}`
  throw refuse(question, problem)
}

/** SQLSTATEs about the text of a statement, not about the state of the server. */
const MISTAKES = /^(?:0A|21|22|25|3F|42(?!501)|54|P0)/

const FEATURE_NOT_SUPPORTED = '0A000'
/** Raised by the time limit of every question. */
const QUERY_CANCELED = '57014'

/** Shows PostgreSQL's own message: advice about our tables would mislead. */
async function explainMistake(
  thrown: unknown,
  warehouse: Warehouse,
): Promise<ConfigError | undefined> {
  if (!(thrown instanceof ConnectorError) || !(thrown.cause instanceof Error)) return undefined
  const { isStandby } = await import('../../../warehouse/connection/read-only.js')
  const { code } = thrown.context
  const { message } = thrown.cause
  // A login that may not use the schema lacks its role; the SQL is right.
  const isForbidden = code === '42501' && !message.includes('for schema')
  if (typeof code !== 'string' || !(isForbidden || MISTAKES.test(code))) return undefined
  const { stored, analytics } = warehouse.names
  const fix = isForbidden
    ? '; your own SQL reads the tables and views of the warehouse'
    : code === FEATURE_NOT_SUPPORTED && (await isStandby(warehouse))
      ? `; a standby has no stored rows: ask ${analytics} in place of ${stored}`
      : ''
  const problem = `is refused by PostgreSQL: ${message} (${code})${fix}`
  return new ConfigError([{ setting: 'the SQL', problem }], { cause: thrown })
}
