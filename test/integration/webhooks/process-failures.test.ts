import { afterEach, describe, expect, it } from 'vitest'
import { createSleep } from '../../../src/base/retry.js'
import { silentLogger } from '../../../src/base/logger.js'
import { replayNotifications } from '../../../src/webhooks/process/replay-notifications.js'
import { readVitals } from '../../../src/status/read-vitals.js'
import {
  startProcessor,
  type RunningProcessor,
} from '../../../src/webhooks/process/run-processor.js'
import { isOnCitus } from '../../support/distributed-database.js'
import { TEST_SETTINGS } from '../../support/test-service.js'
import { notification, OWN_WEBHOOK, queued, statesOf } from './process-scene.js'
import { closeWebhookScenes, openWebhookScene, type WebhookScene } from './webhook-scene.js'

const running: RunningProcessor[] = []

afterEach(async () => {
  for (const processor of running.splice(0)) await processor.stop()
  await closeWebhookScenes()
})

/** Waits of failed notifications are over. */
async function letTimePass(scene: WebhookScene): Promise<void> {
  await scene.run`
    update tracking_sync.webhook_notifications set next_attempt_at = now()
    where next_attempt_at is not null`
}

async function inbox(scene: WebhookScene, id: string): Promise<Record<string, unknown>> {
  const [row] = await scene.rows`
    select state, attempts, error, extract(epoch from next_attempt_at - now())::int as wait
    from tracking_sync.webhook_notifications where notification_id = ${id}`
  return row ?? {}
}

