import { afterEach, describe, expect, test } from 'vitest'
import type { Simulator, SimulatorOptions } from '../../../src/extensions/simulator/server.js'
import { ask, send, START, startStillSimulator, type Reply } from './simulator-client.js'

const open: Simulator[] = []

async function start(options: SimulatorOptions = {}): Promise<Simulator> {
  const simulator = await startStillSimulator(options)
  open.push(simulator)
  return simulator
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((simulator) => simulator.close()))
})

async function walk(simulator: Simulator, path: string): Promise<Reply[]> {
  const pages = [await ask(simulator, path)]
  for (let next = pages[0]!.links.next; next !== undefined;) {
    const page = await ask(simulator, next)
    pages.push(page)
    next = page.links.next
  }
  return pages
}

describe('lists', () => {
  test('keep the query in their links, and cap the size without a word', async () => {
    const simulator = await start({ shipments: 25, pageSizeMax: 10 })
    const page = await ask(simulator, '/shipments?page[size]=500&include=containers')
    expect(page.data).toHaveLength(10)
    const next = new URL(page.links.next!)
    expect(next.searchParams.get('page[size]')).toBe('500')
    expect(next.searchParams.get('include')).toBe('containers')
    expect((await walk(simulator, '/shipments?page[size]=500')).length).toBe(3)
  })

  test('are empty beyond their end, and when nothing is tracked', async () => {
    const simulator = await start({ shipments: 0 })
    const page = await ask(simulator, '/shipments')
    expect(page.data).toEqual([])
    expect(page.meta).toEqual({ size: 0, total: 0 })
    expect(page.links).not.toHaveProperty('next')
    const other = await start({ shipments: 5 })
    const beyond = await ask(other, '/shipments?page[number]=9')
    expect(beyond).toMatchObject({ status: 200, data: [], meta: { size: 0, total: 5 } })
    expect(beyond.links).not.toHaveProperty('next')
  })
})

describe('includes', () => {
  test('are refused by name when the service does not know them, or ignored when told so', async () => {
    const strict = await start({ shipments: 3 })
    const refused = await ask(strict, '/shipments?include=containers,nonsense')
    expect(refused.status).toBe(400)
    expect(refused.errors[0]).toMatchObject({ source: { parameter: 'include' } })
    expect(refused.errors[0]!.detail).toContain('nonsense')
    const lenient = await start({
      shipments: 3,
      onUnknownInclude: 'ignore',
      acceptedIncludes: { shipment: ['port_of_lading'] },
    })
    const page = await ask(lenient, '/shipments?include=containers,port_of_lading')
    expect(page.included.map(({ type }) => type)).not.toContain('container')
    expect(page.included.map(({ type }) => type)).toContain('port')
  })
})

describe('single records', () => {
  test('are found by UN/LOCODE and IMO number too', async () => {
    const simulator = await start({ shipments: 1 })
    expect((await ask(simulator, '/ports/DEHAM')).data[0]!.attributes!.name).toBe('Hamburg')
    const [vessel] = simulator.world.page('vessel', 0, 1, START)
    const path = `/vessels/${String(vessel!.attributes!.imo)}`
    expect((await ask(simulator, path)).data).toEqual([vessel])
    const withHistory = await ask(simulator, `${path}?show_positions=true`)
    expect(withHistory.data[0]!.attributes!.positions).not.toHaveLength(0)
  })

  test('that do not exist are 404, unknown paths too, and a wrong method is 405', async () => {
    const simulator = await start({ shipments: 2 })
    const elsewhere = simulator.world.ids.encode('shipment', 99)
    for (const path of [
      `/shipments/${elsewhere}`,
      '/shipments/x',
      '/containers/x/transport_events',
      '/nothing',
      '/',
    ]) {
      const reply = await ask(simulator, path)
      expect(reply.status, path).toBe(404)
      expect(reply.errors[0]).toMatchObject({ status: '404' })
    }
    const wrong = await send(simulator, 'POST', '/shipments', {})
    expect(wrong.status).toBe(405)
    expect(wrong.headers.get('allow')).toBe('GET')
  })
})

test('a wrong or missing key is refused', async () => {
  const simulator = await start({ shipments: 1, apiKey: 'another key' })
  for (const authorization of ['', 'Token wrong', 'Bearer another key', 'another key']) {
    const reply = await ask(simulator, '/shipments', { headers: { authorization } })
    expect(reply.status).toBe(401)
    expect(reply.errors).toHaveLength(1)
  }
  expect((await ask(simulator, '/shipments')).status).toBe(200)
})

test('requests beyond the rate limit are told when to come back', async () => {
  const simulator = await start({ shipments: 1, rateLimitPerMinute: 3 })
  for (let request = 0; request < 3; request++) {
    expect((await ask(simulator, '/shipments')).status).toBe(200)
  }
  const limited = await ask(simulator, '/shipments')
  expect(limited.status).toBe(429)
  const seconds = Number(limited.headers.get('retry-after'))
  expect(seconds).toBeGreaterThan(50)
  expect(seconds).toBeLessThanOrEqual(60)
  expect(simulator.requests.total).toBe(4)
  expect(simulator.requests.recent.at(-1)).toMatchObject({ path: '/v2/shipments', status: 429 })
  simulator.requests.reset()
  expect(simulator.requests).toMatchObject({ total: 0, recent: [] })
})

test('answers carry the virtual date and the type, and are compressed when that is accepted', async () => {
  const simulator = await start({ shipments: 20 })
  const reply = await ask(simulator, '/shipments')
  expect(reply.headers.get('date')).toBe(START.toUTCString())
  expect(reply.headers.get('content-type')).toBe('application/vnd.api+json')
  expect(reply.headers.get('content-encoding')).toBe('gzip')
  const plain = await ask(simulator, '/shipments', { headers: { 'accept-encoding': 'identity' } })
  expect(plain.headers.get('content-encoding')).toBeNull()
  expect(plain.text).toBe(reply.text)
})

test('the control surface shows the state, pushes the clock and edits the world', async () => {
  const simulator = await start({ shipments: 120 })
  const origin = new URL(simulator.url).origin
  const state = async (method: string, path: string, body?: unknown) =>
    JSON.parse((await send(simulator, method, `${origin}${path}`, body)).text) as Record<
      string,
      unknown
    >
  const stateNow = JSON.parse((await ask(simulator, `${origin}/simulator`)).text) as object
  expect(stateNow).toMatchObject({ time: START.toISOString(), speed: 0, counts: { shipment: 120 } })
  const later = await state('POST', '/simulator/clock', { advance_hours: 48 })
  expect(later).toMatchObject({ counts: { shipment: 122 } })
  expect(await state('POST', '/simulator/edits', { insert_shipments: 2 })).toMatchObject({
    counts: { shipment: 124 },
  })
  const [shipment] = simulator.world.page('shipment', 0, 1, simulator.clock.now())
  const gone = { delete: { type: 'shipment', id: shipment!.id } }
  expect(await state('POST', '/simulator/edits', gone)).toMatchObject({ counts: { shipment: 123 } })
  expect(await state('POST', '/simulator/edits', { nonsense: 1 })).toHaveProperty('errors')
})

test('closing ends an answer that hangs', async () => {
  const simulator = await start({ shipments: 1 })
  simulator.faults.add({ fault: { kind: 'hang', phase: 'beforeHeaders' } })
  const hanging = ask(simulator, '/shipments')
  const ended = expect(hanging).rejects.toThrow()
  while (simulator.requests.total === 0) await new Promise((resolve) => setImmediate(resolve))
  await simulator.close()
  await ended
  await simulator.close()
})
