import { expect, it } from 'vitest'
import { parseRulesFile } from '../../../src/extensions/answers/questions/rules-file.js'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { insertKnown } from '../../support/insert-known.js'

const scene = useAnalyticsScene()

const LOS_ANGELES = 'America/Los_Angeles'
const CHICAGO = 'America/Chicago'

/** Noon of 8 November in Los Angeles (UTC-8), 14:00 in Chicago. */
const NOON_OF_THE_8TH = '2026-11-08T20:00:00Z'

const box = (container_id: string, more: object = {}) => ({
  container_id,
  number: container_id,
  pod_timezone: LOS_ANGELES,
  pod_discharged_at: '2026-11-03T20:00:00Z',
  ...more,
})

interface Stay {
  readonly container_id: string
  readonly place: 'port' | 'ramp'
  readonly state: string
  readonly has_begun: boolean
  readonly has_ended: boolean
  readonly days_over: number | null
  readonly start_at: string | null
  readonly end_at: string | null
  readonly terminal_on: string | null
  readonly line_on: string | null
  readonly rail_on: string | null
  readonly service_on: string | null
  readonly binding_on: string | null
}

/** Left the port by rail on 5 November, at the ramp since the 7th. */
const AT_RAMP = {
  final_destination_timezone: CHICAGO,
  pod_rail_departed_at: '2026-11-05T20:00:00Z',
  ind_ata_at: '2026-11-07T06:00:00Z',
}

const day = (
  container_id: string,
  source: 'terminal' | 'line' | 'rail' | 'service',
  local_date: string | null,
  more: object = {},
) => ({
  container_id,
  kind: source === 'service' ? 'pickup_lfd' : `pickup_lfd_${source}`,
  local_date,
  deadline_at: `${local_date ?? '2026-11-06'}T08:00:00Z`,
  time_zone: source === 'rail' ? CHICAGO : LOS_ANGELES,
  ...more,
})

const read = (columns: readonly string[], asOf = NOON_OF_THE_8TH) =>
  scene.read('container_stays', { asOf, columns, rest: 'order by container_id, place' })

/** Each stay on a line: container, place, state, days left, days over, day and whose it is. */
async function readStates(asOf = NOON_OF_THE_8TH): Promise<string[]> {
  const columns = ['state', 'days_left', 'days_over', 'binding_on', 'binding_source']
  const rows = await read(['container_id', 'place', ...columns], asOf)
  return rows.map((row) =>
    Object.values(row)
      .map((value) =>
        typeof value === 'string' || typeof value === 'number' ? String(value) : '-',
      )
      .join(' '),
  )
}

it('shows every column of a stay', { tags: ['FE3', 'FE4'] }, async () => {
  await scene.insert('terminals', [
    { terminal_id: 't1', name: 'West Basin', nickname: 'WBCT', city: 'San Pedro' },
  ])
  await insertKnown(scene, 'shipments', [
    {
      shipment_id: 's1',
      bill_of_lading_number: 'BOL1',
      shipping_line_scac: 'MAEU',
      customer_name: 'Acme',
      ref_numbers: ['PO 1'],
      tags: ['urgent'],
      port_of_discharge_locode: 'USLAX',
      port_of_discharge_name: 'Los Angeles',
    },
  ])
  await insertKnown(scene, 'containers', [
    box('c1', {
      shipment_id: 's1',
      pod_terminal_id: 't1',
      equipment_type: 'dry',
      equipment_length: 40,
      ref_numbers: ['R1'],
      current_status: 'available',
      availability_known: true,
      available_for_pickup: true,
      pickup_appointment_at: '2026-11-09T18:00:00Z',
      pod_arrived_at: '2026-11-02T20:00:00Z',
    }),
  ])
  await insertKnown(scene, 'container_holds', [
    { container_id: 'c1', hold_key: 'a', name: 'customs', status: 'hold' },
    { container_id: 'c1', hold_key: 'b', name: 'USDA', status: 'pending' },
    { container_id: 'c1', hold_key: 'c', name: 'odd', status: 'new word' },
  ])
  await insertKnown(scene, 'container_import_deadlines', [
    day('c1', 'line', '2026-11-10'),
    day('c1', 'terminal', '2026-11-06'),
    day('c1', 'service', '2026-11-10'),
  ])
  expect(await read([])).toMatchSnapshot()
  // Line 10 November, terminal the 6th, today the 8th: two days over, in the exposure.
  const exposed = await scene.read('demurrage_exposure', {
    asOf: NOON_OF_THE_8TH,
    columns: ['container_id', 'state', 'days_over', 'binding_on', 'binding_source'],
  })
  expect(exposed).toEqual([
    {
      container_id: 'c1',
      state: 'overdue',
      days_over: 2,
      binding_on: '2026-11-06',
      binding_source: 'terminal',
    },
  ])
})

