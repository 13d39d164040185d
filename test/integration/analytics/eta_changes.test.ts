import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { insertVersions } from '../../support/insert-versions.js'
import { expectRows } from '../../support/tables.js'

const scene = useAnalyticsScene()

const SHIPMENT = {
  bill_of_lading_number: 'MAEU1',
  shipping_line_scac: 'MAEU',
  port_of_lading_locode: 'CNSHA',
  port_of_discharge_locode: 'USLAX',
}
const ZONE = { pod_timezone: 'America/Los_Angeles' }
/** Versions that follow each other, each given by its beginning and its values. */
const versions = (
  shipmentId: string,
  known: readonly (readonly [from: string, values: Record<string, unknown>])[],
) =>
  insertVersions(
    scene,
    shipmentId,
    known.map(([from, values]) => [from, { ...SHIPMENT, ...ZONE, ...values }]),
  )

const shows = (table: string, asOf = '') =>
  expectRows(scene, 'eta_changes', { asOf, rest: 'order by shipment_id, changed_at' }, table)

it('tells each move, and an ETA taken back and given again, but no first one', async () => {
  await scene.insert('shipments', [{ ...SHIPMENT, shipment_id: 's1' }])
  await versions('s1', [
    ['2026-03-01T00:00Z', { pod_eta_at: null }],
    // The first ETA is not a change; a version that differs in another column is not one either.
    ['2026-03-02T00:00Z', { pod_eta_at: '2026-03-07T12:00Z', pod_voyage_number: '011E' }],
    [
      '2026-03-03T00:00Z',
      {
        pod_eta_at: '2026-03-07T12:00Z',
        pod_voyage_number: '011E',
        customer_name: 'Somebody',
      },
    ],
    // 7 March 04:00 PST to 8 March 05:00 PDT: 24 hours, though the clocks say 25.
    [
      '2026-03-04T00:00Z',
      { pod_eta_at: '2026-03-08T12:00Z', source: 'webhook', pod_voyage_number: '012E' },
    ],
    ['2026-03-05T00:00Z', { pod_eta_at: null, pod_voyage_number: '012E' }],
    ['2026-03-06T00:00Z', { pod_eta_at: '2026-03-08T10:30Z', pod_voyage_number: '012E' }],
  ])
  const rows = `
    kind        | source  | slip_hours | is_voyage_changed | changed_at
    moved       | webhook | 24.00      | true              | 2026-03-04 00:00:00+00
    withdrawn   | sync    | -          | false             | 2026-03-05 00:00:00+00`
  const times = `
    from_eta_at            | to_eta_at              | from_eta_local      | to_eta_local
    2026-03-07 12:00:00+00 | 2026-03-08 12:00:00+00 | 2026-03-07 04:00:00 | 2026-03-08 05:00:00
    2026-03-08 12:00:00+00 | -                      | 2026-03-08 05:00:00 | -`
  await shows(`${rows}
    given again | sync    | -          | false             | 2026-03-06 00:00:00+00`)
  await shows(`${times}
    -                      | 2026-03-08 10:30:00+00 | -                   | 2026-03-08 03:30:00`)
  // As of an instant the later ones are not known yet.
  await shows(rows, '2026-03-05T12:00Z')
  await shows(times, '2026-03-05T12:00Z')
  const own = { ...SHIPMENT, shipment_id: 's1', is_zone_known: true }
  expect(await scene.read('eta_changes')).toMatchObject([own, own, own])
})

it('takes a missing zone as sent, flags one that is none', async () => {
  await scene.insert('shipments', [
    { ...SHIPMENT, shipment_id: 's1' },
    { ...SHIPMENT, shipment_id: 's2' },
  ])
  for (const [shipmentId, zone] of [
    ['s1', null],
    ['s2', 'Mars/Olympus'],
  ] as const) {
    await versions(shipmentId, [
      ['2026-03-01T00:00Z', { pod_timezone: zone, pod_eta_at: '2026-03-07T12:00Z' }],
      ['2026-03-02T00:00Z', { pod_timezone: zone, pod_eta_at: '2026-03-07T10:30Z' }],
    ])
  }
  await shows(`
    shipment_id | slip_hours | is_zone_known | from_eta_local      | to_eta_local
    s1          | -1.50      | false         | 2026-03-07 12:00:00 | 2026-03-07 10:30:00
    s2          | -1.50      | false         | -                   | -`)
})

it('compares nothing across a time in which the shipment was gone', async () => {
  await scene.insert('shipments', [{ ...SHIPMENT, shipment_id: 's1' }])
  await scene.insert('shipment_history', [
    {
      shipment_id: 's1',
      valid_from: '2026-03-01T00:00Z',
      valid_to: '2026-03-02T00:00Z',
      pod_eta_at: '2026-03-07T12:00Z',
    },
    { shipment_id: 's1', valid_from: '2026-03-05T00:00Z', pod_eta_at: '2026-03-09T12:00Z' },
  ])
  expect(await scene.read('eta_changes')).toEqual([])
})

it('takes a vessel or voyage that was filled in, or is written otherwise, for no other one', async () => {
  const emma = {
    pod_vessel_name: 'EMMA MAERSK',
    pod_vessel_imo: '9000001',
    pod_voyage_number: '118E',
  }
  const unnumbered = { ...emma, pod_vessel_imo: null }
  // Each has two versions, the second with another ETA.
  const cases = [
    [emma, emma, false],
    // Written otherwise.
    [emma, { ...emma, pod_voyage_number: ' 0118e' }, false],
    [emma, { ...emma, pod_vessel_name: 'Emma Mærsk' }, false],
    [unnumbered, { ...unnumbered, pod_vessel_name: ' Emma Maersk' }, false],
    // Filled in, or no longer reported.
    [unnumbered, emma, false],
    [{}, emma, false],
    [emma, {}, false],
    // Other vessels: by number, by name if one lacks a number, by voyage.
    [emma, { ...emma, pod_vessel_imo: '9000002' }, true],
    [unnumbered, { ...emma, pod_vessel_name: 'EVER GIVEN' }, true],
    [emma, { ...emma, pod_voyage_number: '118W' }, true],
    [{ pod_voyage_number: '118E' }, { ...emma, pod_voyage_number: '1180E' }, true],
  ] as const
  for (const [index, [earlier, later]] of cases.entries()) {
    const shipmentId = `s${String(index).padStart(2, '0')}`
    await scene.insert('shipments', [{ ...SHIPMENT, shipment_id: shipmentId }])
    await versions(shipmentId, [
      ['2026-03-01T00:00Z', { pod_eta_at: '2026-03-07T12:00Z', ...earlier }],
      ['2026-03-02T00:00Z', { pod_eta_at: '2026-03-08T12:00Z', ...later }],
    ])
  }
  await shows(['is_voyage_changed', ...cases.map(([, , isChanged]) => isChanged)].join('\n'))
})
