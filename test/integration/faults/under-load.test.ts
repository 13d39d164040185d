import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import {
  closeServeScenes,
  openServeScene,
  untilSynced,
  type ServeScene,
} from '../../e2e/serve-scene.js'
import { atScale, isFullScale } from '../../support/test-scale.js'
import { differencesFrom } from '../../support/look-at-cli-rows.js'
import { runCli, startCli, waitUntil } from '../../support/run-cli.js'
import { notification } from '../webhooks/process-scene.js'
import { readPeakMiB } from './cli-peak.js'
import { presetFile } from '../../support/preset-file.js'

afterEach(closeServeScenes)

interface Sent {
  readonly id: string
  readonly status: number
  readonly ms: number
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
    const sentAt = performance.now()
    underWay.push(
      scene.post(text).then(async (response) => {
        await response.arrayBuffer()
        return { id, status: response.status, ms: performance.now() - sentAt }
      }),
    )
  }
  return Promise.all(underWay)
}

/**
 * Each tells of another change of a container, a second after the one before, as it is at the
 * service then; the last is of now.
 */
function liveDeliveries(
  { simulator: { world, clock, edits }, webhookId }: ServeScene,
  count: number,
): { readonly id: string; readonly text: string }[] {
  // Events are later than a page that was requested before them, and not later than our clock.
  clock.advance(Date.now() - count * 1000 - clock.now().getTime())
  const containers = [...world.records('container', clock.now())].map(({ id }) => id)
  return Array.from({ length: count }, (_, at) => {
    const containerId = containers[at % containers.length]!
    clock.advance(1_000)
    edits.change('container', containerId, { seal_number: `LIVE-${at}` })
    const id = randomUUID()
    const body = notification({
      id,
      webhookId,
      createdAt: clock.now(),
      about: { type: 'container', id: containerId },
      included: [world.record('container', containerId, clock.now())],
    })
    return { id, text: JSON.stringify(body) }
  })
}

function p99(sent: readonly Sent[]): number {
  const sorted = sent.map(({ ms }) => ms).sort((one, two) => one - two)
  return sorted[Math.ceil(sorted.length * 0.99) - 1] ?? NaN
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

/**
 * 500 ms at full scale, on a machine that does nothing else; a few deliveries on a busy one only
 * show that nothing waits for the backfill.
 */
const P99_MS = isFullScale ? 500 : 3_000

/** Terminals and lines are asked again at any time, and the service tells nobody of that alone. */
const RENEWED = /: \w+(_checked|_tracking_request)_at is /

describe('a backfill beside everything else', { tags: ['D10'] }, () => {
  it('is refused a second time, does not set live rows back, and lets deliveries be answered in time', async () => {
    const scene = await openServeScene({
      settings: { TRACKING_SERVICE: presetFile({ pageSize: 2 }) },
    })
    const { simulator, database, options } = scene
    await scene.serve(['--no-scheduler'])
    const { world, clock, faults } = simulator
    // Holds the backfill between having read old pages and writing them.
    faults.add({
      fault: { kind: 'slow', bytesPerSecond: 60_000 },
      match: { path: '/shipments' },
      times: Infinity,
    })
    const backfill = await startCli(['backfill', '--json'], { ...options, deadlineMs: 240_000 })
    await waitUntil('the backfill has begun', async () => {
      const rows = await scene.select(`select from tracking_sync.lease where holder is not null`)
      return rows.length > 0
    })
    for (const command of ['backfill', 'sync']) {
      const second = await runCli([command], options)
      expect({ command, exitCode: second.exitCode }).toEqual({ command, exitCode: 7 })
    }
    const bodies = liveDeliveries(scene, atScale(60, 3_000))
    const sent = await sendAtPace(scene, bodies, 50)
    expect(new Set(sent.map(({ status }) => status))).toEqual(new Set([202]))
    expect(p99(sent)).toBeLessThan(P99_MS)
    // Records in doubt are read again seconds later; with a stopped clock that read would be as
    // old as the deliveries.
    clock.advance(10_000)
    faults.clear()
    expect((await backfill.ended).exitCode).toBe(0)
    await expectStored(scene, sent)
    await untilDrained(scene)
    // A record that was read again before the clock moved on waits for its next turn.
    const isSettled = async (): Promise<boolean> =>
      (await scene.select('select from tracking_sync.refetch_queue limit 1')).length === 0
    await waitUntil('what was in doubt is read again', isSettled, 120_000)
    const differences = await differencesFrom(world, clock.now(), database.url)
    expect(differences.filter((line) => !RENEWED.test(line))).toEqual([])
  })
})

describe('a burst, as after an outage of ours', { tags: ['W21'] }, () => {
  const DELIVERIES = atScale(200, 2_000)

  it(`of ${DELIVERIES} deliveries at 200 a second is taken or refused, never lost, and worked off`, async () => {
    const scene = await openServeScene()
    const program = await scene.serve()
    await untilSynced(scene)
    const bodies = liveDeliveries(scene, DELIVERIES)
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
  })
})
