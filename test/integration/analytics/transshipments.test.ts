import { expect, it, test } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { insertKnown } from '../../support/insert-known.js'
import { expectRows } from '../../support/tables.js'

const scene = useAnalyticsScene()

let serial = 0

/** Transport events of a container, each as name, place, time, and vessel. */
async function insertEvents(
  containerId: string,
  events: readonly (readonly [
    name: string,
    place: string | null,
    at: string | null,
    vessel?: string,
  ])[],
  more: Record<string, unknown> = {},
): Promise<void> {
  await scene.insert(
    'transport_events',
    events.map(([name, place, at, vessel]) => ({
      container_id: containerId,
      transport_event_id: `e${serial++}`,
      event: `container.transport.${name}`,
      location_locode: place,
      location_id: place,
      timezone: place === 'SGSIN' ? 'Asia/Singapore' : null,
      timestamp: at,
      vessel_id: vessel ?? null,
      is_estimated: name.startsWith('estimated'),
      ...more,
    })),
  )
}

it('finds where containers changed ships, by transshipment events and by feeders', async () => {
  await scene.insert('ports', [{ port_id: 'SGSIN', name: 'Singapore' }])
  await scene.insert('vessels', [
    { vessel_id: 'v1', name: 'FIRST' },
    { vessel_id: 'v2', name: 'SECOND' },
    { vessel_id: 'v3', name: 'FEEDER' },
  ])
  await insertKnown(scene, 'shipments', [{ shipment_id: 's1', shipping_line_scac: 'MAEU' }])
  await insertKnown(
    scene,
    'containers',
    ['c1', 'c2', 'c3', 'c4', 'c5', 'c6'].map((id) => ({
      container_id: id,
      shipment_id: 's1',
      number: id.toUpperCase(),
      pod_arrived_at: id === 'c5' ? '2026-03-09T00:00Z' : null,
    })),
  )
  // All four; two reports of the arrival, the earlier counts; forecasts do not. 3 March 00:00 to 5
  // March 12:00 are 60 hours.
  await insertEvents('c1', [
    ['vessel_departed', 'CNSHA', '2026-02-25T00:00Z', 'v1'],
    ['estimated.vessel_arrived', 'SGSIN', '2026-03-01T00:00Z', 'v1'],
    ['transshipment_arrived', 'SGSIN', '2026-03-03T02:00Z', 'v1'],
    ['transshipment_arrived', 'SGSIN', '2026-03-03T00:00Z', 'v1'],
    ['transshipment_discharged', 'SGSIN', '2026-03-03T08:00Z', 'v1'],
    ['transshipment_loaded', 'SGSIN', '2026-03-05T02:00Z', 'v2'],
    ['transshipment_departed', 'SGSIN', '2026-03-05T12:00Z', 'v2'],
    ['vessel_arrived', 'USLAX', '2026-03-09T00:00Z', 'v2'],
  ])
  // A feeder brings it to the port where the main ship loads it: 36 h from its discharge to the
  // departure of the main ship. The port from which the feeder came is not a change of ships.
  await insertEvents('c2', [
    ['feeder_loaded', 'MYPKG', '2026-03-01T00:00Z', 'v3'],
    ['feeder_departed', 'MYPKG', '2026-03-01T06:00Z', 'v3'],
    ['feeder_discharged', 'SGSIN', '2026-03-02T00:00Z', 'v3'],
    ['vessel_loaded', 'SGSIN', '2026-03-03T00:00Z', 'v1'],
    ['vessel_departed', 'SGSIN', '2026-03-03T12:00Z', 'v1'],
    ['vessel_arrived', 'USLAX', '2026-03-20T00:00Z', 'v1'],
  ])
  // The main ship leaves it to a feeder; the port where the feeder ends is not a change of ships.
  await insertEvents('c3', [
    ['vessel_loaded', 'CNSHA', '2026-03-01T00:00Z', 'v1'],
    ['vessel_discharged', 'SGSIN', '2026-03-08T00:00Z', 'v1'],
    ['feeder_loaded', 'SGSIN', '2026-03-09T00:00Z', 'v3'],
    ['feeder_arrived', 'MYPKG', '2026-03-10T00:00Z', 'v3'],
    ['feeder_discharged', 'MYPKG', '2026-03-10T06:00Z', 'v3'],
  ])
  // Waits for its next ship; no place said: one row without a place and without a zone, wall time
  // as sent.
  await insertEvents('c4', [
    ['transshipment_discharged', null, '2026-03-08T12:00Z'],
    ['feeder_loaded', null, '2026-03-09T12:00Z'],
  ])
  await insertEvents('c4', [['transshipment_arrived', 'SGSIN', '2026-03-09T00:00Z', 'v1']])
  // Went on unreported, for it has reached the port of discharge.
  await insertEvents('c5', [['transshipment_arrived', 'SGSIN', '2026-03-05T00:00Z']])
  // Withdrawn by the source; and an ordinary journey.
  await insertEvents('c6', [['transshipment_arrived', 'SGSIN', '2026-03-05T00:00Z']], {
    _deleted_at: '2026-03-06T00:00Z',
  })
  await insertEvents('c6', [['vessel_loaded', 'CNSHA', '2026-03-05T00:00Z']])

  const rest = 'order by container_id, location_locode'
  expect(await scene.read('transshipments', { asOf: '2026-03-10T12:00Z', rest })).toMatchSnapshot()
})

