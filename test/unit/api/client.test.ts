import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { inspect } from 'node:util'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { ApiNotFoundError, ApiRefusedError, ApiUnavailableError } from '../../../src/base/errors.js'
import { createLogger } from '../../../src/base/logger.js'
import { createRequestBudget } from '../../../src/source/client/request-budget.js'
import {
  canaryKey,
  container,
  createVirtualTime,
  emptyList,
  failureOf,
  reply,
  useServices,
  type Answer,
} from './fake-service.js'

const { connect, start, atEnd } = useServices()

test('sends the key, what it accepts and who it is', async () => {
  const { client, service } = await start([reply(200, emptyList)], { userAgent: 'tester/1' })
  await client.get('/containers', { query: { 'page[size]': 5, include: undefined } })
  expect(service.requests).toEqual(['GET /v2/containers?page[size]=5'])
  expect(service.headers[0]).toMatchObject({
    authorization: `Token ${canaryKey}`,
    accept: 'application/vnd.api+json, application/json',
    'accept-encoding': 'gzip',
    'user-agent': 'tester/1',
  })
})

describe('changes', () => {
  test('a PATCH is retried like a read', async () => {
    const { client, service } = await start([reply(503), reply(200, { data: { id: '1' } })])
    await client.send('PATCH', '/webhooks/1', { active: true })
    expect(service.requests).toHaveLength(2)
    expect(service.headers[0]).toMatchObject({ 'content-type': 'application/json' })
  })

  test.each<[string, Answer]>([
    ['a 503', reply(503)],
    ['a cut', (_request, response) => response.destroy()],
    ['a timeout', () => undefined],
    ['an unreadable answer', reply(200, '<html>')],
  ])('a POST is not repeated after %s: the service may have acted on it', async (_name, answer) => {
    // Of which the start of a connection on a busy machine takes a part.
    const { client, service } = await start([answer], { timeouts: { totalMs: 1_000 } })
    expect(await failureOf(client.send('POST', '/webhooks', {}))).toBeInstanceOf(
      ApiUnavailableError,
    )
    expect(service.requests).toHaveLength(1)
  })

  test('a POST is repeated when it was refused with 429 or was never sent', async () => {
    const { client, service } = await start([reply(429), reply(201, { data: { id: '1' } })])
    expect((await client.send('POST', '/webhooks', {})).status).toBe(201)
    expect(service.requests).toHaveLength(2)
    const nowhere = connect('http://127.0.0.1:1/v2')
    await failureOf(nowhere.send('POST', '/webhooks', {}))
    expect(nowhere.stats().requests).toBe(6)
  })

  test('a DELETE may be answered with nothing', async () => {
    const { client } = await start([reply(204)])
    const answer = await client.send('DELETE', '/webhooks/1', undefined, { expect: 'anything' })
    expect(answer).toMatchObject({ status: 204, body: undefined })
  })
})

describe('rate limits', () => {
  test('a request that begins in the pause goes out after it', { tags: ['R2'] }, async () => {
    const time = createVirtualTime()
    const budget = createRequestBudget({
      perMinute: 90,
      ...time,
      now: () => time.clock().getTime(),
    })
    const begin = time.clock().getTime()
    let waitedMs = 0
    const { client, service } = await start(
      [reply(429, '', { 'retry-after': '7' }), reply(200, emptyList)],
      {
        ...time,
        budget,
        // While the first one waits to be tried again, someone else asks.
        sleep: async () => {
          await other.get('/shipments')
          waitedMs = time.clock().getTime() - begin
        },
      },
    )
    const other = connect(service.baseUrl, { ...time, budget })
    await client.get('/containers')
    expect(service.requests[1]).toBe('GET /v2/shipments')
    expect(waitedMs).toBe(7_000)
  })

  test('an unusable Retry-After means the usual backoff', { tags: ['R3', 'JC8'] }, async () => {
    const time = createVirtualTime()
    const { client } = await start(
      [
        reply(429, '', { 'retry-after': '0x10' }),
        reply(429, '', { 'retry-after': ['7', '9'] }),
        reply(200, emptyList),
      ],
      time,
    )
    await client.get('/containers')
    expect(time.slept).toEqual([500, 8_000])
  })
})

