import { afterEach, describe, expect, it } from 'vitest'
import { noFailpoints } from '../../../src/base/failpoint.js'
import { silentLogger } from '../../../src/base/logger.js'
import { readRecords } from '../../../src/ingest/intake.js'
import { openNotes } from '../../../src/ingest/run.js'
import { Sink } from '../../../src/ingest/sink.js'
import { ingestAnswer } from '../../../src/ingest/ingest-pages.js'
import type { Warehouse } from '../../../src/warehouse/connection/warehouse.js'
import { TEST_SETTINGS } from '../../support/test-service.js'
import { queued } from './process-scene.js'
import { closeWebhookScenes, openWebhookScene, type WebhookScene } from './webhook-scene.js'
import { atScale } from '../../support/test-scale.js'

afterEach(closeWebhookScenes)

function permutations<Item>(items: readonly Item[]): Item[][] {
  if (items.length < 2) return [[...items]]
  return items.flatMap((item, at) =>
    permutations(items.toSpliced(at, 1)).map((rest) => [item, ...rest]),
  )
}

/** Every fifth order begins and ends with each of the five; `npm run test:long -- orders`: all. */
const ORDERS = Array.from({ length: 120 }, (_, at) => at).filter((at) => at % atScale(5, 1) === 0)

/**
 * Five changes of one container, ten seconds apart, each with the delivery that tells of it; what
 * was is again in the end.
 */
function fiveDeliveries(scene: WebhookScene): Record<string, unknown>[] {
  const { containerId: id, simulator } = scene
  const { edits } = simulator
  const [event] = scene.eventsNow(id)
  const deliveries: Record<string, unknown>[] = []
  const tell = (): void => {
    deliveries.push(scene.tell(id, { included: [scene.containerNow(id), ...scene.eventsNow(id)] }))
    scene.advance(10)
  }
  scene.advance(10)
  edits.change('container', id, { seal_number: 'one', weight_in_lbs: 1 })
  tell()
  edits.change('container', id, { seal_number: null })
  tell()
  edits.withdrawEvent(id, event?.id ?? '')
  tell()
  edits.addHold(id, { name: 'customs', status: 'hold', description: 'five' })
  tell()
  edits.change('container', id, { seal_number: 'one', weight_in_lbs: 5 })
  tell()
  return deliveries
}

