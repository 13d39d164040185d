import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, it } from 'vitest'

interface Remembered<History> {
  /** The fault that this history showed first. */
  readonly what: string
  readonly history: History
}

interface RandomHistories<History> {
  /** Of the file in test/corpus. */
  readonly name: string
  readonly tags: readonly string[]
  readonly histories: fc.Arbitrary<History>
  readonly runs: number
  /** Throws when something does not hold that must. */
  readonly play: (history: History) => Promise<void>
}

/**
 * Plays the corpus, which is every history that ever failed, and then random ones. Histories are
 * plain data: a new failure is printed as the line to add to the corpus. `HISTORY_SEED` plays the
 * random ones of a seed again.
 */
export function playHistories<History>(title: string, options: RandomHistories<History>): void {
  const { name, histories, runs, play } = options
  const tags = [...options.tags]
  const file = new URL(`../corpus/${name}.json`, import.meta.url)
  const corpus = JSON.parse(readFileSync(file, 'utf8')) as Remembered<History>[]
  const seed = Number(process.env.HISTORY_SEED ?? Date.now() % 2 ** 31)

  describe(title, () => {
    it.for(corpus)('remembered: $what', { tags }, ({ history }) => play(history))

    it(`${runs} at random`, { tags }, async () => {
      const outcome = await fc.check(fc.asyncProperty(histories, play), { numRuns: runs, seed })
      if (!outcome.failed) return
      const [history] = outcome.counterexample ?? []
      throw new Error(
        `${fc.defaultReportMessage(outcome)}\nAdd to test/corpus/${name}.json: ${JSON.stringify({ what: '', history })}`,
      )
    })
  })
}
