import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { insertVersions, insertVersionTable } from '../../support/insert-versions.js'
import { expectRows } from '../../support/tables.js'

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
  expectRows(scene, 'shipment_outcomes', { asOf, rest }, table)

it('has every fact in the period of the arrival, and the promises in the one they were due in', async () => {
  // Due on 1 April 01:00 in Los Angeles, in the second quarter; it came on 31 March 23:00, in the
  // first. As of 30 June 00:00 the last 90 days begin on 1 April 00:00 UTC.
  await insertVersions(scene, 's1', [
    ['2026-03-10T00:00Z', { ...SHIP, pol_atd_at: null }],
    ['2026-03-13T00:00Z', SHIP],
    ['2026-04-01T12:00Z', { ...SHIP, pod_ata_at: '2026-04-01T06:00Z' }],
  ])
  await scene.insert('container_history', [
    {
      container_id: 'c1',
      shipment_id: 's1',
      valid_from: '2026-03-10T00:00Z',
      pod_discharged_at: '2026-04-02T00:00Z',
    },
  ])
  const report = {
    container_id: 'c1',
    shipment_id: 's1',
    event: 'container.transport.vessel_arrived',
    data_source: 'shipping_line',
    timestamp: '2026-04-01T06:00Z',
    created_at: '2026-04-01T18:00Z',
    timezone: 'America/Los_Angeles',
    is_estimated: false,
  }
  await scene.insert('transport_events', [
    { ...report, transport_event_id: 'e1' },
    // Of a terminal, without a zone, of another thing, before the service knew the shipment.
    { ...report, transport_event_id: 'e2', data_source: 'terminal' },
    { ...report, transport_event_id: 'e3', timezone: null },
    { ...report, transport_event_id: 'e4', event: 'container.transport.full_out' },
    { ...report, transport_event_id: 'e5', timestamp: '2026-02-01T00:00Z' },
  ])
  // Departed, arrived, discharged; its arrival is missing.
  expect(
    await scene.read('shipment_outcomes', { rest: 'order by period', asOf: AS_OF }),
  ).toMatchSnapshot()
})

it('counts the last 90 days to the second', async () => {
  // The last two were due then, and come long after.
  await insertVersionTable(
    scene,
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

it('leaves out a promise that does not count yet', async () => {
  // Due half a day before, and kept; those of late ships could not count yet.
  await insertVersionTable(
    scene,
    SHIP,
    `shipment_id | valid_from        | pod_eta_at        | pod_ata_at
     s1          | 2026-06-26T00:00Z | 2026-06-29T12:00Z | -
     s1          | 2026-06-29T14:00Z | 2026-06-29T12:00Z | 2026-06-29T12:00Z`,
  )
  const rest = `where period = 'last 90 days'`
  const columns = 'is_of_arrival | eta_2_days_is_kept'
  await shows(rest, `${columns}\ntrue | -`)
  await shows(rest, `${columns}\ntrue | true`, '2026-06-30T13:00Z')
})

it('names the call of a ship by port, vessel and voyage', async () => {
  const calls = [
    ['by number', {}, 'USLAX|9000001|118E'],
    [
      'by name',
      { pod_vessel_imo: null, pod_vessel_name: ' Emma Maersk' },
      'USLAX|EMMA MAERSK|118E',
    ],
    ['without a voyage', { pod_voyage_number: null }, 'USLAX|9000001'],
    ['at another port', { port_of_discharge_locode: 'USOAK' }, 'USOAK|9000001|118E'],
    ['of no vessel', { pod_vessel_imo: null, pod_vessel_name: null }, 'of no vessel'],
  ] as const
  for (const [shipment, more] of calls) {
    await insertVersions(scene, shipment, [
      ['2026-06-02T00:00Z', { ...SHIP, ...more, pod_ata_at: '2026-06-01T00:00Z' }],
    ])
  }
  const rows = await scene.read('shipment_outcomes', {
    columns: ['shipment_id', 'vessel_call'],
    rest: `where period = '2026-Q2'`,
    asOf: AS_OF,
  })
  expect(Object.fromEntries(rows.map((row) => [row.shipment_id, row.vessel_call]))).toEqual(
    Object.fromEntries(calls.map(([shipment, , call]) => [shipment, call])),
  )
})

it('has nulls where facts are missing', async () => {
  // In a zone that is none it is in no quarter; nobody says when it left or was to come.
  await insertVersions(scene, 's1', [
    ['2026-06-02T00:00Z', { pod_timezone: 'Mars/Olympus', pod_ata_at: '2026-06-01T00:00Z' }],
    ['2026-06-03T00:00Z', { pod_timezone: 'Mars/Olympus', pod_ata_at: '2026-06-01T00:00Z' }],
  ])
  const table = `
    period       | containers | days_late | is_on_time | transit_days | is_rollover_free | lag_hours | milestones_expected
    last 90 days | 0          | -         | -          | -            | -                | -         | -`
  await shows('', table)
})
