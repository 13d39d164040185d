import { sql } from 'kysely'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { readRecords, type Intake } from '../../../src/ingest/intake.js'
import { compareRow } from '../../../src/extensions/doctor/verify/compare-rows.js'
import { emptyWarehouse } from '../../support/empty-warehouse.js'
import { knowRecords } from '../../support/know-records.js'
import {
  DELIVERIES,
  readSample,
  startSampleService,
  type SampleRecord,
  type SampleService,
} from '../../support/sample-service.js'
import { createTestWarehouse, type TestWarehouse } from '../../support/test-warehouse.js'
import { openBench, queued, statesOf, type ProcessBench } from './process-scene.js'
import { readDelivery } from '../../../src/webhooks/receive/delivery.js'
import { storeDeliveries } from '../../../src/webhooks/receive/inbox.js'

let target: TestWarehouse
let service: SampleService

beforeAll(async () => {
  target = await createTestWarehouse()
  service = await startSampleService()
})

beforeEach(() => emptyWarehouse(target.warehouse))

afterAll(async () => {
  await service.close()
  await target.drop()
})

function bodyOf(name: string): Buffer {
  return readFileSync(new URL(`../../fixtures/samples/${name}.json`, import.meta.url))
}

/** The webhook a sample was sent for. */
function webhookOf(name: string): string {
  const [record] = readSample(name).data
  const { webhook } = record?.relationships as { webhook: { data: { id: string } } }
  return webhook.data.id
}

/** A bench to which the sample's webhook is ours. */
function openFor(name: string): ProcessBench {
  return openBench(target.warehouse, service, { own: { url: undefined, ids: [webhookOf(name)] } })
}

function intakeOf(records: readonly unknown[], observedAt: Date): Intake {
  return readRecords(
    { data: [], included: records },
    { stream: 'other_resources', source: 'test', observedAt },
  )
}

async function receive(name: string): Promise<void> {
  await storeDeliveries(target.warehouse, [readDelivery(bodyOf(name), {})])
}

/** How rows differ from the records, `type id` of those without a live row included. */
async function differences(records: readonly SampleRecord[]): Promise<unknown[]> {
  const found: unknown[] = []
  for (const sighting of [...intakeOf(records, new Date()).sightings.values()].flat()) {
    const differing = await compareRow(target.warehouse, sighting)
    if (differing === undefined) found.push(`${sighting.resource.type} ${sighting.key}`)
    else if (differing.length > 0) found.push({ key: sighting.key, differing })
  }
  return found
}

async function countRows(table: string): Promise<number> {
  const [row] = await target.warehouse.query(
    'count rows',
    sql<{ count: number }>`select count(*) as count from tracking.${sql.raw(table)}`,
  )
  return row?.count ?? 0
}

