import { InvalidArgumentError } from 'commander'
import type { CompiledQuery } from 'kysely'
import { ConfigError } from '../../../base/errors.js'
import { suggest } from '../../../base/phrases.js'
import { instantText } from '../../../commands/declare-command.js'
import type { Schemas } from '../../../warehouse/connection/schema-names.js'
import {
  QUERY_PARAMETERS,
  type QueryParameter,
  type QueryValues,
} from '../questions/query-parameters.js'
import { bindQuery, readShippedQueries, type ShippedQuery } from '../questions/shipped-queries.js'
import type { AskWords } from './ask-words.js'
import { findQuestion } from './find-question.js'
import { checkParameter } from './question-parameters.js'

/** A question as somebody asks it: names and texts, not yet checked. */
export interface Asked {
  readonly question: string
  /** By name; `custom_field` is the same as `custom-field`. `limit` is one of them. */
  readonly filters?: Readonly<Record<string, string | number | undefined>> | undefined
  /** Default: now. */
  readonly asOf?: string | undefined
  /** The instant to compare with. */
  readonly against?: string | undefined
  readonly columns?: readonly string[] | undefined
}

/** One reading of a question: its SQL with values, and the instant that it answers for. */
export interface Side {
  /** Undefined: now. */
  readonly asOf: string | undefined
  readonly statement: CompiledQuery<Record<string, unknown>>
}

/** A question that can be asked: found, checked and bound. No database was needed. */
export interface PreparedQuestion {
  readonly question: ShippedQuery
  readonly values: QueryValues
  readonly side: Side
  /** The other side of a comparison. */
  readonly against: Side | undefined
  readonly columns: readonly string[] | undefined
  readonly words: AskWords
}

/**
 * Finds a question and checks what narrows it. Throws ConfigError, with the fix, for an unknown
 * question, filter or instant; columns are checked when the answer is there.
 */
export async function prepareQuestion(
  names: Schemas,
  asked: Asked,
  words: AskWords,
  /** A server keeps them: reading and parsing takes a tenth of a second. */
  read: typeof readShippedQueries = readShippedQueries,
): Promise<PreparedQuestion> {
  const [asOf, against] = [
    asked.asOf === undefined ? undefined : checkInstant(words.asOf, asked.asOf),
    asked.against === undefined ? undefined : checkInstant(words.against, asked.against),
  ]
  const shipped = await read(names, asOf === undefined ? 'analytics' : 'asOf')
  const question = await findQuestion(asked.question, shipped, words)
  const values = checkFilters(question, asked.filters ?? {}, words)
  refuseRepeated(asked.columns ?? [], words)
  return prepareFound(names, { ...asked, asOf, against, question, values }, words)
}

/** The same for a question that is found, with checked values. */
export async function prepareFound(
  names: Schemas,
  asked: Pick<Asked, 'asOf' | 'against' | 'columns'> & {
    readonly question: ShippedQuery
    readonly values: QueryValues
  },
  words: AskWords,
): Promise<PreparedQuestion> {
  const { question, values, asOf, against, columns } = asked
  const found = { question, values, columns, words }
  if (against === undefined) {
    const side = { asOf, statement: bindQuery(question, values, question.sqlText, words.filter) }
    return { ...found, side, against: undefined }
  }
  // Without the limit: rows behind it would seem to have gone.
  const others: QueryValues = Object.fromEntries(
    Object.entries(values).filter(([name]) => name !== 'limit'),
  )
  const before = (await readShippedQueries(names, 'asOf')).find(
    ({ name }) => name === question.name,
  )
  if (before === undefined) throw new Error(`${question.name} has no view as of an instant`)
  const bind = (one: ShippedQuery) => bindQuery(one, others, one.comparedSqlText, words.filter)
  return {
    ...found,
    side: { asOf, statement: bind(question) },
    against: { asOf: against, statement: bind(before) },
  }
}

/** A column named ten thousand times makes a gigabyte of a row. */
function refuseRepeated(columns: readonly string[], words: AskWords): void {
  const seen = new Set<string>()
  for (const name of columns) {
    const problem = `names ${name} twice; name it once`
    if (seen.has(name)) throw new ConfigError([{ setting: words.columns, problem }])
    seen.add(name)
  }
}

/** Names that the question does not take are left to `bindQuery`. */
function checkFilters(
  { parameters }: ShippedQuery,
  filters: NonNullable<Asked['filters']>,
  words: AskWords,
): QueryValues {
  const values: Partial<Record<QueryParameter, string>> = {}
  for (const [given, value] of Object.entries(filters)) {
    if (value === undefined) continue
    const name = given.replaceAll('_', '-') as QueryParameter
    if (parameters.includes(name)) checkWord(words.filter(name), String(value), name)
    values[name] = checked(words.filter(name), String(value), (text) => {
      // PostgreSQL refuses a statement with such a text.
      if (text.includes('\0')) throw new InvalidArgumentError('It must be a text without NUL.')
      return parameters.includes(name) ? checkParameter(name, text) : text
    })
  }
  return values
}

/** A filter of few words: a mistyped one would be answered without rows, as if there were none. */
function checkWord(setting: string, text: string, name: QueryParameter): void {
  const { words = [] } = QUERY_PARAMETERS[name]
  if (words.length === 0 || words.includes(text.toLowerCase())) return
  const fix = suggest(text, words) || `; it is one of ${words.join(', ')}`
  throw new ConfigError([{ setting, problem: `has no value ${JSON.stringify(text)}${fix}` }])
}

/** A day or a time. Throws ConfigError in place of the error of the command line. */
export function checkInstant(setting: string, text: string): string {
  return checked(setting, text, instantText)
}

function checked(setting: string, text: string, check: (text: string) => string): string {
  try {
    return check(text)
  } catch (thrown) {
    if (!(thrown instanceof InvalidArgumentError)) throw thrown
    const fix = thrown.message.replace(/^It/, 'it').replace(/\.$/, '')
    const problem = `is ${JSON.stringify(text)}; ${fix}`
    throw new ConfigError([{ setting, problem }], { cause: thrown })
  }
}
