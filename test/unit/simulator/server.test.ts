import { afterEach, expect, test } from 'vitest'
import type { Simulator, SimulatorOptions } from '../../../src/extensions/simulator/server.js'
import { ask, send, START, startStillSimulator } from './simulator-client.js'

const open: Simulator[] = []

async function start(options: SimulatorOptions = {}): Promise<Simulator> {
  const simulator = await startStillSimulator(options)
  open.push(simulator)
  return simulator
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((simulator) => simulator.close()))
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
