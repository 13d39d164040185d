import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { givenAndExpected, rowsOf } from '../../support/tables.js'

const scene = useAnalyticsScene()

const AS_OF = '2026-06-30T00:00:00Z'
const SHIP = {
  bill_of_lading_number: 'B1',
  shipping_line_scac: 'MAEU',
  shipping_line_name: 'Maersk',
  port_of_lading_locode: 'CNSHA',
  port_of_discharge_locode: 'USLAX',
  pod_vessel_imo: '9000001',
  pod_vessel_name: 'EMMA MAERSK',
  pod_voyage_number: ' 0118e',
  pol_timezone: 'Asia/Shanghai',
  pod_timezone: 'America/Los_Angeles',
  created_at: '2026-03-01T00:00Z',
  pol_atd_at: '2026-03-12T06:00Z',
  pod_original_eta_at: '2026-04-01T06:00Z',
  pod_eta_at: '2026-04-01T08:00Z',
}

const shows = (rest: string, table: string, asOf = AS_OF) =>
  scene.expectRows('shipment_outcomes', { asOf, rest }, table)

it('has every fact in the period of the arrival, and the promises in the one they were due in', async () => {
  // Due on 1 April 01:00 in Los Angeles, in the second quarter; it came on 31 March 23:00, in the
  // first. As of 30 June 00:00 the last 90 days begin on 1 April 00:00 UTC.
  await scene.insertVersions('s1', [
    ['2026-03-10T00:00Z', { ...SHIP, pol_atd_at: null }],
    ['2026-03-13T00:00Z', SHIP],
    ['2026-04-01T12:00Z', { ...SHIP, pod_ata_at: '2026-04-01T06:00Z' }],
  ])
  const box = { container_id: 'c1', shipment_id: 's1' }
  await scene.insert('container_history', [
    { ...box, valid_from: '2026-03-10T00:00Z', pod_discharged_at: '2026-04-02T00:00Z' },
  ])
  await scene.insertEvents(
    `event          | data_source   | timestamp         | timezone
     vessel_arrived | shipping_line | 2026-04-01T06:00Z |
     -- Of a terminal, without a zone, of another thing, before the service knew the shipment.
     vessel_arrived | terminal      | 2026-04-01T06:00Z |
     vessel_arrived | shipping_line | 2026-04-01T06:00Z | -
     full_out       | shipping_line | 2026-04-01T06:00Z |
     vessel_arrived | shipping_line | 2026-02-01T00:00Z |`,
    { ...box, created_at: '2026-04-01T18:00Z', timezone: 'America/Los_Angeles' },
  )
  // Departed, arrived, discharged; its arrival is missing.
  expect(
    await scene.read('shipment_outcomes', { rest: 'order by period', asOf: AS_OF }),
  ).toMatchSnapshot()
})

it('counts the last 90 days to the second', async () => {
  // The last two were due then, and come long after.
  await scene.insertVersionTable(
    { ...SHIP, pod_eta_at: null },
    `shipment_id | valid_from        | pod_ata_at           | pod_eta_at           | pod_timezone
     in          | 2026-04-02T00:00Z | 2026-04-01T00:00:00Z |                      |
     out         | 2026-04-02T00:00Z | 2026-03-31T23:59:59Z |                      |
     due in      | 2026-03-29T12:00Z |                      | 2026-04-01T00:00:00Z | Mars/Olympus
     due out     | 2026-03-29T12:00Z |                      | 2026-03-31T23:59:59Z | Mars/Olympus`,
  )
  await shows(
    `where period = 'last 90 days' order by shipment_id`,
    `shipment_id | is_of_arrival | has_arrived | eta_2_days_is_kept
     due in      | false         | false       | false
     in          | true          | true        | -`,
  )
})

/** Of a shipment whose vessel or voyage may change at sea. */
const AT_SEA = {
  pol_atd_at: '2026-03-01T00:00Z',
  pod_vessel_name: 'EMMA MAERSK',
  pod_vessel_imo: '9000001',
  pod_voyage_number: '118E',
}
const ARRIVED = { pod_ata_at: '2026-03-21T12:00Z' }

it('counts what changed from departure to arrival, and no other spelling', async () => {
  const [given, expected] = givenAndExpected(`
    shipment_id  | changed_on | imo_before | pod_vessel_imo | pod_vessel_name | pod_voyage_number | pol_atd_at | pol_etd_at        => is_vessel_changed | is_voyage_changed | is_rollover_free
    a voyage     | 2026-03-05 |            |                |                 | 119E              |            |                   => false             | true              | false
    b vessel     | 2026-03-05 |            | 9000002        |                 |                   |            |                   => true              | false             | false
    -- Before the departure, and after the arrival.
    c plan       | 2026-02-20 |            |                |                 | 119E              |            |                   => false             | false             | true
    d arrived    | 2026-03-22 |            | 9000002        |                 |                   |            |                   => false             | false             | true
    e spelling   | 2026-03-05 |            |                |                 | 0118e             |            |                   => false             | false             | true
    f filled in  | 2026-03-05 | -          |                |                 |                   |            |                   => false             | false             | true
    g name       | 2026-03-05 | -          |                | EVER GIVEN      |                   |            |                   => true              | false             | false
    -- Only an estimate of the departure.
    h estimate   | 2026-03-05 |            |                |                 | 119E              | -          | 2026-03-06T00:00Z => false             | false             | true`)
  const rows = rowsOf(given, { ...AT_SEA, imo_before: AT_SEA.pod_vessel_imo, pol_etd_at: null })
  for (const { shipment_id, changed_on, imo_before, ...after } of rows) {
    const { pol_atd_at, pol_etd_at } = after
    await scene.insertVersions(shipment_id!, [
      ['2026-02-10T00:00Z', { ...AT_SEA, pol_atd_at, pol_etd_at, pod_vessel_imo: imo_before }],
      [`${changed_on!}T00:00Z`, { ...after, ...(changed_on! > '2026-03-21' ? ARRIVED : {}) }],
      ['2026-03-23T00:00Z', { ...after, ...ARRIVED }],
    ])
  }
  const options = { asOf: '2026-03-30T00:00Z', rest: 'order by shipment_id' }
  await scene.expectRows('shipment_rollovers', options, expected)
})

it('does not know of a shipment that we saw after its departure, or that never departed', async () => {
  await scene.insertVersions('late', [['2026-03-02T00:00Z', { ...AT_SEA, ...ARRIVED }]])
  await scene.insertVersions('never', [
    ['2026-02-10T00:00Z', { ...AT_SEA, ...ARRIVED, pol_atd_at: null }],
  ])
  await scene.insert('shipments', [{ ...AT_SEA, ...ARRIVED, shipment_id: 'unseen' }])
  const shows = (asOf: string, ...ids: readonly string[]) =>
    scene.expectRows(
      'shipment_rollovers',
      { asOf, rest: 'order by shipment_id' },
      `shipment_id | is_watched | is_rollover_free\n${ids.map((id) => `${id} | false | -`).join('\n')}`,
    )
  await shows('2026-03-30T00:00Z', 'late', 'never')
  await shows('', 'unseen')
})
