import type { ParameterSchema } from '../../answers/ask/question-parameters.js'
import type { NumberPage } from '../../answers/number-page.js'
import type { AskWords } from '../../answers/ask/ask-words.js'
import type { AskRights } from '../../answers/ask/find-question.js'
import type { Warehouse } from '../../../warehouse/connection/warehouse.js'

/** A tool of the server. Its texts are ours: no text of the service is in them. */
export interface Tool {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly arguments: Readonly<Record<string, ArgumentSchema>>
  readonly required: readonly string[]
  /** Gives the text of the result. Throws ConfigError with one sentence and the fix. */
  readonly run: (given: Arguments, session: AskSession) => Promise<string>
}

export type Arguments = Readonly<Record<string, unknown>>

export type ArgumentSchema = { readonly description: string } & (
  | (ParameterSchema & { readonly maximum?: number })
  | { readonly type: 'array'; readonly items: { readonly type: 'string' } }
  | {
      readonly type: 'object'
      readonly properties: Readonly<Record<string, ArgumentSchema>>
      readonly additionalProperties: false
    }
)

/** The connection of a server that answers. */
export interface AskSession {
  /**
   * The warehouse as the one who asks may see it: each statement is in a read-only transaction.
   * Throws ConfigError for a login with other rights, and WarehouseUnavailableError.
   */
  readonly open: () => Promise<Warehouse>
  /** Page of a container or bill of lading at the service. */
  readonly pageOf?: NumberPage | undefined
}

/** The one who asks: a connection and, over HTTP, the token whose questions are the only ones. */
export interface McpAccess {
  readonly session: AskSession
  readonly token?: AskRights | undefined
  /** Whether the client has left. */
  readonly isGone?: () => boolean
}

/** Rows of a result, and of a table in it. */
export const MOST_ROWS = 200
/** Characters of the rows of a result. */
export const MOST_CHARACTERS = 50_000
export const TIMEOUT_SECONDS = 60

/** `custom-field` is an argument of `filters`, `custom_field`. */
export function argumentName(parameter: string): string {
  return parameter.replaceAll('-', '_')
}

export const WORDS: AskWords = {
  filter: (name) => (name === 'limit' ? name : `filters.${argumentName(name)}`),
  asOf: 'as_of',
  against: 'against',
  columns: 'columns',
  list: '`list_questions` lists them',
  asked: (question) => question,
  overtime: {
    setting: 'the answer',
    problem: 'takes longer than its time limit; narrow the question with more filters',
  },
}
