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

/** Of a shipment whose vessel or voyage may change at sea. */
const AT_SEA = {
  pol_atd_at: '2026-03-01T00:00Z',
  pod_vessel_name: 'EMMA MAERSK',
  pod_vessel_imo: '9000001',
  pod_voyage_number: '118E',
}
const ARRIVED = { pod_ata_at: '2026-03-21T12:00Z' }

it('counts what changed from departure to arrival, and no other spelling', async () => {
  const changes = [
    ['another voyage', '2026-03-05T00:00Z', {}, { pod_voyage_number: '119E' }, [false, true]],
    ['another vessel', '2026-03-05T00:00Z', {}, { pod_vessel_imo: '9000002' }, [true, false]],
    ['a new plan', '2026-02-20T00:00Z', {}, { pod_voyage_number: '119E' }, [false, false]],
    ['after arrival', '2026-03-22T00:00Z', {}, { pod_vessel_imo: '9000002' }, [false, false]],
    ['written otherwise', '2026-03-05T00:00Z', {}, { pod_voyage_number: ' 0118e' }, [false, false]],
    ['a number filled in', '2026-03-05T00:00Z', { pod_vessel_imo: null }, {}, [false, false]],
    [
      'another name',
      '2026-03-05T00:00Z',
      { pod_vessel_imo: null },
      { pod_vessel_name: 'EVER GIVEN' },
      [true, false],
    ],
    [
      'only an estimate of the departure',
      '2026-03-05T00:00Z',
      { pol_atd_at: null, pol_etd_at: '2026-03-06T00:00Z' },
      { pol_atd_at: null, pol_etd_at: '2026-03-06T00:00Z', pod_voyage_number: '119E' },
      [false, false],
    ],
  ] as const
  for (const [shipment, at, before, after, changed] of changes) {
    await insertVersions(scene, shipment, [
      ['2026-02-10T00:00Z', { ...AT_SEA, ...before }],
      [at, { ...AT_SEA, ...after, ...(at > '2026-03-21' ? ARRIVED : {}) }],
      ['2026-03-23T00:00Z', { ...AT_SEA, ...after, ...ARRIVED }],
    ])
    const [row] = await scene.read('shipment_rollovers', {
      columns: ['is_vessel_changed', 'is_voyage_changed', 'is_rollover_free'],
      rest: `where shipment_id = '${shipment}'`,
      asOf: '2026-03-30T00:00Z',
    })
    const isFree = !changed[0] && !changed[1]
    expect(Object.values(row!), shipment).toEqual([...changed, isFree])
  }
})

it('does not know of a shipment that we saw after its departure, or that never departed', async () => {
  await insertVersions(scene, 'late', [['2026-03-02T00:00Z', { ...AT_SEA, ...ARRIVED }]])
  await insertVersions(scene, 'never', [
    ['2026-02-10T00:00Z', { ...AT_SEA, ...ARRIVED, pol_atd_at: null }],
  ])
  await scene.insert('shipments', [{ ...AT_SEA, ...ARRIVED, shipment_id: 'unseen' }])
  const shows = (asOf: string, ...ids: readonly string[]) =>
    expectRows(
      scene,
      'shipment_rollovers',
      { asOf, rest: 'order by shipment_id' },
      `shipment_id | is_watched | is_rollover_free\n${ids.map((id) => `${id} | false | -`).join('\n')}`,
    )
  await shows('2026-03-30T00:00Z', 'late', 'never')
  await shows('', 'unseen')
})
