import { sql } from 'kysely'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createFailpoint } from '../../../src/base/failpoint.js'
import { silentLogger } from '../../../src/base/logger.js'
import { createWarehouse, type Warehouse } from '../../../src/warehouse/connection/warehouse.js'
import { SenderAddresses } from '../../../src/webhooks/receive/sender-addresses.js'
import { startFaultProxy } from '../../support/fault-proxy.js'
import { openRaw, statusesOf } from '../../support/raw-http.js'
import {
  DEFAULT_SIGNATURE,
  notificationBody,
  rawDelivery,
  signBody,
  startTestReceiver,
  type TestReceiver,
  type TestReceiverOptions,
} from '../../support/test-receiver.js'
import { describeRefusals } from '../../../src/extensions/doctor/describe-refusals.js'
import { createTestWarehouse, type TestWarehouse } from '../../support/test-warehouse.js'

const HEADER = DEFAULT_SIGNATURE.header

let target: TestWarehouse
let closers: (() => Promise<void>)[] = []

beforeAll(async () => {
  target = await createTestWarehouse()
})

afterAll(async () => {
  await target.drop()
})

beforeEach(async () => {
  await target.run`truncate tracking_sync.webhook_notifications`
})

afterEach(async () => {
  for (const close of closers.reverse()) await close()
  closers = []
})

async function open(options: Partial<TestReceiverOptions> = {}): Promise<TestReceiver> {
  const scene = await startTestReceiver({ warehouse: target.warehouse, ...options })
  closers.push(() => scene.stop())
  return scene
}

/** A pool of its own, as another process has it. */
function openWarehouse(url = target.url): Warehouse {
  const warehouse = createWarehouse({ url, schema: 'tracking', logger: silentLogger })
  closers.push(() => warehouse.close())
  return warehouse
}

const loadInbox = () =>
  target.rows`
    select notification_id, event, webhook_id, reference_type || ' ' || reference_id as reference,
        state, body,
        observed_at between received_at
        and received_at + interval '10 seconds' as is_clamped,
        observed_at = created_at as is_observed_when_made
    from tracking_sync.webhook_notifications
    order by received_at, notification_id`

describe('a signed delivery', () => {
  it('is answered once its row is committed, with others', { tags: ['I5', 'W1'] }, async () => {
    let woken = 0
    const { server, post, receiver } = await open({ onStored: () => (woken += 1) })
    const other = openWarehouse()
    const body = notificationBody('held')
    let isAnswered = false
    const answers = await other.transaction('hold the inbox', async (session) => {
      await session.query('lock', sql`lock table tracking_sync.webhook_notifications`)
      const held = post(body)
      void held.finally(() => (isAnswered = true)).catch(() => undefined)
      const later = Array.from({ length: 100 }, () => post(notificationBody()))
      await expect.poll(() => receiver.outcomes.counts().received).toBe(101)
      // The server has had its turn to answer: it answers a later request.
      expect([(await fetch(`${server.url}/nothing`)).status, isAnswered]).toEqual([404, false])
      return [held, ...later]
    })
    const statuses = (await Promise.all(answers)).map(({ status }) => status)
    expect([woken, ...statuses]).toEqual([101, ...Array<number>(101).fill(202)])
    const inbox = await loadInbox()
    expect(inbox.find(({ notification_id }) => notification_id === 'held')).toMatchObject({
      event: 'container.updated',
      webhook_id: 'a-webhook',
      reference: 'container_updated_event a-reference',
      state: 'received',
      is_observed_when_made: true,
      body: Buffer.from(body),
    })
    // Those that came while a statement was under way went together in the next.
    const commits = await target.value<number>`
      select count(distinct xmin::text)::integer from tracking_sync.webhook_notifications`
    expect([inbox.length, commits < 10]).toEqual([101, true])
  })

  it.each([['2999-01-01T00:00:00Z'], ['yesterday']])(
    'made at %s was observed when it was received',
    { tags: ['D5'] },
    async (created_at) => {
      const { post } = await open()
      await post(notificationBody('late', { created_at }))
      expect(await loadInbox()).toMatchObject([{ is_clamped: true }])
    },
  )
})

