import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { insertKnown } from '../../support/insert-known.js'

const scene = useAnalyticsScene()

const TO_LA = {
  shipping_line_scac: 'MAEU',
  shipping_line_name: 'Maersk',
  port_of_discharge_locode: 'USLAX',
  port_of_discharge_name: 'Los Angeles',
  pod_timezone: 'America/Los_Angeles',
}
/** 19 March 22:00 in Los Angeles. */
const AS_OF = '2026-03-20T05:00Z'

it('counts no cancelled booking, nor a passed ETA nobody follows', { tags: ['FE5'] }, async () => {
  const stopped = (shipment_id: string, line_tracking_stopped_reason: string, eta: string) => ({
    ...TO_LA,
    shipment_id,
    line_tracking_stopped_reason,
    line_tracking_stopped_at: '2026-03-10T00:00Z',
    pod_eta_at: eta,
  })
  await insertKnown(scene, 'shipments', [
    stopped('s1', 'booking_cancelled', '2026-03-22T12:00Z'),
    stopped('s2', 'no_updates_at_line', '2026-03-12T12:00Z'),
  ])
  await insertKnown(scene, 'containers', [
    { container_id: 'c1', shipment_id: 's1' },
    { container_id: 'c2', shipment_id: 's2' },
  ])
  expect(await scene.read('arrivals_calendar', { asOf: AS_OF })).toEqual([])
})

it('counts what is announced to arrive in a time to come', async () => {
  await insertKnown(scene, 'shipments', [
    {
      ...TO_LA,
      shipment_id: 's1',
      pod_eta_at: '2026-03-25T06:30Z',
      pod_ata_at: '2026-03-25T06:30Z',
    },
  ])
  await insertKnown(scene, 'containers', [
    {
      container_id: 'c1',
      shipment_id: 's1',
      equipment_length: 40,
      pod_arrived_at: '2026-03-25T06:30Z',
    },
  ])
  const rows = await scene.read('arrivals_calendar', { asOf: AS_OF })
  expect(rows).toMatchObject([{ arrival_on: '2026-03-24', containers: 1, teu: '2' }])
})
