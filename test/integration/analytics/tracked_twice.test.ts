import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { insertKnown } from '../../support/insert-known.js'
import { insertRule, listedFee } from '../../support/scenes/charges.js'

const scene = useAnalyticsScene()
const AS_OF = '2026-03-13T06:30:00Z'

const shipment = (shipment_id: string, more: object = {}) => ({
  shipment_id,
  bill_of_lading_number: `BOL ${shipment_id}`,
  port_of_discharge_locode: 'USLAX',
  ...more,
})

const box = (container_id: string, shipment_id: string, more: object = {}) => ({
  container_id,
  shipment_id,
  number: 'MSCU1234566',
  pod_timezone: 'America/Los_Angeles',
  pod_discharged_at: '2026-03-02T20:00:00Z',
  ...more,
})

const twice = () => scene.read('tracked_twice', { asOf: AS_OF, rest: 'order by container_id' })

it('names the other bill, and counts where a customer is named', { tags: ['JA9'] }, async () => {
  await insertKnown(scene, 'shipments', [
    shipment('s1'),
    shipment('s2', { customer_name: 'Acme' }),
    shipment('s3', { bill_of_lading_number: null }),
  ])
  await insertKnown(scene, 'containers', [box('c1', 's1'), box('c2', 's2'), box('c3', 's3')])
  expect(await twice()).toEqual([
    { container_id: 'c1', also_tracked_as: 'BOL s2, c3', is_counted_elsewhere: true },
    { container_id: 'c2', also_tracked_as: 'BOL s1, c3', is_counted_elsewhere: false },
    { container_id: 'c3', also_tracked_as: 'BOL s1, BOL s2', is_counted_elsewhere: true },
  ])
})

it('takes neither another port, nor a later journey, nor a number nobody knows', async () => {
  await insertKnown(scene, 'shipments', [
    shipment('s1'),
    shipment('s2', { port_of_discharge_locode: 'USOAK' }),
    shipment('s3', { pod_eta_at: '2026-03-05T20:00:01Z' }),
    shipment('s4', { pod_eta_at: '2026-02-27T20:00:00Z' }),
    shipment('s5'),
    shipment('s6'),
  ])
  await insertKnown(scene, 'containers', [
    box('c1', 's1'),
    box('c2', 's2'),
    // A second more than three days later; and exactly three days before, by the ETA.
    box('c3', 's3', { pod_discharged_at: null }),
    box('c4', 's4', { pod_discharged_at: null }),
    box('c5', 's5', { number: null }),
    box('c6', 's6', { number: null }),
  ])
  expect(await twice()).toEqual([
    { container_id: 'c1', also_tracked_as: 'BOL s4', is_counted_elsewhere: false },
    { container_id: 'c4', also_tracked_as: 'BOL s1', is_counted_elsewhere: true },
  ])
})

it('has the costs once, and the box in both lists', { tags: ['JA9'] }, async () => {
  await insertRule(scene, { charge: 'storage', free_days: 2 })
  await insertKnown(scene, 'shipments', [shipment('s1'), shipment('s2', { customer_name: 'Acme' })])
  await insertKnown(scene, 'containers', [box('c1', 's1'), box('c2', 's2')])
  await insertKnown(scene, 'container_fees', [
    listedFee('c1', 'exam', '50', 'EUR'),
    listedFee('c2', 'exam', '50', 'EUR'),
  ])
  const read = (view: string, columns: string[]) =>
    scene.read(view, { asOf: AS_OF, columns, rest: 'order by container_id, 2' })
  // Free until 4 March; 12 March in Los Angeles is the eighth day over.
  expect(await read('costs', ['container_id', 'charge', 'cost_amount', 'rule_amount'])).toEqual([
    { container_id: 'c2', charge: 'listed fees', cost_amount: '50', rule_amount: null },
    { container_id: 'c2', charge: 'storage', cost_amount: null, rule_amount: '800' },
  ])
  const overdue = { state: 'overdue', binding_on: '2026-03-04' }
  expect(
    await read('last_free_days', ['container_id', 'also_tracked_as', 'state', 'binding_on']),
  ).toEqual([
    { container_id: 'c1', also_tracked_as: 'BOL s2', ...overdue },
    { container_id: 'c2', also_tracked_as: 'BOL s1', ...overdue },
  ])
  expect(await read('pickups', ['container_id', 'also_tracked_as'])).toHaveLength(2)
})
