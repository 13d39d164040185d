import { it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { insertKnown } from '../../support/insert-known.js'
import { insertRule, listedFee } from '../../support/scenes/charges.js'
import { expectRows } from '../../support/tables.js'

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

const shows = (view: string, table: string) =>
  expectRows(scene, view, { asOf: AS_OF, rest: 'order by container_id, 2' }, table)

it('names the other bill, and counts where a customer is named', { tags: ['JA9'] }, async () => {
  await insertKnown(scene, 'shipments', [
    shipment('s1'),
    shipment('s2', { customer_name: 'Acme' }),
    shipment('s3', { bill_of_lading_number: null }),
  ])
  await insertKnown(scene, 'containers', [box('c1', 's1'), box('c2', 's2'), box('c3', 's3')])
  const table = `
    container_id | also_tracked_as | is_counted_elsewhere
    c1           | BOL s2, c3      | true
    c2           | BOL s1, c3      | false
    c3           | BOL s1, BOL s2  | true`
  await shows('tracked_twice', table)
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
  const table = `
    container_id | also_tracked_as | is_counted_elsewhere
    c1           | BOL s4          | false
    c4           | BOL s1          | true`
  await shows('tracked_twice', table)
})

it('has the costs once, and the box in both lists', { tags: ['JA9'] }, async () => {
  await insertRule(scene, { charge: 'storage', free_days: 2 })
  await insertKnown(scene, 'shipments', [shipment('s1'), shipment('s2', { customer_name: 'Acme' })])
  await insertKnown(scene, 'containers', [box('c1', 's1'), box('c2', 's2')])
  await insertKnown(scene, 'container_fees', [
    listedFee('c1', 'exam', '50', 'EUR'),
    listedFee('c2', 'exam', '50', 'EUR'),
  ])
  // Free until 4 March; 12 March in Los Angeles is the eighth day over.
  const costs = `
    container_id | charge      | cost_amount | rule_amount
    c2           | listed fees | 50          | -
    c2           | storage     | -           | 800`
  await shows('costs', costs)
  const days = `
    container_id | also_tracked_as | state   | binding_on
    c1           | BOL s2          | overdue | 2026-03-04
    c2           | BOL s1          | overdue | 2026-03-04`
  await shows('last_free_days', days)
  await shows('pickups', 'container_id | also_tracked_as\nc1 | BOL s2\nc2 | BOL s1')
})
