import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import {
  ApiAuthError,
  ApiNotFoundError,
  ApiRefusedError,
  ApiRequestError,
  ApiUnavailableError,
} from '../../../src/base/errors.js'
import {
  createVirtualTime,
  emptyList,
  failureOf,
  reply,
  useServices,
  type Answer,
} from './fake-service.js'

const { connect, start, atEnd } = useServices()

describe('statuses', () => {
  test.each([500, 502, 503, 504, 408])('%d costs one retry', { tags: ['H1'] }, async (status) => {
    const { client, service } = await start([reply(status), reply(200, emptyList)])
    await client.get('/containers')
    expect(service.requests).toHaveLength(2)
    expect(client.stats()).toMatchObject({ requests: 2, retries: 1 })
  })

  test('a permanent 503 costs six requests and then says so', { tags: ['H2'] }, async () => {
    const { client, service } = await start(reply(503, 'down for maintenance'))
    const error = await failureOf(client.get('/containers'))
    expect(error).toBeInstanceOf(ApiUnavailableError)
    expect(error.message).toMatch(/GET \/v2\/containers: the service answered 503.*"down for/)
    expect(error.message).toContain('Given up after 6 tries')
    expect(service.requests).toHaveLength(6)
  })

  test.each([401, 403])('%d is never retried', { tags: ['H3'] }, async (status) => {
    const { client, service } = await start(reply(status))
    const error = await failureOf(client.get('/containers'))
    expect(error).toBeInstanceOf(ApiAuthError)
    expect(service.requests).toHaveLength(1)
  })

  test.each([404, 410])('%d tells that the record is gone', { tags: ['H5'] }, async (status) => {
    const { client, service } = await start(reply(status))
    expect(await failureOf(client.get('/containers/x'))).toBeInstanceOf(ApiNotFoundError)
    expect(service.requests).toHaveLength(1)
  })

  test.each([400, 422])('%d carries what the service says', { tags: ['H6'] }, async (status) => {
    const detail = `bad\u001b[31m thing\r\n${'x'.repeat(2_000)}`
    const errors = [{ title: 'Invalid', detail, source: { parameter: 'include' } }]
    const { client, service } = await start(reply(status, { errors }))
    const error = await failureOf(client.get('/containers', { query: { secretive: 'value' } }))
    expect(error).toBeInstanceOf(ApiRequestError)
    expect(error).toMatchObject({ status })
    expect(error.message).toContain('GET /v2/containers: ')
    expect(error.message).not.toContain('secretive')
    expect(error.message).toContain('Invalid: bad\\u001b[31m thing\\u000d\\u000axxx')
    expect(error.message).toContain('[include]')
    expect(error.message).not.toMatch(/\p{Cc}/u)
    expect(error.message.length).toBeLessThan(800)
    expect(service.requests).toHaveLength(1)
  })

  test('a refusal in plain words is told by the first of them', { tags: ['H6'] }, async () => {
    // A control character that quoting a text as JSON leaves as it is.
    const words = `No\r\n\u009b31m such page ${'x'.repeat(1_000)}`
    const { client, service } = await start(reply(400, words, { 'content-type': 'text/plain' }))
    const error = await failureOf(client.get('/containers'))
    expect(error).toBeInstanceOf(ApiRequestError)
    expect(error.message).toContain('u009b31m such page xxx')
    expect(error.message).not.toMatch(/\p{Cc}/u)
    expect(error.message.length).toBeLessThan(300)
    expect(service.requests).toHaveLength(1)
  })
})

describe('answers that are none', () => {
  const portal = reply(200, '<html><h1>Sign in</h1>', { 'content-type': 'text/html' })
  const errors = [{ title: 'x' }]
  test.each<[string, Answer, RegExp]>([
    ['a portal page', portal, /web page.*<html>/],
    ['a page that hides as JSON', reply(200, '<html>'), /a web page instead of data.*<html>/],
    ['an empty body', reply(200, ''), /an empty body/],
    ['204', reply(204, ''), /answered 204/],
    ['a page with 403', reply(403, '<html>'), /page was .* \(403\): not the service but a proxy/],
    ['errors under 200', reply(200, { errors }), /"errors" under a good status/],
    ['errors beside an empty list', reply(200, { errors, data: [] }), /"errors" under a good/],
    ['data: null', reply(200, { data: null }), /not a JSON:API document: data is not a list/],
    ['one record', reply(200, { data: { id: '1', type: 'container' } }), /: data is not a list/],
    ['JSON without data', reply(200, { ok: true }), /not a JSON:API document/],
    ['a bare array', reply(200, []), /not a JSON:API document/],
    ['cut JSON', reply(200, '{"data":[{"id":"1"'), /not complete JSON/],
    ['a bare NaN', reply(200, '{"data":[],"meta":{"total":NaN}}'), /not complete JSON/],
  ])('%s under a list is never "no records"', { tags: ['H11'] }, async (_name, answer, seen) => {
    const { client, service } = await start(answer)
    const error = await failureOf(client.get('/containers', { expect: 'list' }))
    expect(error).toBeInstanceOf(ApiUnavailableError)
    expect(error.message).toMatch(seen)
    expect(service.requests).toHaveLength(6)
  })

  test('a BOM and an unusual content-type are accepted', { tags: ['H11'] }, async () => {
    const { client } = await start(
      reply(200, '\ufeff{"data":[]}', { 'content-type': 'application/octet-stream' }),
    )
    const { document } = await client.get('/containers', { expect: 'list' })
    expect(document.data).toEqual([])
  })
})

describe('redirects', { tags: ['H13'] }, () => {
  test.each([301, 302, 303, 307, 308])('%d to another host is never followed', async (status) => {
    const trap = await start(reply(200, emptyList))
    const location = `${trap.service.origin}/v2/containers?steal=1`
    const { client, service } = await start(reply(status, '', { location }))
    const error = await failureOf(client.get('/containers'))
    expect(error).toBeInstanceOf(ApiRefusedError)
    expect(error.message).toContain('another host')
    expect(trap.service.requests).toHaveLength(0)
    expect(service.requests).toHaveLength(1)
  })

  test('a redirect to the same host comes with a hint', async () => {
    const { client, service } = await start(reply(301, '', { location: '/v3/containers' }))
    const error = await failureOf(client.get('/containers'))
    expect(error.message).toContain('set TRACKING_API_URL')
    expect(service.requests).toHaveLength(1)
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
const unmarked = `HTTP/1.0 200 OK\r\ncontent-type: application/json\r\n\r\n${body}`

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

  test('half a JSON that ends cleanly, without a length, is no answer', async () => {
    for (const cut of [1, 10, 30]) {
      const server = await startRawServer((socket, count) => {
        socket.end(count > 1 ? unmarked : unmarked.slice(0, unmarked.length - cut))
      })
      const client = connect(server.baseUrl)
      const { document } = await client.get('/containers', { expect: 'list' })
      expect(document.data).toHaveLength(1)
      expect(server.requests()).toBe(2)
    }
  })
})

describe('kept-alive connections', { tags: ['H14'] }, () => {
  test('a server that closes after every answer is read without a failure', async () => {
    const server = await startRawServer((socket) => socket.end(unmarked))
    const client = connect(server.baseUrl)
    for (let call = 0; call < 20; call += 1) await client.get('/containers')
    expect(client.stats()).toMatchObject({ requests: 20, retries: 0 })
  })

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
