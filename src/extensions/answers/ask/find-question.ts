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

function refuse(setting: string, problem: string): ConfigError {
  return new ConfigError([{ setting, problem }])
}
