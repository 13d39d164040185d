import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { insertKnown } from '../../support/insert-known.js'
import { importRules, insertRule, lastFreeDay } from '../../support/scenes/charges.js'
import { expectRows, rowsOf } from '../../support/tables.js'

const scene = useAnalyticsScene()

const LOS_ANGELES = 'America/Los_Angeles'
const CHICAGO = 'America/Chicago'

/** Noon of 8 November in Los Angeles (UTC-8), 14:00 in Chicago. */
const AS_OF = '2026-11-08T20:00:00Z'

const box = (container_id: string, more: object = {}) => ({
  container_id,
  number: container_id,
  pod_timezone: LOS_ANGELES,
  pod_discharged_at: '2026-11-03T20:00:00Z',
  ...more,
})
const boxes = (...rows: readonly Record<string, unknown>[]) =>
  insertKnown(scene, 'containers', rows)

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
const outOfRamp = (on: string) => ({ ...AT_RAMP, final_destination_full_out_at: `2026-11-${on}Z` })

/** Last free days, each as `container whose day` of November. */
const says = (...days: readonly string[]) =>
  insertKnown(
    scene,
    'container_import_deadlines',
    days.map((said) => {
      const [id = '', whose = '', on = ''] = said.split(/ (?=\w+ \d+$)| (?=\d+$)/)
      return lastFreeDay(id, whose as 'terminal', `2026-11-${on}`)
    }),
  )

const shows = (table: string, asOf = AS_OF) =>
  expectRows(scene, 'container_stays', { asOf, rest: 'order by container_id, place' }, table)

const STATES = 'container_id | place | state | days_left | days_over | binding_on | binding_source'
/** The state of each stay, its days left and over, its day and whose it is. */
const states = (rows: string, asOf?: string) => shows(`${STATES}\n${rows}`, asOf)

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
  await says('c1 line 10', 'c1 terminal 06', 'c1 service 10')
  expect(await scene.read('container_stays', { asOf: AS_OF })).toMatchSnapshot()
  // Line 10 November, terminal the 6th, today the 8th: two days over, in the exposure.
  const columns = 'container_id | state | days_over | binding_on | binding_source'
  const row = 'c1 | overdue | 2 | 2026-11-06 | terminal'
  await expectRows(scene, 'demurrage_exposure', { asOf: AS_OF }, `${columns}\n${row}`)
})

it('gives a rail box two stays, each with its own days', { tags: ['FE1', 'FE2'] }, async () => {
  await boxes(
    // Left the port in time, and is past the day of its ramp.
    box('c1', AT_RAMP),
    // Left the ramp in time, and late.
    box('c2', outOfRamp('08T05:59:00')),
    box('c3', outOfRamp('08T06:00:00')),
    // On the train, waiting for one, still on the ship.
    box('c4', { ...AT_RAMP, ind_ata_at: null }),
    box('c5', { final_destination_timezone: CHICAGO, pod_rail_carrier_scac: 'BNSF' }),
    box('c6', { pod_discharged_at: null, current_status: 'on_ship' }),
  )
  const ids = ['c1', 'c2', 'c3', 'c4', 'c5']
  await says(...ids.map((id) => `${id} line 05`), ...ids.map((id) => `${id} rail 07`))
  await says('c6 terminal 01')
  await states(`
    c1 | port | out_in_time | -  | - | 2026-11-05 | line
    c1 | ramp | overdue     | -1 | 1 | 2026-11-07 | rail
    c2 | port | out_in_time | -  | - | 2026-11-05 | line
    c2 | ramp | out_in_time | -  | - | 2026-11-07 | rail
    c3 | port | out_in_time | -  | - | 2026-11-05 | line
    c3 | ramp | out_late    | -  | 1 | 2026-11-07 | rail
    c4 | port | out_in_time | -  | - | 2026-11-05 | line
    c4 | ramp | not_started | -  | - | 2026-11-07 | rail
    c5 | port | overdue     | -3 | 3 | 2026-11-05 | line
    c5 | ramp | not_started | -  | - | 2026-11-07 | rail
    c6 | port | not_started | -  | - | 2026-11-01 | terminal`)
  const options = { asOf: AS_OF, rest: 'order by 1, 2' }
  await expectRows(
    scene,
    'demurrage_exposure',
    options,
    'container_id|place\nc1|ramp\nc3|ramp\nc5|port',
  )
})

