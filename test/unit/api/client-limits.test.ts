import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { ApiRefusedError, ApiUnavailableError } from '../../../src/base/errors.js'
import { container, failureOf, reply, useServices, type Answer } from './fake-service.js'

const { start } = useServices()
const oneTry = {
  retries: 0,
  rateLimitRetries: 0,
  baseMs: 1,
  capMs: 1,
  giveUpAfterMs: 1,
  longestRetryAfterMs: 1,
}

const page = JSON.stringify({ data: [container('ä'), container('b')] })

describe('compressed answers', () => {
  test.each([
    ['gzip', gzipSync(page)],
    ['x-gzip', gzipSync(page)],
    ['GZIP', gzipSync(page)],
    ['identity', Buffer.from(page)],
  ])('reads %s', async (encoding, body) => {
    const { client } = await start(reply(200, body, { 'content-encoding': encoding }))
    const answer = await client.get('/containers')
    expect(answer.document.data).toEqual([container('ä'), container('b')])
    expect(answer.bytes).toBe(Buffer.byteLength(page))
  })

  test('a bomb is cut off while it swells', { tags: ['H10'] }, async () => {
    // Fifty members of 4 MiB: 200 MiB, as one stream.
    const bomb = Buffer.concat(Array<Buffer>(50).fill(gzipSync(Buffer.alloc(4 * 1024 ** 2, 0x20))))
    const { client, service } = await start(reply(200, bomb, { 'content-encoding': 'gzip' }))
    const before = process.memoryUsage().rss
    const startedAt = performance.now()
    const error = await failureOf(client.get('/containers'))
    expect(error).toBeInstanceOf(ApiRefusedError)
    expect(error.message).toMatch(/GET \/v2\/containers: an answer is larger than 33554432 bytes/)
    expect(performance.now() - startedAt).toBeLessThan(5_000)
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * 1024 * 1024)
    expect(service.requests).toHaveLength(1)
  })

  test.each(['gzip, gzip, gzip', 'gzip,br', 'br', 'deflate', 'zstd'])(
    'the encoding %s is refused',
    { tags: ['H10'] },
    async (encoding) => {
      const body = gzipSync(gzipSync(gzipSync(page)))
      const { client } = await start(reply(200, body, { 'content-encoding': encoding }))
      expect(await failureOf(client.get('/containers'))).toBeInstanceOf(ApiRefusedError)
    },
  )

  test('a compressed answer that is cut is asked for again', { tags: ['H9'] }, async () => {
    for (const body of [gzipSync(page).subarray(0, -12), Buffer.from('no gzip at all')]) {
      const { client, service } = await start(reply(200, body, { 'content-encoding': 'gzip' }))
      expect(await failureOf(client.get('/containers'))).toBeInstanceOf(ApiUnavailableError)
      expect(service.requests).toHaveLength(6)
    }
  })
})

test('an endless body is cut off at the size limit', { tags: ['H10'] }, async () => {
  const { client, service } = await start(
    (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const pour = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(64 * 1024, 0x20)));
        response.once('drain', pour)
      }
      pour()
    },
    { maxResponseBytes: 2 * 1024 * 1024 },
  )
  const error = await failureOf(client.get('/containers'))
  expect(error).toBeInstanceOf(ApiRefusedError)
  expect(error.message).toContain('larger than 2097152 bytes')
  expect(service.requests).toHaveLength(1)
})

describe('time limits', () => {
  const hang: Answer = () => undefined
  const headThenNothing: Answer = (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.write('{"data":')
  }
  const dripForEver: Answer = (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    const timer = setInterval(() => response.write(' '), 10)
    response.once('close', () => {
      clearInterval(timer)
    })
  }

  test.each([
    ['says nothing', hang, { headersMs: 60 }, 'UND_ERR_HEADERS_TIMEOUT'],
    ['stops after the head', headThenNothing, { bodyIdleMs: 60 }, 'UND_ERR_BODY_TIMEOUT'],
    ['drips for ever', dripForEver, { totalMs: 100 }, 'TOTAL_TIMEOUT'],
    ['says nothing, within the total', hang, { totalMs: 100 }, 'TOTAL_TIMEOUT'],
  ])('one that %s is retried', { tags: ['H8', 'H12'] }, async (_name, answer, timeouts, code) => {
    const { client, service } = await start(answer, {
      timeouts,
      retryPolicy: { ...oneTry, retries: 1, giveUpAfterMs: 10_000 },
    })
    const error = await failureOf(client.get('/containers'))
    expect(error).toBeInstanceOf(ApiUnavailableError)
    expect(error.message).toContain(code)
    expect(service.requests).toHaveLength(2)
  })

  test('an abort rejects with its reason and is told apart from a timeout', async () => {
    for (const answer of [hang, headThenNothing, dripForEver]) {
      const { client, service } = await start(answer)
      const controller = new AbortController()
      const reason = new Error('shutting down')
      const call = client.get('/containers', { signal: controller.signal })
      while (service.requests.length === 0) await new Promise(setImmediate)
      controller.abort(reason)
      expect(await failureOf(call)).toBe(reason)
      expect(service.requests).toHaveLength(1)
    }
  })

  test('an abort before the call sends nothing, and the signal of the client counts as well', async () => {
    const { client, service } = await start(hang, { signal: AbortSignal.abort(new Error('over')) })
    expect((await failureOf(client.get('/containers'))).message).toBe('over')
    expect(service.requests).toHaveLength(0)
  })
})
