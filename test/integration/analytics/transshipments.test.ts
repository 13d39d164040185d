import { expect, it, test } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'

const scene = useAnalyticsScene()

/** Calls at ports whose ids are their codes. */
async function insertCalls(table: string): Promise<void> {
  await scene.insertEvents(table, { timezone: null })
  await scene.query(
    `update tracking.transport_events set location_id = location_locode,
      timezone = coalesce(timezone, case location_locode when 'SGSIN' then 'Asia/Singapore' end)`,
  )
}

it('finds where containers changed ships, by transshipment events and by feeders', async () => {
  await scene.insert('ports', [{ port_id: 'SGSIN', name: 'Singapore' }])
  await scene.insert('vessels', [
    { vessel_id: 'v1', name: 'FIRST' },
    { vessel_id: 'v2', name: 'SECOND' },
    { vessel_id: 'v3', name: 'FEEDER' },
  ])
  await scene.insertKnown('shipments', [{ shipment_id: 's1', shipping_line_scac: 'MAEU' }])
  await scene.insertKnown(
    'containers',
    ['c1', 'c2', 'c3', 'c4', 'c5', 'c6'].map((id) => ({
      container_id: id,
      shipment_id: 's1',
      number: id.toUpperCase(),
      pod_arrived_at: id === 'c5' ? '2026-03-09T00:00Z' : null,
    })),
  )
  // 3 March 00:00 to 5 March 12:00 are 60 hours; 36 h from the discharge of the feeder to the
  // departure of the main ship.
  await insertCalls(`
    container_id | event                    | location_locode | timestamp         | vessel_id | _deleted_at
    -- All four; two reports of the arrival, the earlier counts; forecasts do not.
    c1           | vessel_departed          | CNSHA           | 2026-02-25T00:00Z | v1        |
    c1           | estimated.vessel_arrived | SGSIN           | 2026-03-01T00:00Z | v1        |
    c1           | transshipment_arrived    | SGSIN           | 2026-03-03T02:00Z | v1        |
    c1           | transshipment_arrived    | SGSIN           | 2026-03-03T00:00Z | v1        |
    c1           | transshipment_discharged | SGSIN           | 2026-03-03T08:00Z | v1        |
    c1           | transshipment_loaded     | SGSIN           | 2026-03-05T02:00Z | v2        |
    c1           | transshipment_departed   | SGSIN           | 2026-03-05T12:00Z | v2        |
    c1           | vessel_arrived           | USLAX           | 2026-03-09T00:00Z | v2        |
    -- A feeder brings it to the port where the main ship loads it. The port from which the feeder
    -- came is not a change of ships.
    c2           | feeder_loaded            | MYPKG           | 2026-03-01T00:00Z | v3        |
    c2           | feeder_departed          | MYPKG           | 2026-03-01T06:00Z | v3        |
    c2           | feeder_discharged        | SGSIN           | 2026-03-02T00:00Z | v3        |
    c2           | vessel_loaded            | SGSIN           | 2026-03-03T00:00Z | v1        |
    c2           | vessel_departed          | SGSIN           | 2026-03-03T12:00Z | v1        |
    c2           | vessel_arrived           | USLAX           | 2026-03-20T00:00Z | v1        |
    -- The main ship leaves it to a feeder; the port where that ends is not a change of ships.
    c3           | vessel_loaded            | CNSHA           | 2026-03-01T00:00Z | v1        |
    c3           | vessel_discharged        | SGSIN           | 2026-03-08T00:00Z | v1        |
    c3           | feeder_loaded            | SGSIN           | 2026-03-09T00:00Z | v3        |
    c3           | feeder_arrived           | MYPKG           | 2026-03-10T00:00Z | v3        |
    c3           | feeder_discharged        | MYPKG           | 2026-03-10T06:00Z | v3        |
    -- Waits for its next ship; no place said: a row without place and zone, wall time as sent.
    c4           | transshipment_discharged |                 | 2026-03-08T12:00Z |           |
    c4           | feeder_loaded            |                 | 2026-03-09T12:00Z |           |
    c4           | transshipment_arrived    | SGSIN           | 2026-03-09T00:00Z | v1        |
    -- Went on unreported, for it has reached the port of discharge.
    c5           | transshipment_arrived    | SGSIN           | 2026-03-05T00:00Z |           |
    -- Withdrawn by the source; and an ordinary journey.
    c6           | transshipment_arrived    | SGSIN           | 2026-03-05T00:00Z |           | 2026-03-06T00:00Z
    c6           | vessel_loaded            | CNSHA           | 2026-03-05T00:00Z |           |`)
  const rest = 'order by container_id, location_locode'
  expect(await scene.read('transshipments', { asOf: '2026-03-10T12:00Z', rest })).toMatchSnapshot()
})

test('each instant has the zone of its own event', { tags: ['FF4'] }, async () => {
  await scene.insertKnown('containers', [{ container_id: 'c1' }])
  // Without a place, events of two places are in one row.
  await insertCalls(`
    event                  | timezone       | timestamp
    transshipment_arrived  | Asia/Kolkata   | 2026-03-01T00:00Z
    transshipment_arrived  | Asia/Singapore | 2026-03-02T00:00Z
    vessel_departed        | America/Lima   | 2026-03-09T00:00Z
    transshipment_departed | Asia/Kolkata   | 2026-03-03T00:00Z
    transshipment_departed | Asia/Singapore | 2026-03-04T00:00Z`)
  const table = `
    arrived_local       | departed_local      | is_zone_known
    2026-03-01 05:30:00 | 2026-03-04 08:00:00 | true`
  await scene.expectRows('transshipments', {}, table)
})

it('waits until a ship reports it gone or elsewhere', { tags: ['FE5'] }, async () => {
  const ids = ['elsewhere', 'there', 'announced']
  const boxes = ids.map((container_id) => ({ container_id }))
  await scene.insertKnown('containers', boxes)
  await insertCalls(`
    container_id | event                    | location_locode | timestamp
    elsewhere    | transshipment_discharged | SGSIN           | 2026-03-01T00:00Z
    elsewhere    | vessel_departed          | LKCMB           | 2026-03-05T00:00Z
    there        | vessel_departed          | CNSHA           | 2026-02-01T00:00Z
    there        | transshipment_discharged | SGSIN           | 2026-03-01T00:00Z
    -- A forecast reports nothing, and one to come has not happened.
    there        | estimated.vessel_arrived | USLAX           | 2026-03-11T00:00Z
    announced    | transshipment_arrived    | SGSIN           | 2026-03-10T00:00Z
    announced    | transshipment_departed   | SGSIN           | 2026-03-14T00:00Z`)
  const table = `
    container_id | arrived_at             | departed_at | is_waiting
    announced    | 2026-03-10 00:00:00+00 | -           | true
    elsewhere    | -                      | -           | false
    there        | -                      | -           | true`
  const options = { asOf: '2026-03-12T00:00Z', rest: 'order by container_id' }
  await scene.expectRows('transshipments', options, table)
})
