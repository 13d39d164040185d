import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { insertKnown } from '../../support/insert-known.js'

const scene = useAnalyticsScene()

/** Hours after Monday 2 March 2026, 12:00 in Los Angeles. */
const at = (hours: number): string =>
  new Date(Date.parse('2026-03-02T20:00:00Z') + hours * 3_600_000).toISOString()
const AS_OF = at(60)

const COLUMNS = [
  'stage',
  'n',
  'median_hours',
  'p90_hours',
  'still_waiting',
  'longest_waiting_hours',
  'estimated_median_hours',
  'estimated_p90_hours',
  'not_measured',
  'zone_unknown',
]

/** Each row on a line: the stage, then its figures, `-` where there is none. */
async function readLines(condition: string, asOf = AS_OF): Promise<string[]> {
  const rows = await scene.read('port_waits', {
    asOf,
    columns: COLUMNS,
    rest: `where ${condition} order by stage`,
  })
  return rows.map((row) =>
    Object.values(row)
      .map((value) => (value === null ? '-' : (value as string | number)))
      .join(' | '),
  )
}

it('counts finished waits, and estimates with unfinished ones', async () => {
  await scene.insert('ports', [{ port_id: 'p1', code: 'USLAX' }])
  await scene.insert('terminals', [
    { terminal_id: 't1', name: 'West Basin', nickname: 'WBCT', port_id: 'p1' },
  ])
  await insertKnown(scene, 'shipments', [
    { shipment_id: 's1', port_of_discharge_locode: 'USLGB' },
    {
      shipment_id: 'stopped',
      line_tracking_stopped_at: at(30),
      line_tracking_stopped_reason: 'no_updates_at_line',
    },
  ])
  const box = (container_id: string, more: object) => ({
    container_id,
    number: container_id,
    shipment_id: 's1',
    pod_terminal_id: 't1',
    pod_timezone: 'America/Los_Angeles',
    ...more,
  })
  await insertKnown(scene, 'containers', [
    // Discharged at 0: out after 10, 20 and 40 hours, two still there, both for 60.
    box('c1', { pod_discharged_at: at(0), pod_full_out_at: at(10) }),
    box('c2', { pod_discharged_at: at(0), pod_rail_departed_at: at(20) }),
    box('c3', { pod_arrived_at: at(-11), pod_discharged_at: at(0), pod_full_out_at: at(40) }),
    box('c4', { pod_arrived_at: at(-5), pod_discharged_at: at(0) }),
    // Its gate-out is to come.
    box('c5', { pod_discharged_at: at(0), pod_full_out_at: at(70) }),
    // Seen to wait for 15 hours, then tracking stopped.
    box('c6', { shipment_id: 'stopped', pod_discharged_at: at(0) }),
    // Returned empty, and nobody said when it left the port.
    box('c7', { pod_discharged_at: at(0), empty_terminated_at: at(50) }),
    // In the week before: Sunday 22:00 there is Monday in UTC. No end of the first stage was said.
    box('c8', { pod_arrived_at: '2026-03-02T06:00:00Z', pod_discharged_at: at(0) }),
    // Its terminal says nothing of availability.
    box('c9', { availability_known: false, pod_discharged_at: at(0) }),
    box('elsewhere', {
      pod_terminal_id: null,
      pod_timezone: null,
      pod_arrived_at: at(0),
    }),
    box('broken', { pod_timezone: 'Mars/Olympus', pod_arrived_at: at(0) }),
  ])
  const event = (container_id: string, name: string, hours: number) => ({
    container_id,
    transport_event_id: `${name} ${hours} of ${container_id}`,
    event: `container.transport.${name}`,
    timestamp: at(hours),
    timezone: 'America/Los_Angeles',
    location_locode: 'USLGB',
    created_at: at(hours),
  })
  await scene.insert('transport_events', [
    event('c3', 'vessel_berthed', -6),
    // Before its discharge it speaks of another time; of two the first counts.
    event('c1', 'available', -50),
    ...['c1', 'c2', 'c3', 'c4', 'c5', 'c7', 'c8'].map((id) => event(id, 'available', 0)),
    event('c3', 'available', 30),
    event('c6', 'available', 15),
  ])

  const week = (on: string): string => `terminal_id = 't1' and week_on = '${on}'`
  expect(await readLines(week('2026-03-02'))).toEqual([
    // Two arrived: one berthed after 5 hours, of the other only the discharge is known.
    '1 arrival to berth | 1 | 5.0 | 5.0 | 0 | - | 5.0 | 5.0 | 1 | 0',
    '2 berth to discharge | 1 | 6.0 | 6.0 | 0 | - | 6.0 | 6.0 | 0 | 0',
    // Seven at once, one after 15 hours.
    '3 discharge to available | 8 | 0.0 | 4.5 | 0 | - | 0.0 | 15.0 | 1 | 0',
    // Over after 10, 20, 40; three wait for 60; one was seen to wait for 15, from 15 to 30; c7 is
    // not measured. Seven are left at 10: 6/7 remain. At 15 one drops out of the count. Five are
    // left at 20: 6/7 × 4/5 = 0.686. Four at 40: 0.686 × 3/4 = 0.514. Half is not reached.
    '4 available to out | 3 | 20.0 | 36.0 | 3 | 60.0 | - | - | 1 | 0',
    // c3 is out 51 hours after it arrived, c4 waits for 65: 1/2 remains at 51.
    '5 arrival to out | 1 | 51.0 | 51.0 | 1 | 65.0 | 51.0 | - | 0 | 0',
  ])
  expect(await readLines(week('2026-02-23'))).toEqual([
    '1 arrival to berth | 0 | - | - | 0 | - | - | - | 1 | 0',
    '5 arrival to out | 0 | - | - | 1 | 74.0 | - | - | 0 | 0',
  ])
  // Without a terminal: under the port of the shipment, in local wall time as it was sent.
  expect(await readLines(`terminal_id is null and port_locode = 'USLGB'`)).toEqual([
    '1 arrival to berth | 0 | - | - | 1 | 60.0 | - | - | 0 | 1',
    '5 arrival to out | 0 | - | - | 1 | 60.0 | - | - | 0 | 1',
  ])
  expect(await readLines(`terminal_id = 't1' and week_on is null`)).toEqual([
    '1 arrival to berth | 0 | - | - | 1 | 60.0 | - | - | 0 | 1',
    '5 arrival to out | 0 | - | - | 1 | 60.0 | - | - | 0 | 1',
  ])
  // Ten hours later c5 has left after 70 hours: two of the three are still seen to wait so long.
  // 0.514 × 2/3 = 0.343: the half is passed at 70.
  const later = await readLines(week('2026-03-02'), at(71))
  expect(later[3]).toBe('4 available to out | 4 | 30.0 | 61.0 | 2 | 71.0 | 70.0 | - | 1 | 0')
  const [named] = await scene.read('port_waits', {
    asOf: AS_OF,
    columns: ['terminal_name', 'port_locode', 'week_on'],
    rest: `where ${week('2026-03-02')} limit 1`,
  })
  expect(named).toEqual({ terminal_name: 'WBCT', port_locode: 'USLAX', week_on: '2026-03-02' })
})