it('takes the service’s pick only where no source says a day', { tags: ['FE3'] }, async () => {
  await boxes(box('c1'), box('c2'), box('c3'), box('c4'))
  await says('c1 service 08', 'c2 service 07', 'c2 line 09')
  // The pick repeats the day at the ramp: it is none at the port.
  await says('c3 service 07', 'c3 rail 07')
  // Of equal days the terminal's is named.
  await says('c4 line 09', 'c4 terminal 09')
  await states(`
    c1 | port | due_today   | 0 | - | 2026-11-08 | service
    c2 | port | upcoming    | 1 | - | 2026-11-09 | line
    c3 | port | none        | - | - | -          | -
    c3 | ramp | not_started | - | - | 2026-11-07 | rail
    c4 | port | upcoming    | 1 | - | 2026-11-09 | terminal`)
})

it('counts by the calendar of Vancouver after 1 November 2026', { tags: ['FE1'] }, async () => {
  await boxes(box('c1', { pod_timezone: 'America/Vancouver' }))
  await insertKnown(scene, 'container_import_deadlines', [
    lastFreeDay('c1', 'terminal', '2026-11-06', { time_zone: 'America/Vancouver' }),
  ])
  // The zone data of PostgreSQL decide whether Vancouver turned its clocks that day.
  const [midnight] = await scene.query(
    `select to_char((timestamp '2026-11-07 00:00' at time zone 'America/Vancouver')
      at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as instant`,
  )
  const instant = new Date(String(midnight?.instant))
  const before = new Date(instant.getTime() - 60_000).toISOString()
  await states('c1 | port | due_today | 0 | - | 2026-11-06 | terminal', before)
  await states('c1 | port | overdue | -1 | 1 | 2026-11-06 | terminal', instant.toISOString())
})

it('says unknown where none is asked, or none said when it left', { tags: ['FE5'] }, async () => {
  await insertKnown(scene, 'shipments', [
    { shipment_id: 'stopped', line_tracking_stopped_reason: 'no_updates_at_line' },
  ])
  const stopped = { shipment_id: 'stopped' }
  await boxes(
    box('c1', stopped),
    box('c2', { ...stopped, pod_full_out_at: '2026-11-06T20:00:00Z' }),
    box('c3', { ...stopped, pod_discharged_at: null }),
    box('c4', { empty_terminated_at: '2026-11-07T20:00:00Z' }),
    box('c5', { current_status: 'picked_up' }),
  )
  await says(...['c1', 'c2', 'c3', 'c4', 'c5'].map((id) => `${id} terminal 05`))
  await shows(`${STATES} | has_ended | is_end_reported
    c1 | port | unknown  | - | - | 2026-11-05 | terminal | false | false
    c2 | port | out_late | - | 1 | 2026-11-05 | terminal | true  | true
    c3 | port | unknown  | - | - | 2026-11-05 | terminal | false | false
    c4 | port | unknown  | - | - | 2026-11-05 | terminal | true  | false
    c5 | port | unknown  | - | - | 2026-11-05 | terminal | true  | false`)
})

it('takes what is reported for an instant to come as not happened', { tags: ['FE5'] }, async () => {
  await boxes(
    box('c1', { pod_full_out_at: '2026-11-08T20:00:01Z' }),
    box('c2', { pod_full_out_at: '2026-11-08T20:00:00Z' }),
    box('c3', { pod_discharged_at: '2026-11-09T20:00:00Z' }),
    box('c4', { ...AT_RAMP, pod_rail_departed_at: '2026-11-09T20:00:00Z', ind_ata_at: null }),
  )
  await says(...['c1', 'c2', 'c3', 'c4'].map((id) => `${id} terminal 07`))
  await states(`
    c1 | port | overdue     | -1 | 1 | 2026-11-07 | terminal
    c2 | port | out_late    | -  | 1 | 2026-11-07 | terminal
    c3 | port | not_started | -  | - | 2026-11-07 | terminal
    c4 | port | overdue     | -1 | 1 | 2026-11-07 | terminal
    c4 | ramp | not_started | -  | - | -          | -`)
})

