import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { insertKnown } from '../../support/insert-known.js'
import { rowsOf } from '../../support/tables.js'

const scene = useAnalyticsScene()

const BOX = {
  shipment_id: 's1',
  pod_terminal_id: 't1',
  number: 'MSKU1234565',
  equipment_type: 'dry',
  equipment_length: 40,
}
const LA = { pod_timezone: 'America/Los_Angeles', empty_terminated_timezone: 'America/Los_Angeles' }
const AS_OF = '2026-03-20T05:00Z'

it('runs from the last full out to the empty return, open ones to the instant asked for', async () => {
  await insertKnown(scene, 'shipments', [
    { shipment_id: 's1', bill_of_lading_number: 'MAEU1', shipping_line_scac: 'MAEU' },
  ])
  const boxes = `
    container_id | pod_timezone | pod_full_out_at   | final_destination_full_out_at | empty_terminated_at | pod_discharged_at
    -- 6 March 22:00 PST to 9 March 00:00 PDT, over the change of clocks: 49 h elapsed, 3 days of the
    -- calendar.
    c1           |              | 2026-03-07T06:00Z |                               | 2026-03-09T07:00Z   |
    -- Inland: picked up in Chicago on 10 March 23:00, returned in the port two days of the calendar
    -- later.
    c2           |              | 2026-03-01T00:00Z | 2026-03-11T04:00Z             | 2026-03-12T16:00Z   |
    -- Still out since 17 March 22:00 local; it is the 19th there.
    c3           |              | 2026-03-18T05:00Z |                               |                     |
    c4           |              |                   |                               | 2026-03-12T16:00Z   |
    c5           |              | 2026-03-12T16:00Z |                               | 2026-03-11T16:00Z   |
    -- No zone of the port: taken as sent. A zone that is none: no wall time, no day.
    c6           | -            | 2026-03-12T16:00Z |                               |                     |
    c7           | Mars/Olympus | 2026-03-19T05:00Z |                               |                     |
    c8           |              |                   |                               |                     | 2026-03-12T16:00Z`
  const inland = { final_destination_timezone: 'America/Chicago' }
  await insertKnown(scene, 'containers', rowsOf(boxes, { ...BOX, ...LA, ...inland }))
  // days 7.54: 7 days and 13 hours
  // calendar_days null: nobody knows which day it is there.
  expect(
    await scene.read('empty_return_times', { asOf: AS_OF, rest: 'order by container_id' }),
  ).toMatchSnapshot()
})
