import { afterEach, describe, expect, it } from 'vitest'
import { silentLogger } from '../../../src/base/logger.js'
import { readStatus } from '../../../src/status/read-status.js'
import { reconcile } from '../../../src/webhooks/manage/reconcile.js'
import { waitUntil } from '../../support/run-cli.js'
import { closeScenes, HOUR, openScene } from '../sync/sync-scene.js'
import { closeHosts, countWaiting, startHost, subscribe } from './serve-bench.js'

afterEach(async () => {
  await closeHosts()
  await closeScenes()
})

const STEPS = 10
const DAY = 24 * HOUR

describe('when the service loses deliveries', { tags: ['I1', 'W17', 'W18', 'release'] }, () => {
  it('30 % of them, and switches our webhook off half-way: equal to the world after one reconcile and one sync, and status said what happened', async () => {
    const scene = await openScene({
      shipments: 16,
      startAt: new Date(Date.now() - 14 * DAY),
      webhooks: { retryScale: 0 },
    })
    const { simulator, warehouse, url } = scene
    const { clock, edits, webhooks } = simulator
    await scene.sync({ command: 'backfill' })
    const host = await startHost({ simulator, url, parts: { isScheduling: false } })
    const webhookId = subscribe(simulator, host)
    const lost = [
      webhooks.script.add({ disturbance: { kind: 'drop', as: 'failed' }, share: 0.15 }),
      webhooks.script.add({ disturbance: { kind: 'drop', as: 'lost' }, share: 0.15 }),
    ]
    const containerIds = [...simulator.world.records('container', clock.now())].map(({ id }) => id)
    let sent = 0
    for (let step = 0; step < STEPS; step += 1) {
      clock.advance(24 * HOUR)
      edits.change('container', containerIds[step]!, { weight_in_lbs: 40_000 + step })
      sent += await webhooks.deliverDue()
      await webhooks.settle()
      if (step === STEPS / 2) webhooks.update(webhookId, { active: false })
    }
    const dropped = lost.reduce((sum, { played }) => sum + played, 0)
    expect(sent).toBeGreaterThan(25)
    expect(dropped / (sent + dropped)).toBeGreaterThan(0.15)
    await waitUntil('all that came is applied', async () => (await countWaiting(warehouse)) === 0)
    expect(await scene.differences()).not.toEqual([])

    const report = await reconcile({
      service: host.service,
      warehouse,
      logger: silentLogger,
      signal: new AbortController().signal,
      settings: {
        url: `${host.serving.url}/webhooks`,
        ids: [],
        events: ['all'],
        pageSize: 100,
      },
    })
    expect(report.recovered).toBeGreaterThan(0)
    const told = await readStatus(warehouse)
    expect(told.webhooks).toMatchObject([
      { webhookId, isActive: false, alert: expect.stringContaining('is not active') as unknown },
    ])
    const page = await (await fetch(host.serving.pagesUrl)).text()
    expect(page).toContain(`webhook ${webhookId} is not active`)

    clock.advance(1_000)
    const { outcome } = await scene.sync({ command: 'sync', areChecksDue: true })
    expect(outcome).toBe('complete')
    await waitUntil('what was to be refetched is', async () => {
      return (await countWaiting(warehouse)) === 0
    })
    expect(await scene.differences()).toEqual([])
  })
})
