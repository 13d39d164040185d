import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { insertKnown } from '../../support/insert-known.js'
import { lastFreeDay } from '../../support/scenes/charges.js'

const scene = useAnalyticsScene()

const LOS_ANGELES = 'America/Los_Angeles'

it('shows the day, whose it is, and every column of a container', { tags: ['FE3'] }, async () => {
  await scene.insert('terminals', [{ terminal_id: 't1', name: 'West Basin', nickname: 'WBCT' }])
  await insertKnown(scene, 'shipments', [
    {
      shipment_id: 's1',
      bill_of_lading_number: 'BOL1',
      shipping_line_scac: 'MAEU',
      customer_name: 'Acme',
      port_of_discharge_locode: 'USLAX',
    },
  ])
  await insertKnown(scene, 'containers', [
    {
      container_id: 'c1',
      shipment_id: 's1',
      pod_terminal_id: 't1',
      number: 'MSKU0000001',
      equipment_type: 'dry',
      equipment_length: 40,
      current_status: 'available',
      pod_timezone: LOS_ANGELES,
      pod_discharged_at: '2026-03-09T10:00:00Z',
    },
  ])
  await insertKnown(scene, 'container_import_deadlines', [
    lastFreeDay('c1', 'service', '2026-03-13'),
    lastFreeDay('c1', 'line', '2026-03-13'),
    lastFreeDay('c1', 'terminal', '2026-03-12'),
  ])
  // 23:30 of 12 March in Los Angeles.
  expect(await scene.read('last_free_days', { asOf: '2026-03-13T06:30:00Z' })).toMatchSnapshot()
})
