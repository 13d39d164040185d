import { sql } from 'kysely'
import { afterEach, describe, expect, it } from 'vitest'
import { LeaseHeldError } from '../../../src/base/errors.js'
import { silentLogger } from '../../../src/base/logger.js'
import { resources } from '../../../src/source/records/index.js'
import { runSync, type RunReport } from '../../../src/sync/run-sync.js'
import type { Warehouse } from '../../../src/warehouse/connection/warehouse.js'
import { waitUntil } from '../../support/run-cli.js'
import { TEST_SETTINGS } from '../../support/test-service.js'
import { closeScenes, HOUR, openScene, type Scene } from '../sync/sync-scene.js'
import { closeHosts, countWaiting, openClient, startHost, subscribe } from './serve-bench.js'
import { presetFile } from '../../support/preset-file.js'
import { rawStatement } from '../../../src/warehouse/connection/typed-database.js'
import { atScale } from '../../support/test-scale.js'

afterEach(async () => {
  await closeHosts()
  await closeScenes()
})

/** Hours of the service's time; more are more days. */
const HOURS = atScale(2, 240)
/** The minute of the service and of the budget takes this long, so that several pass. */
const MINUTE_MS = 15_000
/** The service is strict about it, in real time: one request too many is a 429. */
const REQUESTS_PER_MINUTE = 160
/**
 * The service counts when a request arrives, the budget when it is granted: a busy machine may have
 * seconds between the two.
 */
const BUDGET_PER_MINUTE = 120
const STEP_MS = 1_000

/** When each row was observed, by its key. */
type Stamps = ReadonlyMap<string, string>

async function readStamps(warehouse: Warehouse): Promise<Stamps> {
  const selects = resources.map(({ stream, keyColumns }) => {
    const key = [`'${stream}'`, ...keyColumns].join(`, ' ', `)
    return `select concat(${key}) as key, to_char(_observed_at, 'YYYY-MM-DD HH24:MI:SS.US') as stamp from tracking.${stream}`
  })
  const rows = await warehouse.query(
    'read the stamps',
    rawStatement<{ key: string; stamp: string }>(selects.join('\nunion all\n')),
  )
  return new Map(rows.map(({ key, stamp }) => [key, stamp]))
}

function wentBack(before: Stamps, after: Stamps): string[] {
  return [...before].flatMap(([key, stamp]) => {
    const now = after.get(key)
    return now !== undefined && now >= stamp ? [] : [`${key}: ${stamp} became ${now ?? 'no row'}`]
  })
}

/** A backfill of a person's, from a process of its own; waits for its turn. */
async function backfill({ simulator, url }: Scene): Promise<RunReport> {
  const { warehouse, service } = openClient(simulator, url, BUDGET_PER_MINUTE, MINUTE_MS)
  for (;;) {
    try {
      return await runSync('backfill', {
        service,
        warehouse,
        logger: silentLogger,
        settings: TEST_SETTINGS,
        programVersion: 'test',
        signal: new AbortController().signal,
      })
    } catch (thrown) {
      if (!(thrown instanceof LeaseHeldError)) throw thrown
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
  }
}

async function completeSyncs(warehouse: Warehouse): Promise<number> {
  const rows = await warehouse.query(
    'count the complete syncs',
    sql`select from tracking_sync.sync_runs where command = 'sync' and outcome = 'complete'`,
  )
  return rows.length
}

describe('two serves and a backfill side by side', () => {
  it(
    `for ${HOURS} simulated hours never ask too much, never take a row back, and end equal to the source`,
    { tags: ['I1', 'I4', 'I12', 'I13', 'R6'] },
    async () => {
      const scene = await openScene({
        shipments: 25,
        startAt: new Date(Date.now() - (HOURS + 24) * HOUR),
        rateLimitPerMinute: REQUESTS_PER_MINUTE,
        rateLimitWindowMs: MINUTE_MS,
        acceptedIncludes: { shipment: ['containers'] },
        webhooks: { retryScale: 0.01, deactivateAfter: null },
      })
      const { simulator, warehouse, url } = scene
      const { clock, edits, webhooks } = simulator
      const hostOptions = {
        simulator,
        url,
        perMinute: BUDGET_PER_MINUTE,
        windowMs: MINUTE_MS,
        pace: { reconcileCron: '*/20 * * * * *' },
        settings: {
          SYNC_CRON: '*/5 * * * * *',
          TRACKING_SERVICE: presetFile({ pageSize: 10 }),
        },
      }
      const filling = backfill(scene)
      const hosts = [await startHost(hostOptions), await startHost(hostOptions)] as const
      // Each notification comes to both, as it does behind a balancer that sends again.
      for (const host of hosts) subscribe(simulator, host)
      webhooks.script.add({ disturbance: { kind: 'duplicate', copies: 2 }, share: 0.2 })
      webhooks.script.add({ disturbance: { kind: 'thin' }, share: 0.1 })
      webhooks.script.add({ disturbance: { kind: 'reorder', window: 5 } })
      webhooks.script.add({ disturbance: { kind: 'drop', as: 'lost' }, share: 0.1 })
      const containerIds = [...simulator.world.records('container', clock.now())].map(
        ({ id }) => id,
      )
      let stamps = await readStamps(warehouse)
      let limited = 0
      let requests = 0
      const backwards: string[] = []
      for (let hour = 0; hour < HOURS; hour += 1) {
        const began = performance.now()
        clock.advance(HOUR)
        const id = containerIds[hour % containerIds.length]!
        edits.change('container', id, { weight_in_lbs: 30_000 + hour })
        await webhooks.deliverDue()
        await new Promise((resolve) =>
          setTimeout(resolve, Math.max(0, STEP_MS - (performance.now() - began))),
        )
        const now = await readStamps(warehouse)
        backwards.push(...wentBack(stamps, now))
        stamps = now
        limited += simulator.requests.recent.filter(({ status }) => status === 429).length
        requests += simulator.requests.total
        simulator.requests.reset()
      }
      expect(await filling).toMatchObject({ command: 'backfill', outcome: 'complete' })
      webhooks.script.clear()
      clock.advance(60_000)
      await webhooks.deliverDue()
      await webhooks.settle()
      const before = await completeSyncs(warehouse)
      // The one that is under way now began before the end.
      await waitUntil(
        'two more complete syncs, and nothing waits',
        async () =>
          (await completeSyncs(warehouse)) >= before + 2 && (await countWaiting(warehouse)) === 0,
        150_000,
      )
      for (const { serving } of hosts) await serving.stop()
      backwards.push(...wentBack(stamps, await readStamps(warehouse)))
      limited += simulator.requests.recent.filter(({ status }) => status === 429).length
      requests += simulator.requests.total
      expect({ limited, backwards }).toEqual({ limited: 0, backwards: [] })
      // All three of them had enough to ask for.
      expect(requests).toBeGreaterThan(REQUESTS_PER_MINUTE)
      expect(await scene.differences()).toEqual([])
      const applied = await warehouse.query(
        'look at the inbox',
        sql`select from tracking_sync.webhook_notifications where state = 'processed'`,
      )
      expect(applied.length).toBeGreaterThan(0)
    },
  )
})
