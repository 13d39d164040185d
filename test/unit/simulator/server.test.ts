import { afterEach, expect, test } from 'vitest'
import {
  startSimulator,
  type Simulator,
  type SimulatorOptions,
} from '../../../src/extensions/simulator/server.js'

const START = new Date('2026-03-04T12:00:00Z')
let simulator: Simulator

const start = async (options: SimulatorOptions): Promise<void> => {
  simulator = await startSimulator({
    startAt: START,
    speed: 0,
    rateLimitPerMinute: null,
    ...options,
  })
}

afterEach(() => simulator.close())

/** A request to the origin; with a body it is a POST. */
function ask(path: string, body?: unknown): Promise<Response> {
  return fetch(new URL(path, simulator.url), {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Token ${simulator.apiKey}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
}

test('requests beyond the rate limit are told when to come back', async () => {
  await start({ shipments: 1, rateLimitPerMinute: 3 })
  for (let request = 0; request < 3; request++) {
    expect((await ask('/v2/shipments')).status).toBe(200)
  }
  const limited = await ask('/v2/shipments')
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
  await start({ shipments: 120 })
  const state = async (path: string, body?: unknown): Promise<unknown> =>
    (await ask(`/simulator${path}`, body)).json()
  const shipments = (shipment: number) => ({ counts: { shipment } })
  expect(await state('')).toMatchObject({ time: START.toISOString(), speed: 0, ...shipments(120) })
  expect(await state('/clock', { advance_hours: 48 })).toMatchObject(shipments(122))
  expect(await state('/edits', { insert_shipments: 2 })).toMatchObject(shipments(124))
  const [shipment] = simulator.world.page('shipment', 0, 1, simulator.clock.now())
  const gone = { delete: { type: 'shipment', id: shipment!.id } }
  expect(await state('/edits', gone)).toMatchObject(shipments(123))
  expect(await state('/edits', { nonsense: 1 })).toHaveProperty('errors')
})
