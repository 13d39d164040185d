import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { insertKnown } from '../../support/insert-known.js'
import { expectRows, rowsOf } from '../../support/tables.js'

const scene = useAnalyticsScene()

const AT = '2026-03-01T12:00Z'
const REPORT = {
  container_id: 'c1',
  shipment_id: 's1',
  timezone: 'America/Los_Angeles',
  terminal_id: 't1',
  terminal_type: 'terminal',
  is_estimated: false,
}

it('tells of each line and terminal what is missing, unknown, stopped, failed and late', async () => {
  await scene.insert('terminals', [
    { terminal_id: 't1', name: 'APM Terminals Pier 400', nickname: 'Pier 400' },
  ])
  const maersk = {
    shipping_line_scac: 'MAEU',
    shipping_line_name: 'Maersk',
    created_at: '2026-03-01T00:00Z',
  }
  const stopped = { ...maersk, line_tracking_stopped_at: AT }
  await insertKnown(scene, 'shipments', [
    { ...maersk, shipment_id: 's1', pol_atd_at: AT },
    { ...stopped, shipment_id: 's2', line_tracking_stopped_reason: 'no_updates_at_line' },
    {
      ...stopped,
      shipment_id: 's3',
      created_at: '2026-01-01T00:00Z',
      line_tracking_stopped_reason: 'all_containers_terminated',
    },
  ])
  const containers = `
    container_id | shipment_id | pod_terminal_id | pod_timezone        | pod_arrived_at | pod_discharged_at
    -- 3 of 3; 1 of 3; nothing expected.
    c1           | s1          | t1              | America/Los_Angeles | ${AT}          | ${AT}
    c2           | s2          | t1              | -                   |                | ${AT}
    c3           | s3          |                 | Mars/Olympus        |                |`
  await insertKnown(scene, 'containers', rowsOf(containers))
  const request = (id: string, scac: string, status: string, created = '2026-03-02T00:00Z') => ({
    tracking_request_id: id,
    scac,
    status,
    created_at: created,
  })
  await scene.insert('tracking_requests', [
    request('r1', 'MAEU', 'created'),
    request('r2', 'MAEU', 'failed'),
    request('r3', 'MAEU', 'created'),
    request('r4', 'MAEU', 'failed', '2026-04-02T00:00Z'),
    // A line of which no shipment is known.
    request('r5', 'XXXX', 'failed'),
  ])
  const reports = `
    event                    | data_source   | timestamp         | created_at        | is_estimated | timezone | shipment_id | container_id
    -- The line: 2 and 6 hours. The terminal: 1 and 3.
    vessel_arrived           | shipping_line | 2026-03-10T00:00Z | 2026-03-10T02:00Z |              |          |             |
    vessel_discharged        | shipping_line | 2026-03-11T00:00Z | 2026-03-11T06:00Z |              |          |             |
    vessel_discharged        | terminal      | 2026-03-11T00:00Z | 2026-03-11T01:00Z |              |          |             |
    full_out                 | terminal      | 2026-03-12T00:00Z | 2026-03-12T03:00Z |              |          |             |
    -- Not counted: a forecast, no zone, before the service knew the shipment, availability, recorded
    -- too early or too late.
    estimated.vessel_arrived | shipping_line | 2026-03-10T00:00Z | 2026-03-10T20:00Z | true         |          |             |
    vessel_departed          | shipping_line | 2026-03-10T00:00Z | 2026-03-10T20:00Z |              | -        |             |
    empty_out                | shipping_line | 2026-02-20T00:00Z | 2026-03-10T20:00Z |              |          |             |
    available                | terminal      | 2026-03-12T00:00Z | 2026-03-12T00:00Z |              |          |             |
    vessel_loaded            | shipping_line | 2026-02-01T00:00Z | 2026-02-01T20:00Z |              |          | s3          | c3
    empty_in                 | shipping_line | 2026-03-30T00:00Z | 2026-04-01T20:00Z |              |          |             |
    -- AIS told neither for the line nor for the terminal.
    vessel_berthed           | ais           | 2026-03-10T00:00Z | 2026-03-10T20:00Z |              |          |             |`
  await scene.insert(
    'transport_events',
    rowsOf(reports, REPORT).map((row, at) => ({
      ...row,
      event: `container.transport.${row.event}`,
      transport_event_id: `e${at}`,
    })),
  )
  expect(
    await scene.read('data_quality', {
      asOf: '2026-03-31T00:00Z',
      rest: 'order by subject_type, subject_id',
    }),
  ).toMatchSnapshot()
})

