import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { readDelivery } from '../../../src/webhooks/receive/delivery.js'
import { storeDeliveries } from '../../../src/webhooks/receive/inbox.js'
import { emptyWarehouse } from '../../support/empty-warehouse.js'
import { knowRecords } from '../../support/know-records.js'
import { snapshotRows } from '../../support/snapshot-tables.js'
import {
  readPayloads,
  startStandIn,
  type PayloadFile,
  type StandIn,
} from '../../support/stand-in-service.js'
import { createTestWarehouse, type TestWarehouse } from '../../support/test-warehouse.js'
import { openBench, queued, statesOf, type ProcessBench } from './process-scene.js'

/** The values of what each brings are compared in `round-trip.test.ts`. */
const DELIVERIES = readPayloads('samples').filter(
  ({ data }) => data[0]?.type === 'webhook_notification',
)
const INCLUDED = DELIVERIES.flatMap(({ included }) => included)

let target: TestWarehouse
let service: StandIn

beforeAll(async () => {
  target = await createTestWarehouse()
  service = await startStandIn()
})
beforeEach(() => emptyWarehouse(target.warehouse))
afterAll(async () => {
  await service.close()
  await target.drop()
})

function sample(name: string): PayloadFile {
  return DELIVERIES.find((one) => one.name === `${name}.json`)!
}

/** A bench to which the webhooks that the samples were sent for are ours. */
function openFor(...samples: readonly PayloadFile[]): ProcessBench {
  const ids = samples.map(({ data }) => {
    const { webhook } = data[0]?.relationships as { webhook: { data: { id: string } } }
    return webhook.data.id
  })
  return openBench(target.warehouse, service, { own: { url: undefined, ids } })
}

async function receive(...samples: readonly PayloadFile[]): Promise<void> {
  const deliveries = samples.map(({ bytes }) => readDelivery(bytes, {}))
  await storeDeliveries(target.warehouse, deliveries)
}

const snapshot = () => snapshotRows(target.warehouse, { hasVersions: true, mayBeEmpty: true })

const RECORD_TABLES = [
  'shipments',
  'containers',
  'transport_events',
  'tracking_requests',
  'ports',
  'terminals',
  'vessels',
]

/** The tables of records that have rows. */
async function filledTables(): Promise<string[]> {
  const rows = await snapshot()
  return RECORD_TABLES.filter((table) => rows[table] !== '0 rows ')
}

describe('the published deliveries', { tags: ['K8'] }, () => {
  it('make no row of a record that nobody has confirmed', { tags: ['W14'] }, async () => {
    await receive(...DELIVERIES)
    const bench = openFor(...DELIVERIES)
    await bench.processor.processAll()
    expect(await filledTables()).toEqual([])
    const confirmable = INCLUDED.filter(({ type }) => !type.endsWith('_event')).map(
      ({ type, id }) => `${type} ${id}`,
    )
    expect(confirmable.length).toBeGreaterThan(10)
    expect(await queued(target.warehouse)).toEqual(expect.arrayContaining(confirmable))
    // The service has none of them.
    await bench.reader.readDue()
    expect(service.requests.length).toBeGreaterThan(0)
    expect(await filledTables()).toEqual([])
    await bench.close()
  })

  it('of another webhook are foreign, and not applied', { tags: ['W14'] }, async () => {
    await knowRecords(target.warehouse, INCLUDED)
    expect(await filledTables()).toHaveLength(RECORD_TABLES.length - 1)
    const before = await snapshot()
    await receive(...DELIVERIES)
    const bench = openBench(target.warehouse, service, {
      own: { url: undefined, ids: ['other'] },
    })
    await bench.processor.processAll()
    await bench.close()
    const states = Object.values(await statesOf(target.warehouse))
    expect(states).toEqual(DELIVERIES.map(() => 'foreign'))
    const { webhook_notifications: inbox, ...after } = await snapshot()
    expect(inbox).toMatch(/^8 rows/)
    expect(before).toMatchObject(after)
  })

  it('without anything included asks for the notification, and stays unresolved when there is none', async () => {
    const delivery = sample('webhook-container-transport-available')
    const id = delivery.data[0]!.id
    await receive(delivery)
    const bench = openFor(delivery)
    await bench.processor.processAll()
    expect(await queued(target.warehouse)).toEqual([`webhook_notification ${id}`])
    await bench.reader.readDue()
    await bench.close()
    expect(await queued(target.warehouse)).toEqual([])
    expect(await statesOf(target.warehouse)).toEqual({ [id]: 'unresolved' })
  })

  it('container.updated leaves what changed in a history of its own, at its own time', async () => {
    const delivery = sample('webhook-container-updated')
    const { data } = delivery
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
      target.rows`
        select attribute, old_value, new_value, changed_at, _observed_at as observed, data_source,
        timezone, _notification_id
        from tracking.container_changes where container_id = '5f3d40ad-2e2f-4778-8973-8a3a70bef56d'
        order by attribute`
    await receive(delivery)
    const bench = openFor(delivery)
    // Not before the container is confirmed.
    await bench.processor.processAll()
    expect(await read()).toEqual([])
    expect(await queued(target.warehouse)).toContain(
      'container 5f3d40ad-2e2f-4778-8973-8a3a70bef56d',
    )
    await knowRecords(target.warehouse, delivery.included)
    await bench.reader.readDue()
    expect(await read()).toMatchObject(expected)
    expect(Object.values(await statesOf(target.warehouse))).toEqual(['processed'])
    await target.run`update tracking_sync.webhook_notifications set state = 'received'`
    expect((await bench.processor.processAll()).taken).toBe(1)
    await bench.close()
    expect(await read()).toMatchObject(expected)
  })
})
