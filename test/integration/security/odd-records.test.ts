import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { runTestSync } from '../../support/run-test-sync.js'
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

it('of included records that contradict each other the last stands', { tags: ['T9'] }, async () => {
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

it('instants that seem out of order are stored as they are', { tags: ['Z12'] }, async () => {
  const { containerId: id } = scene
  const shipmentId = (scene.containerNow(id).relationships?.shipment?.data as { id: string }).id
  // Estimates that move earlier, actual times before them, and an update before the creation.
  const original = { pod_original_eta_at: '2026-05-01 00:00:00+00' }
  const first = { pod_eta_at: '2026-05-20 10:00:00+00', created_at: '2026-05-30 00:00:00+00' }
  const second = { pod_eta_at: '2026-05-10 10:00:00+00', pod_ata_at: '2026-05-09 09:00:00+00' }
  for (const change of [first, second, { pod_ata_at: '2026-04-01 00:00:00+00' }]) {
    const dates = { ...original, ...change }
    scene.advance(60)
    const shipment = scene.simulator.world.record('shipment', shipmentId, scene.now())!
    const iso = JSON.stringify(dates).replaceAll(/ (.{8})\+00/g, 'T$1Z')
    const given = JSON.parse(iso) as Record<string, string>
    const attributes = { ...shipment.attributes, ...given }
    await scene.receive(scene.tell(id, { included: [{ ...shipment, attributes }] }))
    const rows = await scene.rows`
      select pod_eta_at, pod_original_eta_at, pod_ata_at, created_at from tracking.shipments
      where shipment_id = ${shipmentId}`
    expect(rows).toMatchObject([dates])
  }
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
      attributes: { api_slug: name, value: { position: index }, display_value: name },
      relationships: { entity: { data: { type: 'container', id } } },
    }))
    const { simulator, warehouse } = scene
    simulator.faults.add({
      match: { path: /custom_fields$/ },
      fault: { kind: 'transform', apply: () => ({ data: fields, meta: { total: 2_000 } }) },
    })
    await runTestSync({ warehouse, source: simulator, settings: { acceptShrink: true } })
    const rows = await scene.rows<{ api_slug: string; display_value: string }>`
      select api_slug, display_value from tracking.custom_fields
      where custom_field_id like 'custom-field-%' and entity_id = ${id}
      order by (value->>'position')::integer`
    expect(rows).toHaveLength(2_000)
    expect(rows).toEqual(NAMES.map((name) => ({ api_slug: name, display_value: name })))
    expect(await columns()).toEqual(before)
  })
})
