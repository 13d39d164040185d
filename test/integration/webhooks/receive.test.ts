import { sql } from 'kysely'
import { readdirSync, readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
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
  WEBHOOK_SECRET,
  type TestReceiver,
  type TestReceiverOptions,
} from '../../support/test-receiver.js'
import { describeRefusals } from '../../../src/extensions/doctor/describe-refusals.js'
import { createTestWarehouse, type TestWarehouse } from '../../support/test-warehouse.js'

const SAMPLES = new URL('../../fixtures/samples/', import.meta.url)
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

interface InboxRow {
  notification_id: string
  event: string | null
  webhook_id: string | null
  reference_type: string | null
  reference_id: string | null
  state: string
  error: string | null
  headers: Readonly<Record<string, string>>
  body: Buffer
  is_clamped: boolean
  is_observed_when_made: boolean
}

function loadInbox(): Promise<InboxRow[]> {
  return target.rows<InboxRow>`
    select notification_id, event, webhook_id, reference_type, reference_id, state, error,
        headers, body,
        observed_at between received_at
        and received_at + interval '10 seconds' as is_clamped,
        observed_at = created_at as is_observed_when_made
    from tracking_sync.webhook_notifications
    order by received_at, notification_id`
}

it('is answered once its row is committed, and not before', { tags: ['I5', 'W1'] }, async () => {
  const { server, post } = await open()
  const other = openWarehouse()
  let isAnswered = false
  const answer = await other.transaction('hold the inbox', async (session) => {
    await session.query('lock', sql`lock table tracking_sync.webhook_notifications`)
    const posted = post(notificationBody('held'))
    void posted.finally(() => (isAnswered = true)).catch(() => undefined)
    await vi.waitFor(async () => {
      const waiting = await target.value<number>`
        select count(*)::integer as waiting from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`
      expect(waiting).toBe(1)
    })
    // The server has had its turn to answer: it answers a later request.
    const later = await fetch(`${server.url}/nothing`)
    expect([later.status, isAnswered]).toEqual([404, false])
    expect(await later.text()).not.toBe('')
    return [posted]
  })
  expect((await answer[0]!).status).toBe(202)
  expect(await loadInbox()).toMatchObject([{ notification_id: 'held' }])
})