describe('a delivery that is refused', () => {
  it('for its signature gets one answer, and leaves a count', { tags: ['W2'] }, async () => {
    const { post, receiver } = await open()
    const body = notificationBody()
    const right = signBody(body)
    const forms = ['', signBody(body, 'another-secret-0123456789'), right.toUpperCase()]
    const answers = await Promise.all(
      forms.map(async (form) => {
        const response = await post(body, { [HEADER]: form })
        return `${response.status} ${await response.text()}`
      }),
    )
    expect(new Set(answers)).toEqual(new Set(['401 {"error":"signature"}\n']))
    expect(receiver.outcomes.counts()).toMatchObject({
      received: 3,
      stored: 0,
      refused_signature: 3,
    })
    expect(await loadInbox()).toEqual([])
  })

  it('for what it holds, and nothing is decompressed', { tags: ['JC8', 'W13'] }, async () => {
    const { server, post, receiver } = await open()
    const bomb = gzipSync(Buffer.alloc(50 * 1024 * 1024))
    const before = process.memoryUsage().rss
    const statuses = []
    for (const headers of [
      { 'content-encoding': 'gzip' },
      { 'content-encoding': 'identity, gzip' },
      { 'content-type': 'application/x-www-form-urlencoded' },
      { 'content-type': 'text/plain' },
      { 'content-type': 'application/json, text/plain' },
    ]) {
      statuses.push((await post(bomb, headers)).status)
    }
    expect(statuses).toEqual([415, 415, 415, 415, 415])
    expect(process.memoryUsage().rss - before).toBeLessThan(40 * 1024 * 1024)
    expect(receiver.outcomes.counts()).toMatchObject({
      refused_content_encoding: 2,
      refused_content_type: 3,
    })
    const taken = [
      { 'content-type': 'APPLICATION/JSON;charset=UTF-8' },
      { 'content-encoding': 'Identity' },
    ].map((headers) => post(notificationBody(), headers))
    expect((await Promise.all(taken)).map(({ status }) => status)).toEqual([202, 202])
    const odd = rawDelivery(notificationBody(), [
      'Content-Encoding:',
      'X-Forwarded-For:',
      'Connection: close',
    ])
    for (const [text, status] of [
      [odd.replace(/Content-Type.*\r\n/, ''), 415],
      [odd.replace(/(Content-Type): .*\r\n/, '$1:\r\n$1:\r\n'), 415],
      [odd.replace('Content-Encoding:', 'Content-Encoding: identity'), 202],
    ] as const) {
      expect(statusesOf(await (await openRaw(server.httpPort, text)).closed())).toEqual([status])
    }
  })

  it('for its length, announced or not', { tags: ['W11', 'JD5'] }, async () => {
    const { server, post, receiver } = await open({ limits: { bodyBytes: 4_096 } })
    const head = ['POST /webhooks HTTP/1.1', 'Host: x', 'Content-Type: application/json']
    const raw = async (header: string, body: string): Promise<number[]> => {
      const connection = await openRaw(server.httpPort, [...head, header, '', body].join('\r\n'))
      return statusesOf(await connection.closed())
    }
    expect((await post(' '.repeat(4_097))).status).toBe(413)
    expect(await raw('Content-Length: 99999999999', '{')).toEqual([413])
    expect(await raw('Content-Length: -5', '{}')).toEqual([400])
    // Fewer bytes announced than sent: the rest is not a request.
    expect(await raw('Content-Length: 2', '{}junk\r\n\r\n')).toContain(400)
    const chunk = `1000\r\n${' '.repeat(0x1000)}\r\n`
    expect(await raw('Transfer-Encoding: chunked', chunk.repeat(50))).toEqual([411])
    expect(await raw('Transfer-Encoding: chunked', '1\r\n \r\n'.repeat(1_100))).toEqual([411])
    expect(receiver.outcomes.counts()).toMatchObject({
      stored: 0,
      refused_too_large: 2,
      refused_length: 2,
    })
    expect(await loadInbox()).toEqual([])
    await expect
      .poll(() => describeRefusals(target.warehouse))
      .toMatch(/1 refused .* length \(.*64 KiB/)
  })

  it('not for asking before it sends, nor for chunks', { tags: ['W11'] }, async () => {
    const { server } = await open({ limits: { bodyBytes: 4_096 } })
    const large = rawDelivery(' '.repeat(5_000), ['Expect: 100-continue']).trimEnd()
    const refused = await openRaw(server.httpPort, `${large}\r\n\r\n`)
    expect(statusesOf(await refused.closed())).toEqual([413])
    const body = notificationBody('asked')
    const head = rawDelivery(body, ['Expect: 100-continue', 'Connection: close']).replace(body, '')
    const taken = await openRaw(server.httpPort, head)
    await expect.poll(() => statusesOf(taken.received())).toEqual([100])
    taken.socket.write(body)
    expect(statusesOf(await taken.closed())).toEqual([100, 202])
    const inChunks = rawDelivery(body, ['Connection: close'])
      .replace(/Content-Length: \d+/, 'Transfer-Encoding: chunked')
      .replace(body, `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`)
    expect(statusesOf(await (await openRaw(server.httpPort, inChunks)).closed())).toEqual([202])
    expect(await loadInbox()).toMatchObject([{ notification_id: 'asked', body: Buffer.from(body) }])
  })

  it('large bodies share a memory, ordinary ones go on', { tags: ['W11', 'FB3'] }, async () => {
    const limits = { memoryBytes: 600_000 }
    const { server, post, receiver } = await open({ limits })
    const head = 'POST /webhooks HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n'
    const part = `${head}Content-Length: 1000000\r\n\r\n${' '.repeat(150_000)}`
    const open50 = await Promise.all(
      Array.from({ length: 50 }, () => openRaw(server.httpPort, part)),
    )
    // At most two fit into the shared memory with what they hold beyond the free part.
    await expect.poll(() => receiver.outcomes.counts().unavailable).toBeGreaterThanOrEqual(48)
    const { unavailable } = receiver.outcomes.counts()
    expect(unavailable).toBeLessThan(50)
    expect((await post(notificationBody('ordinary'))).status).toBe(202)
    for (const { socket } of open50) socket.destroy()
    await expect.poll(() => receiver.outcomes.counts().aborted).toBe(50 - unavailable)
    expect((await post(`${notificationBody('large')}${' '.repeat(250_000)}`)).status).toBe(202)
    expect((await loadInbox()).map((row) => row.notification_id)).toEqual(['ordinary', 'large'])
  })

  it('for taking too long over its body, while others are served', { tags: ['W10'] }, async () => {
    const { server, post, receiver } = await open({ limits: { bodyTimeoutMs: 300 } })
    const connection = await openRaw(
      server.httpPort,
      rawDelivery(notificationBody(), []).slice(0, -5),
    )
    expect((await post(notificationBody('quick'))).status).toBe(202)
    expect(statusesOf(await connection.closed(5_000))).toEqual([408])
    expect(receiver.outcomes.counts().refused_timeout).toBe(1)
    expect(await loadInbox()).toHaveLength(1)
  })

  it('for its sender, and never accepted for that alone', { tags: ['W19'] }, async () => {
    const parts = { clock: () => new Date(), sleep: () => Promise.resolve(), logger: silentLogger }
    const load = () => Promise.resolve(['192.0.2.10'])
    const addresses = new SenderAddresses({ ...parts, load })
    await addresses.refresh()
    const direct = await open({ senders: { addresses, trustedProxyHops: 0 } })
    const proxied = await open({ senders: { addresses, trustedProxyHops: 1 } })
    const status = async (
      { post }: TestReceiver,
      forwarded: string,
      headers: Readonly<Record<string, string>> = {},
    ): Promise<number> =>
      (await post(notificationBody(), { 'x-forwarded-for': forwarded, ...headers })).status
    expect(await status(direct, '192.0.2.10')).toBe(403)
    expect(await status(proxied, '192.0.2.10, 203.0.113.5')).toBe(403)
    expect(await loadInbox()).toEqual([])
    expect(await status(proxied, '203.0.113.5, 192.0.2.10')).toBe(202)
    expect(await status(proxied, '192.0.2.10', { [HEADER]: '0'.repeat(64) })).toBe(401)
    expect(await loadInbox()).toHaveLength(1)
    // Without a list the signature decides, and where there is none, nobody is let in.
    const unread = new SenderAddresses({ ...parts, load: () => Promise.reject(new Error('down')) })
    const senders = { addresses: unread, trustedProxyHops: 0 }
    expect(await status(await open({ senders }), '')).toBe(202)
    expect(await status(await open({ senders, signature: 'insecure' }), '')).toBe(403)
  })
})

describe('a delivery that comes again', () => {
  it('keeps the bytes of the first; later ones change nothing', { tags: ['W9'] }, async () => {
    const { post, receiver } = await open()
    const first = notificationBody('one')
    const rendered = JSON.stringify(JSON.parse(first), null, 2)
    for (const body of [first, first, rendered, rendered]) {
      expect((await post(body)).status).toBe(202)
    }
    expect(await loadInbox()).toMatchObject([{ body: Buffer.from(first) }])
    expect(receiver.outcomes.counts()).toMatchObject({ stored: 1, duplicate: 3 })
  })

  it('ten times at once over two receivers is one row', { tags: ['D1'] }, async () => {
    const receivers = [await open(), await open({ warehouse: openWarehouse() })]
    const body = notificationBody('once')
    const copies = Array.from({ length: 10 }, (_, copy) => receivers[copy % 2]!.post(body))
    expect((await Promise.all(copies)).map(({ status }) => status)).toEqual(Array(10).fill(202))
    expect(await loadInbox()).toHaveLength(1)
    const stored = receivers.map(({ receiver }) => receiver.outcomes.counts().stored)
    expect(stored.sort()).toEqual([0, 1])
  })

  it('and cannot be read is kept once under its hash, dead', async () => {
    const { post } = await open()
    for (const body of ['no json', 'no json']) expect((await post(body)).status).toBe(202)
    const notification_id = expect.stringMatching(/^sha256:/) as unknown
    const body = Buffer.from('no json')
    expect(await loadInbox()).toMatchObject([{ notification_id, state: 'dead', body }])
  })
})

it('a database that hangs is a 503 in time', { tags: ['W16'] }, async () => {
  const proxy = await startFaultProxy(target.url)
  closers.push(() => proxy.close())
  const limits = { storeDeadlineMs: 500, longestQueue: 5 }
  const { post } = await open({ warehouse: openWarehouse(proxy.url), limits })
  expect((await post(notificationBody('before'))).status).toBe(202)
  proxy.freeze()
  const bodies = Array.from({ length: 8 }, (_, number) => notificationBody(`sent-${number}`))
  const startedAt = performance.now()
  const answers = await Promise.all(bodies.map((body) => post(body)))
  expect(answers.map(({ status }) => status)).toEqual(bodies.map(() => 503))
  expect(answers[0]!.headers.get('retry-after')).toMatch(/^\d+$/)
  expect(await answers[0]!.json()).toEqual({ error: 'unavailable' })
  expect(performance.now() - startedAt).toBeGreaterThan(400)
  const stuckAt = performance.now()
  expect((await post(notificationBody('stuck'))).status).toBe(503)
  // Within its time: it does not wait behind the one that is stuck.
  expect(performance.now() - stuckAt).toBeLessThan(limits.storeDeadlineMs - 100)
  await proxy.restore()
  await expect.poll(async () => (await post(notificationBody('after'))).status).toBe(202)
  const ids = (await loadInbox()).map((row) => String(row.notification_id))
  // Of the first round at most the one that was on its way; none that waited behind it.
  expect(ids.filter((id) => id.startsWith('sent-') || id === 'stuck').length).toBeLessThan(2)
  const again = await Promise.all(bodies.slice(0, 5).map((body) => post(body)))
  expect(again.map(({ status }) => status)).toEqual(Array(5).fill(202))
})

describe('killed', { tags: ['C6'] }, () => {
  it.each([
    ['delivery_stored', 1],
    ['delivery_received', 0],
  ] as const)('at %s: no answer, %i rows; sent again it is one row', async (point, rows) => {
    const dying: TestReceiver = await open({
      reachFailpoint: createFailpoint(point, () => {
        // All connections break without an answer, as when the process is gone.
        void dying.server.stop(0)
        throw new Error('killed')
      }),
    })
    const body = notificationBody('once')
    const sockets = await openRaw(dying.server.httpPort, rawDelivery(body))
    expect(statusesOf(await sockets.closed()).filter((status) => status < 500)).toEqual([])
    await dying.receiver.drain()
    expect(await loadInbox()).toHaveLength(rows)
    const next = await open()
    expect((await next.post(body)).status).toBe(202)
    expect(await loadInbox()).toMatchObject([{ notification_id: 'once' }])
    expect(next.receiver.outcomes.counts()).toMatchObject({ stored: 1 - rows, duplicate: rows })
  })
})
