import { createHmac } from 'node:crypto'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { AlertDependencies } from '../../../src/extensions/alerts/raise-alerts.js'
import { silentLogger, type Logger } from '../../../src/base/logger.js'
import { openAlertScene, SECRET, type AlertScene } from './alert-scene.js'

let scene: AlertScene
beforeEach(async () => {
  scene = await openAlertScene()
})
afterEach(() => scene.close())

const messages = () =>
  scene.rows`
    select channel, event, state, attempts from tracking_sync.alert_messages
    order by created_at, event desc, channel`
/** A look by a process that knows this of itself. */
const factsOf = (more: Partial<Awaited<ReturnType<AlertDependencies['facts']>>>) => ({
  facts: () =>
    Promise.resolve({ slots: { cron: 'off', timeZone: 'UTC' }, isServing: false, ...more }),
})
const at = (minute: number): string => new Date(Date.UTC(2026, 10, 24, 3, minute)).toISOString()

describe('an alert of the program', () => {
  it('is told when it opens and when it is over, once each', { tags: ['A1', 'JE3'] }, async () => {
    await scene.look(at(0))
    expect(scene.received()).toEqual([])
    await scene.quarantine(2)
    await scene.look(at(1))
    await scene.look(at(2))
    await scene.quarantine(3)
    await scene.look(at(3))
    expect(scene.received()).toEqual(['opened Alert: TrackingSyncQuarantine'])
    await scene.quarantine(0)
    await scene.look(at(4))
    await scene.look(at(5))
    expect(scene.received()).toEqual([
      'opened Alert: TrackingSyncQuarantine',
      'closed Over: TrackingSyncQuarantine',
    ])
    const over = JSON.parse(scene.receiver.deliveries[1]!.body.toString()) as { lines: string[] }
    expect(over.lines).toEqual([
      'now: no record is set aside',
      'was: 3 records could not be stored and are set aside; see `tracking-sync quarantine list`',
    ])
    const rows = await scene.rows`
      select alert_key, kind, opened_at, closed_at, seen_at from tracking_sync.alerts`
    expect(rows.map((row) => Object.values(row))).toEqual([
      [
        ...['TrackingSyncQuarantine', 'operations'],
        ...['2026-11-24 03:01:00+00', '2026-11-24 03:04:00+00', '2026-11-24 03:03:00+00'],
      ],
    ])
    expect(await messages()).toEqual([
      { channel: 'webhook', event: 'opened', state: 'sent', attempts: 1 },
      { channel: 'webhook', event: 'closed', state: 'sent', attempts: 1 },
    ])
    // Again is another alert.
    await scene.quarantine(1)
    await scene.look(at(6))
    expect(scene.received()).toHaveLength(3)
  })

  it('is one for each webhook that has something wrong', async () => {
    await scene.run`
      insert into tracking_sync.webhooks (webhook_id, url, is_ours, checked_at, alert)
      values ('w1', 'https://one.example', true, now(), 'w1 is off' || chr(10) || 'switch it on'),
        ('w2', 'https://two.example', true, now(), 'w2 is off')`
    await scene.look(at(0))
    await scene.run`update tracking_sync.webhooks set alert = null where webhook_id = 'w1'`
    await scene.look(at(1))
    expect(scene.received()).toEqual([
      'opened Alert: TrackingSyncWebhook',
      'opened Alert: TrackingSyncWebhook',
      'closed Over: TrackingSyncWebhook',
    ])
    const [body] = scene.receiver.deliveries.map(
      ({ body: text }) => JSON.parse(text.toString()) as { lines: string[] },
    )
    expect(body!.lines).toEqual(['w1 is off', 'switch it on'])
  })

  it('waits until it has lasted where it is normal for a while, and lingers over a pause', async () => {
    const facts = (lastError: string | null) =>
      factsOf({ isServing: true, processor: { lastError } as never })
    await scene.look(at(0), facts('no route'))
    await scene.look(at(1), facts('no route'))
    expect(scene.received()).toEqual([])
    await scene.look(at(2), facts('no route'))
    expect(scene.received()).toEqual(['opened Alert: TrackingSyncProcessorFailing'])
    // Another process, whose own processor works, does not end it.
    await scene.look(at(3), facts(null))
    await scene.look(at(4), facts('no route'))
    await scene.look(at(8), facts(null))
    expect(scene.received()).toHaveLength(1)
    await scene.look(at(9), facts(null))
    expect(scene.received().at(-1)).toBe('closed Over: TrackingSyncProcessorFailing')
    // Seen now and then is not lasting.
    await scene.look(at(20), facts('no route'))
    await scene.look(at(40), facts('no route'))
    await scene.look(at(50), facts(null))
    expect(scene.received()).toHaveLength(2)
    expect(await scene.rows`select from tracking_sync.alerts where opened_at is null`).toEqual([])
  })

  it('tells of a budget that is used up for a quarter of an hour, and of a full disk', async () => {
    const requested = (count: number) =>
      scene.run`
        insert into tracking_sync.request_budget (account, requested_at, sync_requests, other_requests)
        values ('a', array[now()], array[${count}::int], array[0])
        on conflict (account) do update set sync_requests = excluded.sync_requests`
    const disk = (freeDiskBytes: number) => factsOf({ freeDiskBytes })
    await requested(80)
    await scene.look(at(0), disk(2 ** 30))
    await requested(81)
    for (let minute = 1; minute < 16; minute += 1) await scene.look(at(minute), disk(2 ** 30))
    expect(scene.received()).toEqual([])
    await scene.look(at(16), disk(2 ** 30 - 1))
    expect(scene.received().sort()).toEqual([
      'opened Alert: TrackingSyncBudgetExhausted',
      'opened Alert: TrackingSyncDiskFull',
    ])
  })

  it('is told only where its name is wanted, and nothing is kept where no channel is set', async () => {
    await scene.quarantine(1)
    const { names, digestHour, timeZone } = scene.settings
    await scene.look(at(0), { settings: { names, digestHour, timeZone } })
    expect(await scene.rows`select from tracking_sync.alerts`).toEqual([])
    await scene.look(at(0), {
      settings: { ...scene.settings, names: new Set(['TrackingSyncOverdue']) },
    })
    expect(await scene.rows`select from tracking_sync.alerts`).toEqual([])
  })
})

