import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { runTestSync } from '../../support/run-test-sync.js'
import { signBody, startTestReceiver } from '../../support/test-receiver.js'
import { statesOf } from '../webhooks/process-scene.js'
import {
  closeWebhookScenes,
  openWebhookScene,
  type WebhookScene,
} from '../webhooks/webhook-scene.js'

let scene: WebhookScene
beforeAll(async () => {
  scene = await openWebhookScene({ shipments: 3 })
})
beforeEach(async () => {
  await scene.run`truncate tracking_sync.webhook_notifications`
})
afterAll(closeWebhookScenes)

/** The JSON text as bytes, in which a marked character is replaced by bytes that are not UTF-8. */
function spoil(body: unknown, mark: string): Buffer {
  const [before, after] = JSON.stringify(body).split(mark)
  return Buffer.concat([Buffer.from(before!), Buffer.from([0xff, 0xc3]), Buffer.from(after!)])
}

describe('bytes that are no UTF-8', { tags: ['T3'] }, () => {
  it('are signed as they came; the row is stored with replacements, and flagged', async () => {
    const { containerId: id } = scene
    scene.advance(10)
    const record = scene.containerNow(id)
    const attributes = { ...record.attributes, equipment_type: 'gr\ufffdn <MARK>' }
    const receiver = await startTestReceiver({ warehouse: scene.warehouse })
    try {
      const told = scene.tell(id, { id: 'spoiled', included: [{ ...record, attributes }] })
      const body = spoil(told, '<MARK>')
      // The decoded text differs from the signed bytes.
      const decoded = signBody(Buffer.from(body.toString('utf8')))
      expect((await receiver.post(body, { 'X-SVC-Webhook-Signature': decoded })).status).toBe(401)
      expect((await receiver.post(body)).status).toBe(202)
      const [inbox] = await scene.rows<{ body: Buffer }>`
        select body from tracking_sync.webhook_notifications`
      expect(inbox!.body.equals(body)).toBe(true)
    } finally {
      await receiver.stop()
    }
    await scene.bench.processor.processAll()
    expect(await statesOf(scene.warehouse)).toEqual({ spoiled: 'processed' })
    const row = await scene.row()
    expect(row).toMatchObject({ equipment_type: 'gr\ufffdn \ufffd\ufffd' })
    expect(row!._coercions).toMatchObject({
      equipment_type: { reason: expect.stringContaining('replaced by U+FFFD') as string },
    })
  })

  it('in an id, costs that delivery alone: it is kept and told', async () => {
    const receiver = await startTestReceiver({ warehouse: scene.warehouse })
    try {
      const body = spoil(scene.tell(scene.containerId, { id: 'id-<MARK>' }), '<MARK>')
      expect((await receiver.post(body)).status).toBe(202)
    } finally {
      await receiver.stop()
    }
    await scene.bench.processor.processAll()
    expect(Object.entries(await statesOf(scene.warehouse))).toEqual([
      [expect.stringMatching(/^sha256:/), 'dead'],
    ])
  })
})

describe('included records', { tags: ['T9'] }, () => {
  it('that contradict each other: the last one in the document stands', async () => {
    const { containerId: id } = scene
    scene.advance(10)
    const record = scene.containerNow(id)
    const say = (weight: number) => ({
      ...record,
      attributes: { ...record.attributes, weight_in_lbs: weight },
    })
    await scene.receive(scene.tell(id, { id: 'once', included: [say(1), say(3), say(2)] }))
    expect(await statesOf(scene.warehouse)).toEqual({ once: 'processed' })
    expect(await scene.row()).toMatchObject({ weight_in_lbs: '2' })
  })
})

describe('instants that seem out of order', { tags: ['Z12'] }, () => {
  it('are stored as they are: an estimate that moves earlier, an actual before it, an update before the creation', async () => {
    const { containerId: id } = scene
    const tellDates = async (dates: Readonly<Record<string, string>>) => {
      scene.advance(60)
      const record = scene.containerNow(id)
      const shipmentId = (record.relationships?.shipment?.data as { id: string }).id
      const shipment = scene.simulator.world.record('shipment', shipmentId, scene.now())!
      const attributes = { ...shipment.attributes, ...dates }
      await scene.receive(scene.tell(id, { included: [{ ...shipment, attributes }] }))
      const [row] = await scene.rows`
        select pod_eta_at, pod_original_eta_at, pod_ata_at, created_at
        from tracking.shipments where shipment_id = ${shipmentId}`
      return row
    }
    const first = {
      pod_eta_at: '2026-05-20T10:00:00Z',
      pod_original_eta_at: '2026-05-01T00:00:00Z',
      created_at: '2026-05-30T00:00:00Z',
    }
    expect(await tellDates(first)).toMatchObject({
      pod_eta_at: '2026-05-20 10:00:00+00',
      pod_original_eta_at: '2026-05-01 00:00:00+00',
      created_at: '2026-05-30 00:00:00+00',
    })
    const second = {
      ...first,
      pod_eta_at: '2026-05-10T10:00:00Z',
      pod_ata_at: '2026-05-09T09:00:00Z',
    }
    expect(await tellDates(second)).toMatchObject({
      pod_eta_at: '2026-05-10 10:00:00+00',
      pod_ata_at: '2026-05-09 09:00:00+00',
    })
    // An actual time that is taken back and one from before the first estimate.
    const third = { ...second, pod_ata_at: '2026-04-01T00:00:00Z' }
    expect(await tellDates(third)).toMatchObject({ pod_ata_at: '2026-04-01 00:00:00+00' })
  })
})

describe('custom fields', { tags: ['K7'] }, () => {
  const LONG = 'x'.repeat(79)
  const NAMES = [
    'id',
    'select',
    'container_id',
    '_observed_at',
    'Bestellnr."x',
    `'; drop table tracking.custom_fields; --`,
    '$1',
    '{{data}}',
    '%s',
    'Größe',
    `${LONG}a`,
    `${LONG}b`,
    'ID',
    ...Array.from({ length: 1_987 }, (_, index) => `field_${index}`),
  ]

  it('of any name, two thousand of them, are rows; none is lost, and no column is made', async () => {
    const { containerId: id } = scene
    const columns = () =>
      scene.rows<{ name: string }>`
        select table_schema || '.' || table_name || '.' || column_name as name
        from information_schema.columns where table_schema ~ '^tracking' order by 1`
    const before = await columns()
    const fields = NAMES.map((name, index) => ({
      type: 'custom_field',
      id: `custom-field-${index}`,
      attributes: {
        api_slug: name,
        value: { position: index },
        display_value: `${name} ${index}`,
      },
      relationships: {
        entity: { data: { type: 'container', id } },
        definition: { data: { type: 'custom_field_definition', id: `definition-${index}` } },
      },
    }))
    const { simulator, warehouse } = scene
    simulator.faults.add({
      match: { path: /custom_fields$/ },
      fault: { kind: 'transform', apply: () => ({ data: fields, meta: { total: 2_000 } }) },
    })
    await runTestSync({ warehouse, source: simulator, settings: { acceptShrink: true } })
    const rows = await scene.rows<{ api_slug: string; value: unknown; display_value: string }>`
      select api_slug, value, display_value from tracking.custom_fields
      where custom_field_id like 'custom-field-%' and entity_id = ${id}
      order by (value->>'position')::integer`
    expect(rows).toHaveLength(2_000)
    expect(rows).toEqual(
      NAMES.map((name, index) => ({
        api_slug: name,
        value: { position: index },
        display_value: `${name} ${index}`,
      })),
    )
    expect(await columns()).toEqual(before)
  })
})