it('takes the middle where exactly half is left, as survfit does', { tags: ['JA7'] }, async () => {
  await scene.insert('terminals', [{ terminal_id: 'even', name: 'Even' }])
  const waits = (week: number, hours: readonly number[]) =>
    hours.map((out, n) => ({
      container_id: `even ${String(week)} ${String(n)}`,
      pod_terminal_id: 'even',
      pod_arrived_at: at(-week * 168),
      pod_full_out_at: at(-week * 168 + out),
    }))
  await insertKnown(scene, 'containers', [
    ...waits(1, [10, 30]),
    ...waits(2, [10, 20, 30, 40]),
    // Nothing ends after half is left, so that nobody knows how long it stays so.
    ...waits(3, [10]),
    { container_id: 'even still', pod_terminal_id: 'even', pod_arrived_at: at(-504) },
    // A tenth is left from 90 to 100.
    ...waits(4, [10, 20, 30, 40, 50, 60, 70, 80, 90, 100]),
  ])
  const rows = await scene.read('port_waits', {
    asOf: AS_OF,
    columns: ['n', 'median_hours', 'estimated_median_hours', 'estimated_p90_hours'],
    rest: `where terminal_id = 'even' and stage = '5 arrival to out' order by week_on desc`,
  })
  expect(rows.map((row) => Object.values(row))).toEqual([
    [2, '20.0', '20.0', '30.0'],
    [4, '25.0', '25.0', '40.0'],
    [1, '10.0', '10.0', null],
    [10, '55.0', '55.0', '95.0'],
  ])
})