it('gives a rail box two stays, each with its own days', { tags: ['FE1', 'FE2'] }, async () => {
  await insertKnown(scene, 'containers', [
    // Left the port in time, and is past the day of its ramp.
    box('c1', AT_RAMP),
    // Left the ramp in time, and late.
    box('c2', { ...AT_RAMP, final_destination_full_out_at: '2026-11-08T05:59:00Z' }),
    box('c3', { ...AT_RAMP, final_destination_full_out_at: '2026-11-08T06:00:00Z' }),
    // On the train, waiting for one, still on the ship.
    box('c4', { ...AT_RAMP, ind_ata_at: null }),
    box('c5', { final_destination_timezone: CHICAGO, pod_rail_carrier_scac: 'BNSF' }),
    box('c6', { pod_discharged_at: null, current_status: 'on_ship' }),
  ])
  await insertKnown(
    scene,
    'container_import_deadlines',
    ['c1', 'c2', 'c3', 'c4', 'c5'].flatMap((id) => [
      day(id, 'line', '2026-11-05'),
      day(id, 'rail', '2026-11-07'),
    ]),
  )
  await insertKnown(scene, 'container_import_deadlines', [day('c6', 'terminal', '2026-11-01')])
  expect(await readStates()).toEqual([
    'c1 port out_in_time - - 2026-11-05 line',
    'c1 ramp overdue -1 1 2026-11-07 rail',
    'c2 port out_in_time - - 2026-11-05 line',
    'c2 ramp out_in_time - - 2026-11-07 rail',
    'c3 port out_in_time - - 2026-11-05 line',
    'c3 ramp out_late - 1 2026-11-07 rail',
    'c4 port out_in_time - - 2026-11-05 line',
    'c4 ramp not_started - - 2026-11-07 rail',
    'c5 port overdue -3 3 2026-11-05 line',
    'c5 ramp not_started - - 2026-11-07 rail',
    'c6 port not_started - - 2026-11-01 terminal',
  ])
  const exposed = await scene.read('demurrage_exposure', {
    asOf: NOON_OF_THE_8TH,
    columns: ['container_id', 'place'],
    rest: 'order by 1, 2',
  })
  expect(exposed.map((row) => Object.values(row).join(' '))).toEqual([
    'c1 ramp',
    'c3 ramp',
    'c5 port',
  ])
})

it('takes the service’s pick only where no source says a day', { tags: ['FE3'] }, async () => {
  await insertKnown(
    scene,
    'containers',
    ['c1', 'c2', 'c3', 'c4'].map((id) => box(id)),
  )
  await insertKnown(scene, 'container_import_deadlines', [
    day('c1', 'service', '2026-11-08'),
    day('c2', 'service', '2026-11-07'),
    day('c2', 'line', '2026-11-09'),
    // The pick repeats the day at the ramp: it is none at the port.
    day('c3', 'service', '2026-11-07'),
    day('c3', 'rail', '2026-11-07'),
    // Of equal days the terminal's is named.
    day('c4', 'line', '2026-11-09'),
    day('c4', 'terminal', '2026-11-09'),
  ])
  expect(await readStates()).toEqual([
    'c1 port due_today 0 - 2026-11-08 service',
    'c2 port upcoming 1 - 2026-11-09 line',
    'c3 port none - - - -',
    'c3 ramp not_started - - 2026-11-07 rail',
    'c4 port upcoming 1 - 2026-11-09 terminal',
  ])
})