describe('a message', () => {
  it('is signed over its raw body, with an id and the instant', { tags: ['A5'] }, async () => {
    await scene.quarantine(1)
    await scene.look(at(0))
    const { headers, body } = scene.receiver.deliveries[0]!
    const digest = createHmac('sha256', SECRET).update(body).digest('hex')
    expect(headers['x-tracking-sync-signature']).toBe(`sha256=${digest}`)
    const { id, sent_at, created_at, ...rest } = JSON.parse(body.toString()) as Record<
      string,
      string
    >
    expect(headers['idempotency-key']).toBe(id)
    expect(await scene.rows`select message_id as id from tracking_sync.alert_messages`).toEqual([
      { id },
    ])
    expect(Math.abs(Date.now() - Date.parse(sent_at!))).toBeLessThan(60_000)
    expect(created_at).toBe('2026-11-24T03:00:00Z')
    expect(rest).toMatchSnapshot({ alert: { id: expect.any(Number) as number } })
  })

  it('waits longer and longer for its receiver, then comes once', { tags: ['A3'] }, async () => {
    const answers = [503, 302, 500]
    scene.receiver.answer = () => answers.shift() ?? 200
    await scene.quarantine(1)
    for (const minute of [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]) await scene.look(at(minute))
    // After one, two and four minutes.
    expect(scene.received()).toHaveLength(4)
    expect(
      await scene.rows`select state, attempts, sent_at, error from tracking_sync.alert_messages`,
    ).toEqual([{ state: 'sent', attempts: 4, sent_at: '2026-11-24 03:07:00+00', error: null }])
    const ids = scene.receiver.deliveries.map(({ headers }) => headers['idempotency-key'])
    expect(new Set(ids).size).toBe(1)
    // Another one, refused for a day, is given up.
    scene.receiver.answer = () => 403
    await scene.quarantine(0)
    await scene.look(at(20))
    await scene.run`update tracking_sync.alert_messages set attempts = 24 where state <> 'sent'`
    await scene.look(at(79))
    await scene.look(at(600))
    expect(scene.received()).toHaveLength(6)
    expect(
      await scene.rows`select state, error from tracking_sync.alert_messages where error <> ''`,
    ).toEqual([{ state: 'given_up', error: 'answered 403' }])
  })

  it('about the end of an alert waits for the one about its beginning', async () => {
    scene.receiver.answer = () => 503
    await scene.quarantine(1)
    await scene.look(at(0))
    await scene.quarantine(0)
    await scene.look(at(0.5))
    expect(scene.received()).toEqual(['opened Alert: TrackingSyncQuarantine'])
    scene.receiver.answer = () => 200
    await scene.look(at(5))
    expect(scene.received().slice(1)).toEqual([
      'opened Alert: TrackingSyncQuarantine',
      'closed Over: TrackingSyncQuarantine',
    ])
  })

  it('that got no answer may have arrived: it is told, not sent', { tags: ['A2'] }, async () => {
    scene.receiver.answer = (_delivery, response) => {
      response.destroy()
      return undefined
    }
    await scene.quarantine(1)
    const warnings: unknown[] = []
    const logger: Logger = {
      ...silentLogger,
      warn: (message, fields) => warnings.push([message, fields?.state]),
    }
    await scene.look(at(0), { logger })
    scene.receiver.answer = () => 200
    for (const minute of [1, 10, 600]) await scene.look(at(minute))
    expect(scene.received()).toHaveLength(1)
    expect(warnings).toEqual([['a message about an alert was not sent', 'in_doubt']])
    const [row] = await scene.rows`select state, error from tracking_sync.alert_messages`
    expect(row).toMatchObject({
      state: 'in_doubt',
      error: expect.stringContaining('no answer') as string,
    })
  })

  it.each([
    ['before', 'alert_claimed', 0],
    ['after', 'alert_sent', 1],
  ])(
    'of a process that ends %s it was sent is not sent again',
    { tags: ['A2', 'release'] },
    async (_when, point, arrived) => {
      await scene.quarantine(1)
      // Like a kill it leaves the row as it is: it throws past every catch of sending.
      await scene.look(at(0), {
        reachFailpoint: (reached) => {
          if (reached === point) throw new Error('killed')
        },
      })
      expect(scene.received()).toHaveLength(arrived)
      await scene.look(at(1))
      expect(await scene.rows`select state from tracking_sync.alert_messages`).toEqual([
        { state: 'sending' },
      ])
      await scene.look(at(3))
      await scene.look(at(600))
      expect(scene.received()).toHaveLength(arrived)
      expect(await scene.rows`select state, error from tracking_sync.alert_messages`).toEqual([
        {
          state: 'in_doubt',
          error: 'the process that was sending it ended before it knew whether it arrived',
        },
      ])
    },
  )

  it('comes once, however many processes look at once', { tags: ['A1'] }, async () => {
    await scene.quarantine(1)
    await Promise.all(Array.from({ length: 4 }, () => scene.look(at(0))))
    await scene.quarantine(0)
    await Promise.all(Array.from({ length: 4 }, () => scene.look(at(1))))
    await Promise.all(Array.from({ length: 4 }, () => scene.look(at(2))))
    expect(scene.received()).toEqual([
      'opened Alert: TrackingSyncQuarantine',
      'closed Over: TrackingSyncQuarantine',
    ])
  })

  it('is claimed once, however many processes send what waits', { tags: ['A1'] }, async () => {
    await scene.run`
      insert into tracking_sync.alert_messages
          (channel, event, content, created_at, next_attempt_at)
      select 'webhook', 'opened', jsonb_build_object('title', n, 'lines', '[]', 'data', '{}'),
          '2026-11-24T00:00:00Z', '2026-11-24T00:00:00Z'
      from generate_series(1, 40) as n`
    // Another process has claimed the first and has not committed: nobody waits for it.
    await scene.warehouse.transaction('claim as another process', async (session) => {
      await session.query(
        'claim one',
        sql`update tracking_sync.alert_messages set state = 'sending', claimed_at = ${at(0)}
        where message_id = (select min(message_id::text)::uuid from tracking_sync.alert_messages)`,
      )
      await Promise.all(Array.from({ length: 5 }, () => scene.look(at(0))))
    })
    expect(new Set(scene.received()).size).toBe(39)
    expect(scene.received()).toHaveLength(39)
  })

  it('never stops a look: what fails is logged', { tags: ['A3'] }, async () => {
    const warnings: string[] = []
    const logger: Logger = { ...silentLogger, warn: (message) => warnings.push(message) }
    await scene.run`alter table tracking_sync.alert_messages rename to elsewhere`
    try {
      await scene.quarantine(1)
      await scene.look(at(0), { logger })
    } finally {
      await scene.run`alter table tracking_sync.elsewhere rename to alert_messages`
    }
    expect(warnings).toEqual([
      'the alerts could not be looked for',
      'the messages about alerts could not be sent',
    ])
    await scene.look(at(1))
    expect(scene.received()).toEqual(['opened Alert: TrackingSyncQuarantine'])
  })
})
