import type { App } from '../../../app.js'
import { ConfigError, ConnectorError } from '../../../base/errors.js'
import { USERS_TABLES, type SchemaNames } from '../../../warehouse/connection/schema-names.js'
import { rawStatement } from '../../../warehouse/connection/typed-database.js'
import type { Warehouse } from '../../../warehouse/connection/warehouse.js'
import { streamTable, type TableAnswer } from '../read-answer.js'
import { explainOvertime } from './open-answer.js'
import type { AskWords } from './ask-words.js'

/** SQL that a person wrote, and how to read its answer. */
export interface OwnSql {
  readonly text: string
  readonly asOf?: string | undefined
  readonly mostRows?: number
}

export interface OwnSqlConnection {
  /** By the login of own SQL, or that of the program; it only reads, and has a time limit. */
  readonly reader: Warehouse
  /** Take the reader's role, for want of a login of own SQL. The role alone protects nothing. */
  readonly isAsReader: boolean
}

/** Connects as own SQL does, and gives its login the role that it needs. */
export async function connectOwnSql(
  app: App,
  opened: Warehouse,
  timeoutSeconds: number,
): Promise<OwnSqlConnection> {
  await app.keepReader(opened)
  return {
    reader: await app.connectReader({ statementTimeoutMs: timeoutSeconds * 1000 }),
    isAsReader: (await app.openDatabase()).readerUrl === undefined,
  }
}

/**
 * Streams the answer of SQL that a person wrote. Throws ConfigError with PostgreSQL's own message
 * for a mistake in it.
 */
export async function* streamOwnSql(
  { reader, isAsReader }: OwnSqlConnection,
  { text, asOf, mostRows }: OwnSql,
  words: AskWords,
): AsyncGenerator<TableAnswer> {
  const options = { asOf, isOwnSql: true, isAsReader, mostRows }
  try {
    yield* streamTable(reader, 'answer a question', rawStatement(text), options)
  } catch (thrown) {
    const better = explainOvertime(thrown, { words })
    throw better === thrown ? ((await explainMistake(thrown, reader)) ?? thrown) : better
  }
}

/**
 * With an instant, SQL that names a schema of the present would silently answer for the present.
 * Throws ConfigError.
 */
export function refuseViewsOfNow(
  text: string,
  { analytics, parts, stored, asOf }: SchemaNames,
  words: Pick<AskWords, 'asOf'>,
): void {
  const ofAnyTime = USERS_TABLES.join('|')
  const [named] =
    new RegExp(`\\b(?:${analytics}|${parts}|${stored})"?\\.(?!"?(?:${ofAnyTime})\\b)\\S+`).exec(
      text,
    ) ?? []
  if (named === undefined) return
  const problem =
    `answers from the schema ${asOf}, but your SQL names ${named}, which only knows the ` +
    `present; write ${asOf} instead, or no schema`
  throw new ConfigError([{ setting: words.asOf, problem }])
}

/** SQLSTATEs about the text of a statement, not about the state of the server. */
const MISTAKES = /^(?:0A|21|22|25|3F|42(?!501)|54|P0)/

const FEATURE_NOT_SUPPORTED = '0A000'
const UNDEFINED_TABLE = '42P01'

/** Shows PostgreSQL's own message: advice about our tables would mislead. */
async function explainMistake(
  thrown: unknown,
  warehouse: Warehouse,
): Promise<ConfigError | undefined> {
  if (!(thrown instanceof ConnectorError) || !(thrown.cause instanceof Error)) return undefined
  const { code } = thrown.context
  const { message } = thrown.cause
  // A login that may not use the schema lacks its role; the SQL is right.
  const isForbidden = code === '42501' && !message.includes('for schema')
  if (typeof code !== 'string' || !(isForbidden || MISTAKES.test(code))) return undefined
  const fix = isForbidden
    ? '; your own SQL reads the tables and views of the warehouse'
    : await adviseOn(code, warehouse)
  const problem = `is refused by PostgreSQL: ${message} (${code})${fix}`
  return new ConfigError([{ setting: 'the SQL', problem }], { cause: thrown })
}

/** Where else to look; empty for a mistake that PostgreSQL explains itself. */
async function adviseOn(code: string, warehouse: Warehouse): Promise<string> {
  const { stored, analytics, data } = warehouse.names
  if (code === UNDEFINED_TABLE) {
    return `; this warehouse has its views in ${analytics} and its tables in ${data}`
  }
  if (code !== FEATURE_NOT_SUPPORTED) return ''
  const { isStandby } = await import('../../../warehouse/connection/read-only.js')
  if (!(await isStandby(warehouse))) return ''
  return `; a standby has no stored rows: ask ${analytics} in place of ${stored}`
}
