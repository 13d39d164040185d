import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Simulator } from '../../../../src/extensions/simulator/server.js'
import { ask, START, startStillSimulator, type Reply } from '../simulator-client.js'

let simulator: Simulator

beforeEach(async () => {
  simulator = await startStillSimulator({ shipments: 50 })
})

afterEach(() => simulator.close())

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

describe('faults of the list', () => {
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
