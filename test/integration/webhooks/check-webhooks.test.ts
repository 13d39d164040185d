import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { WEBHOOK_EVENT_NAMES } from '../../../src/extensions/simulator/webhooks/webhook-catalog.js'
import {
  checkWebhook,
  type WatchSettings,
  type WebhookReport,
} from '../../../src/webhooks/manage/check-webhooks.js'
import { emptyWarehouse } from '../../support/empty-warehouse.js'
import { withTestService } from '../../support/test-service.js'
import { closeScenes, openScene, type Scene } from '../sync/sync-scene.js'

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

/** The alerts of a check, which `status` finds too. */
async function alertsOf(settings: Partial<WatchSettings> = {}): Promise<WebhookReport['alerts']> {
  const { alerts } = await check(settings)
  const stored = await scene.column`
    select alert from tracking_sync.webhooks where alert is not null order by webhook_id`
  expect(stored).toEqual(alerts.map(({ sentence }) => sentence))
  return alerts
}

describe('the watch of our webhook', { tags: ['W18'] }, () => {
  it('finds nothing where all is in order, and notes what it saw', async () => {
    const { id } = scene.simulator.webhooks.create(OURS)
    scene.simulator.webhooks.create({ ...OURS, url: 'https://else.example.com', active: false })
    expect(await check()).toMatchObject({ ownIds: [id], alerts: [], notes: [] })
    const rows = await scene.rows`
      select url, is_active, is_ours, events, alert from tracking_sync.webhooks
      where webhook_id = ${id}`
    const events = [...WEBHOOK_EVENT_NAMES]
    expect(rows).toEqual([{ url: OUR_URL, is_active: true, is_ours: true, events, alert: null }])
  })

  it('alerts when there never was one', async () => {
    for (let time = 1; time <= 2; time += 1) {
      expect(await alertsOf()).toMatchObject([{ webhookId: null, kind: 'missing' }])
    }
    expect(await alertsOf({ ids: ['hook-of-a-typo'] })).toMatchObject([
      { webhookId: 'hook-of-a-typo', kind: 'missing' },
    ])
  })

  const [some, rest] = [WEBHOOK_EVENT_NAMES.slice(0, 10), WEBHOOK_EVENT_NAMES.slice(10)]
  const lack = `does not subscribe to ${rest.length} of the ${WEBHOOK_EVENT_NAMES.length} events we need: ${rest[0]}, `

  it.each([
    ['by URL', false],
    ['by id', true],
  ])('alerts until it is mended, and goes on; known %s', async (_, isById) => {
    const { webhooks } = scene.simulator
    const { id } = webhooks.create(OURS)
    const settings = { ids: isById ? [id] : [] }
    for (const [change, kind, sentence] of [
      [{ active: false }, 'inactive', `run \`tracking-sync webhooks enable ${id}\``],
      [{ events: some }, 'events_missing', lack],
      [
        { url: 'https://else.example.com/hook' },
        'other_url',
        'to https://else.example.com/hook and',
      ],
      [undefined, 'missing', 'webhooks create'],
    ] as const) {
      webhooks.update(id, OURS)
      expect(await alertsOf(settings)).toEqual([])
      if (change === undefined) webhooks.remove(id)
      else webhooks.update(id, change)
      for (let time = 1; time <= 2; time += 1) {
        const [alert, ...others] = await alertsOf(settings)
        expect([alert, others]).toMatchObject([{ webhookId: id, kind }, []])
        expect(alert!.sentence).toContain(sentence)
        expect((await check(settings)).ownIds).toEqual([id])
      }
    }
    if (isById) return
    // Another one in its place settles it, or two that have all events together.
    webhooks.create({ ...OURS, events: some })
    expect(await alertsOf({ events: some })).toEqual([])
    expect(await alertsOf()).toMatchObject([{ kind: 'events_missing' }])
    webhooks.create({ ...OURS, events: rest })
    expect(await alertsOf()).toEqual([])
  })
})
