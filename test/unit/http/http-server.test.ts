import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { ConfigError } from '../../../src/base/errors.js'
import type { LogFields } from '../../../src/base/logger.js'
import { silentLogger } from '../../../src/base/logger.js'
import {
  startHttpServer,
  type HttpServer,
  type HttpServerOptions,
} from '../../../src/http/http-server.js'
import { openRaw, statusesOf } from '../../support/raw-http.js'

interface Scene {
  readonly server: HttpServer
  readonly handled: string[]
  readonly errors: (LogFields | undefined)[]
}

const servers: HttpServer[] = []

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop(0)))
})

function takeAll(request: IncomingMessage, response: ServerResponse): void {
  request.resume()
  request.once('end', () => response.end('taken'))
}

async function openScene(
  limits: HttpServerOptions['limits'] = {},
  handle: (request: IncomingMessage, response: ServerResponse) => void | Promise<void> = takeAll,
): Promise<Scene> {
  const handled: string[] = []
  const errors: Scene['errors'] = []
  const server = await startHttpServer({
    httpPort: 0,
    logger: { ...silentLogger, error: (_message, fields) => errors.push(fields) },
    limits,
    routes: {
      '/webhooks': {
        methods: ['POST'],
        handle: (request, response) => {
          handled.push(`${request.method ?? ''} ${request.url ?? ''}`)
          return handle(request, response)
        },
      },
      '/hidden': { methods: ['GET'], handle: () => void handled.push('hidden') },
    },
  })
  servers.push(server)
  return { server, handled, errors }
}

const HIDDEN = 'GET /hidden HTTP/1.1\r\nHost: x\r\n\r\n'

function post(headers: string, body = '', lineEnd = '\r\n'): string {
  return ['POST /webhooks HTTP/1.1', 'Host: x', headers, '', body].join(lineEnd)
}

describe('what only pretends to be one request', { tags: ['W12'] }, () => {
  it.each([
    [
      'length and chunks',
      post('Content-Length: 5\r\nTransfer-Encoding: chunked', `0\r\n\r\n${HIDDEN}`),
    ],
    ['two lengths', post('Content-Length: 0\r\nContent-Length: 38', HIDDEN)],
    ['a space before the colon', post('Content-Length : 38', HIDDEN)],
    ['bare line feeds', post('Content-Length: 0', HIDDEN, '\n')],
  ])('%s: 400, closed, nothing handled after it', async (_form, text) => {
    const { server, handled } = await openScene()
    const connection = await openRaw(server.httpPort, text)
    expect(statusesOf(await connection.closed())).toEqual([400])
    expect(handled.filter((entry) => entry === 'hidden')).toEqual([])
  })

  it('the hidden request is answered when it is sent openly', async () => {
    const { server, handled } = await openScene({}, takeAll)
    const connection = await openRaw(server.httpPort, HIDDEN)
    await expect.poll(() => handled).toEqual(['hidden'])
    connection.socket.destroy()
  })
})

describe('who is slow', { tags: ['W10'] }, () => {
  const QUICK = { headersTimeoutMs: 300, requestTimeoutMs: 600, checkIntervalMs: 50 }

  it.each([
    ['says nothing', ''],
    ['sends headers for ever', 'POST /webhooks HTTP/1.1\r\nHost: x\r\nX-One: '],
  ])('who %s is cut off after the time for headers', async (_what, text) => {
    const { server, handled } = await openScene(QUICK)
    const startedAt = performance.now()
    const connection = await openRaw(server.httpPort, text)
    const trickle = setInterval(() => text !== '' && connection.socket.write('a'), 20)
    const answers = statusesOf(await connection.closed(5_000))
    clearInterval(trickle)
    expect(answers).toEqual([408])
    expect(performance.now() - startedAt).toBeGreaterThan(250)
    expect(handled).toEqual([])
  })

  it('a body that never ends is cut off after the time for requests', async () => {
    const { server } = await openScene(QUICK)
    const connection = await openRaw(server.httpPort, post('Content-Length: 1000'))
    const trickle = setInterval(() => connection.socket.write('a'), 20)
    expect(statusesOf(await connection.closed(5_000))).toEqual([408])
    clearInterval(trickle)
  })

  it('a client that keeps a connection silent after its answer is cut off', async () => {
    const { server } = await openScene({ keepAliveTimeoutMs: 100 })
    const connection = await openRaw(server.httpPort, post('Content-Length: 2', '{}'))
    expect(statusesOf(await connection.closed(3_000))).toEqual([200])
  })

  it('who closes its half after a request still gets the answer', { tags: ['FG8'] }, async () => {
    const { server } = await openScene({}, (request, response) => {
      request.resume()
      // The server has seen by then that the client closed its half.
      request.socket.once('end', () => setImmediate(() => response.end('done')))
    })
    const body = 'a'.repeat(20_000)
    const connection = await openRaw(server.httpPort, post('Content-Length: 20000', body))
    connection.socket.end()
    expect(await connection.closed(2_000)).toMatch(/^HTTP\/1\.1 200 [\s\S]*done$/)
  })

  it('silent connections up to the limit keep others out for the time for headers', async () => {
    const { server } = await openScene({ ...QUICK, connections: 40 })
    const silent = await Promise.all(Array.from({ length: 60 }, () => openRaw(server.httpPort)))
    await expect.poll(() => silent.filter(({ socket }) => socket.closed).length).toBe(20)
    await expect.poll(() => silent.filter(({ socket }) => !socket.closed).length).toBe(0)
    const response = await fetch(`${server.url}/webhooks`, { method: 'POST', body: '{}' })
    expect(response.status).toBe(200)
  })
})

