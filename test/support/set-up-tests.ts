import { expect, vi } from 'vitest'
import limits from '../catalogue/time-limits.json' with { type: 'json' }
import { showProgramsOfFailures } from './said-by-programs.js'

/* A set-up file of all tests. */

/*
 * Ten seconds are enough for most tests, also at twice the load; test/catalogue/time-limits.json
 * names the others, each with a reason.
 */
const file = expect.getState().testPath?.replace(/^.*\/(?=test\/)/, '')
const limit = limits.find(({ files }) => files.includes(file ?? ''))

if (limit !== undefined && process.env.TEST_SCALE !== 'full') {
  vi.setConfig({ testTimeout: limit.seconds * 1000 })
}

showProgramsOfFailures()
