import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { WEBHOOK_EVENT_NAMES } from '../../../src/extensions/simulator/webhooks/webhook-catalog.js'
import {
  checkWebhook,
  type WatchSettings,
  type WebhookReport,
} from '../../../src/webhooks/manage/check-webhooks.js'
import { callCli } from '../../support/call-cli.js'
import { emptyWarehouse } from '../../support/empty-warehouse.js'
import { withTestService } from '../../support/test-service.js'
import { closeScenes, openScene, type Scene } from '../sync/sync-scene.js'
import { presetFile } from '../../support/preset-file.js'

const OUR_URL = 'https://tracking.example.com/webhooks'
const SETTINGS: WatchSettings = { url: OUR_URL, ids: [], events: ['all'] }
const OURS = {
  url: OUR_URL,
  active: true,
  events: WEBHOOK_EVENT_NAMES,
  secret: 'a-secret-of-some-length',
  headers: [],
}

let scene: Scene

beforeAll(async () => {
  scene = await openScene({ shipments: 3 })
})

afterAll(closeScenes)

beforeEach(async () => {
  await emptyWarehouse(scene.warehouse)
  for (const { id } of scene.simulator.webhooks.webhooks()) scene.simulator.webhooks.remove(id)
})

const check = (settings: Partial<WatchSettings> = {}): Promise<WebhookReport> =>
  withTestService(scene.simulator, (service) =>
    checkWebhook({
      service,
      warehouse: scene.warehouse,
      signal: new AbortController().signal,
      settings: { ...SETTINGS, ...settings },
    }),
  )

/** Ids with their alerts, as `status` finds them. */
const storedAlerts = () =>
  scene.rows`
    select webhook_id as id, is_active, alert from tracking_sync.webhooks order by webhook_id`

const kinds = ({ alerts }: WebhookReport) => alerts.map(({ kind }) => kind)

describe('the watch of our webhook', { tags: ['W18'] }, () => {
  it('finds nothing where all is in order, and notes what it saw', async () => {
    const { id } = scene.simulator.webhooks.create(OURS)
    scene.simulator.webhooks.create({ ...OURS, url: 'https://else.example.com', active: false })
    expect(await check()).toMatchObject({
      isConfigured: true,
      ownIds: [id],
      alerts: [],
      notes: [],
    })
    const rows = await scene.rows`
      select url, is_active, is_ours, events, alert from tracking_sync.webhooks
      where webhook_id = ${id}`
    expect(rows).toEqual([
      {
        url: OUR_URL,
        is_active: true,
        is_ours: true,
        events: [...WEBHOOK_EVENT_NAMES],
        alert: null,
      },
    ])
  })

  it('asks nothing where no webhook is named', async () => {
    scene.simulator.requests.reset()
    expect(await check({ url: undefined })).toEqual({
      isConfigured: false,
      webhooks: [],
      ownIds: [],
      alerts: [],
      notes: [],
    })
    expect(scene.simulator.requests.recent).toEqual([])
  })

  it('alerts when it is not active, and no longer once it is enabled', async () => {
    const { id } = scene.simulator.webhooks.create({ ...OURS, active: false })
    const report = await check()
    expect(kinds(report)).toEqual(['inactive'])
    expect(report.alerts[0]!.sentence).toMatch(`run \`tracking-sync webhooks enable ${id}\``)
    expect(await storedAlerts()).toEqual([
      { id, is_active: false, alert: report.alerts[0]!.sentence },
    ])
    scene.simulator.webhooks.update(id, { active: true })
    expect(kinds(await check())).toEqual([])
    expect(await storedAlerts()).toEqual([{ id, is_active: true, alert: null }])
  })

  it('alerts when the service signs with another secret than ours', { tags: ['FF1'] }, async () => {
    const { id } = scene.simulator.webhooks.create(OURS)
    const report = await check({ secrets: ['another-secret-of-ours'] })
    expect(kinds(report)).toEqual(['other_secret'])
    expect(await storedAlerts()).toEqual([
      { id, is_active: true, alert: report.alerts[0]!.sentence },
    ])
    expect(JSON.stringify(report)).not.toContain(OURS.secret)
    expect(kinds(await check({ secrets: ['another-secret-of-ours', OURS.secret] }))).toEqual([])
    // A masked one proves nothing.
    scene.simulator.webhooks.update(id, { secret: '************' })
    expect(kinds(await check({ secrets: [OURS.secret] }))).toEqual([])
  })

  it.each([
    ['by URL', { ids: [] }],
    ['by id', { ids: ['known'] }],
  ])('alerts when it is deleted, known %s', async (_, { ids }) => {
    const { id } = scene.simulator.webhooks.create(OURS)
    const settings = { ids: ids.map(() => id) }
    expect(kinds(await check(settings))).toEqual([])
    scene.simulator.webhooks.remove(id)
    const report = await check(settings)
    expect(report.alerts).toEqual([
      {
        webhookId: id,
        kind: 'missing',
        sentence: expect.stringMatching(/webhooks create/) as unknown,
      },
    ])
    expect(report.ownIds).toEqual([id])
    expect(await storedAlerts()).toEqual([
      { id, is_active: false, alert: report.alerts[0]!.sentence },
    ])
    expect(kinds(await check(settings))).toEqual(['missing'])
  })

  it('alerts when there never was one', async () => {
    for (const time of ['first', 'second']) {
      const { alerts } = await check()
      expect(alerts, time).toMatchObject([{ webhookId: null, kind: 'missing' }])
      expect(await storedAlerts()).toEqual([
        { id: OURS.url, is_active: false, alert: alerts[0]!.sentence },
      ])
    }
    expect((await check({ ids: ['hook-of-a-typo'] })).alerts).toMatchObject([
      { webhookId: 'hook-of-a-typo', kind: 'missing' },
    ])
    expect(await storedAlerts()).toMatchObject([{ id: 'hook-of-a-typo', is_active: false }])
  })

  it.each([
    ['by URL', false],
    ['by id', true],
  ])('alerts, and goes on alerting, when its URL was changed; known %s', async (_, isById) => {
    const { id } = scene.simulator.webhooks.create(OURS)
    const settings = { ids: isById ? [id] : [] }
    await check(settings)
    scene.simulator.webhooks.update(id, { url: 'https://elsewhere.example.com/hook' })
    for (const report of [await check(settings), await check(settings)]) {
      expect(report.alerts).toMatchObject([{ webhookId: id, kind: 'other_url' }])
      expect(report.alerts[0]!.sentence).toMatch(
        /sends to https:\/\/elsewhere.example.com\/hook and/,
      )
      expect(await storedAlerts()).toMatchObject([{ id, alert: report.alerts[0]!.sentence }])
    }
    // Another one in its place settles it.
    if (isById) return
    scene.simulator.webhooks.create(OURS)
    expect(kinds(await check(settings))).toEqual([])
    expect((await storedAlerts()).map(({ alert }) => alert)).toEqual([null, null])
  })

  it('alerts when events are missing, together with other webhooks of ours', async () => {
    const some = WEBHOOK_EVENT_NAMES.slice(0, 10)
    const rest = WEBHOOK_EVENT_NAMES.slice(10)
    const { id } = scene.simulator.webhooks.create({ ...OURS, events: some })
    const report = await check()
    expect(kinds(report)).toEqual(['events_missing'])
    expect(report.alerts[0]!.sentence).toMatch(
      `does not subscribe to ${rest.length} of the ${WEBHOOK_EVENT_NAMES.length} events we need: ${rest[0]}, `,
    )
    expect(report.alerts[0]!.sentence).toMatch(`webhooks enable ${id} --events`)
    expect(kinds(await check({ events: some }))).toEqual([])
    scene.simulator.webhooks.create({ ...OURS, events: rest })
    expect(kinds(await check())).toEqual([])
  })

  it('alerts when its deliveries are not signed', async () => {
    const { id } = scene.simulator.webhooks.create({ ...OURS, secret: null })
    const report = await check()
    expect(kinds(report)).toEqual(['unsigned'])
    expect(report.alerts[0]!.sentence).toMatch(`webhooks enable ${id} --sign`)
  })

  it('does without a catalogue, and says so', async () => {
    scene.simulator.webhooks.create({ ...OURS, events: [] })
    const fault = scene.simulator.faults.add({
      fault: { kind: 'status', status: 404 },
      match: ({ path }) => path === '/webhooks/events',
    })
    const report = await check()
    fault.remove()
    expect(kinds(report)).toEqual([])
    expect(report.notes.join()).toMatch(/catalogue/)
  })
})

