import { describe, expect, test } from 'vitest'
import { createRequestBudget } from '../../../src/source/client/request-budget.js'
import { ApiUnavailableError } from '../../../src/base/errors.js'
import {
  canaryKey,
  createVirtualTime,
  emptyList,
  failureOf,
  reply,
  useServices,
  type Answer,
} from './fake-service.js'

const { connect, start } = useServices()

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

test('counts every request by purpose, each attempt included', async () => {
  const { client } = await start([reply(500), reply(500), reply(200, emptyList)])
  const counter = { requests: 10 }
  await client.get('/containers', { counter })
  expect(counter.requests).toBe(13)
})

test.each<[string, unknown]>([
  ['a detail alone', { errors: [{ detail: 'no such event' }] }],
  ['a title that is null', { errors: [{ title: null, detail: 'no such event' }] }],
  ['a code alone', { errors: [{ code: 'no such event' }] }],
  ['texts', { errors: ['no such event'] }],
  ['one text', { error: 'no such event' }],
  ['a message', { message: 'no such event' }],
  ['an object with a message', { error: { message: 'no such event' } }],
])('tells what is said in %s', { tags: ['FF10'] }, async (_name, body) => {
  const { client } = await start([reply(422, body)])
  const failure = await failureOf(client.get('/containers'))
  expect(failure.message).toMatch(/\(422\)\. It says: no such event\.$/)
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
  function createLimited(script: Answer[]) {
    const time = createVirtualTime()
    const budget = createRequestBudget({
      perMinute: 90,
      ...time,
      now: () => time.clock().getTime(),
    })
    return { time, started: start(script, { ...time, budget }) }
  }

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
    const { time, started } = createLimited([
      reply(429, '', { 'retry-after': '0x10' }),
      reply(429, '', { 'retry-after': ['7', '9'] }),
      reply(200, emptyList),
    ])
    const { client } = await started
    await client.get('/containers')
    expect(time.slept).toEqual([500, 8_000])
  })
})