describe('each published delivery', { tags: ['K8'] }, () => {
  it.each(DELIVERIES)(
    '%s is applied to the rows it tells of, and nothing is set aside',
    async (name) => {
      const { included, data } = readSample(name)
      await knowRecords(target.warehouse, included)
      await receive(name)
      const bench = openFor(name)
      const report = await bench.processor.processAll()
      await bench.close()
      expect(report).toMatchObject({ taken: 1, failed: 0, deferred: 0 })
      expect(await differences(included)).toEqual([])
      expect(
        await target.warehouse.query(
          'read the quarantine',
          sql`select * from tracking_sync.quarantine`,
        ),
      ).toEqual([])
      const isThin = included.length === 0
      expect(await statesOf(target.warehouse)).toEqual({
        [data[0]?.id ?? '']: isThin ? 'unresolved' : 'processed',
      })
    },
  )

  it.each(DELIVERIES)(
    '%s makes no row of a record that nobody has confirmed',
    { tags: ['W14'] },
    async (name) => {
      const { included } = readSample(name)
      await receive(name)
      const bench = openFor(name)
      await bench.processor.processAll()
      for (const table of [
        'shipments',
        'containers',
        'transport_events',
        'tracking_requests',
        'ports',
        'terminals',
        'vessels',
      ]) {
        expect({ table, rows: await countRows(table) }).toEqual({ table, rows: 0 })
      }
      const entries = await queued(target.warehouse)
      const confirmable = included
        .filter(({ type }) => !type.endsWith('_event'))
        .map(({ type, id }) => `${type} ${id}`)
      expect(entries).toEqual(expect.arrayContaining(confirmable))
      // The sample service has none of them by id.
      const before = service.requests.length
      await bench.reader.readDue()
      expect(service.requests.length).toBeGreaterThan(before)
      expect(await countRows('containers')).toBe(0)
      expect(await countRows('shipments')).toBe(0)
      await bench.close()
    },
  )

  it.each(DELIVERIES)(
    '%s of another webhook is foreign, and nothing of it is applied',
    { tags: ['W14'] },
    async (name) => {
      const { included, data } = readSample(name)
      await knowRecords(target.warehouse, included)
      await receive(name)
      const bench = openBench(target.warehouse, service, {
        own: { url: undefined, ids: ['other'] },
      })
      await bench.processor.processAll()
      await bench.close()
      expect(await statesOf(target.warehouse)).toEqual({ [data[0]?.id ?? '']: 'foreign' })
      expect(await countRows('other_resources')).toBe(0)
      expect(await countRows('container_changes')).toBe(0)
      expect(await queued(target.warehouse)).toEqual([])
      const told = included.filter(({ type }) => type === 'container')
      expect(await differences(told)).toHaveLength(told.length)
    },
  )

  it('without anything included asks for the notification, and stays unresolved when there is none', async () => {
    const name = 'webhook-container-transport-available'
    const id = readSample(name).data[0]?.id ?? ''
    await receive(name)
    const bench = openFor(name)
    await bench.processor.processAll()
    expect(await queued(target.warehouse)).toEqual([`webhook_notification ${id}`])
    await bench.reader.readDue()
    await bench.close()
    expect(await queued(target.warehouse)).toEqual([])
    expect(await statesOf(target.warehouse)).toEqual({ [id]: 'unresolved' })
  })

  it('container.updated leaves what changed in a history of its own, at its own time', async () => {
    const name = 'webhook-container-updated'
    const { data } = readSample(name)
    const expected = [
      {
        attribute: 'available_for_pickup',
        old_value: false,
        new_value: true,
        changed_at: '2022-10-21 20:19:12+00',
        observed: '2022-10-21 20:19:13+00',
        data_source: 'terminal',
        timezone: 'America/New_York',
        _notification_id: data[0]?.id,
      },
      {
        attribute: 'holds_at_pod_terminal',
        old_value: [
          { name: 'other', status: 'hold', description: 'DOWN - Broken Machine Over Pile' },
          { name: 'other', status: 'hold', description: 'MACHINE - ' },
        ],
        new_value: [],
      },
    ]
    const read = () =>
      target.warehouse.query(
        'read the changes',
        sql`select attribute, old_value, new_value, changed_at, _observed_at as observed, data_source, timezone, _notification_id
        from tracking.container_changes where container_id = '5f3d40ad-2e2f-4778-8973-8a3a70bef56d' order by attribute`,
      )
    await receive(name)
    const bench = openFor(name)
    // Not before the container is confirmed.
    await bench.processor.processAll()
    expect(await read()).toEqual([])
    expect(await queued(target.warehouse)).toContain(
      'container 5f3d40ad-2e2f-4778-8973-8a3a70bef56d',
    )
    await knowRecords(target.warehouse, readSample(name).included)
    await bench.reader.readDue()
    expect(await read()).toMatchObject(expected)
    expect(Object.values(await statesOf(target.warehouse))).toEqual(['processed'])
    await target.warehouse.query(
      'replay',
      sql`update tracking_sync.webhook_notifications set state = 'received'`,
    )
    expect((await bench.processor.processAll()).taken).toBe(1)
    await bench.close()
    expect(await read()).toMatchObject(expected)
  })
})