it('input is parsed in small turns, others between them', { tags: ['JD5', 'FB3'] }, async () => {
  const CHUNKS = 5_000
  let inTurn = 0
  let most = 0
  let chunks = 0
  const { server } = await openScene({}, (request, response) => {
    request.on('data', () => {
      if (inTurn === 0) setImmediate(() => (inTurn = 0))
      inTurn += 1
      most = Math.max(most, inTurn)
      chunks += 1
    })
    request.once('end', () => response.end())
  })
  const body = `${'1\r\na\r\n'.repeat(CHUNKS)}0\r\n\r\n`
  const connection = await openRaw(server.httpPort, post('Transfer-Encoding: chunked', body))
  await expect.poll(() => statusesOf(connection.received())).toEqual([200])
  connection.socket.destroy()
  expect(chunks).toBe(CHUNKS)
  // 4 KiB hold 683; two turns of one connection may follow each other.
  expect(most).toBeLessThan(1_400)
})

describe('what is not served', () => {
  it('headers of more than 16 KiB', { tags: ['W6'] }, async () => {
    const { server, handled } = await openScene()
    const connection = await openRaw(server.httpPort, post(`X-One: ${'a'.repeat(17_000)}`))
    expect(statusesOf(await connection.closed())).toEqual([431])
    expect(handled).toEqual([])
  })

  it.each([['/'], ['/webhooks/'], ['/%77ebhooks'], ['/constructor']])(
    'the path %s, as it was sent',
    { tags: ['W13'] },
    async (path) => {
      const { server, handled } = await openScene()
      const text = `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n`
      const connection = await openRaw(server.httpPort, text)
      await expect.poll(() => statusesOf(connection.received())).toEqual([404])
      connection.socket.destroy()
      expect(handled).toEqual([])
    },
  )

  it.each(['GET', 'PUT', 'OPTIONS', 'DELETE', 'HEAD'])(
    'the method %s',
    { tags: ['W13'] },
    async (method) => {
      const { server, handled } = await openScene()
      const response = await fetch(`${server.url}/webhooks`, { method })
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST'])
      expect(handled).toEqual([])
    },
  )
})

it('a fault is logged, and told to nobody', { tags: ['W20'] }, async () => {
  const detail = 'relation "secret_table" does not exist'
  const { server, errors } = await openScene({}, () => Promise.reject(new Error(detail)))
  const text = 'POST /webhooks HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 0\r\n\r\n'
  const connection = await openRaw(server.httpPort, text)
  await expect.poll(() => statusesOf(connection.received())).toEqual([500])
  await expect.poll(() => connection.received()).toContain('{"error":"internal"}')
  expect(connection.received()).not.toMatch(/secret_table|evil|Server:|X-Powered-By|node/i)
  expect(errors).toMatchObject([{ path: '/webhooks', error: { message: detail } }])
  connection.socket.destroy()
})

it('an address that is taken is told as a setting', async () => {
  const { server } = await openScene()
  const again = startHttpServer({ httpPort: server.httpPort, routes: {}, logger: silentLogger })
  await expect(again).rejects.toThrow(ConfigError)
  await expect(again).rejects.toThrow(`PORT is ${server.httpPort}, which is in use; name another`)
})

describe('stopping', () => {
  it('takes no new connection, lets a request finish, ends silent ones, and leaves nothing open', async () => {
    let waiting: ServerResponse | undefined
    const { server } = await openScene({}, (request, response) => {
      request.resume()
      waiting = response
    })
    const silent = await openRaw(server.httpPort)
    const open = await openRaw(server.httpPort, post('Content-Length: 0'))
    await expect.poll(() => waiting !== undefined).toBe(true)
    const stopped = server.stop(10_000)
    expect(await silent.closed(2_000)).toBe('')
    await expect(fetch(`${server.url}/webhooks`, { method: 'POST' })).rejects.toThrow()
    waiting!.end('done')
    expect(await open.closed(2_000)).toMatch(/^HTTP\/1\.1 200 [\s\S]*Connection: close[\s\S]*done/i)
    await stopped
  })

  it('cuts what has not finished after the grace', async () => {
    const { server, handled } = await openScene({}, () => undefined)
    const open = await openRaw(server.httpPort, post('Content-Length: 0'))
    await expect.poll(() => handled.length).toBe(1)
    const startedAt = performance.now()
    await Promise.all([server.stop(200), server.stop(60_000)])
    expect(performance.now() - startedAt).toBeGreaterThan(150)
    expect(await open.closed(2_000)).toBe('')
  })
})
