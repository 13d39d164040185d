import { InvalidArgumentError, type Command } from 'commander'
import type { App } from '../app.js'
import { ConfigError, ConnectorError } from '../errors.js'
import { EXIT_CODES } from '../exit-code.js'
import type { QuestionOptions } from '../warehouse/read-answer.js'
import { QUERY_PARAMETERS, type QueryParameter } from '../warehouse/query-parameters.js'
import type { SchemaNames } from '../warehouse/schema-names.js'
import type { ShippedQuery } from '../warehouse/shipped-queries.js'
import { addSettingFlags, settingFlagsOf, type CommandIo } from './command-io.js'
import { ANSWER_FORMATS, printAnswer, type AnswerFormat } from './print-answer.js'
import { formatTable } from './print-table.js'
import { wholeNumber } from './whole-number.js'

interface QueryOptions extends Partial<Record<QueryParameter, string>> {
  readonly format: AnswerFormat
  readonly json?: boolean
  readonly explain?: boolean
  readonly asOf?: string
  readonly timeout: number
  readonly spreadsheetSafe?: boolean
}

export function addQueryCommand(program: Command, io: CommandIo): void {
  const command = program
    .command('query')
    .description(
      'Answer a shipped question by name, or your own SQL (read-only). Without a name: list the questions.',
    )
    .argument('[question]', 'Name of a shipped question, or an SQL statement in quotes.')
    .option('--explain', "Print the question's definition, columns and SQL instead of its answer.")
    .addOption(
      program
        .createOption('--format <format>', 'How the answer is printed.')
        .choices(ANSWER_FORMATS)
        .default('table'),
    )
    .option('--json', 'The same as --format json.')
    .option('--spreadsheet-safe', 'In csv: disarm texts that a spreadsheet would run as a formula.')
    .option('--as-of <instant>', 'Answer as of this instant: what was known then.', instant)
    .option('--timeout <seconds>', 'Give up after this long.', wholeNumber(1, 86_400), 60)
  for (const [name, meaning] of Object.entries(QUERY_PARAMETERS)) {
    command.addOption(command.createOption(`--${name} <value>`, meaning).helpGroup('Narrowing:'))
  }
  addSettingFlags(command).action(async (question: string | undefined, options: QueryOptions) => {
    await io.withApp(settingFlagsOf({ ...options }), async (app) => {
      const { readShippedQueries } = await import('../warehouse/shipped-queries.js')
      const { schemaNames } = await import('../warehouse/schema-names.js')
      const names = schemaNames(app.config.schema)
      const { asOf } = options
      if (asOf !== undefined && question !== undefined) refuseViewsOfNow(question, names)
      const shipped = await readShippedQueries(
        asOf === undefined ? names : { ...names, analytics: names.asOf },
      )
      const format = options.json === true ? 'json' : options.format
      if (question === undefined) listQuestions(io, shipped, format)
      else if (options.explain === true) explain(io, findQuestion(question, shipped), format)
      else await answer(app, io, findQuestion(question, shipped), { ...options, format })
      return EXIT_CODES.complete
    })
  })
}

/** ISO 8601: a date, or a date with a time and an offset. */
function instant(text: string): string {
  if (
    /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2}))?$/.test(text)
  ) {
    return text
  }
  throw new InvalidArgumentError('Give 2026-03-01 (midnight UTC) or 2026-03-01T08:00:00Z.')
}

type Question = ShippedQuery | string

/** With `--as-of`, SQL of a person's that names a schema of the present would silently answer for the present. */
function refuseViewsOfNow(question: string, { analytics, stored, asOf }: SchemaNames): void {
  const [named] =
    new RegExp(`\\b(?:${analytics}|${stored})"?\\.(?!"?demurrage_tariffs\\b)\\S+`).exec(question) ??
    []
  if (named === undefined) return
  throw new ConfigError([
    {
      setting: '--as-of',
      problem: `answers from the schema ${asOf}, and your SQL names ${named}, which knows the present only; write ${asOf} instead, or no schema`,
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
  try {
    await printAnswer(pieces, options.format, io.process.stdout, {
      isSpreadsheetSafe: options.spreadsheetSafe === true,
    })
  } catch (thrown) {
    throw (typeof question === 'string' ? explainMistake(thrown) : undefined) ?? thrown
  }
}

async function bind(
  question: Question,
  options: QueryOptions,
): Promise<QuestionOptions & { readonly sqlText: string }> {
  const { asOf } = options
  const names = Object.keys(QUERY_PARAMETERS) as QueryParameter[]
  const given = names.filter((name) => options[name] !== undefined)
  if (typeof question !== 'string') {
    const { bindQuery } = await import('../warehouse/shipped-queries.js')
    const values = Object.fromEntries(given.map((name) => [name, options[name]]))
    return { ...bindQuery(question, values), asOf }
  }
  if (given.length === 0) return { sqlText: question, asOf }
  throw new ConfigError(
    given.map((name) => ({
      setting: `--${name}`,
      problem: 'narrows a shipped question; write it into your own SQL',
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
  io.print(formatTable(['question', 'answers', 'narrowed by'], rows))
}

function explain(io: CommandIo, question: Question, format: AnswerFormat): void {
  if (typeof question === 'string') {
    throw new ConfigError([{ setting: '--explain', problem: 'explains shipped questions only' }])
  }
  if (format === 'json') {
    io.printJson(question)
    return
  }
  const { definition, columns, sqlText } = question
  const meanings = columns.map(({ name, meaning }) => [name, meaning])
  const table = meanings.length === 0 ? '' : formatTable(['column', 'meaning'], meanings)
  io.print([definition, table, sqlText.trimEnd()].filter((part) => part !== '').join('\n\n'))
}

function findQuestion(question: string, shipped: readonly ShippedQuery[]): Question {
  const named = shipped.find(({ name }) => name === question)
  if (named !== undefined) return named
  // One word is a name, and a wrong one; a statement has more.
  if (/\s/.test(question.trim())) return question
  throw new ConfigError([
    {
      setting: `question "${question}"`,
      problem: `is not shipped; there are: ${shipped.map(({ name }) => name).join(', ')}`,
    },
  ])
}

/** SQLSTATEs that the words of a statement lead to, not the state of the server. */
const MISTAKES = /^(?:0A|21|22|25|3F|42(?!501)|P0)/

/** The statement is the person's own, so advice about our tables would lead astray. */
function explainMistake(thrown: unknown): ConfigError | undefined {
  if (!(thrown instanceof ConnectorError) || !(thrown.cause instanceof Error)) return undefined
  const { code } = thrown.context
  if (typeof code !== 'string' || !MISTAKES.test(code)) return undefined
  const problem = `is refused by PostgreSQL: ${thrown.cause.message} (${code})`
  return new ConfigError([{ setting: 'the SQL', problem }], { cause: thrown })
}
