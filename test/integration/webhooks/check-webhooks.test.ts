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

/** Ids with their alerts, as `status` finds them. */
const storedAlerts = () =>
  scene.rows`
    select webhook_id as id, is_active, alert from tracking_sync.webhooks order by webhook_id`

const kinds = ({ alerts }: WebhookReport) => alerts.map(({ kind }) => kind)

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
  ])('alerts, and goes on, when its URL is another or it is gone; known %s', async (_, isById) => {
    const { id } = scene.simulator.webhooks.create(OURS)
    const settings = { ids: isById ? [id] : [] }
    expect(kinds(await check(settings))).toEqual([])
    const expectAlert = async (kind: string, is_active: boolean, sentence: RegExp) => {
      for (const { alerts, ownIds } of [await check(settings), await check(settings)]) {
        expect(alerts).toMatchObject([{ webhookId: id, kind }])
        expect(alerts[0]!.sentence).toMatch(sentence)
        expect(ownIds).toEqual([id])
        expect(await storedAlerts()).toEqual([{ id, is_active, alert: alerts[0]!.sentence }])
      }
    }
    scene.simulator.webhooks.update(id, { url: 'https://elsewhere.example.com/hook' })
    await expectAlert('other_url', true, /sends to https:\/\/elsewhere.example.com\/hook and/)
    scene.simulator.webhooks.remove(id)
    await expectAlert('missing', false, /webhooks create/)
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
})
