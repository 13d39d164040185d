import type { Command } from 'commander'
import { ConfigError, ConnectorError } from '../errors.js'
import { EXIT_CODES } from '../exit-code.js'
import type { ShippedQuery } from '../warehouse/shipped-queries.js'
import type { Warehouse } from '../warehouse/warehouse.js'
import { addSettingFlags, settingFlagsOf, type CommandIo } from './command-io.js'
import { formatCsv } from './print-csv.js'
import { formatTable } from './print-table.js'

const FORMATS = ['table', 'csv', 'json'] as const
const STATEMENT_TIMEOUT_MS = 60_000

interface QueryOptions {
  readonly format: (typeof FORMATS)[number]
  readonly explain?: boolean
  readonly json?: boolean
}

export function addQueryCommand(program: Command, io: CommandIo): void {
  const command = program
    .command('query')
    .description(
      'Answer a shipped question by name, or your own SQL (read-only). Without a name: list the questions.',
    )
    .argument('[question]', 'Name of a shipped question, or an SQL statement in quotes.')
    .option('--explain', "Print the question's definition and SQL instead of its answer.")
    .addOption(
      program
        .createOption('--format <format>', 'How the answer is printed.')
        .choices(FORMATS)
        .default('table'),
    )
    .option('--json', 'The same as --format json.')
  addSettingFlags(command).action(async (question: string | undefined, options: QueryOptions) => {
    const format = options.json === true ? 'json' : options.format
    await io.withApp(settingFlagsOf({ ...options }), async (app) => {
      const { readShippedQueries } = await import('../warehouse/shipped-queries.js')
      const { schemaNames } = await import('../warehouse/schema-names.js')
      const shipped = await readShippedQueries(schemaNames(app.config.schema))
      if (question === undefined) {
        listQuestions(io, shipped, format)
        return EXIT_CODES.complete
      }
      const found = findQuestion(question, shipped)
      if (options.explain === true) {
        io.print(found.sqlText.trimEnd())
        return EXIT_CODES.complete
      }
      await app.openWarehouse()
      const warehouse = await app.openWarehouse({
        isMigrating: false,
        isReadOnly: true,
        statementTimeoutMs: STATEMENT_TIMEOUT_MS,
      })
      const answer = await runQuestion(warehouse, found.sqlText).catch((thrown: unknown) => {
        throw found.isShipped ? thrown : (explainMistake(thrown) ?? thrown)
      })
      io.write(formatAnswer(answer, format))
      return EXIT_CODES.complete
    })
  })
}

function listQuestions(
  io: CommandIo,
  shipped: readonly ShippedQuery[],
  format: QueryOptions['format'],
): void {
  const rows = shipped.map(({ name, title }) => ({ question: name, answers: title }))
  if (format === 'json') io.printJson(rows)
  else
    io.print(
      formatTable(
        ['question', 'answers'],
        rows.map(({ question, answers }) => [question, answers]),
      ),
    )
}

function findQuestion(
  question: string,
  shipped: readonly ShippedQuery[],
): Pick<ShippedQuery, 'sqlText'> & { readonly isShipped: boolean } {
  const named = shipped.find(({ name }) => name === question)
  if (named !== undefined) return { ...named, isShipped: true }
  // One word is a name, and a wrong one; a statement has more.
  if (/\s/.test(question.trim())) return { sqlText: question, isShipped: false }
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

export interface Answer {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly unknown[])[]
}

/** Unqualified names mean the data tables first, then the views. */
export async function runQuestion(warehouse: Warehouse, sqlText: string): Promise<Answer> {
  return warehouse.readTable('answer a question', sqlText)
}

/** With its last line end. */
export function formatAnswer(answer: Answer, format: QueryOptions['format']): string {
  const { columns, rows } = answer
  switch (format) {
    case 'table':
      return formatAsTable(answer)
    case 'csv':
      return formatCsv(columns, rows)
    case 'json':
      return `${JSON.stringify(toObjects(answer), null, 2)}\n`
    default:
      return format satisfies never
  }
}

/** Nobody reads more of a table, and laying it out takes seconds and then fails. */
const MOST_TABLE_ROWS = 10_000

function formatAsTable({ columns, rows }: Answer): string {
  const shown = rows.slice(0, MOST_TABLE_ROWS)
  const count = `${rows.length} ${rows.length === 1 ? 'row' : 'rows'}`
  const cut =
    shown.length < rows.length ? `, the first ${MOST_TABLE_ROWS} shown; --format csv gives all` : ''
  return `${formatTable(columns, shown)}\n(${count}${cut})\n`
}

function toObjects({ columns, rows }: Answer): Record<string, unknown>[] {
  return rows.map((row) => Object.fromEntries(columns.map((name, index) => [name, row[index]])))
}
