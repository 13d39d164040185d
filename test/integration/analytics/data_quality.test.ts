import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'

const scene = useAnalyticsScene()

const AT = '2026-03-01T12:00Z'
const REPORT = {
  shipment_id: 's1',
  timezone: 'America/Los_Angeles',
  terminal_id: 't1',
  terminal_type: 'terminal',
}

it('tells of each line and terminal what is missing, unknown, stopped, failed and late', async () => {
  await scene.insert('terminals', [
    { terminal_id: 't1', name: 'APM Terminals Pier 400', nickname: 'Pier 400' },
  ])
  const shipments = `
    shipment_id | pol_atd_at | line_tracking_stopped_at | line_tracking_stopped_reason | created_at
    s1          | ${AT}      |                          |                              |
    s2          |            | ${AT}                    | no_updates_at_line           |
    s3          |            | ${AT}                    | all_containers_terminated    | 2026-01-01T00:00Z`
  const maersk = { shipping_line_scac: 'MAEU', shipping_line_name: 'Maersk' }
  await scene.insertKnown('shipments', shipments, { ...maersk, created_at: '2026-03-01T00:00Z' })
  const containers = `
    container_id | shipment_id | pod_terminal_id | pod_timezone        | pod_arrived_at | pod_discharged_at
    -- 3 of 3; 1 of 3; nothing expected.
    c1           | s1          | t1              | America/Los_Angeles | ${AT}          | ${AT}
    c2           | s2          | t1              | -                   |                | ${AT}
    c3           | s3          |                 | Mars/Olympus        |                |`
  await scene.insertKnown('containers', containers)
  await scene.insert(
    'tracking_requests',
    `tracking_request_id | scac | status  | created_at
     r1                  | MAEU | created | 2026-03-02T00:00Z
     r2                  | MAEU | failed  | 2026-03-02T00:00Z
     r3                  | MAEU | created | 2026-03-02T00:00Z
     r4                  | MAEU | failed  | 2026-04-02T00:00Z
     -- A line of which no shipment is known.
     r5                  | XXXX | failed  | 2026-03-02T00:00Z`,
  )
  const reports = `
    event                    | data_source   | timestamp         | created_at        | timezone | shipment_id | container_id
    -- The line: 2 and 6 hours. The terminal: 1 and 3.
    vessel_arrived           | shipping_line | 2026-03-10T00:00Z | 2026-03-10T02:00Z |          |             |
    vessel_discharged        | shipping_line | 2026-03-11T00:00Z | 2026-03-11T06:00Z |          |             |
    vessel_discharged        | terminal      | 2026-03-11T00:00Z | 2026-03-11T01:00Z |          |             |
    full_out                 | terminal      | 2026-03-12T00:00Z | 2026-03-12T03:00Z |          |             |
    -- Not counted: a forecast, no zone, before the service knew the shipment, availability, recorded
    -- too early or too late.
    estimated.vessel_arrived | shipping_line | 2026-03-10T00:00Z | 2026-03-10T20:00Z |          |             |
    vessel_departed          | shipping_line | 2026-03-10T00:00Z | 2026-03-10T20:00Z | -        |             |
    empty_out                | shipping_line | 2026-02-20T00:00Z | 2026-03-10T20:00Z |          |             |
    available                | terminal      | 2026-03-12T00:00Z | 2026-03-12T00:00Z |          |             |
    vessel_loaded            | shipping_line | 2026-02-01T00:00Z | 2026-02-01T20:00Z |          | s3          | c3
    empty_in                 | shipping_line | 2026-03-30T00:00Z | 2026-04-01T20:00Z |          |             |
    -- AIS told neither for the line nor for the terminal.
    vessel_berthed           | ais           | 2026-03-10T00:00Z | 2026-03-10T20:00Z |          |             |`
  await scene.insertEvents(reports, REPORT)
  expect(
    await scene.read('data_quality', {
      asOf: '2026-03-31T00:00Z',
      rest: 'order by subject_type, subject_id',
    }),
  ).toMatchSnapshot()
})

it('calls stale what was last answered more than 48 hours ago, or never', async () => {
  const ago = (hours: number): string => new Date(Date.now() - hours * 3_600_000).toISOString()
  await scene.insert(
    'shipments',
    `shipment_id | line_tracking_last_succeeded_at | line_tracking_stopped_at | _deleted_at
     s1          | ${ago(47)} |       |
     s2          | ${ago(49)} |       |
     s3          |            |       |
     s4          |            | ${AT} |
     s5          |            |       | ${AT}`,
    { shipping_line_scac: 'MAEU' },
  )
  // The third is gone from the terminal.
  await scene.insert(
    'containers',
    `container_id | terminal_checked_at | pod_full_out_at
     c1           | ${ago(47)}          |
     c2           | ${ago(49)}          |
     c3           |                     | ${AT}`,
    { pod_terminal_id: 't1', shipment_id: 's1', pod_discharged_at: AT },
  )
  await scene.expectRows(
    'data_quality',
    { rest: 'order by subject_id' },
    `
    subject_id | tracked | stale | stopped | stop_reasons
    MAEU       | 3       | 2     | 1       | not said 1
    t1         | 2       | 1     | 0       | -`,
  )
})
