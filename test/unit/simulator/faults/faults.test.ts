import { createConnection } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Fault } from '../../../../src/extensions/simulator/faults/faults.js'
import type { Simulator } from '../../../../src/extensions/simulator/server.js'
import { ask, START, startStillSimulator, type Reply } from '../simulator-client.js'

let simulator: Simulator

beforeEach(async () => {
  simulator = await startStillSimulator({ shipments: 50 })
})

afterEach(() => simulator.close())

function play(fault: Fault, path = '/shipments?page[size]=10'): Promise<Reply> {
  simulator.faults.add({ fault })
  return ask(simulator, path)
}

const idsOf = ({ data }: Reply): string[] => data.map(({ id }) => id)

describe('the script', () => {
  test('plays one limited fault a request, in order, and is then over', async () => {
    simulator.faults.add({
      fault: { kind: 'status', status: 429, headers: { 'retry-after': '2' } },
    })
    simulator.faults.add({ fault: { kind: 'status', status: 500 }, times: 2 })
    simulator.faults.add({ fault: { kind: 'html' } })
    const statuses: number[] = []
    for (let request = 0; request < 5; request++) {
      statuses.push((await ask(simulator, '/shipments')).status)
    }
    expect(statuses).toEqual([429, 500, 500, 200, 200])
    expect((await ask(simulator, '/shipments')).data).toHaveLength(30)
  })

  test('matches by method, path, pattern and function, and waits', async () => {
    const status = (code: number) => ({ kind: 'status', status: code }) as const
    simulator.faults.add({ fault: status(501), match: { path: '/ports' } })
    simulator.faults.add({ fault: status(502), match: { path: /^\/containers$/ }, after: 1 })
    simulator.faults.add({ fault: status(503), match: { method: 'POST' } })
    simulator.faults.add({
      fault: status(504),
      match: ({ query }) => query.get('page[number]') === '2',
    })
    const statusOf = async (path: string) => (await ask(simulator, path)).status
    expect(await statusOf('/containers')).toBe(200)
    expect(await statusOf('/containers')).toBe(502)
    expect(await statusOf('/ports/DEHAM')).toBe(501)
    expect(await statusOf('/shipments?page[number]=2')).toBe(504)
    expect(await statusOf('/shipments?page[number]=2')).toBe(200)
  })

  test('a lasting fault stays beside limited ones until it is removed', async () => {
    const capped = simulator.faults.add({
      fault: { kind: 'capPageSize', size: 7 },
      times: Number.POSITIVE_INFINITY,
    })
    simulator.faults.add({ fault: { kind: 'wrongTotal', total: 'many' } })
    const first = await ask(simulator, '/shipments')
    expect(first.data).toHaveLength(7)
    expect(first.meta.total).toBe('many')
    expect((await ask(simulator, '/shipments')).data).toHaveLength(7)
    expect(capped.played).toBe(2)
    capped.remove()
    expect((await ask(simulator, '/shipments')).data).toHaveLength(30)
  })

  test('is spared by requests that are not authorized', async () => {
    simulator.faults.add({ fault: { kind: 'status', status: 500 } })
    const refused = await ask(simulator, '/shipments', { headers: { authorization: '' } })
    expect(refused.status).toBe(401)
    expect((await ask(simulator, '/shipments')).status).toBe(500)
  })
})

describe('faults of the answer', () => {
  test('a status brings its own body, headers and type', async () => {
    const reply = await play({
      kind: 'status',
      status: 503,
      body: 'busy',
      headers: { 'retry-after': '7' },
      contentType: 'text/plain',
    })
    expect(reply).toMatchObject({ status: 503, text: 'busy' })
    expect(reply.headers.get('retry-after')).toBe('7')
    expect(reply.headers.get('content-type')).toBe('text/plain')
  })

  test('a redirect names its target', async () => {
    const reply = await play({ kind: 'redirect', status: 307, location: 'https://evil.example/' })
    expect(reply.status).toBe(307)
    expect(reply.headers.get('location')).toBe('https://evil.example/')
  })

  test('HTML, nothing, errors and a byte order mark come under 200', async () => {
    const html = await play({ kind: 'html' })
    expect(html.headers.get('content-type')).toContain('text/html')
    expect(html.text).toContain('<html>')
    expect(await play({ kind: 'empty' })).toMatchObject({ status: 200, text: '' })
    expect(await play({ kind: 'empty', status: 204 })).toMatchObject({ status: 204, text: '' })
    expect((await play({ kind: 'errorsUnder200' })).errors).toHaveLength(1)
    simulator.faults.add({ fault: { kind: 'bom' } })
    const headers = { authorization: `Token ${simulator.apiKey}` }
    const response = await fetch(`${simulator.url}/shipments`, { headers })
    const bytes = Buffer.from(await response.arrayBuffer())
    expect([...bytes.subarray(0, 4)]).toEqual([0xef, 0xbb, 0xbf, 0x7b])
  })

  test('a small compressed body grows large', async () => {
    simulator.faults.add({ fault: { kind: 'gzipBomb', mebibytes: 3 } })
    const headers = { authorization: `Token ${simulator.apiKey}` }
    const response = await fetch(`${simulator.url}/shipments`, { headers })
    expect(Number(response.headers.get('content-length'))).toBeLessThan(10_000)
    expect((await response.text()).length).toBe(3 * 1_048_576)
  })

  test('the date is missing, garbage or off', async () => {
    expect((await play({ kind: 'dateHeader', value: null })).headers.get('date')).toBeNull()
    expect((await play({ kind: 'dateHeader', value: 'soon' })).headers.get('date')).toBe('soon')
    const off = await play({ kind: 'dateHeader', value: { offsetMs: 3_600_000 } })
    expect(Date.parse(off.headers.get('date')!)).toBe(START.getTime() + 3_600_000)
  })
})