describe('statuses', () => {
  test.each([500, 502, 503, 504, 408])('%d costs one retry', { tags: ['H1'] }, async (status) => {
    const { client, service } = await start([reply(status), reply(200, emptyList)])
    await client.get('/containers')
    expect(service.requests).toHaveLength(2)
    expect(client.stats()).toMatchObject({ requests: 2, retries: 1 })
  })

  test.each([404, 410])('%d tells that the record is gone', { tags: ['H5'] }, async (status) => {
    const { client, service } = await start(reply(status))
    expect(await failureOf(client.get('/containers/x'))).toBeInstanceOf(ApiNotFoundError)
    expect(service.requests).toHaveLength(1)
  })
})

describe('answers that are none', () => {
  const errors = [{ title: 'x' }]
  test.each<[string, Answer, RegExp]>([
    ['a page that hides as JSON', reply(200, '<html>'), /a web page instead of data.*<html>/],
    ['an empty body', reply(200, ''), /an empty body/],
    ['204', reply(204, ''), /answered 204/],
    ['a page with 403', reply(403, '<html>'), /page was .* \(403\): not the service but a proxy/],
    ['errors beside an empty list', reply(200, { errors, data: [] }), /"errors" under a good/],
    ['data: null', reply(200, { data: null }), /not a JSON:API document: data is not a list/],
    ['JSON without data', reply(200, { ok: true }), /not a JSON:API document/],
    ['a bare NaN', reply(200, '{"data":[],"meta":{"total":NaN}}'), /not complete JSON/],
  ])('%s under a list is never "no records"', { tags: ['H11'] }, async (_name, answer, seen) => {
    const { client, service } = await start(answer)
    const error = await failureOf(client.get('/containers', { expect: 'list' }))
    expect(error).toBeInstanceOf(ApiUnavailableError)
    expect(error.message).toMatch(seen)
    expect(service.requests).toHaveLength(6)
  })
})

/**
 * A server that speaks no HTTP of its own: writes given bytes per connection and ends or resets.
 */
async function startRawServer(onRequest: (socket: Socket, count: number) => void) {
  let count = 0
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('data', () => {
      count += 1
      onRequest(socket, count)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  atEnd(async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
    await once(server, 'close')
  })
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2`,
    requests: () => count,
  }
}

const body = JSON.stringify({ data: [{ id: '1', type: 'container' }], meta: { total: 1 } })
const whole = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`

describe('cut answers', { tags: ['H9'] }, () => {
  const headLength = whole.indexOf('\r\n\r\n') + 4
  const offsets = [
    ...[0, 1, 12, 40, headLength - 1, headLength, headLength + 1],
    ...[headLength + 10, headLength + 30, whole.length - 2, whole.length - 1],
  ]
  test.each(offsets)('an answer cut after %d bytes is read again, whole', async (offset) => {
    for (const isReset of [false, true]) {
      const server = await startRawServer((socket, count) => {
        if (count > 1) socket.write(whole)
        else {
          socket.write(whole.slice(0, offset), () => {
            if (isReset) socket.resetAndDestroy()
            else socket.end()
          })
        }
      })
      const client = connect(server.baseUrl)
      const { document } = await client.get('/containers', { expect: 'list' })
      expect(document.data).toHaveLength(1)
      expect(server.requests()).toBe(2)
    }
  })
})

describe('kept-alive connections', { tags: ['H14'] }, () => {
  test('connections closed between or under requests are replaced at once and count as no failure', async () => {
    let answered = 0
    const server = await startRawServer((socket, count) => {
      // Every twentieth request meets a connection that served before and is now gone.
      const isStale = count % 20 === 0
      if (isStale && count % 40 === 0) socket.resetAndDestroy()
      else if (isStale) socket.end()
      else {
        answered += 1
        socket.write(whole)
      }
    })
    const time = createVirtualTime()
    const client = connect(server.baseUrl, { ...time, connections: 1 })
    for (let call = 0; call < 1_000; call += 1) await client.get('/containers')
    expect(answered).toBe(1_000)
    expect(client.stats()).toMatchObject({
      retries: 0,
      staleConnections: server.requests() - 1_000,
    })
    expect(time.slept).toEqual([])
  })
})

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
})

