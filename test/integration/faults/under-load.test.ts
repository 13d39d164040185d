import { randomUUID } from 'node:crypto'
import { afterEach, expect, it } from 'vitest'
import {
  closeServeScenes,
  openServeScene,
  untilSynced,
  type ServeScene,
} from '../../e2e/serve-scene.js'
import { atScale } from '../../support/test-scale.js'
import { waitUntil } from '../../support/run-cli.js'
import { notification } from '../webhooks/process-scene.js'
import { readPeakMiB } from './cli-peak.js'

afterEach(closeServeScenes)

interface Sent {
  readonly id: string
  readonly status: number
}

/** Sends bodies at a steady pace, without waiting for answers. */
async function sendAtPace(
  scene: ServeScene,
  bodies: readonly { readonly id: string; readonly text: string }[],
  perSecond: number,
): Promise<Sent[]> {
  const startedAt = performance.now()
  const underWay: Promise<Sent>[] = []
  for (const [at, { id, text }] of bodies.entries()) {
    const waitMs = startedAt + (at * 1000) / perSecond - performance.now()
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs))
    underWay.push(
      scene.post(text).then(async (response) => {
        await response.arrayBuffer()
        return { id, status: response.status }
      }),
    )
  }
  return Promise.all(underWay)
}

/** Each tells of a change of one of the containers, which are as they were. */
function deliveries(
  { simulator: { world, clock }, webhookId }: ServeScene,
  count: number,
): { readonly id: string; readonly text: string }[] {
  const containers = [...world.records('container', clock.now())]
  return Array.from({ length: count }, (_, at) => {
    const container = containers[at % containers.length]!
    const id = randomUUID()
    const about = { type: 'container', id: container.id }
    const told = { id, webhookId, createdAt: clock.now(), about, included: [container] }
    return { id, text: JSON.stringify(notification(told)) }
  })
}

async function expectStored(scene: ServeScene, sent: readonly Sent[]): Promise<void> {
  const rows = await scene.select<{ id: string }>(
    'select notification_id as id from tracking_sync.webhook_notifications',
  )
  const stored = new Set(rows.map(({ id }) => id))
  expect(sent.filter(({ id, status }) => status === 202 && !stored.has(id))).toEqual([])
}

async function untilDrained(scene: ServeScene): Promise<number> {
  const startedAt = performance.now()
  await waitUntil(
    'everything is applied',
    async () =>
      (
        await scene.select(
          `select from tracking_sync.webhook_notifications where state = 'received' limit 1`,
        )
      ).length === 0,
    120_000,
  )
  return (performance.now() - startedAt) / 1000
}

const DELIVERIES = atScale(200, 2_000)

/** As after an outage of ours, at 200 a second. */
it(
  `of ${DELIVERIES} deliveries none is lost, and all is worked off`,
  { tags: ['W21'] },
  async () => {
    const scene = await openServeScene()
    const program = await scene.serve()
    await untilSynced(scene)
    const bodies = deliveries(scene, DELIVERIES)
    const sent = await sendAtPace(scene, bodies, 200)
    const statuses = new Set(sent.map(({ status }) => status))
    expect([...statuses].filter((status) => ![202, 429, 503].includes(status))).toEqual([])
    await expectStored(scene, sent)
    // As the service does with refused deliveries.
    const refused = new Set(sent.flatMap(({ id, status }) => (status === 202 ? [] : [id])))
    const again = bodies.filter(({ id }) => refused.has(id))
    const later = await sendAtPace(scene, again, 50)
    expect(later.filter(({ status }) => status !== 202)).toEqual([])
    expect(await untilDrained(scene)).toBeLessThan(60)
    expect((await readPeakMiB(program.pid)) ?? 0).toBeLessThan(300)
    const [row] = await scene.select<{ rows: number; processed: number }>(
      `select count(*)::int as rows, count(processed_at)::int as processed
      from tracking_sync.webhook_notifications`,
    )
    expect(row!.rows).toBeGreaterThanOrEqual(DELIVERIES)
    program.kill('SIGTERM')
    expect((await program.ended).exitCode).toBe(0)
  },
)