describe('a signed delivery', { tags: ['W1'] }, () => {
  const samples = readdirSync(SAMPLES).filter((name) => /^webhook-.*\.json$/.test(name))
  const notifications = samples.filter((name) => name !== 'webhook-events.json')

  it('of every published sample is stored as it came, and answered 202', async () => {
    expect(notifications.length).toBeGreaterThanOrEqual(8)
    let woken = 0
    let accepted = 0
    const { post, receiver } = await open({
      onStored: () => (woken += 1),
      onAccepted: () => (accepted += 1),
    })
    for (const name of notifications) {
      const body = readFileSync(new URL(name, SAMPLES))
      const response = await post(body, {
        'content-type': 'application/vnd.api+json; charset=utf-8',
      })
      expect([name, response.status, await response.json()]).toEqual([
        name,
        202,
        { result: 'stored' },
      ])
      const { data } = JSON.parse(body.toString()) as { data: SampleNotification }
      const reference = data.relationships.reference_object.data
      const [row] = (await loadInbox()).filter(({ notification_id }) => notification_id === data.id)
      expect(row).toMatchObject({
        event: data.attributes.event,
        webhook_id: data.relationships.webhook.data.id,
        reference_type: reference.type,
        reference_id: reference.id,
        state: 'received',
        error: null,
        is_observed_when_made: true,
      })
      expect(row!.body.equals(body)).toBe(true)
    }
    expect(await loadInbox()).toHaveLength(notifications.length)
    expect(woken).toBe(notifications.length)
    const { stored, received } = receiver.outcomes.counts()
    expect([stored, received, accepted]).toEqual(Array(3).fill(notifications.length))
  })

  it('leaves no secret in the database, nor other headers', { tags: ['S4'] }, async () => {
    const { post } = await open()
    const body = notificationBody()
    const canary = 'canary-91d0'
    await post(body, { authorization: canary, cookie: canary, 'x-secret-sauce': canary })
    const text = await target.value<string>`
      select to_jsonb(stored)::text as text from tracking_sync.webhook_notifications as stored`
    for (const secret of [canary, signBody(body), WEBHOOK_SECRET]) {
      expect(text).not.toContain(secret)
      expect(text).not.toContain(Buffer.from(secret).toString('hex'))
    }
    expect((await loadInbox())[0]!.headers).toMatchObject({ 'content-type': 'application/json' })
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

interface SampleNotification {
  readonly id: string
  readonly attributes: { readonly event: string }
  readonly relationships: Readonly<
    Record<
      'reference_object' | 'webhook',
      { readonly data: { readonly id: string; readonly type: string } }
    >
  >
}

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

  it('for what it holds, and nothing is decompressed', { tags: ['W13'] }, async () => {
    const { post, receiver } = await open()
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

  it('for its length before it is sent, if the sender asks', { tags: ['W11'] }, async () => {
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
    expect(await loadInbox()).toMatchObject([{ notification_id: 'asked' }])
  })

  it('not for coming in chunks', { tags: ['W11'] }, async () => {
    const { server } = await open()
    const body = notificationBody('chunked')
    const pieces = [body.slice(0, 50), body.slice(50)].map(
      (piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`,
    )
    const head = rawDelivery(body, ['Connection: close'])
      .replace(/Content-Length: \d+/, 'Transfer-Encoding: chunked')
      .replace(body, '')
    const connection = await openRaw(server.httpPort, `${head}${pieces.join('')}0\r\n\r\n`)
    expect(statusesOf(await connection.closed())).toEqual([202])
    expect(await loadInbox()).toMatchObject([{ notification_id: 'chunked' }])
  })

  it('large bodies share a memory that ordinary ones do not use', { tags: ['W11'] }, async () => {
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
    const addresses = new SenderAddresses({
      load: () => Promise.resolve(['192.0.2.10']),
      clock: () => new Date(),
      sleep: () => Promise.resolve(),
      logger: silentLogger,
    })
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
  })

  it('not for its sender without a list, then by signature', { tags: ['W19'] }, async () => {
    const addresses = new SenderAddresses({
      load: () => Promise.reject(new Error('down')),
      clock: () => new Date(),
      sleep: () => Promise.resolve(),
      logger: silentLogger,
    })
    const senders = { addresses, trustedProxyHops: 0 }
    expect((await (await open({ senders })).post(notificationBody())).status).toBe(202)
    const trusting = await open({ senders, signature: 'insecure' })
    expect((await trusting.post(notificationBody())).status).toBe(403)
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
    const [row, ...more] = await loadInbox()
    expect(more).toEqual([])
    expect(row!.body.toString()).toBe(first)
    expect(receiver.outcomes.counts()).toMatchObject({ stored: 1, duplicate: 3 })
  })

  it('ten times over two receivers is one row, in 20 rounds', { tags: ['D1'] }, async () => {
    const receivers = [
      await open({ warehouse: openWarehouse() }),
      await open({ warehouse: openWarehouse() }),
    ]
    for (let round = 0; round < 20; round += 1) {
      const body = notificationBody(`round-${round}`)
      const copies = Array.from({ length: 10 }, (_, copy) => receivers[copy % 2]!.post(body))
      expect((await Promise.all(copies)).map(({ status }) => status)).toEqual(Array(10).fill(202))
    }
    await Promise.all(receivers.map(({ receiver }) => receiver.drain()))
    const rows = await loadInbox()
    expect(rows).toHaveLength(20)
    const counts = receivers.map(({ receiver }) => receiver.outcomes.counts())
    expect(counts.reduce((sum, { stored }) => sum + stored, 0)).toBe(20)
    expect(counts.reduce((sum, { duplicate }) => sum + duplicate, 0)).toBe(180)
  })

  it('is answered at once while a processor holds its row', { tags: ['W8'] }, async () => {
    const { post } = await open()
    const body = notificationBody('held')
    await post(body)
    let release = (): void => undefined
    const held = new Promise<void>((resolve) => (release = resolve))
    let isHeld = false
    const processing = openWarehouse().transaction('process', async (session) => {
      await session.query(
        'claim',
        sql`update tracking_sync.webhook_notifications set attempts = 1 where notification_id = 'held'`,
      )
      isHeld = true
      await held
    })
    closers.push(async () => {
      release()
      await processing
    })
    await expect.poll(() => isHeld).toBe(true)
    const startedAt = performance.now()
    const answers = await Promise.all([post(body), post(body), post(notificationBody('other'))])
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202])
    expect(performance.now() - startedAt).toBeLessThan(2_000)
    release()
    await processing
    expect((await loadInbox()).map((row) => row.notification_id)).toEqual(['held', 'other'])
  })
})

describe('without the database', { tags: ['W16'] }, () => {
  it('answers 503 with Retry-After and stores nothing; when it is back, what is sent again is stored', async () => {
    const proxy = await startFaultProxy(target.url)
    closers.push(() => proxy.close())
    const { post, receiver } = await open({ warehouse: openWarehouse(proxy.url) })
    expect((await post(notificationBody('before'))).status).toBe(202)
    await proxy.cut()
    const bodies = Array.from({ length: 20 }, (_, number) => notificationBody(`sent-${number}`))
    const startedAt = performance.now()
    const refused = await Promise.all(bodies.map((body) => post(body)))
    expect(performance.now() - startedAt).toBeLessThan(5_000)
    expect(refused.map(({ status }) => status)).toEqual(bodies.map(() => 503))
    expect(refused[0]!.headers.get('retry-after')).toMatch(/^\d+$/)
    expect(await refused[0]!.json()).toEqual({ error: 'unavailable' })
    await proxy.restore()
    const taken = await Promise.all(bodies.map((body) => post(body)))
    expect(taken.map(({ status }) => status)).toEqual(bodies.map(() => 202))
    // No memory queue: nothing of the first round came in later.
    expect(await loadInbox()).toHaveLength(21)
    expect(receiver.outcomes.counts()).toMatchObject({ stored: 21, unavailable: 20, duplicate: 0 })
  })

  it('that hangs answers 503 in time, the next at once, and everything again when it goes on', async () => {
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
    expect(performance.now() - startedAt).toBeGreaterThan(400)
    const stuckAt = performance.now()
    expect((await post(notificationBody('stuck'))).status).toBe(503)
    // Within its time: it does not wait behind the one that is stuck.
    expect(performance.now() - stuckAt).toBeLessThan(limits.storeDeadlineMs - 100)
    await proxy.restore()
    await expect.poll(async () => (await post(notificationBody('after'))).status).toBe(202)
    const ids = (await loadInbox()).map((row) => row.notification_id)
    // Of the first round at most the one that was on its way; none that waited behind it.
    expect(ids.filter((id) => id.startsWith('sent-') || id === 'stuck').length).toBeLessThan(2)
    const again = await Promise.all(bodies.slice(0, 5).map((body) => post(body)))
    expect(again.map(({ status }) => status)).toEqual(Array(5).fill(202))
  })
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

describe('many at once', () => {
  it('gather while a statement is under way, and go together in the next', async () => {
    const { post, receiver } = await open()
    const blocker = openWarehouse()
    let release = (): void => undefined
    const held = new Promise<void>((resolve) => (release = resolve))
    let isHeld = false
    const blocking = blocker.transaction('block', async (session) => {
      await session.query(
        'lock',
        sql`lock table tracking_sync.webhook_notifications in exclusive mode`,
      )
      isHeld = true
      await held
    })
    closers.push(async () => {
      release()
      await blocking
    })
    await expect.poll(() => isHeld).toBe(true)
    const posts = Array.from({ length: 150 }, () => post(notificationBody()))
    await expect.poll(() => receiver.outcomes.counts().received, { timeout: 30_000 }).toBe(150)
    release()
    await blocking
    const answers = await Promise.all(posts)
    expect(answers.map(({ status }) => status)).toEqual(Array(150).fill(202))
    const [row] = await target.rows<{ rows: number; commits: number }>`
      select count(*)::integer as rows, count(distinct xmin::text)::integer as commits
      from tracking_sync.webhook_notifications`
    expect(row!.rows).toBe(150)
    expect(row!.commits).toBeLessThan(10)
  })
})