describe('a poisonous notification', { tags: ['FB1', 'W15'] }, () => {
  it('costs only itself: it is tried ten times, then it is dead with its error, and lives again after a replay', async () => {
    const scene = await openWebhookScene()
    const { containerId: id, simulator, warehouse } = scene
    await scene.run`
      alter table tracking.containers add constraint poison check (seal_number is distinct
      from 'poison')`
    scene.advance(10)
    const record = scene.containerNow(id)
    const poisoned = { ...record, attributes: { ...record.attributes, seal_number: 'poison' } }
    const others = scene.records('shipment').slice(0, 3)
    for (const { id: shipmentId } of others) {
      simulator.edits.change('shipment', shipmentId, { customer_name: 'told' })
    }
    const healthy = others.map(({ id: shipmentId }, at) => {
      const now = simulator.world.record('shipment', shipmentId, scene.now())
      return scene.tell('', { id: `healthy-${at}`, about: now ?? null, included: [now] })
    })
    await scene.receive(scene.tell(id, { id: 'bad', included: [poisoned] }), ...healthy)
    expect(await statesOf(warehouse)).toEqual({
      bad: 'received',
      'healthy-0': 'processed',
      'healthy-1': 'processed',
      'healthy-2': 'processed',
    })
    expect(
      await scene.column`
        select count(*)::int as told from tracking.shipments where customer_name = 'told'`,
    ).toEqual([3])
    const first = await inbox(scene, 'bad')
    expect(first).toMatchObject({ state: 'received', attempts: 1 })
    expect(first.wait).toBeGreaterThan(20)
    expect(first.wait).toBeLessThanOrEqual(30)
    // It waits its turn.
    expect((await scene.bench.processor.processAll()).taken).toBe(0)
    for (let attempt = 2; attempt <= 10; attempt += 1) {
      await letTimePass(scene)
      await scene.bench.processor.processAll()
      expect(await inbox(scene, 'bad')).toMatchObject({ attempts: attempt })
    }
    const dead = await inbox(scene, 'bad')
    expect(dead).toMatchObject({ state: 'dead', wait: null })
    expect(dead.error).toMatch(/violates check constraint "poison[\s\S]*\n {4}at /)
    expect(String(dead.error).length).toBeLessThanOrEqual(4_000)
    await letTimePass(scene)
    expect((await scene.bench.processor.processAll()).taken).toBe(0)
    await scene.run`alter table tracking.containers drop constraint poison`
    await replayNotifications(warehouse, { states: ['dead'] })
    await scene.bench.processor.processAll()
    expect(await statesOf(warehouse)).toMatchObject({ bad: 'processed' })
    expect(await scene.row()).toMatchObject({ seal_number: 'poison' })
  })

  it('that is not a document fails without delaying its batch', async () => {
    const scene = await openWebhookScene()
    scene.advance(10)
    const broken = { ...notification({ id: 'broken', createdAt: scene.now() }), included: 'none' }
    await scene.receive(broken, scene.tell(scene.containerId, { id: 'good' }))
    expect(await statesOf(scene.warehouse)).toEqual({ broken: 'received', good: 'processed' })
    expect(await inbox(scene, 'broken')).toMatchObject({
      attempts: 1,
      error: expect.stringContaining('not a JSON:API document') as unknown,
    })
  })
})

describe('one notification that fails', () => {
  /** Writing this seal number raises the given error in every batch. */
  async function poisonWith(scene: WebhookScene, state: string): Promise<void> {
    await scene.query(`create or replace function public.refuse() returns trigger language plpgsql as $body$
begin
    raise exception using errcode = '${state}', message = 'refused with ${state}';
end
$body$`)
    await scene.run`
      create or replace trigger poison before insert or update on tracking.containers
      for each row when (new.seal_number = 'poison') execute function public.refuse()`
  }

  it.skipIf(isOnCitus)('for want of a right is no attempt when all others fail', async () => {
    const scene = await openWebhookScene()
    await poisonWith(scene, '42501')
    scene.advance(10)
    const record = scene.containerNow(scene.containerId)
    const poisoned = { ...record, attributes: { ...record.attributes, seal_number: 'poison' } }
    await scene.store(
      scene.tell(scene.containerId, { id: 'one', included: [poisoned] }),
      scene.tell(scene.containerId, { id: 'two', included: [poisoned] }),
    )
    await expect(scene.bench.processor.processAll()).rejects.toThrow('refused')
    for (const id of ['one', 'two']) {
      expect(await inbox(scene, id)).toMatchObject({ state: 'received', attempts: 0 })
    }
  })

  it('is not one of 17,000 unknown records', { tags: ['FB1', 'JD6'] }, async () => {
    const scene = await openWebhookScene()
    scene.advance(10)
    const unknown = (name: string, length: number) =>
      Array.from({ length }, (_, at) => ({
        type: 'container',
        id: `unknown-${name}-${at}`,
        attributes: {},
        relationships: { shipment: { data: { type: 'shipment', id: `unknown-${at}` } } },
      }))
    await scene.receive(
      scene.tell('', { id: 'large', about: null, included: unknown('one', 17_000) }),
      scene.tell(scene.containerId, { id: 'behind' }),
    )
    expect(await statesOf(scene.warehouse)).toEqual({ large: 'processed', behind: 'processed' })
    expect(await inbox(scene, 'large')).toMatchObject({ attempts: 0, error: null })
    const queued = () =>
      scene.rows`
        select resource_type, count(*)::int as count from tracking_sync.refetch_queue
        where resource_id like 'unknown-%' group by resource_type`
    expect(await queued()).toEqual([{ resource_type: 'container', count: 500 }])
    // At most that many wait, for any number of deliveries.
    await scene.receive(scene.tell('', { about: null, included: unknown('two', 600) }))
    expect(await queued()).toEqual([{ resource_type: 'container', count: 500 }])
    await scene.run`update tracking_sync.refetch_queue set attempts = 1`
    await scene.receive(scene.tell('', { about: null, included: unknown('two', 600) }))
    expect(await queued()).toEqual([{ resource_type: 'container', count: 1000 }])
  })
})

describe('whose notifications are applied', { tags: ['W14'] }, () => {
  const listed = { own: { url: undefined, ids: [] } }

  it('are those of the webhooks that the account lists; the service is asked when an unknown one appears', async () => {
    const scene = await openWebhookScene({ bench: listed })
    const { containerId: id, simulator, warehouse, bench } = scene
    const created = await bench.service.createWebhook({ url: 'https://example.com/hook' })
    const [webhook] = created.document.data as { id: string }[]
    simulator.requests.reset()
    scene.advance(10)
    simulator.edits.change('container', id, { seal_number: 'ours' })
    await scene.receive(
      scene.tell(id, { id: 'ours', webhookId: webhook?.id ?? null }),
      scene.tell(id, { id: 'theirs', webhookId: 'a-sample' }),
      scene.tell(id, { id: 'nobody', webhookId: null }),
    )
    expect(await statesOf(warehouse)).toEqual({
      ours: 'processed',
      theirs: 'foreign',
      nobody: 'foreign',
    })
    expect(simulator.requests.total).toBe(1)
    expect(await scene.row()).toMatchObject({ seal_number: 'ours' })
    expect(await scene.rows`select url, is_active, is_ours from tracking_sync.webhooks`).toEqual([
      { url: 'https://example.com/hook', is_active: true, is_ours: true },
    ])
    const text = await scene.value<string>`
      select to_jsonb(webhooks)::text as text from tracking_sync.webhooks`
    expect(text).not.toMatch(/secret/i)
    // Known now: no further request.
    scene.advance(10)
    await scene.receive(scene.tell(id, { webhookId: webhook?.id ?? null }))
    expect(simulator.requests.total).toBe(1)
  })

  it('are those without a webhook that carry our signature', { tags: ['FF8'] }, async () => {
    for (const secrets of [['ours'], []]) {
      const own = { ...listed.own, ids: [OWN_WEBHOOK], secrets }
      const scene = await openWebhookScene({ bench: { own } })
      const { containerId: id, simulator, warehouse } = scene
      scene.advance(10)
      simulator.edits.change('container', id, { seal_number: 'told' })
      const event = 'document.extracted'
      await scene.receive(
        scene.tell(id, { id: 'document', event, webhookId: null }),
        scene.tell(id, { id: 'theirs', event, webhookId: 'of another' }),
      )
      const isOurs = secrets.length > 0
      expect(await statesOf(warehouse)).toEqual({
        document: isOurs ? 'processed' : 'foreign',
        theirs: 'foreign',
      })
      expect((await scene.row())?.seal_number === 'told').toBe(isOurs)
    }
  })

  it('are only webhooks that send to our address, if it is set', async () => {
    const own = { url: 'https://example.com/hook', ids: [] }
    const scene = await openWebhookScene({ bench: { own } })
    const ids: string[] = []
    for (const url of ['https://EXAMPLE.com/hook', 'https://example.com/other']) {
      const { document } = await scene.bench.service.createWebhook({ url })
      ids.push((document.data[0] as { id: string }).id)
    }
    scene.advance(10)
    await scene.receive(
      ...ids.map((webhookId, at) => scene.tell(scene.containerId, { id: `of ${at}`, webhookId })),
    )
    expect(await statesOf(scene.warehouse)).toEqual({ 'of 0': 'processed', 'of 1': 'foreign' })
  })

  it('is asked for again at once when the warehouse could not keep the answer', async () => {
    const scene = await openWebhookScene({ bench: listed })
    const { warehouse, bench } = scene
    await bench.service.createWebhook({ url: 'https://example.com/hook' })
    scene.advance(10)
    await scene.store(scene.tell(scene.containerId, { id: 'open' }))
    await scene.run`
      alter table tracking_sync.webhooks add constraint poison check (false) not valid`
    await expect(bench.processor.processAll()).rejects.toThrow('poison')
    expect(await statesOf(warehouse)).toEqual({ open: 'received' })
    await scene.run`alter table tracking_sync.webhooks drop constraint poison`
    for (let looks = 1; looks <= 2; looks += 1) await bench.processor.processAll()
    expect(await statesOf(warehouse)).toEqual({ open: 'foreign' })
  })

  it('stays open while the service does not answer, without using up attempts', async () => {
    const scene = await openWebhookScene({ bench: listed })
    const { containerId: id, simulator, warehouse } = scene
    scene.advance(10)
    simulator.faults.add({ fault: { kind: 'status', status: 403 }, times: Infinity })
    await scene.receive(scene.tell(id, { id: 'open' }))
    expect(await inbox(scene, 'open')).toMatchObject({
      state: 'received',
      attempts: 0,
      error: expect.stringContaining('could not find out') as unknown,
    })
    simulator.faults.clear()
    expect(await statesOf(warehouse)).toEqual({ open: 'received' })
    await letTimePass(scene)
    // Another process, which has not asked in this minute.
    await scene.openBench(listed).processor.processAll()
    expect(await statesOf(warehouse)).toEqual({ open: 'foreign' })
  })
})

describe('processors side by side', { tags: ['D1', 'I6', 'release'] }, () => {
  it('take each notification once', async () => {
    const scene = await openWebhookScene({ shipments: 12 })
    const { simulator, warehouse } = scene
    const ids = scene.ids('container')
    const bodies: unknown[] = []
    for (let at = 0; at < 240; at += 1) {
      if (at % 40 === 0) scene.advance(1)
      const id = ids[at % ids.length] ?? ''
      simulator.edits.change('container', id, { seal_number: `number ${at}` })
      const { relationships } = scene.containerNow(id)
      const shipment = relationships?.shipment?.data as { id: string }
      bodies.push(
        scene.tell(id, {
          included: [
            simulator.world.record('shipment', shipment.id, scene.now()),
            scene.containerNow(id),
          ],
        }),
      )
    }
    await scene.store(...bodies.toReversed())
    const benches = [scene.bench, scene.openBench(), scene.openBench()]
    const reports = await Promise.all(benches.map(({ processor }) => processor.processAll()))
    expect(reports.reduce((sum, { processed }) => sum + processed, 0)).toBe(240)
    expect(reports.reduce((sum, { failed }) => sum + failed, 0)).toBe(0)
    expect(new Set(Object.values(await statesOf(warehouse)))).toEqual(new Set(['processed']))
    scene.advance(1)
    await Promise.all(benches.map((bench) => bench.settle()))
    expect(await queued(warehouse)).toEqual([])
    expect(await scene.differences()).toEqual([])
  })
})

describe('the running processor', () => {
  function start(scene: WebhookScene, pollMs = 60_000): RunningProcessor {
    const processor = startProcessor({
      service: scene.bench.service,
      warehouse: scene.warehouse,
      logger: silentLogger,
      settings: {
        ...TEST_SETTINGS,
        own: { url: undefined, ids: [OWN_WEBHOOK] },
        refetchDelayMs: 0,
      },
      sleep: createSleep(),
      pollMs,
    })
    running.push(processor)
    return processor
  }

  async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
    await expect.poll(condition, { timeout: 20_000, interval: 20 }).toBe(true)
  }

  it('applies what is stored as soon as it is woken, reads again what is in doubt, and tells its lag', async () => {
    const scene = await openWebhookScene()
    const { containerId: id, simulator, warehouse } = scene
    const processor = start(scene)
    await until(() => processor.state().processed === 0)
    scene.advance(10)
    simulator.edits.change('container', id, { seal_number: 'told' })
    await scene.store(scene.tell(id))
    expect((await readVitals(warehouse)).queues).toMatchObject([
      { queue: 'webhook_notifications', state: 'received', entries: 1 },
    ])
    processor.wake()
    await until(() => processor.state().processed === 1)
    expect(await scene.row()).toMatchObject({ seal_number: 'told' })
    expect((await readVitals(warehouse)).queues).toEqual([])
    simulator.edits.change('container', id, { seal_number: 'read' })
    await scene.store(
      notification({ createdAt: scene.advance(1), about: { type: 'container', id } }),
    )
    processor.wake()
    await until(() => processor.state().processed === 2)
    processor.wake()
    await until(() => processor.state().refetched === 1)
    expect(await scene.row()).toMatchObject({ seal_number: 'read' })
    await processor.stop()
    await scene.store(scene.tell(id, { id: 'late' }))
    processor.wake()
    expect((await statesOf(warehouse)).late).toBe('received')
  })
})