it('counts in the zone of the port where none was sent', { tags: ['FE1', 'JA8'] }, async () => {
  await scene.insert('ports', [{ port_id: 'p1', time_zone: LOS_ANGELES }])
  await scene.insert('terminals', [{ terminal_id: 't1', name: 'West', port_id: 'p1' }])
  await boxes(
    box('c1', { pod_timezone: null, pod_terminal_id: 't1' }),
    box('c2', { pod_timezone: null }),
    box('c3', { pod_timezone: 'Mars/Olympus' }),
  )
  const unzoned = { time_zone: null }
  await insertKnown(scene, 'container_import_deadlines', [
    // Without a zone it is wall time: the 7th, as in the table, also where midnight there is later.
    lastFreeDay('c1', 'terminal', '2026-11-07', { ...unzoned, deadline_at: '2026-11-07T07:30Z' }),
    lastFreeDay('c2', 'terminal', '2026-11-07', unzoned),
    lastFreeDay('c3', 'terminal', null, { time_zone: 'Mars/Olympus' }),
  ])
  await shows(`${STATES} | time_zone | is_zone_known
    c1 | port | overdue | -1 | 1 | 2026-11-07 | terminal | ${LOS_ANGELES} | false
    c2 | port | unknown | -  | - | 2026-11-07 | terminal | - | false
    c3 | port | unknown | -  | - | -          | -        | - | false`)
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
      return [lastFreeDay(container_id, source, turn === 1 ? null : `2026-11-${on}`)]
    }),
  )
  await insertKnown(scene, 'containers', boxes, 'insertMany')
  await insertKnown(scene, 'container_import_deadlines', days, 'insertMany')
  const rows = await scene.read('container_stays', { asOf: AS_OF })
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
  await boxes(box('c1', zoneless), box('c2', { ...zoneless, pickup_facility_id: 't2' }))
  await insertKnown(scene, 'container_import_deadlines', [
    lastFreeDay('c1', 'rail', '2026-11-07', { time_zone: null }),
  ])
  const rest = `where place = 'ramp' order by container_id`
  // Its day is half past eleven of the evening before, in Chicago.
  await expectRows(
    scene,
    'container_stays',
    { asOf: AS_OF, rest },
    `
    container_id | terminal_id | terminal_name          | time_zone  | is_zone_known | binding_on
    c1           | r1          | Logistics Park Chicago | ${CHICAGO} | false         | 2026-11-07
    c2           | t2          | Joliet                 | ${CHICAGO} | false         | -`,
  )
})

it('blocks the port and the ramp by their own lists', { tags: ['FE2', 'FE4', 'JA2'] }, async () => {
  await boxes(box('c1', AT_RAMP), box('c2'))
  await insertKnown(
    scene,
    'container_holds',
    rowsOf(`
    container_id | hold_key    | name    | status  | place
    c1           | customs     | customs | hold    |
    c1           | USDA        | USDA    | pending |
    -- One hold in both lists is one.
    c1           | freight     | freight | hold    |
    c1           | of the ramp | freight | hold    | ramp
    c1           | other       | other   | pending | ramp
    c2           | USDA        | USDA    | hold    |
    c2           | freight     | freight | hold    | ramp`),
  )
  const expected = `
    container_id | place | blocking_holds   | other_holds
    c1           | port  | []               | []
    c1           | ramp  | customs, freight | USDA (pending), other (pending)
    c2           | port  | USDA             | []`
  await shows(expected)
  await shows(expected, '')
})