describe('faults of the document', () => {
  test('the total is any value, or missing', async () => {
    expect((await play({ kind: 'wrongTotal', total: -1 })).meta).toEqual({ size: 10, total: -1 })
    expect((await play({ kind: 'wrongTotal' })).meta).toEqual({ size: 10 })
  })

  test('the next link is any text, one by the request, or missing', async () => {
    const evil = 'https://evil.example/v2/shipments'
    expect((await play({ kind: 'nextLink', url: evil })).links.next).toBe(evil)
    expect((await play({ kind: 'nextLink', url: null })).links.next).toBeNull()
    expect((await play({ kind: 'nextLink' })).links).not.toHaveProperty('next')
    const loop = { kind: 'nextLink', url: ({ path }: { path: string }) => `${path}?again` } as const
    expect((await play(loop)).links.next).toBe('/shipments?again')
  })

  test('a transform sees the document and the request', async () => {
    const reply = await play({
      kind: 'transform',
      apply: (document, { path }) => ({ ...(document as object), meta: { path, text: 'a\0b' } }),
    })
    expect(reply.meta).toEqual({ path: '/shipments', text: 'a\0b' })
    expect(reply.data).toHaveLength(10)
  })
})

describe('faults of the list', () => {
  test('a page is repeated under another number', async () => {
    const first = await ask(simulator, '/shipments?page[size]=10')
    const repeated = await play(
      { kind: 'repeatPage', page: 1 },
      '/shipments?page[size]=10&page[number]=3',
    )
    expect(idsOf(repeated)).toEqual(idsOf(first))
    expect(repeated.links.next).toContain('page[number]=4')
  })

  test('ties change places between pages, the same way each time', async () => {
    const plain = [...simulator.world.records('shipment', START)].map(({ id }) => id)
    const shuffle = { kind: 'shuffle', groupSize: 7, salt: 3 } as const
    simulator.faults.add({ fault: shuffle, times: Number.POSITIVE_INFINITY })
    const walk = async (): Promise<string[]> => {
      const ids: string[] = []
      for (let page = 1; page <= 5; page++) {
        ids.push(...idsOf(await ask(simulator, `/shipments?page[size]=10&page[number]=${page}`)))
      }
      return ids
    }
    const shuffled = await walk()
    expect(shuffled).toHaveLength(50)
    expect(shuffled).not.toEqual(plain)
    expect(new Set(shuffled).size).toBeLessThan(50)
    expect(await walk()).toEqual(shuffled)
  })
})

describe('faults of the connection', () => {
  test.each([
    ['dropped', { kind: 'drop' }],
    ['cut in the body', { kind: 'cut', afterBytes: 100 }],
    ['cut before the last byte', { kind: 'cut', afterBytes: -1 }],
    ['cut at once', { kind: 'cut', afterBytes: 0 }],
    ['cut in the headers', { kind: 'cut', afterBytes: 0, inHeaders: true }],
  ] as const)('a connection is %s', async (_, fault) => {
    await expect(play(fault)).rejects.toThrow()
    expect((await ask(simulator, '/shipments')).status).toBe(200)
  })

  test('half a document ends as if it were whole', async () => {
    const reply = await play({ kind: 'cut', afterBytes: 200, clean: true })
    expect(reply.status).toBe(200)
    expect(reply.text).toHaveLength(200)
    expect(() => JSON.parse(reply.text) as unknown).toThrow()
  })

  test('a hanging answer sends nothing, or headers only, or a byte now and then', async () => {
    simulator.faults.add({ fault: { kind: 'hang', phase: 'beforeHeaders' } })
    simulator.faults.add({ fault: { kind: 'hang', phase: 'afterHeaders' } })
    simulator.faults.add({ fault: { kind: 'hang', phase: 'drip', everyMs: 1 } })
    expect(await firstBytes(0)).toBe('')
    const headers = await firstBytes(1)
    expect(headers).toContain('200 OK')
    expect(headers.split('\r\n\r\n')[1]).toBe('')
    expect(await firstBytes(headers.length + 5)).toContain('\r\n\r\n{"d')
  })

  test('a slow body arrives whole', async () => {
    const path = '/ports/DEHAM'
    const reply = await play({ kind: 'slow', bytesPerSecond: 20_000 }, path)
    expect(reply.data).toEqual((await ask(simulator, path)).data)
  })

  test('an endless body stops when its reader leaves', async () => {
    simulator.faults.add({ fault: { kind: 'endlessBody' } })
    const control = new AbortController()
    const headers = { authorization: `Token ${simulator.apiKey}` }
    const response = await fetch(`${simulator.url}/shipments`, { headers, signal: control.signal })
    let bytes = 0
    for await (const chunk of response.body!) {
      bytes += (chunk as Uint8Array).length
      if (bytes > 1_000_000) break
    }
    control.abort()
    expect(bytes).toBeGreaterThan(1_000_000)
    expect((await ask(simulator, '/shipments')).status).toBe(200)
  })
})

/**
 * The text that a socket has received once it has so many characters; for zero, once the request is
 * noted.
 */
async function firstBytes(least: number): Promise<string> {
  const { port } = new URL(simulator.url)
  const noted = simulator.requests.total
  const socket = createConnection(Number(port), '127.0.0.1')
  let received = ''
  socket.on('data', (chunk: Buffer) => {
    received += chunk.toString()
  })
  socket.write(
    `GET /v2/ports/DEHAM HTTP/1.1\r\nhost: localhost\r\nauthorization: Token ${simulator.apiKey}\r\n\r\n`,
  )
  while (received.length < least || simulator.requests.total === noted) {
    await new Promise((resolve) => setImmediate(resolve))
  }
  socket.destroy()
  return received
}
