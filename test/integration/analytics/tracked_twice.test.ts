import { it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
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

const shows = (view: string, table: string) =>
  scene.expectRows(view, { asOf: AS_OF, rest: 'order by container_id, 2' }, table)

it('names the other bill, and counts where a customer is named', { tags: ['JA9'] }, async () => {
  await scene.insertKnown('shipments', [
    shipment('s1'),
    shipment('s2', { customer_name: 'Acme' }),
    shipment('s3', { bill_of_lading_number: null }),
  ])
  await scene.insertKnown('containers', [box('c1', 's1'), box('c2', 's2'), box('c3', 's3')])
  const table = `
    container_id | also_tracked_as | is_counted_elsewhere
    c1           | BOL s2, c3      | true
    c2           | BOL s1, c3      | false
    c3           | BOL s1, BOL s2  | true`
  await shows('tracked_twice', table)
})

it('takes neither another port, nor a later journey, nor a number nobody knows', async () => {
  const other = { port_of_discharge_locode: 'USOAK' }
  await scene.insertKnown('shipments', [shipment('s1'), shipment('s2', other), shipment('s5')])
  await scene.insertKnown('containers', [box('c1', 's1'), box('c2', 's2')])
  await scene.insertKnown(
    'containers',
    ['c5', 'c6'].map((id) => box(id, 's5', { number: null })),
  )
  // A second more than three days later; and exactly three days before, by the ETA.
  for (const [n, pod_eta_at] of [
    [3, '2026-03-05T20:00:01Z'],
    [4, '2026-02-27T20:00:00Z'],
  ]) {
    await scene.insertKnown('shipments', [shipment(`s${n}`, { pod_eta_at })])
    await scene.insertKnown('containers', [box(`c${n}`, `s${n}`, { pod_discharged_at: null })])
  }
  const table = `
    container_id | also_tracked_as | is_counted_elsewhere
    c1           | BOL s4          | false
    c4           | BOL s1          | true`
  await shows('tracked_twice', table)
})

it('has the costs once, and the box in both lists', { tags: ['JA9'] }, async () => {
  await insertRule(scene, { charge: 'storage', free_days: 2 })
  await scene.insertKnown('shipments', [shipment('s1'), shipment('s2', { customer_name: 'Acme' })])
  await scene.insertKnown('containers', [box('c1', 's1'), box('c2', 's2')])
  await scene.insertKnown('container_fees', [
    listedFee('c1', 'exam', '50', 'EUR'),
    listedFee('c2', 'exam', '50', 'EUR'),
  ])
  // Free until 4 March; 12 March in Los Angeles is the eighth day over.
  const costs = `
    container_id | charge      | cost_amount | rule_amount
    c2           | listed fees | 50          | -
    c2           | storage     | -           | 800`
  await shows('costs', costs)
  const both = `
    container_id | also_tracked_as | state   | binding_on
    c1           | BOL s2          | overdue | 2026-03-04
    c2           | BOL s1          | overdue | 2026-03-04`
  for (const list of ['last_free_days', 'pickups']) await shows(list, both)
})