it('counts by the calendar of Vancouver after 1 November 2026', { tags: ['FE1'] }, async () => {
  await insertKnown(scene, 'containers', [box('c1', { pod_timezone: 'America/Vancouver' })])
  await insertKnown(scene, 'container_import_deadlines', [
    day('c1', 'terminal', '2026-11-06', { time_zone: 'America/Vancouver' }),
  ])
  // The zone data of PostgreSQL decide whether Vancouver turned its clocks that day.
  const [midnight] = await scene.query(
    `select to_char((timestamp '2026-11-07 00:00' at time zone 'America/Vancouver')
      at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as instant`,
  )
  const instant = new Date(String(midnight?.instant))
  const before = new Date(instant.getTime() - 60_000).toISOString()
  expect(await readStates(before)).toEqual(['c1 port due_today 0 - 2026-11-06 terminal'])
  expect(await readStates(instant.toISOString())).toEqual([
    'c1 port overdue -1 1 2026-11-06 terminal',
  ])
})

it('says unknown where none is asked, or none said when it left', { tags: ['FE5'] }, async () => {
  await insertKnown(scene, 'shipments', [
    { shipment_id: 'stopped', line_tracking_stopped_reason: 'no_updates_at_line' },
  ])
  await insertKnown(scene, 'containers', [
    box('c1', { shipment_id: 'stopped' }),
    box('c2', { shipment_id: 'stopped', pod_full_out_at: '2026-11-06T20:00:00Z' }),
    box('c3', { shipment_id: 'stopped', pod_discharged_at: null }),
    box('c4', { empty_terminated_at: '2026-11-07T20:00:00Z' }),
    box('c5', { current_status: 'picked_up' }),
  ])
  await insertKnown(
    scene,
    'container_import_deadlines',
    ['c1', 'c2', 'c3', 'c4', 'c5'].map((id) => day(id, 'terminal', '2026-11-05')),
  )
  expect(await readStates()).toEqual([
    'c1 port unknown - - 2026-11-05 terminal',
    'c2 port out_late - 1 2026-11-05 terminal',
    'c3 port unknown - - 2026-11-05 terminal',
    'c4 port unknown - - 2026-11-05 terminal',
    'c5 port unknown - - 2026-11-05 terminal',
  ])
  expect(await read(['container_id', 'has_ended', 'is_end_reported'])).toEqual(
    [
      ['c1', false, false],
      ['c2', true, true],
      ['c3', false, false],
      ['c4', true, false],
      ['c5', true, false],
    ].map(([container_id, has_ended, is_end_reported]) => ({
      container_id,
      has_ended,
      is_end_reported,
    })),
  )
})

it('takes what is reported for an instant to come as not happened', { tags: ['FE5'] }, async () => {
  await insertKnown(scene, 'containers', [
    box('c1', { pod_full_out_at: '2026-11-08T20:00:01Z' }),
    box('c2', { pod_full_out_at: '2026-11-08T20:00:00Z' }),
    box('c3', { pod_discharged_at: '2026-11-09T20:00:00Z' }),
    box('c4', { ...AT_RAMP, pod_rail_departed_at: '2026-11-09T20:00:00Z', ind_ata_at: null }),
  ])
  await insertKnown(
    scene,
    'container_import_deadlines',
    ['c1', 'c2', 'c3', 'c4'].map((id) => day(id, 'terminal', '2026-11-07')),
  )
  expect(await readStates()).toEqual([
    'c1 port overdue -1 1 2026-11-07 terminal',
    'c2 port out_late - 1 2026-11-07 terminal',
    'c3 port not_started - - 2026-11-07 terminal',
    'c4 port overdue -1 1 2026-11-07 terminal',
    'c4 ramp not_started - - - -',
  ])
})

it('counts in the zone of the port where none was sent', { tags: ['FE1', 'JA8'] }, async () => {
  await scene.insert('ports', [{ port_id: 'p1', time_zone: LOS_ANGELES }])
  await scene.insert('terminals', [{ terminal_id: 't1', name: 'West', port_id: 'p1' }])
  await insertKnown(scene, 'containers', [
    box('c1', { pod_timezone: null, pod_terminal_id: 't1' }),
    box('c2', { pod_timezone: null }),
    box('c3', { pod_timezone: 'Mars/Olympus' }),
  ])
  await insertKnown(scene, 'container_import_deadlines', [
    // Without a zone it is wall time: the 7th, as in the table, also where midnight there is later.
    day('c1', 'terminal', '2026-11-07', { time_zone: null, deadline_at: '2026-11-07T07:30:00Z' }),
    day('c2', 'terminal', '2026-11-07', { time_zone: null }),
    day('c3', 'terminal', null, { time_zone: 'Mars/Olympus' }),
  ])
  expect(await readStates()).toEqual([
    'c1 port overdue -1 1 2026-11-07 terminal',
    'c2 port unknown - - 2026-11-07 terminal',
    'c3 port unknown - - - -',
  ])
  expect(await read(['time_zone', 'is_zone_known'])).toEqual([
    { time_zone: LOS_ANGELES, is_zone_known: false },
    { time_zone: null, is_zone_known: false },
    { time_zone: null, is_zone_known: false },
  ])
})

