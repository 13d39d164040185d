import { createServer } from 'node:net'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { singleHeaders } from '../../../src/source/client/exchange.js'
import { toError } from '../../../src/base/errors.js'
import { EXIT_CODES, exitCodeOf } from '../../../src/base/exit-code.js'
import { defaultRetryPolicy } from '../../../src/base/retry.js'
import { anyHeaders } from '../../support/any-headers.js'
import { createTestClient, listen } from './fake-service.js'

test('of a header that comes twice the first that says anything counts', { tags: ['JC8'] }, () => {
  const headers = { date: ['', ' a ', 'b'] as unknown as string, age: ' ', Etag: [] as never }
  expect({ ...singleHeaders(headers) }).toEqual({ date: 'a' })
})

/** Every header of an answer that this program or its HTTP library reads, and some others. */
const READ = [
  'Date',
  'Retry-After',
  'Content-Type',
  'Content-Encoding',
  'Content-Length',
  'Transfer-Encoding',
  'Connection',
  'Keep-Alive',
  'Location',
  'ETag',
  'Link',
  'X-RateLimit-Remaining',
]

test('whatever the headers of an answer are, it is no fault', { tags: ['JC8'] }, async () => {
  let head = ''
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => socket.end(Buffer.from(`${head}\r\n{"data":[]}`, 'latin1')))
  })
  const origin = await listen(server)
  const ends = new Set<string>()
  try {
    const statuses = fc.constantFrom(200, 200, 200, 204, 301, 403, 404, 429, 503)
    await fc.assert(
      fc.asyncProperty(statuses, anyHeaders(READ), async (status, headers) => {
        head = `HTTP/1.1 ${status} Any\r\n${headers}`
        const client = createTestClient(`${origin}/v2`, {
          retryPolicy: { ...defaultRetryPolicy, retries: 0, rateLimitRetries: 1 },
          timeouts: { totalMs: 2_000 },
        })
        const end = await client.get('/containers').then(
          ({ observedAt }) => {
            expect(observedAt.getTime()).not.toBeNaN()
            return 'answer'
          },
          (thrown: unknown) => {
            expect(exitCodeOf(thrown), String(thrown)).not.toBe(EXIT_CODES.bug)
            return toError(thrown).name
          },
        )
        ends.add(end)
        await client.close()
      }),
      { numRuns: 120, seed: 38, examples: [[301, 'Location: http://[::1\r\n']] },
    )
  } finally {
    server.close()
  }
  // Each class was met: else nothing is shown of it.
  expect([...ends].sort()).toEqual([
    'ApiAuthError',
    'ApiNotFoundError',
    'ApiRateLimitedError',
    'ApiRefusedError',
    'ApiUnavailableError',
    'answer',
  ])
})
