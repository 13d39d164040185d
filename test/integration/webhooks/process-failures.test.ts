import { afterEach, describe, expect, it } from 'vitest'
import { replayNotifications } from '../../../src/webhooks/process/replay-notifications.js'
import { isOnCitus } from '../../support/distributed-database.js'
import { notification, OWN_WEBHOOK, queued, statesOf } from './process-scene.js'
import { closeWebhookScenes, openWebhookScene, type WebhookScene } from './webhook-scene.js'

afterEach(closeWebhookScenes)

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
    const broken = { ...notification({ id: 'broken', createdAt: scene.now() }), included: 'none' }
    await scene.receive(scene.tell(id, { id: 'bad', included: [poisoned] }), broken, ...healthy)
    const healthyStates = Object.fromEntries(healthy.map((_, at) => [`healthy-${at}`, 'processed']))
    const waiting = { bad: 'received', broken: 'received' }
    expect(await statesOf(warehouse)).toEqual({ ...healthyStates, ...waiting })
    expect(
      await scene.column`
        select count(*)::int as told from tracking.shipments where customer_name = 'told'`,
    ).toEqual([3])
    expect(await inbox(scene, 'broken')).toMatchObject({
      attempts: 1,
      error: expect.stringContaining('not a JSON:API document') as unknown,
    })
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
})

it.skipIf(isOnCitus)('a missing right is no attempt when all others fail', async () => {
  const scene = await openWebhookScene()
  await scene.query(`create function public.refuse() returns trigger language plpgsql as $body$
begin
    raise exception using errcode = '42501', message = 'refused';
end
$body$`)
  await scene.run`
    create trigger poison before insert or update on tracking.containers
    for each row when (new.seal_number = 'poison') execute function public.refuse()`
  scene.advance(10)
  const record = scene.containerNow(scene.containerId)
  const poisoned = { ...record, attributes: { ...record.attributes, seal_number: 'poison' } }
  const ids = ['one', 'two']
  const tell = (id: string) => scene.tell(scene.containerId, { id, included: [poisoned] })
  await scene.store(...ids.map(tell))
  await expect(scene.bench.processor.processAll()).rejects.toThrow('refused')
  for (const id of ids) {
    expect(await inbox(scene, id)).toMatchObject({ state: 'received', attempts: 0 })
  }
})

it('no notification fails for 17,000 unknown records', { tags: ['FB1', 'JD6'] }, async () => {
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

async function createWebhook({ bench }: WebhookScene, url: string): Promise<string> {
  const { document } = await bench.service.createWebhook({ url })
  return (document.data[0] as { id: string }).id
}

describe('whose notifications are applied', { tags: ['W14'] }, () => {
  const listed = { own: { url: undefined, ids: [] } }

  it('are those of the webhooks that send to our address; the service is asked when an unknown one appears', async () => {
    const own = { url: 'https://example.com/hook', ids: [] }
    const scene = await openWebhookScene({ bench: { own } })
    const { containerId: id, simulator, warehouse } = scene
    const ours = await createWebhook(scene, 'https://EXAMPLE.com/hook')
    const elsewhere = await createWebhook(scene, 'https://example.com/other')
    simulator.requests.reset()
    scene.advance(10)
    simulator.edits.change('container', id, { seal_number: 'ours' })
    await scene.receive(
      scene.tell(id, { id: 'ours', webhookId: ours }),
      scene.tell(id, { id: 'elsewhere', webhookId: elsewhere }),
      scene.tell(id, { id: 'theirs', webhookId: 'a-sample' }),
      scene.tell(id, { id: 'nobody', webhookId: null }),
    )
    expect(await statesOf(warehouse)).toEqual({
      ours: 'processed',
      elsewhere: 'foreign',
      theirs: 'foreign',
      nobody: 'foreign',
    })
    expect(simulator.requests.total).toBe(1)
    expect(await scene.row()).toMatchObject({ seal_number: 'ours' })
    const kept = await scene.rows`
      select is_active, is_ours, to_jsonb(one)::text ~* 'secret' as has_secret
      from tracking_sync.webhooks as one where webhook_id = ${ours}`
    expect(kept).toEqual([{ is_active: true, is_ours: true, has_secret: false }])
    // Known now: no further request.
    scene.advance(10)
    await scene.receive(scene.tell(id, { webhookId: ours }))
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

  it('stays open without an answer, or one that was not kept, and uses up no attempts', async () => {
    const scene = await openWebhookScene({ bench: listed })
    const { containerId: id, simulator, warehouse } = scene
    const webhookId = await createWebhook(scene, 'https://example.com/hook')
    scene.advance(10)
    simulator.faults.add({ fault: { kind: 'status', status: 403 }, times: Infinity })
    await scene.receive(scene.tell(id, { id: 'open', webhookId }))
    expect(await inbox(scene, 'open')).toMatchObject({
      state: 'received',
      attempts: 0,
      error: expect.stringContaining('could not find out') as unknown,
    })
    simulator.faults.clear()
    await letTimePass(scene)
    // Another process, which has not asked in this minute.
    const { processor } = scene.openBench(listed)
    await scene.run`
      alter table tracking_sync.webhooks add constraint poison check (false) not valid`
    await expect(processor.processAll()).rejects.toThrow('poison')
    expect(await inbox(scene, 'open')).toMatchObject({ state: 'received', attempts: 0 })
    await scene.run`alter table tracking_sync.webhooks drop constraint poison`
    // It asks again at once.
    for (let looks = 1; looks <= 2; looks += 1) await processor.processAll()
    expect(await statesOf(warehouse)).toEqual({ open: 'processed' })
  })
})

it('processors side by side take each once', { tags: ['D1', 'I6', 'release'] }, async () => {
  const scene = await openWebhookScene({ shipments: 12 })
  const { simulator, warehouse } = scene
  const ids = scene.ids('container')
  const bodies = Array.from({ length: 240 }, (_, at) => {
    if (at % 40 === 0) scene.advance(1)
    const id = ids[at % ids.length] ?? ''
    simulator.edits.change('container', id, { seal_number: `number ${at}` })
    return scene.tell(id)
  })
  await scene.store(...bodies.toReversed())
  const benches = [scene.bench, scene.openBench(), scene.openBench()]
  const reports = await Promise.all(benches.map(({ processor }) => processor.processAll()))
  expect(reports.reduce((sum, { processed }) => sum + processed, 0)).toBe(240)
  expect(new Set(Object.values(await statesOf(warehouse)))).toEqual(new Set(['processed']))
  scene.advance(1)
  await Promise.all(benches.map((bench) => bench.settle()))
  expect(await queued(warehouse)).toEqual([])
  expect(await scene.differences()).toEqual([])
})