it('keeps stays apart and binds the earliest day', { tags: ['I20', 'FE2', 'FE3'] }, async () => {
  // Every order of the milestones, some of them contradictions, the last one still to come; and the
  // days by turns: said, said and not readable, not said. Each order with three sets of days.
  const instants = ['2026-11-04', '2026-11-06', '2026-11-09', null].map((on) =>
    on === null ? null : `${on}T20:00:00Z`,
  )
  const milestones = [
    'pod_full_out_at',
    'pod_rail_departed_at',
    'ind_ata_at',
    'ind_rail_unloaded_at',
    'final_destination_full_out_at',
  ]
  const boxes = Array.from({ length: 3 * instants.length ** milestones.length }, (_, n) =>
    box(`c${n}`, {
      final_destination_timezone: CHICAGO,
      ...(n % 3 === 0 ? { pod_discharged_at: null } : {}),
      ...Object.fromEntries(
        milestones.map((name, digit) => [
          name,
          instants[Math.floor(n / instants.length ** digit) % instants.length],
        ]),
      ),
    }),
  )
  const days = boxes.flatMap(({ container_id }, n) =>
    (['terminal', 'line', 'rail', 'service'] as const).flatMap((source, nth) => {
      // No source turns as another one does, or as a milestone.
      const turn = Math.floor(n / 6 ** nth) % 6
      const on = ['05', '07', '08', '09'][turn - 2]
      if (turn === 0) return []
      return [day(container_id, source, turn === 1 ? null : `2026-11-${on}`)]
    }),
  )
  await insertKnown(scene, 'containers', boxes, 'insertMany')
  await insertKnown(scene, 'container_import_deadlines', days, 'insertMany')
  const rows = await read([
    ...['container_id', 'place', 'state', 'has_begun', 'has_ended', 'days_over', 'start_at'],
    ...['end_at', 'terminal_on', 'line_on', 'rail_on', 'service_on', 'binding_on'],
  ])
  const stays = rows as unknown as readonly Stay[]
  const ports = new Map(
    stays.flatMap((stay) => (stay.place === 'port' ? [[stay.container_id, stay]] : [])),
  )
  const now = '2026-11-08 20:00:00+00'
  const broken = stays.filter((stay) => {
    const { state, binding_on: binding, days_over: over, start_at: start, end_at: end } = stay
    const port = ports.get(stay.container_id)!
    const [earliest] = [stay.terminal_on, stay.line_on, stay.rail_on]
      .filter((on) => on !== null)
      .sort()
    const binds = [earliest ?? null, earliest === undefined ? stay.service_on : null]
    const isCounted = (over !== null) === ['overdue', 'out_late'].includes(state)
    const isPast = (start ?? now) <= now && (end ?? now) <= now
    const isAfterPort =
      stay === port ||
      ((start ?? now) >= (port.end_at ?? '') && (port.has_ended || !stay.has_begun))
    return !(binds.includes(binding) && isCounted && (over ?? 1) >= 1 && isPast && isAfterPort)
  })
  expect(broken).toEqual([])
  // States that never occurred prove nothing.
  const met = [...new Set(stays.map(({ place, state }) => `${place} ${state}`))].sort()
  const words = 'due_today none not_started out_in_time out_late overdue unknown upcoming'
  expect(met).toEqual(
    ['port', 'ramp'].flatMap((place) => words.split(' ').map((state) => `${place} ${state}`)),
  )
})

