import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'

const scene = useAnalyticsScene()

const read = (columns: readonly string[] = [], asOf = '2026-03-20T00:00:00Z') =>
  scene.read('date_corrections', {
    asOf,
    columns,
    rest: 'order by container_id, learned_at, milestone',
  })

const version = (valid_from: string, valid_to: string | null, more: object = {}) => ({
  container_id: 'c1',
  number: 'MSKU0000001',
  shipment_id: 's1',
  pod_terminal_id: 't1',
  pod_timezone: 'America/Los_Angeles',
  valid_from,
  valid_to,
  ...more,
})

let reports = 0
const report = (event: string, timestamp: string, more: object = {}) => {
  reports += 1
  return {
    container_id: 'c1',
    transport_event_id: `e${String(reports)}`,
    event: `container.transport.${event}`,
    timestamp,
    is_estimated: false,
    ...more,
  }
}

it('says of each milestone who told the service the new instant', async () => {
  const day = (hour: number) => `2026-03-02T${String(hour).padStart(2, '0')}:00:00Z`
  // Each milestone with its column and its event.
  const milestones = [
    ['arrival at the port', 'pod_arrived_at', 'vessel_arrived'],
    ['discharge', 'pod_discharged_at', 'vessel_discharged'],
    ['pickup at the port', 'pod_full_out_at', 'full_out'],
    ['loading on rail', 'pod_rail_loaded_at', 'rail_loaded'],
    ['departure by rail', 'pod_rail_departed_at', 'rail_departed'],
    ['arrival at the ramp', 'ind_ata_at', 'rail_arrived'],
    ['unloading at the ramp', 'ind_rail_unloaded_at', 'rail_unloaded'],
    ['pickup at the ramp', 'final_destination_full_out_at', 'full_out'],
    ['empty return', 'empty_terminated_at', 'empty_in'],
    // Of another container: the ramp's own word for the arrival there.
    ['arrival at the ramp', 'ind_ata_at', 'arrived_at_inland_destination'],
  ] as const
  for (const container_id of ['c1', 'c2']) {
    const own = milestones.slice(...(container_id === 'c1' ? [0, 9] : [9, 10]))
    const at = (shift: number) =>
      Object.fromEntries(own.map(([, column], index) => [column, day(index + shift)]))
    await scene.insert('containers', [{ container_id, number: container_id }])
    await scene.insert('container_history', [
      version('2026-03-03T00:00:00Z', '2026-03-04T00:00:00Z', { container_id, ...at(0) }),
      version('2026-03-04T00:00:00Z', null, { container_id, ...at(12) }),
    ])
    await scene.insert(
      'transport_events',
      own.map(([name, , event], index) =>
        report(event, day(index + 12), { container_id, data_source: `teller of the ${name}` }),
      ),
    )
  }
  const rows = await read(['container_id', 'milestone', 'data_source'])
  expect(rows).toHaveLength(milestones.length)
  for (const [index, [name]] of milestones.entries()) {
    expect(rows).toContainEqual({
      container_id: index < 9 ? 'c1' : 'c2',
      milestone: name,
      data_source: `teller of the ${name}`,
    })
  }
})

it('names nobody where no event says the new instant, and all where several do', async () => {
  const discharged = (pod_discharged_at: string | null) => ({ pod_discharged_at })
  const first = version(
    '2026-03-03T00:00:00Z',
    '2026-03-04T00:00:00Z',
    discharged('2026-03-02T06:00Z'),
  )
  const moved = version('2026-03-04T00:00:00Z', null, discharged('2026-03-02T08:00Z'))
  const said = (more: object = {}) =>
    report('vessel_discharged', '2026-03-02T08:00:00Z', { data_source: 'terminal', ...more })
  // Each container has one correction, and these events.
  const cases: [string, object[], string | null][] = [
    ['c0', [], null],
    ['c1', [said({ timestamp: '2026-03-02T06:00:00Z' })], null],
    ['c2', [said({ event: 'container.transport.vessel_berthed' })], null],
    ['c3', [said({ invalidated_at: '2026-03-05T00:00:00Z' })], null],
    ['c4', [said({ _deleted_at: '2026-03-05T00:00:00Z' })], null],
    ['c5', [said({ data_source: null })], null],
    ['c6', [said(), said(), said({ data_source: 'shipping_line' })], 'shipping_line, terminal'],
    ['c7', [said({ _first_seen_at: '2026-03-06T00:00:00Z' })], 'terminal'],
  ]
  for (const [container_id, events] of cases) {
    await scene.insert('containers', [{ container_id, number: container_id }])
    await scene.insert('container_history', [
      { ...first, container_id },
      { ...moved, container_id },
    ])
    await scene.insert(
      'transport_events',
      events.map((event) => ({ ...event, container_id })),
    )
  }
  const tellers = async (asOf: string) =>
    (await read(['data_source'], asOf)).map((row) => row.data_source)
  expect(await tellers('')).toEqual(cases.map(([, , teller]) => teller))
  // An event that was not seen yet, or was still valid.
  expect((await tellers('2026-03-04T12:00:00Z')).slice(3)).toEqual([
    'terminal',
    'terminal',
    null,
    'shipping_line, terminal',
    null,
  ])
})