test('each instant has the zone of its own event', { tags: ['FF4'] }, async () => {
  await insertKnown(scene, 'containers', [{ container_id: 'c1' }])
  // Without a place, events of two places are in one row.
  for (const [name, timezone, at] of [
    ['transshipment_arrived', 'Asia/Kolkata', '2026-03-01T00:00Z'],
    ['transshipment_arrived', 'Asia/Singapore', '2026-03-02T00:00Z'],
    ['vessel_departed', 'America/Lima', '2026-03-09T00:00Z'],
    ['transshipment_departed', 'Asia/Kolkata', '2026-03-03T00:00Z'],
    ['transshipment_departed', 'Asia/Singapore', '2026-03-04T00:00Z'],
  ] as const) {
    await insertEvents('c1', [[name, null, at]], { timezone })
  }
  const table = `
    arrived_local       | departed_local      | is_zone_known
    2026-03-01 05:30:00 | 2026-03-04 08:00:00 | true`
  await expectRows(scene, 'transshipments', {}, table)
})

it(
  'waits until a ship reports it gone or elsewhere, and not one to come',
  { tags: ['FE5'] },
  async () => {
    const ids = ['elsewhere', 'there', 'announced']
    await insertKnown(
      scene,
      'containers',
      ids.map((container_id) => ({ container_id })),
    )
    await insertEvents('elsewhere', [
      ['transshipment_discharged', 'SGSIN', '2026-03-01T00:00Z'],
      ['vessel_departed', 'LKCMB', '2026-03-05T00:00Z'],
    ])
    await insertEvents('there', [
      ['vessel_departed', 'CNSHA', '2026-02-01T00:00Z'],
      ['transshipment_discharged', 'SGSIN', '2026-03-01T00:00Z'],
      // A forecast reports nothing.
      ['estimated.vessel_arrived', 'USLAX', '2026-03-11T00:00Z'],
    ])
    await insertEvents('announced', [
      ['transshipment_arrived', 'SGSIN', '2026-03-10T00:00Z'],
      ['transshipment_departed', 'SGSIN', '2026-03-14T00:00Z'],
    ])
    const table = `
    container_id | arrived_at             | departed_at | is_waiting
    announced    | 2026-03-10 00:00:00+00 | -           | true
    elsewhere    | -                      | -           | false
    there        | -                      | -           | true`
    const options = { asOf: '2026-03-12T00:00Z', rest: 'order by container_id' }
    await expectRows(scene, 'transshipments', options, table)
  },
)
