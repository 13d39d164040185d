import { ConfigError } from '../../../base/errors.js'
import { suggest } from '../../../base/phrases.js'
import type { ShippedQuery } from '../questions/shipped-queries.js'
import type { AskWords } from './ask-words.js'

/** The question with this name. Throws ConfigError, with the name to use. */
export async function findQuestion(
  asked: string,
  shipped: readonly ShippedQuery[],
  words: AskWords,
): Promise<ShippedQuery> {
  const named = shipped.find(({ name }) => name === asked)
  if (named !== undefined) return named
  const names = shipped.map(({ name }) => name)
  const { readFormerQuestions } = await import('../questions/shipped-queries.js')
  const now = (await readFormerQuestions()).get(asked)
  if (now !== undefined) throw refuse(asked, `is asked by another name: ${words.asked(now)}`)
  const fix = suggest(asked, names) || `; ${words.list}`
  throw refuse(asked, `is not one of the questions${fix}`)
}

/** The questions that a token may ask. */
export interface AskRights {
  readonly name: string
  readonly questions: readonly string[]
}

/** The error for a question that this token may not ask; undefined if it may. */
export function refusalOfRights(
  token: AskRights | undefined,
  question: string,
): ConfigError | undefined {
  if (token === undefined || token.questions.includes(question)) return undefined
  const problem = `may not ask ${question}; it may ask ${token.questions.join(', ')}`
  return new ConfigError([{ setting: `the token ${token.name}`, problem }])
}

function refuse(setting: string, problem: string): ConfigError {
  return new ConfigError([{ setting, problem }])
}