describe('deliveries in any order', () => {
  it(`${ORDERS.length} of 120 orders end alike`, { tags: ['D2', 'I3', 'release'] }, async () => {
    const problems: unknown[] = []
    for (const at of ORDERS) {
      const scene = await openWebhookScene({ shipments: 1 })
      let stamp = ''
      for (const delivery of permutations(fiveDeliveries(scene))[at] ?? []) {
        await scene.receive(delivery)
        const observed = String((await scene.row())?._observed_at)
        if (observed < stamp) problems.push({ at, observed, stamp })
        stamp = observed
      }
      await scene.bench.settle()
      problems.push(...(await scene.differences()))
      await closeWebhookScenes()
    }
    expect(problems).toEqual([])
  })

  it('five deliveries in one batch leave every version', { tags: ['D2', 'I3'] }, async () => {
    for (const isReversed of [false, true]) {
      const scene = await openWebhookScene({ shipments: 1 })
      const deliveries = fiveDeliveries(scene)
      await scene.receive(...(isReversed ? deliveries.toReversed() : deliveries))
      const versions = await scene.rows<{ seal: string | null; weight: string }>`
        select seal_number as seal, weight_in_lbs as weight, valid_from, valid_to
        from tracking.container_history
        where container_id = ${scene.containerId} order by valid_from offset 1`
      expect(versions.map(({ seal, weight }) => [seal, Number(weight)])).toEqual([
        ['one', 1],
        [null, 1],
        [null, 1],
        ['one', 5],
      ])
      const holds = await scene.rows`
        select valid_from from tracking.container_hold_history
        where container_id = ${scene.containerId} and description = 'five'`
      expect(holds).toEqual([{ valid_from: '2026-03-02 08:00:40+00' }])
      expect(await scene.differences()).toEqual([])
      // A usual delivery costs no request, also where an event was withdrawn.
      expect(scene.simulator.requests.total).toBe(0)
      expect(await queued(scene.warehouse)).toEqual([])
    }
  })

  it('older than the last complete pass changes nothing', { tags: ['D3'] }, async () => {
    const scene = await openWebhookScene()
    const { containerId: id, simulator } = scene
    scene.advance(10)
    const { seal_number: before } = scene.containerNow(id).attributes ?? {}
    simulator.edits.change('container', id, { seal_number: 'for a moment' })
    const older = scene.tell(id)
    simulator.edits.change('container', id, { seal_number: before })
    scene.advance(10)
    await scene.sync({ command: 'sync' })
    expect(await scene.row()).toMatchObject({ _observed_at: '2026-03-02 08:00:00+00' })
    simulator.requests.reset()
    await scene.receive(older)
    expect(await scene.row()).toMatchObject({ seal_number: before })
    expect(await queued(scene.warehouse)).toEqual([`container ${id}`])
    await scene.bench.settle()
    expect(simulator.requests.total).toBe(1)
    expect(await scene.differences()).toEqual([])
  })

  it('the transport event of an older delivery still gets its row', { tags: ['D3'] }, async () => {
    const scene = await openWebhookScene()
    const { containerId: id } = scene
    const [event, ...others] = scene.eventsNow(id)
    await scene.run`delete from tracking.transport_events where transport_event_id = ${event?.id}`
    await scene.run`
      update tracking.containers set transport_event_ids = ${others.map((other) => other.id)}
      where container_id = ${id}`
    scene.advance(10)
    const older = scene.tell(id, { included: [event] })
    scene.advance(10)
    scene.simulator.edits.change('container', id, { seal_number: 'new' })
    await scene.receive(scene.tell(id, { included: [scene.containerNow(id)] }))
    await scene.receive(older)
    await scene.bench.settle()
    expect(await scene.differences()).toEqual([])
  })

  // By nobody's clock can that be told when the page is compared: only the write itself can.
  it('a page from before a delivery yields, compared before it', { tags: ['D4'] }, async () => {
    const scene = await openWebhookScene()
    const { containerId: id, simulator, bench, warehouse } = scene
    simulator.edits.change('container', id, { seal_number: 'of the page' })
    const asked = scene.advance(10)
    const page = readRecords(
      { data: [scene.containerNow(id)], included: [] },
      { stream: 'containers', source: '/containers', observedAt: asked },
    )
    scene.advance(1)
    simulator.edits.change('container', id, { seal_number: 'of the delivery' })
    let writes = 0
    const overtaken: Warehouse = {
      ...warehouse,
      transaction: async (action, work) => {
        if (action === 'write a batch' && ++writes === 1) await scene.receive(scene.tell(id))
        return warehouse.transaction(action, work)
      },
    }
    const { signal } = new AbortController()
    const parts = { reachFailpoint: noFailpoints, signal, logger: silentLogger }
    const sleep = () => Promise.resolve()
    await ingestAnswer(
      {
        source: { service: bench.service, settings: TEST_SETTINGS, signal },
        sink: new Sink({ ...parts, warehouse: overtaken, syncRunId: null, mode: 'sync', sleep }),
        notes: openNotes(silentLogger),
      },
      page,
    )
    expect(writes).toBe(1)
    expect(await scene.row()).toMatchObject({
      seal_number: 'of the delivery',
      _observed_at: '2026-03-02 08:00:11+00',
    })
    expect(await queued(warehouse)).toEqual([])
    expect(await scene.differences()).toEqual([])
  })

  it('with a clock two hours ahead both are read', { tags: ['FA2', 'FG7', 'H15'] }, async () => {
    const scene = await openWebhookScene({ startAt: new Date(Date.now() + 7_200_000) })
    const { containerId: id, simulator } = scene
    const tellOf = (value: string): Record<string, unknown> => {
      scene.advance(1)
      simulator.edits.change('container', id, { seal_number: value })
      return scene.tell(id)
    }
    const [older, newer] = [tellOf('older'), tellOf('newer')]
    simulator.requests.reset()
    await scene.receive(newer)
    await scene.receive(older)
    await scene.bench.settle()
    expect(simulator.requests.total).toBeGreaterThan(0)
    expect(await scene.row()).toMatchObject({ seal_number: 'newer' })
    expect(await scene.differences()).toEqual([])
    const stamps = await scene.rows`
      select 1 from tracking.containers where _observed_at > now() + interval '10 seconds'
      union all select 1 from tracking_sync.webhook_notifications
      where observed_at > now() + interval '10 seconds'`
    expect(stamps).toEqual([])
  })
})