it('names the ramp after the rail terminal of the destination, and takes its zone', async () => {
  await scene.insert('metro_areas', [{ metro_area_id: 'm1', time_zone: CHICAGO }])
  await scene.insert('rail_terminals', [
    { rail_terminal_id: 'r1', name: 'Logistics Park Chicago', metro_area_id: 'm1' },
  ])
  await scene.insert('terminals', [{ terminal_id: 't2', name: 'Joliet', city: 'Joliet' }])
  await insertKnown(scene, 'shipments', [{ shipment_id: 's1', destination_terminal_id: 'r1' }])
  const zoneless = { ...AT_RAMP, shipment_id: 's1', final_destination_timezone: null }
  await insertKnown(scene, 'containers', [
    box('c1', zoneless),
    box('c2', { ...zoneless, pickup_facility_id: 't2' }),
  ])
  await insertKnown(scene, 'container_import_deadlines', [
    day('c1', 'rail', '2026-11-07', { time_zone: null }),
  ])
  const columns = ['terminal_id', 'terminal_name', 'time_zone', 'is_zone_known', 'binding_on']
  const rows = await read(['container_id', 'place', ...columns])
  const at = { place: 'ramp', time_zone: CHICAGO, is_zone_known: false }
  expect(rows.filter(({ place }) => place === 'ramp')).toEqual([
    {
      ...at,
      container_id: 'c1',
      terminal_id: 'r1',
      terminal_name: 'Logistics Park Chicago',
      // Half past eleven of the evening before, in Chicago.
      binding_on: '2026-11-07',
    },
    { ...at, container_id: 'c2', terminal_id: 't2', terminal_name: 'Joliet', binding_on: null },
  ])
})

it('blocks the port and the ramp by their own lists', { tags: ['FE2', 'FE4', 'JA2'] }, async () => {
  await insertKnown(scene, 'containers', [box('c1', AT_RAMP), box('c2')])
  const hold = (container_id: string, name: string, more: object = {}) => ({
    container_id,
    hold_key: name,
    name,
    status: 'hold',
    ...more,
  })
  const RAMP = { place: 'ramp' }
  await insertKnown(scene, 'container_holds', [
    hold('c1', 'customs'),
    hold('c1', 'USDA', { status: 'pending' }),
    // One hold in both lists is one.
    hold('c1', 'freight'),
    hold('c1', 'freight', { ...RAMP, hold_key: 'of the ramp' }),
    hold('c1', 'other', { ...RAMP, status: 'pending' }),
    hold('c2', 'USDA'),
    hold('c2', 'freight', RAMP),
  ])
  const columns = ['container_id', 'place', 'blocking_holds', 'other_holds']
  const expected = [
    { container_id: 'c1', place: 'port', blocking_holds: [], other_holds: [] },
    {
      container_id: 'c1',
      place: 'ramp',
      blocking_holds: ['customs', 'freight'],
      other_holds: ['USDA (pending)', 'other (pending)'],
    },
    { container_id: 'c2', place: 'port', blocking_holds: ['USDA'], other_holds: [] },
  ]
  expect(await read(columns)).toEqual(expected)
  expect(await scene.read('container_stays', { columns, rest: 'order by 1, 2' })).toEqual(expected)
})

it('lets the rule say whether the reported day counts', { tags: ['JA12'] }, async () => {
  const lines = ['binds', 'ignored', 'earlier', 'later']
  await scene.insertInto(
    'analytics',
    'free_time_rules',
    // Discharged on the 3rd: free to the 5th.
    lines.map((reported) => ({
      rule_name: reported,
      charge: 'demurrage',
      shipping_line_scac: reported,
      free_days: 2,
      currency_code: 'USD',
      starts_with: 'discharge',
      reported,
    })),
  )
  await scene.insertInto(
    'analytics',
    'free_time_tiers',
    lines.map((rule_name) => ({ rule_name, from_day: 1, daily_rate: '100' })),
  )
  await insertKnown(
    scene,
    'shipments',
    lines.map((line) => ({ shipment_id: line, shipping_line_scac: line })),
  )
  const boxes = lines.flatMap((line) =>
    ['2026-11-04', '2026-11-07', null].map((said) => ({
      line,
      said,
      id: `${line} ${said ?? '-'}`,
    })),
  )
  await insertKnown(
    scene,
    'containers',
    boxes.map(({ line, id }) => box(id, { shipment_id: line })),
  )
  await insertKnown(
    scene,
    'container_import_deadlines',
    boxes.flatMap(({ said, id }) => (said === null ? [] : [day(id, 'line', said)])),
  )
  const stays = await read(['container_id', 'binding_on', 'binding_source'])
  expect(stays.map((row) => Object.values(row).join(' '))).toEqual([
    'binds - 2026-11-05 rule',
    'binds 2026-11-04 2026-11-04 line',
    'binds 2026-11-07 2026-11-07 line',
    'earlier - 2026-11-05 rule',
    'earlier 2026-11-04 2026-11-04 line',
    'earlier 2026-11-07 2026-11-05 rule',
    'ignored - 2026-11-05 rule',
    'ignored 2026-11-04 2026-11-05 rule',
    'ignored 2026-11-07 2026-11-05 rule',
    'later - 2026-11-05 rule',
    'later 2026-11-04 2026-11-05 rule',
    'later 2026-11-07 2026-11-07 line',
  ])
  const asOf = { asOf: NOON_OF_THE_8TH, rest: 'order by container_id' }
  const clocks = await scene.read('charge_clocks', {
    ...asOf,
    columns: ['container_id', 'last_free_on', 'last_free_source'],
  })
  expect(clocks.map((row) => Object.values(row))).toEqual(stays.map((row) => Object.values(row)))
  // 100 for each day from the last free day to the 8th.
  const costs = await scene.read('demurrage_exposure', {
    ...asOf,
    columns: ['container_id', 'estimate_amount'],
  })
  expect(costs.map((row) => Number(row.estimate_amount))).toEqual([
    ...[300, 400, 100],
    ...[300, 400, 300],
    ...[300, 300, 300],
    ...[300, 300, 100],
  ])
})

