import { tmpdir } from 'node:os'
import { describe, expect, it } from 'vitest'
import { runCli } from '../../support/run-cli.js'
import { notificationBody, startTestReceiver } from '../../support/test-receiver.js'
import { openBench, statesOf } from '../webhooks/process-scene.js'
import { doubledRows, useFaultScenes } from './fault-scene.js'
import { notifyOfAll } from './notify-of-all.js'
import { injectSqlFault } from './sql-faults.js'
import { presetFile } from '../../support/preset-file.js'

const scenes = useFaultScenes()

const DATA_TABLES = ['tracking.shipments', 'tracking.containers', 'tracking.transport_events']

/** Pauses between tries on the database become a twentieth. */
const HASTE = `const wait = setTimeout
globalThis.setTimeout = (work, ms, ...rest) => wait(work, ms < 5000 ? ms / 20 : ms, ...rest)`

describe('a disk that is full', { tags: ['C13'] }, () => {
  it('ends a run with 5 and a whole page or nothing; with space again the next run needs no help', async () => {
    const scene = await scenes.open()
    const tables = [...DATA_TABLES, 'tracking_sync.sync_runs', 'tracking_sync.checkpoints']
    // The first pages still find room: a page writes each of the data tables and the checkpoint,
    // and a run its row.
    const fault = await injectSqlFault(scene.warehouse, { state: '53100', tables, pass: 14 })
    scenes.atEnd(() => fault.remove())
    const env = {
      TRACKING_API_URL: scene.simulator.url,
      TRACKING_API_KEY: scene.simulator.apiKey,
      DATABASE_URL: scene.url,
      TRACKING_SERVICE: presetFile({ pageSize: 2 }),
      TRACKING_LOG_LEVEL: 'error',
      TRACKING_LOG_FORMAT: 'text',
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(HASTE)}`,
    }
    const full = await runCli(['backfill'], { directory: tmpdir(), env })
    expect(full.exitCode).toBe(5)
    expect(full.stderr).toMatch(
      /^error: .*No space left on device" \(53100\); give the server disk/m,
    )
    const stored = await scene.query<{ shipments: number; orphans: number; pages: number }>(
      `select count(*)::int as shipments,
        (select count(*)::int from tracking.containers
        where shipment_id not in (select shipment_id from tracking.shipments)) as orphans,
        (select (position ->> 'page')::int from tracking_sync.checkpoints where stream = 'shipments') as pages
      from tracking.shipments`,
    )
    const { shipments, pages } = stored[0]!
    expect(stored).toEqual([{ shipments: 2 * pages, orphans: 0, pages }])
    expect(shipments).toBeGreaterThan(0)
    expect(shipments).toBeLessThan(6)
    await fault.end()
    const again = await runCli(['backfill', '--json'], { directory: tmpdir(), env })
    expect(again.exitCode).toBe(0)
    expect(JSON.parse(again.stdout)).toMatchObject({ outcome: 'complete' })
    expect(await scene.differences()).toEqual([])
    expect(await doubledRows(scene)).toEqual([])
  })

  it('answers deliveries 503 and keeps none of them; with space again they are taken', async () => {
    const scene = await scenes.open()
    const fault = await injectSqlFault(scene.warehouse, {
      state: '53100',
      tables: ['tracking_sync.webhook_notifications'],
      pass: 1,
    })
    scenes.atEnd(() => fault.remove())
    const { post, stop } = await startTestReceiver({ warehouse: scenes.warehouse() })
    scenes.atEnd(stop)
    expect((await post(notificationBody('before'))).status).toBe(202)
    const bodies = Array.from({ length: 10 }, (_, at) => notificationBody(`later-${at}`))
    const startedAt = performance.now()
    const refused = await Promise.all(bodies.map((body) => post(body)))
    expect(refused.map(({ status }) => status)).toEqual(bodies.map(() => 503))
    expect(performance.now() - startedAt).toBeLessThan(5_000)
    expect(Object.keys(await statesOf(scene.warehouse))).toEqual(['before'])
    await fault.end()
    const taken = await Promise.all(bodies.map((body) => post(body)))
    expect(taken.map(({ status }) => status)).toEqual(bodies.map(() => 202))
    expect(Object.keys(await statesOf(scene.warehouse))).toHaveLength(11)
  })

  it('stops the processor and counts as no attempt of any notification', async () => {
    const scene = await scenes.open()
    await scene.sync()
    await notifyOfAll(scene)
    const options = { state: '53100', tables: ['tracking.containers'] } as const
    const fault = await injectSqlFault(scene.warehouse, options)
    scenes.atEnd(() => fault.remove())
    const bench = openBench(scene.warehouse, scene.simulator)
    scenes.atEnd(() => bench.close())
    await expect(bench.processor.processAll()).rejects.toMatchObject({
      code: 'warehouse_unavailable',
    })
    const waiting = `select distinct state, attempts from tracking_sync.webhook_notifications`
    expect(await scene.query(waiting)).toEqual([{ state: 'received', attempts: 0 }])
    await fault.end()
    await bench.settle()
    expect(await scene.query(waiting)).toEqual([{ state: 'processed', attempts: 0 }])
    expect(await scene.differences()).toEqual([])
  })
})
