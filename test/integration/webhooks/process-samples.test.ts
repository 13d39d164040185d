import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { readDelivery } from '../../../src/webhooks/receive/delivery.js'
import { storeDeliveries } from '../../../src/webhooks/receive/inbox.js'
import { emptyWarehouse } from '../../support/empty-warehouse.js'
import { knowRecords } from '../../support/know-records.js'
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

describe('the published deliveries', { tags: ['K8'] }, () => {
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