it('names the one whose day binds, if it is not ignored', { tags: ['JA12'] }, async () => {
  const file = parseRulesFile(
    'rules.csv',
    `rule,charge,free_days,starts_with,reported,currency
ours,storage,4,arrival,ignored,USD
`,
  )
  if (file.kind !== 'rules') throw new Error('these are rules')
  await scene.insertInto('analytics', 'free_time_rules', file.rules)
  // Nobody knows when its vessel arrived, and with it the day of the rule.
  await insertKnown(scene, 'containers', [
    box('unknown'),
    box('arrived', { pod_arrived_at: '2026-11-02T20:00:00Z' }),
  ])
  await insertKnown(
    scene,
    'container_import_deadlines',
    ['unknown', 'arrived'].flatMap((id) => [
      day(id, 'terminal', '2026-11-06'),
      day(id, 'line', '2026-11-06'),
    ]),
  )
  expect(await readStates()).toEqual([
    'arrived port overdue -2 2 2026-11-06 line',
    'unknown port overdue -2 2 2026-11-06 line',
  ])
})

it('keeps a day that was withdrawn after the container left', { tags: ['JA14'] }, async () => {
  const out = { pod_full_out_at: '2026-11-07T20:00:00Z' }
  const goneByRail = { ...AT_RAMP, final_destination_full_out_at: '2026-11-07T20:00:00Z' }
  await insertKnown(scene, 'containers', [
    box('after', out),
    box('before', out),
    box('given again', out),
    box('rail', goneByRail),
    box('there'),
  ])
  // Withdrawn at noon of the 8th, or a day before, when it was still there.
  const withdrawn = (id: string, source: 'terminal' | 'rail', local_date: string, on: string) => ({
    ...day(id, source, local_date),
    valid_from: '2026-11-01T00:00:00Z',
    valid_to: `2026-11-${on}T16:00:00Z`,
  })
  await scene.insert('container_import_deadline_history', [
    withdrawn('after', 'terminal', '2026-11-05', '08'),
    withdrawn('before', 'terminal', '2026-11-05', '07'),
    withdrawn('given again', 'terminal', '2026-11-05', '08'),
    withdrawn('rail', 'rail', '2026-11-06', '08'),
    withdrawn('there', 'terminal', '2026-11-05', '08'),
  ])
  const again = day('given again', 'terminal', '2026-11-07')
  await scene.insert('container_import_deadlines', [again])
  await scene.insert('container_import_deadline_history', [
    { ...again, valid_from: '2026-11-08T16:00:00Z' },
  ])
  expect(await readStates()).toEqual([
    'after port out_late - 2 2026-11-05 terminal',
    'before port none - - - -',
    'given again port out_in_time - - 2026-11-07 terminal',
    'rail port none - - - -',
    'rail ramp out_late - 1 2026-11-06 rail',
    'there port none - - - -',
  ])
})
