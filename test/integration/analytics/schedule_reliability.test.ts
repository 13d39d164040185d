import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { rowsOf } from '../../support/tables.js'

const scene = useAnalyticsScene()

const LANE = {
  shipping_line_scac: 'MAEU',
  shipping_line_name: 'Maersk',
  port_of_lading_locode: 'CNSHA',
  port_of_lading_name: 'Shanghai',
  port_of_discharge_locode: 'USLAX',
  port_of_discharge_name: 'Los Angeles',
  pod_timezone: 'America/Los_Angeles',
}

it('counts local days from the first ETA, and what cannot be measured apart', async () => {
  const shipments = `
    shipment_id | pod_timezone | pod_original_eta_at | pod_ata_at        | _deleted_at
    -- Clocks went forward on 8 March. 7 March 12:00 to 8 March 23:30 local: one day late, on time.
    -- In UTC it would be two days. 34.5 h = 1.4375 days.
    s1          |              | 2026-03-07T20:00Z   | 2026-03-09T06:30Z |
    -- Its first ETA is in the history: 10 March, found at the 14th: 4 days late.
    s2          |              |                     | 2026-03-14T12:00Z |
    -- 3 days early.
    s3          |              | 2026-03-20T12:00Z   | 2026-03-17T12:00Z |
    -- Its only ETA was first seen after the arrival: not measured.
    s4          |              |                     | 2026-03-16T12:00Z |
    s5          |              | 2026-03-01T12:00Z   | 2026-03-16T12:00Z | 2026-03-17T00:00Z
    -- No zone: days as sent, the 18th and the 20th: 2 days late, 26 h = 1.0833 days.
    s6          | -            | 2026-03-18T23:00Z   | 2026-03-20T01:00Z |
    -- No such zone: nobody can say the month or the days.
    s7          | Mars/Olympus | 2026-03-18T23:00Z   | 2026-03-20T01:00Z |
    s8          |              | 2026-03-18T23:00Z   |                   |
    -- 31 March 20:00 local: still March; on the minute.
    s9          |              | 2026-04-01T03:00Z   | 2026-04-01T03:00Z |`
  await scene.insert('shipments', rowsOf(shipments, LANE))
  const history = rowsOf(`
    shipment_id | valid_from        | valid_to          | pod_eta_at
    s2          | 2026-02-19T00:00Z | 2026-02-20T00:00Z |
    s2          | 2026-02-20T00:00Z | 2026-03-01T00:00Z | 2026-03-10T12:00Z
    s2          | 2026-03-01T00:00Z |                   | 2026-03-14T12:00Z
    s4          | 2026-03-25T00:00Z |                   | 2026-03-10T12:00Z`)
  await scene.insert('shipment_history', history)
  // mean_delay_of_late_days 2.54: (4 + 1.0833) / 2
  // mean_delay_days 0.70: (1.4375 + 4 - 3 + 1.0833 + 0) / 5
  expect(
    await scene.read('schedule_reliability', { rest: 'order by arrival_month_on' }),
  ).toMatchSnapshot()
})
