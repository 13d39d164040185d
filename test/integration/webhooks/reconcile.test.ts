import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { silentLogger } from '../../../src/base/logger.js'
import { WEBHOOK_EVENT_NAMES } from '../../../src/extensions/simulator/webhooks/webhook-catalog.js'
import { reconcile, type ReconcileReport } from '../../../src/webhooks/manage/reconcile.js'
import { withTestService } from '../../support/test-service.js'
import { openBench } from './process-scene.js'
import { closeScenes, openLoadedScene, type Scene } from '../sync/sync-scene.js'

const OUR_URL = 'http://127.0.0.1:1/webhooks'

let scene: Scene
let webhookId: string

function subscribe(url: string): string {
  const secret = 'a-secret-of-some-length'
  const webhook = { url, active: true, events: WEBHOOK_EVENT_NAMES, secret, headers: [] }
  return scene.simulator.webhooks.create(webhook).id
}

/** A warehouse that equals the service, and a webhook of ours whose deliveries reach nobody. */
beforeEach(async () => {
  const webhooks = { retryScale: 0, deactivateAfter: null }
  scene = await openLoadedScene({ shipments: 20, webhooks })
  webhookId = subscribe(OUR_URL)
})
afterEach(closeScenes)

const runReconcile = (pageSize = 100, mostPages?: number): Promise<ReconcileReport> =>
  withTestService(scene.simulator, (service) =>
    reconcile({
      service,
      warehouse: scene.warehouse,
      logger: silentLogger,
      signal: new AbortController().signal,
      settings: { url: OUR_URL, ids: [], events: ['all'], pageSize },
      ...(mostPages !== undefined && { mostPages }),
    }),
  )

const inbox = () =>
  scene.rows<{ id: string; state: string; error: string | null; body: unknown }>`
    select notification_id as id, state, error, body, event, webhook_id, reference_type
    from tracking_sync.webhook_notifications order by notification_id`

/** The work of `serve`'s processor and refetcher on recovered notifications. */
async function settle(): Promise<void> {
  const own = { url: OUR_URL, ids: [], secrets: ['a-secret-of-some-length'] }
  const bench = openBench(scene.warehouse, scene.simulator, { own })
  await bench.settle()
  await bench.close()
}

const containerIds = async (count: number): Promise<string[]> => {
  return scene.column`
    select container_id as id from tracking.containers order by container_id limit ${count}`
}

/** Every delivery of these fails for good. */
async function failAll(): Promise<void> {
  await scene.simulator.webhooks.deliverDue()
  await scene.simulator.webhooks.settle()
}

describe('notifications whose deliveries all failed', { tags: ['W17'] }, () => {
  it('are found, and their records are read again once', { tags: ['release'] }, async () => {
    const [first, second] = (await containerIds(2)) as [string, string]
    scene.simulator.edits.change('container', first, { weight_in_lbs: 12_345 })
    scene.simulator.edits.change('container', second, { weight_in_lbs: 54_321 })
    await failAll()
    const differences = await scene.differences()
    expect(differences).not.toEqual([])

    const report = await runReconcile()
    expect(report.webhook.alerts).toEqual([])
    expect(report).toMatchObject({ failed: 2, alreadyKnown: 0, foreign: 0, recovered: 2 })
    const recovered = { webhook_id: webhookId, reference_type: 'container_updated_event' }
    expect(await inbox()).toMatchObject(
      Array(2).fill({ state: 'received', event: 'container.updated', ...recovered }),
    )
    await settle()
    expect((await inbox()).map(({ state }) => state)).toEqual(['processed', 'processed'])
    expect(await scene.differences()).toEqual([])

    expect(await runReconcile()).toMatchObject({ failed: 2, alreadyKnown: 2, recovered: 0 })
  })

  it('of other webhooks are left alone, and what reached the inbox after all', async () => {
    const otherId = subscribe('http://127.0.0.1:1/of-somebody-else')
    const [id] = (await containerIds(2)).flatMap((containerId) =>
      scene.simulator.webhooks.emit('container.updated', { containerId }),
    )
    await failAll()
    await scene.run`
      insert into tracking_sync.webhook_notifications (notification_id, body) values (${id}, 'x')`
    const found = { failed: 4, alreadyKnown: 1, foreign: 2, recovered: 1 }
    expect(await runReconcile()).toMatchObject(found)
    expect(await inbox()).toContainEqual(
      expect.objectContaining({ id, state: 'received', error: null }),
    )
    expect(await inbox()).not.toContainEqual(expect.objectContaining({ webhook_id: otherId }))
  })

  it('are read newest first only as far as there is something new, within the bound', async () => {
    const boxes = await containerIds(6)
    for (const containerId of boxes) {
      scene.simulator.webhooks.emit('container.updated', { containerId })
      scene.simulator.clock.advance(60_000)
    }
    await failAll()
    const all = scene.simulator.webhooks.notifications.length
    const pages = Math.ceil(all / 2)
    expect(await runReconcile(2, 2)).toMatchObject({ failed: 4, pages: 2, isTruncated: true })
    await scene.run`truncate tracking_sync.webhook_notifications`
    expect(await runReconcile(2)).toMatchObject({ failed: all, pages, isTruncated: false })
    expect(await runReconcile(2)).toMatchObject({ failed: 2, pages: 1 })
    // In a list with the oldest first, new ones are at the end: none may be left out.
    scene.simulator.webhooks.emit('container.updated', { containerId: boxes[0]! })
    await failAll()
    scene.simulator.webhooks.notifications.reverse()
    expect(await runReconcile(2)).toMatchObject({ recovered: 1, isTruncated: false })
  })
})