function openBudget(perMinute: number) {
  const { clock, sleep } = createVirtualTime()
  const now = (): number => clock().getTime()
  return { clock, budget: createRequestBudget({ perMinute, clock, sleep, now }) }
}

test('no rolling minute holds more than the budget, all used', { tags: ['R1'] }, async () => {
  const { clock, budget } = openBudget(90)
  const sentAt: number[] = []
  for (let request = 0; request < 400; request += 1) {
    await budget.acquire()
    sentAt.push(clock().getTime())
  }
  for (const [index, instant] of sentAt.entries()) {
    const within = sentAt.filter((other) => other > instant - 60_000 && other <= instant)
    expect(within.length, `request ${index}`).toBeLessThanOrEqual(90)
  }
  expect(sentAt.at(-1)! - sentAt[0]!).toBe(4 * 60_000)
})

function everythingOf(error: unknown): string {
  const chain: string[] = []
  for (let link = error; link instanceof Error; link = link.cause) {
    chain.push(link.message, link.stack ?? '', JSON.stringify(Object.entries(link)))
  }
  return [inspect(error, { depth: 20, showHidden: true }), ...chain].join('\n')
}

const echo = `you sent ${canaryKey}`
const answers: [string, Answer][] = [
  ['a 401 that echoes it', reply(401, { errors: [{ title: 'x', detail: echo }] })],
  ['a 422 that echoes it', reply(422, { errors: [{ title: echo, source: { pointer: echo } }] })],
  ['a 500 that echoes it', reply(500, echo)],
  ['a page that echoes it', reply(200, `<p>${echo}`, { 'content-type': 'text/html' })],
  ['a redirect that echoes it', reply(302, '', { location: `https://evil.example/${canaryKey}` })],
  ['bytes that are no HTTP', (request) => request.socket.end(`${echo}\r\n\r\n`)],
  ['a cut connection', (request) => request.socket.destroy()],
  ['silence', () => undefined],
  ['a good answer', reply(200, emptyList)],
]

test.each(answers)('after %s the key is shown nowhere', { tags: ['S2'] }, async (_name, answer) => {
  const lines: string[] = []
  const stream = new PassThrough().on('data', (line: Buffer) => lines.push(line.toString()))
  // It knows no secret, so it masks none.
  const logger = createLogger({
    level: 'debug',
    format: 'json',
    secrets: [],
    stream: stream as never,
  })
  const { service, client } = await start(answer, { logger, timeouts: { totalMs: 60 } })
  const query = { token: 'query-canary-77', 'page[number]': 3 }
  const outcome = await client.get('/containers', { query }).catch((error: unknown) => error)
  const output = [everythingOf(outcome), inspect(client, { depth: 20, showHidden: true }), ...lines]
  expect(service.headers[0]?.authorization).toBe(`Token ${canaryKey}`)
  expect(output.join('\n')).not.toContain(canaryKey)
  expect(output.join('\n')).not.toContain(Buffer.from(canaryKey).toString('base64'))
  expect(output.join('\n')).not.toContain('query-canary-77')
  expect(lines.join('\n')).toContain(outcome instanceof Error ? '' : 'containers page 3')
})

test('JSON that cannot be read is not quoted, for its secrets', { tags: ['S2'] }, async () => {
  const { client } = await start(reply(200, '{"data":[{"attributes":{"secret":"hush-hush"'))
  expect(everythingOf(await failureOf(client.get('/webhooks')))).not.toContain('hush-hush')
})
