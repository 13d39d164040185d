import { inspect } from 'node:util'
import { expect } from 'vitest'
import { ConfigError } from '../../src/base/errors.js'

/** The problems with which settings are refused, each after its setting, and without a secret. */
export function problemsIn(work: () => unknown, secret?: string): string[] {
  try {
    work()
    return []
  } catch (thrown) {
    if (!(thrown instanceof ConfigError)) throw thrown
    if (secret !== undefined) {
      expect(inspect(thrown, { depth: 10, showHidden: true })).not.toContain(secret)
    }
    return thrown.problems.map(({ setting, problem }) => `${setting} ${problem}`)
  }
}