it('calls stale what was last answered more than 48 hours ago, or never', async () => {
  const ago = (hours: number): string => new Date(Date.now() - hours * 3_600_000).toISOString()
  const line = { shipping_line_scac: 'MAEU' }
  await scene.insert('shipments', [
    { ...line, shipment_id: 's1', line_tracking_last_succeeded_at: ago(47) },
    { ...line, shipment_id: 's2', line_tracking_last_succeeded_at: ago(49) },
    { ...line, shipment_id: 's3' },
    { ...line, shipment_id: 's4', line_tracking_stopped_at: AT },
    { ...line, shipment_id: 's5', _deleted_at: AT },
  ])
  const box = { pod_terminal_id: 't1', shipment_id: 's1', pod_discharged_at: AT }
  await scene.insert('containers', [
    { ...box, container_id: 'c1', terminal_checked_at: ago(47) },
    { ...box, container_id: 'c2', terminal_checked_at: ago(49) },
    // Gone from the terminal.
    { ...box, container_id: 'c3', pod_full_out_at: AT },
  ])
  await expectRows(
    scene,
    'data_quality',
    { rest: 'order by subject_id' },
    `
    subject_id | tracked | stale | stopped | stop_reasons
    MAEU       | 3       | 2     | 1       | not said 1
    t1         | 2       | 1     | 0       | -`,
  )
})

it('expects all milestones before the furthest one reported', async () => {
  await scene.insert('shipments', [
    { shipment_id: 's1', pol_atd_at: AT },
    { shipment_id: 's2', line_tracking_stopped_at: AT },
  ])
  const boxes = rowsOf(
    `container_id | pod_arrived_at | pod_discharged_at | pod_full_out_at | empty_terminated_at | ind_ata_at | final_destination_full_out_at | ind_rail_unloaded_at | shipment_id
     -- By truck, returned: departed, arrived, discharged, picked up, returned. All there; two
     -- missing; discharged only.
     c1           | ${AT}          | ${AT}             | ${AT}           | ${AT}               |            |                               |                      |
     c2           | ${AT}          |                   |                 | ${AT}               |            |                               |                      |
     c3           |                | ${AT}             |                 |                     |            |                               |                      |
     -- By rail: two more. Unloaded inland is not at the terminal, though no milestone says that it
     -- left.
     c4           | ${AT}          | ${AT}             |                 |                     | ${AT}      | ${AT}                         |                      |
     c5           | ${AT}          | ${AT}             |                 |                     |            |                               | ${AT}                |
     -- Nothing reported of it or of its shipment.
     c6           |                |                   |                 |                     |            |                               |                      | s2`,
    { shipment_id: 's1', pod_timezone: 'UTC' },
  )
  await scene.insert('containers', boxes)
  const table = `
    container_id | milestones_expected | milestones_reported | missing               | is_rail | is_at_terminal | tracking_stopped_reason
    c1           | 5                   | 5                   | []                    | false   | false          | -
    c2           | 5                   | 3                   | discharged, picked up | false   | false          | -
    c3           | 3                   | 2                   | arrived               | false   | true           | -
    c4           | 6                   | 5                   | rail departed         | true    | false          | -
    c5           | 3                   | 3                   | []                    | true    | false          | -
    c6           | 0                   | 0                   | []                    | false   | false          | not said`
  await expectRows(scene, 'container_completeness', { rest: 'order by container_id' }, table)
  const texts = await scene.read('container_completeness', {
    columns: ['missing_text'],
    rest: `where missing_text is not null order by container_id`,
  })
  expect(texts.map((row) => row.missing_text)).toEqual([
    'discharged, picked up',
    'arrived',
    'rail departed',
  ])
})
