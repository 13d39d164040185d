import { expect, test } from 'vitest'
import { toCallError } from '../../../src/source/client/call-errors.js'
import { CutAnswerError } from '../../../src/source/client/exchange.js'

test.each([
  [new TypeError('pool.request is not a function'), true],
  [Object.assign(new Error('The client is closed'), { code: 'UND_ERR_CLOSED' }), true],
  [Object.assign(new TypeError('Invalid URL'), { code: 'ERR_INVALID_URL' }), false],
  [Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }), false],
  [new CutAnswerError('', { cause: new TypeError('terminated') }), false],
])('%s: a mistake of ours, which no retry can mend: %j', (thrown, expected) => {
  expect(toCallError(thrown, 'GET /', (text) => text) === thrown).toBe(expected)
})