const UPDATES_ONLY = presetFile({ webhooks: { events: ['container.updated'] } })

describe('check and status', { tags: ['W18', 'release'] }, () => {
  const call = (...args: string[]) =>
    callCli(args, {
      TRACKING_API_URL: scene.simulator.url,
      TRACKING_API_KEY: scene.simulator.apiKey,
      DATABASE_URL: scene.url,
      TRACKING_WEBHOOK_URL: OUR_URL,
      TRACKING_WEBHOOK_SECRET: OURS.secret,
      TRACKING_MIGRATE: 'false',
      TRACKING_LOG_LEVEL: 'silent',
    })

  it('tell that all is in order, or what to do; the check writes nothing', async () => {
    expect((await call('status')).stdout).toContain('\nNo webhook of ours is known.\n')
    const { id } = scene.simulator.webhooks.create(OURS)
    const good = await call('check')
    expect(good).toMatchObject({ exitCode: 0, stderr: '' })
    expect(good.stdout).toContain(`ok    webhook   ${id} is active and sends what we need\n`)

    scene.simulator.webhooks.update(id, { active: false, events: [] })
    const bad = await call('check', '--service', UPDATES_ONLY)
    expect(bad).toMatchObject({ exitCode: 6, stderr: '' })
    expect(bad.stdout).toMatch(/^FAIL {2}webhook {3}.* is not active: .*; .* 1 of the 1 events/m)
    expect(await storedAlerts()).toEqual([])
    expect(scene.simulator.webhooks.find(id)?.attributes).toMatchObject({ active: false })

    await check({ events: ['container.updated'] })
    await scene.run`
      insert into tracking_sync.webhook_notifications (notification_id, webhook_id, headers,
      received_at)
      values ('one', ${id}, '{}', '2026-03-01 10:00:00+00')`
    const { stdout } = await call('status')
    expect(stdout).toMatch(
      new RegExp(`^${id} +${OUR_URL} +NO +0 +2026-03-01 10:00:00Z? +\\S+`, 'm'),
    )
    expect(stdout.match(/^ALERT: .*/gm)).toHaveLength(2)
    const json = JSON.parse((await call('status', '--json')).stdout) as { webhooks: unknown[] }
    expect(json.webhooks).toMatchObject([{ webhookId: id, isActive: false, events: 0 }])
  })
})