it('lets the rule say whether the reported day counts', { tags: ['JA12'] }, async () => {
  // Discharged on the 3rd: free to the 5th. Each box is named after its rule and what is reported.
  for (const reported of ['binds', 'ignored', 'earlier', 'later']) {
    await insertRule(scene, {
      rule_name: reported,
      charge: 'demurrage',
      shipping_line_scac: reported,
      free_days: 2,
      reported,
    })
    await insertKnown(scene, 'shipments', [{ shipment_id: reported, shipping_line_scac: reported }])
    const shipment = { shipment_id: reported }
    await boxes(...['-', '04', '07'].map((said) => box(`${reported} ${said}`, shipment)))
    await says(`${reported} 04 line 04`, `${reported} 07 line 07`)
  }
  const days = `
    binds -    | 2026-11-05 | rule
    binds 04   | 2026-11-04 | line
    binds 07   | 2026-11-07 | line
    earlier -  | 2026-11-05 | rule
    earlier 04 | 2026-11-04 | line
    earlier 07 | 2026-11-05 | rule
    ignored -  | 2026-11-05 | rule
    ignored 04 | 2026-11-05 | rule
    ignored 07 | 2026-11-05 | rule
    later -    | 2026-11-05 | rule
    later 04   | 2026-11-05 | rule
    later 07   | 2026-11-07 | line`
  await shows(`container_id | binding_on | binding_source${days}`)
  const options = { asOf: AS_OF, rest: 'order by container_id' }
  const ofClocks = `container_id | last_free_on | last_free_source${days}`
  await expectRows(scene, 'charge_clocks', options, ofClocks)
  // 100 for each day from the last free day to the 8th.
  const costs = [300, 400, 100, 300, 400, 300, 300, 300, 300, 300, 300, 100]
  await expectRows(scene, 'demurrage_exposure', options, `estimate_amount\n${costs.join('\n')}`)
})

it('names the one whose day binds, if it is not ignored', { tags: ['JA12'] }, async () => {
  await importRules(
    scene,
    'rule,charge,free_days,starts_with,reported,currency\nours,storage,4,arrival,ignored,USD\n',
  )
  // Nobody knows when its vessel arrived, and with it the day of the rule.
  await boxes(box('unknown'), box('arrived', { pod_arrived_at: '2026-11-02T20:00:00Z' }))
  await says('unknown terminal 06', 'unknown line 06', 'arrived terminal 06', 'arrived line 06')
  await states(`
    arrived | port | overdue | -2 | 2 | 2026-11-06 | line
    unknown | port | overdue | -2 | 2 | 2026-11-06 | line`)
})

it('keeps a day that was withdrawn after the container left', { tags: ['JA14'] }, async () => {
  const out = { pod_full_out_at: '2026-11-07T20:00:00Z' }
  await boxes(
    ...['after', 'before', 'given again'].map((id) => box(id, out)),
    box('rail', outOfRamp('07T20:00:00')),
    box('there'),
  )
  // Withdrawn at noon of the 8th, or a day before, when it was still there.
  const withdrawn = (id: string, on: string, whose: 'terminal' | 'rail' = 'terminal') => ({
    ...lastFreeDay(id, whose, whose === 'rail' ? '2026-11-06' : '2026-11-05'),
    valid_from: '2026-11-01T00:00:00Z',
    valid_to: `2026-11-${on}T16:00:00Z`,
  })
  const again = lastFreeDay('given again', 'terminal', '2026-11-07')
  await scene.insert('container_import_deadline_history', [
    withdrawn('after', '08'),
    withdrawn('before', '07'),
    withdrawn('given again', '08'),
    withdrawn('rail', '08', 'rail'),
    withdrawn('there', '08'),
    { ...again, valid_from: '2026-11-08T16:00:00Z' },
  ])
  await scene.insert('container_import_deadlines', [again])
  await states(`
    after       | port | out_late    | - | 2 | 2026-11-05 | terminal
    before      | port | none        | - | - | -          | -
    given again | port | out_in_time | - | - | 2026-11-07 | terminal
    rail        | port | none        | - | - | -          | -
    rail        | ramp | out_late    | - | 1 | 2026-11-06 | rail
    there       | port | none        | - | - | -          | -`)
})
