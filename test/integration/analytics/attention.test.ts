import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { insertKnown } from '../../support/insert-known.js'
import { insertVersions } from '../../support/insert-versions.js'
import { insertRule, lastFreeDay, listedFee } from '../../support/scenes/charges.js'
import { expectRows, rowsOf } from '../../support/tables.js'

const scene = useAnalyticsScene()

const LOS_ANGELES = 'America/Los_Angeles'
/** Noon of 8 November 2026 in Los Angeles. */
const AS_OF = '2026-11-08T20:00:00Z'

const ORDER = 'order by container_id, exception'

/** Each exception, in the order of the containers. */
const shows = (lines: string) =>
  expectRows(
    scene,
    'attention',
    { asOf: AS_OF, rest: ORDER },
    `container_id | exception | severity | hours | sentence\n${lines}`,
  )

const shipment = (shipment_id: string, more: object = {}) => ({
  shipment_id,
  bill_of_lading_number: `BOL-${shipment_id}`,
  shipping_line_scac: 'MAEU',
  port_of_discharge_name: 'Los Angeles',
  pol_atd_at: '2026-10-01T00:00:00Z',
  ...more,
})

const box = (container_id: string, more: object = {}) => ({
  container_id,
  number: container_id,
  shipment_id: 's1',
  pod_timezone: LOS_ANGELES,
  ...more,
})

const AT_PORT = {
  pod_arrived_at: '2026-11-03T10:00:00Z',
  pod_discharged_at: '2026-11-03T20:00:00Z',
  availability_known: true,
  available_for_pickup: true,
}

/** Last free days of the terminal, each as `container day` of November. */
const says = (...days: readonly string[]) =>
  insertKnown(
    scene,
    'container_import_deadlines',
    days.map((said) => lastFreeDay(said.slice(0, 2), 'terminal', `2026-11-${said.slice(3)}`)),
  )
const boxes = (...rows: readonly Record<string, unknown>[]) =>
  insertKnown(scene, 'containers', rows)

const event = (container_id: string, created_at: string) => ({
  container_id,
  transport_event_id: `e of ${container_id}`,
  event: 'container.transport.vessel_departed',
  created_at,
})

it('shows every column of what is overdue, with what it costs', { tags: ['release'] }, async () => {
  await insertKnown(scene, 'shipments', [
    shipment('s1', { customer_name: 'Acme', ref_numbers: ['PO 1'] }),
  ])
  await boxes(box('c1', { ...AT_PORT, ref_numbers: ['R1'] }))
  await says('c1 06')
  await insertKnown(scene, 'container_fees', [listedFee('c1', 'demurrage', '350.00')])
  // hours 36.0: since the midnight after the 6th, in Los Angeles (UTC-8).
  expect(await scene.read('attention', { asOf: AS_OF, rest: ORDER })).toMatchSnapshot()
})

it('tells of last free days and appointments that are near', { tags: ['release'] }, async () => {
  await insertKnown(scene, 'shipments', [shipment('s1')])
  const waiting = { ...AT_PORT, available_for_pickup: false }
  await boxes(
    box('c1', waiting),
    box('c2', waiting),
    box('c3', AT_PORT),
    box('c4', AT_PORT),
    box('c5', { ...AT_PORT, pickup_appointment_at: '2026-11-12T18:00:00Z' }),
    box('c6', { ...waiting, pod_full_out_at: '2026-11-08T10:00:00Z' }),
  )
  await says('c1 10', 'c2 11', 'c3 08', 'c4 09', 'c5 11', 'c6 09')
  await insertKnown(scene, 'container_holds', [
    { container_id: 'c4', hold_key: 'a', name: 'customs', status: 'hold' },
    { container_id: 'c3', hold_key: 'a', name: 'customs', status: 'pending' },
  ])
  // c2 has three days, c3 is ready, c6 is out.
  await shows(`
    c1 | last_free_day_near | high | 120.0 | last free day is 2026-11-10 (terminal) at Los Angeles and not ready: not available
    c4 | last_free_day_near | high | 120.0 | last free day is tomorrow (terminal) at Los Angeles and not ready: held by customs
    c5 | appointment_late   | high | 120.0 | appointment on 2026-11-12, after the last free day 2026-11-11 (terminal)`)
})

it('tells of holds that came or went, not of texts', { tags: ['FE5', 'release'] }, async () => {
  await insertKnown(scene, 'shipments', [shipment('s1')])
  await boxes(
    ...['c1', 'c2', 'c3', 'c5'].map((id) => box(id, AT_PORT)),
    box('c4', { ...AT_PORT, pod_full_out_at: '2026-11-08T10:00:00Z' }),
    box('c6', { ...AT_PORT, _first_seen_at: '2026-11-08T08:00:00Z' }),
  )
  await insertKnown(scene, 'container_holds', [
    { container_id: 'c5', hold_key: 'b', name: 'freight', status: 'hold' },
  ])
  const versions = `
    container_id | status  | description | valid_from           | valid_to
    c1           | hold    | EXAM        | 2026-11-08T08:00:00Z | -
    -- Stood already when the container was first seen.
    c6           | hold    |             | 2026-11-08T08:00:00Z | -
    -- Announced only.
    c2           | pending |             | 2026-11-08T08:00:00Z | -
    c3           | hold    |             | 2026-11-05T08:00:00Z | 2026-11-08T08:00:00Z
    c4           | hold    |             | 2026-11-05T08:00:00Z | 2026-11-08T08:00:00Z
    c5           | hold    | EXAM        | 2026-11-05T08:00:00Z | 2026-11-08T08:00:00Z`
  const customs = { hold_key: 'a', name: 'customs' }
  await scene.insert('container_hold_history', rowsOf(versions, customs))
  // c4 has left, and c5 is still held by something else.
  await shows(`
    c1 | hold_new     | medium | 12.0 | held by customs: EXAM
    c3 | hold_cleared | low    | 12.0 | no hold is left: customs was cleared`)
})

it('tells of ETAs that slipped, and rollovers', { tags: ['FE5', 'JA14', 'release'] }, async () => {
  await insertKnown(scene, 'shipments', [
    shipment('s2', { pod_eta_at: '2026-11-07T20:00:00Z' }),
    shipment('s3', { pod_eta_at: '2026-11-07T20:00:00Z', pod_ata_at: '2026-11-07T22:00:00Z' }),
  ])
  const ids = ['s1', 's4', 's5', 's6', 's7']
  await scene.insert(
    'shipments',
    ids.map((id) => shipment(id)),
  )
  const changed = (id: string, on: string, before: object, after: object) =>
    insertVersions(scene, id, [
      ['2026-10-20T00:00:00Z', shipment(id, before)],
      [`2026-11-${on}T06:00:00Z`, shipment(id, after)],
    ])
  const [emma, imo] = [{ pod_vessel_name: 'EVER GIVEN' }, { pod_vessel_imo: '9811000' }]
  const eta = (date: string) => ({ pod_eta_at: `2026-11-${date}:00:00Z` })
  await changed('s1', '08', eta('20T06'), eta('21T12'))
  // A day and not more; a number that was filled in for the same vessel.
  const named = { pod_vessel_name: 'Ever Given', ...imo }
  await changed('s4', '08', { ...eta('20T06'), ...emma }, { ...eta('21T06'), ...named })
  const oscar = { pod_vessel_name: 'MSC OSCAR', pod_vessel_imo: '9703291' }
  await changed('s5', '06', { ...emma, ...imo }, oscar)
  // A later call of the same vessel, and the same voyage written in another way.
  const voyage = (pod_voyage_number: string, name = 'EVER GIVEN') => ({
    pod_vessel_name: name,
    pod_voyage_number,
  })
  await changed('s6', '06', voyage('041E'), voyage('042E'))
  await changed('s7', '06', voyage('041E'), voyage('41e', 'Ever Given '))
  await boxes(...[1, 2, 3, 4, 5, 6, 7].map((n) => box(`c${n}`, { shipment_id: `s${n}` })))
  await shows(`
    c1 | eta_slipped | medium | 24.0 | ETA at Los Angeles slipped by 30 hours since yesterday, to 2026-11-21 12:00 UTC
    c2 | eta_passed  | medium | 24.0 | ETA at Los Angeles was 2026-11-07 20:00 UTC and nobody said that it arrived
    c5 | rolled      | medium | 72.0 | comes on MSC OSCAR, not on EVER GIVEN as three days ago
    c6 | rolled      | medium | 72.0 | comes on EVER GIVEN 042E, not on EVER GIVEN 041E as three days ago`)
})

it('tells of silence at sea and on the rail, of empties that are out, and of tracking that stopped', async () => {
  await insertKnown(scene, 'shipments', [
    shipment('s1'),
    shipment('s2', {
      line_tracking_stopped_at: '2026-11-01T20:00:00Z',
      line_tracking_stopped_reason: 'no_updates_at_line',
    }),
  ])
  const byRail = { ...AT_PORT, pod_rail_departed_at: '2026-11-04T20:00:00Z' }
  const out = { ...AT_PORT, available_for_pickup: false }
  const gone = { ...out, pod_full_out_at: '2026-10-26T20:00:00Z' }
  await boxes(
    box('c1'),
    box('c2'),
    box('c3', byRail),
    box('c4', { ...byRail, ind_ata_at: '2026-11-05T20:00:00Z' }),
    box('c5', gone),
    box('c6', { ...gone, empty_terminated_at: '2026-11-02T20:00:00Z' }),
    box('c7', { shipment_id: 's2' }),
    box('c8', { ...out, shipment_id: 's2', pod_full_out_at: '2026-10-01T20:00:00Z' }),
  )
  await scene.insert('transport_events', [
    event('c1', '2026-10-17T20:00:00Z'),
    event('c2', '2026-10-19T20:00:00Z'),
    event('c3', '2026-11-05T08:00:00Z'),
    event('c4', '2026-11-05T08:00:00Z'),
    event('c7', '2026-10-01T08:00:00Z'),
  ])
  await shows(`
    c1 | no_news            | low    | 528.0 | nothing was recorded since 2026-10-17 20:00 UTC
    c3 | rail_silent        | medium | 84.0  | on the rail, and nothing was recorded since 2026-11-05 08:00 UTC
    c5 | empty_not_returned | medium | 72.0  | picked up 13 days ago, and the empty is not back
    c7 | tracking_stopped   | medium | 168.0 | the service stopped asking the line: no updates at line`)
})

it('reports a long stay without a day', { tags: ['FE4', 'release'] }, async () => {
  await scene.insert('terminals', [{ terminal_id: 't1', name: 'West Basin' }])
  await insertKnown(scene, 'shipments', [shipment('s1')])
  const others = ['o1', 'o2', 'o3', 'o4', 'o5'].map((id, at) =>
    box(id, {
      ...AT_PORT,
      pod_terminal_id: 't1',
      pod_discharged_at: '2026-10-01T00:00:00Z',
      pod_full_out_at: `2026-10-0${at + 2}T00:00:00Z`,
      empty_terminated_at: '2026-10-10T00:00:00Z',
    }),
  )
  await insertKnown(scene, 'containers', [
    ...others,
    box('c1', { ...AT_PORT, pod_terminal_id: 't1', pod_discharged_at: '2026-11-04T14:00:00Z' }),
    box('c2', { ...AT_PORT, pod_terminal_id: 't1', pod_discharged_at: '2026-11-04T22:00:00Z' }),
  ])
  // The 80th percentile of one to five days is 4.2 days.
  await shows(
    'c1 | long_there | medium | 102.0 | no last free day, and there for 4.3 days: longer than four in five',
  )
})

it('tells what is past by your own rules, with the cost', { tags: ['JA1', 'JA6'] }, async () => {
  const rule = (rule_name: string, charge: string, free_days: number, rate: string, more = {}) =>
    insertRule(scene, { rule_name, charge, free_days, counts: 'calendar', ...more }, { 1: rate })
  await rule('line', 'demurrage', 2, '100')
  await rule('terminal', 'storage', 1, '30', { currency_code: 'CAD' })
  await rule('empties', 'detention', 5, '50')
  await insertKnown(scene, 'shipments', [shipment('s1')])
  const out = (on: string) => ({ ...AT_PORT, pod_full_out_at: `2026-${on}T20:00:00Z` })
  const recent = { pod_discharged_at: '2026-11-06T20:00:00Z', available_for_pickup: false }
  await boxes(
    // Discharged on the 3rd: free to the 5th by the line, to the 4th by the terminal.
    box('c1', AT_PORT),
    // The terminal says the 30th, so its charge is not counted by the rule.
    box('c2', AT_PORT),
    // Discharged on the 6th, so free to the 8th by the line; its terminal says a later day.
    box('c0', { ...AT_PORT, ...recent }),
    // Picked up on the 2nd, so free to the 7th; on the 4th; and ten days ago and more, but
    // returned.
    box('c3', out('11-02')),
    box('c4', out('11-04')),
    box('c5', { ...out('10-20'), empty_terminated_at: '2026-11-02T20:00:00Z' }),
  )
  await says('c0 10', 'c2 30')
  await insertKnown(scene, 'container_fees', [listedFee('c1', 'demurrage', '310')])
  await shows(`
    c0 | last_free_day_near | high | 48.0 | last free day is today (rule) at Los Angeles and not ready: not available
    c1 | overdue            | high | 84.0 | 4 days past the last free day 2026-11-04 (rule) at Los Angeles
    c2 | overdue            | high | 60.0 | 3 days past the last free day 2026-11-05 (rule) at Los Angeles
    c3 | empty_not_returned | high | 12.0 | picked up 6 days ago, and the empty is not back`)
  const costs = `
    container_id | cost_amount | cost_currency_code | since_at
    c0           | -           | -                  | 2026-11-06 20:00:00+00
    -- The fee of the terminal, and nothing beside it: it has the three days of the line and the four
    -- of the terminal.
    c1           | 310         | USD                | 2026-11-05 08:00:00+00
    c2           | 300         | USD                | 2026-11-06 08:00:00+00
    c3           | 50          | USD                | 2026-11-08 08:00:00+00`
  await expectRows(scene, 'attention', { asOf: AS_OF, rest: ORDER }, costs)
})

it('reports an unreadable last free day, and containers that wait long at a ramp or before a train', async () => {
  await scene.insert('terminals', [{ terminal_id: 't1', name: 'West Basin' }])
  await insertKnown(scene, 'shipments', [
    shipment('s1', { destination_locode: 'USDAL', destination_name: 'Dallas' }),
    shipment('s2', { destination_locode: 'USCHI' }),
    shipment('s3', { destination_locode: 'USMEM' }),
  ])
  const days = [1, 2, 3, 4, 5]
  const gone = {
    pod_discharged_at: '2026-10-01T00:00:00Z',
    pod_rail_departed_at: '2026-10-02T00:00:00Z',
    ind_rail_unloaded_at: '2026-10-05T00:00:00Z',
    empty_terminated_at: '2026-10-20T00:00:00Z',
  }
  const atRamp = {
    ...AT_PORT,
    pod_rail_departed_at: '2026-11-03T22:00:00Z',
    final_destination_timezone: 'America/Chicago',
  }
  await insertKnown(scene, 'containers', [
    ...days.map((length) =>
      box(`r${length}`, {
        ...atRamp,
        ...gone,
        final_destination_full_out_at: `2026-10-${String(5 + length).padStart(2, '0')}T00:00:00Z`,
      }),
    ),
    // Unloaded 4.3 and 3.9 days ago; in another city nobody knows what is long.
    box('c1', { ...atRamp, ind_rail_unloaded_at: '2026-11-04T14:00:00Z' }),
    box('c2', { ...atRamp, ind_rail_unloaded_at: '2026-11-04T22:00:00Z' }),
    box('c3', { ...atRamp, shipment_id: 's2', ind_rail_unloaded_at: '2026-11-04T14:00:00Z' }),
    // Waits for a train at a terminal where boxes leave after a day.
    box('o1', {
      ...AT_PORT,
      ...gone,
      pod_terminal_id: 't1',
      final_destination_full_out_at: '2026-10-06T00:00:00Z',
      shipment_id: 's3',
    }),
    box('c4', { ...AT_PORT, pod_terminal_id: 't1', pod_rail_carrier_scac: 'UPRR' }),
    // A day in a zone that is none.
    box('c5', { ...AT_PORT, pod_timezone: 'Mars/Olympus' }),
  ])
  const unreadable = { deadline_at: null, time_zone: null }
  await insertKnown(scene, 'container_import_deadlines', [
    lastFreeDay('c5', 'terminal', '2026-10-01', unreadable),
  ])
  const events = ['c1', 'c2', 'c3', 'c4', 'c5'].map((id) => event(id, '2026-11-07T08:00:00Z'))
  await scene.insert('transport_events', events)
  await shows(`
    c1 | long_there | medium | 102.0 | no last free day, and there for 4.3 days: longer than four in five
    c4 | long_there | medium | 120.0 | no last free day, and there for 5.0 days: longer than four in five
    c5 | day_unknown | medium | 120.0 | last free day at Los Angeles is unreadable: the time zone of the place is not known`)
})

it('tells of boxes of which nothing was ever recorded, and of no cancelled booking', async () => {
  await insertKnown(scene, 'shipments', [
    shipment('s1', { pol_atd_at: null, pol_etd_at: '2026-10-10T00:00:00Z' }),
    shipment('s2', { pol_atd_at: null, pol_etd_at: '2026-12-10T00:00:00Z' }),
    shipment('s3', { line_tracking_stopped_reason: 'booking_cancelled' }),
  ])
  await insertKnown(scene, 'containers', [
    box('c1', { created_at: '2026-10-17T20:00:00Z' }),
    box('c2', { created_at: '2026-10-19T20:00:00Z' }),
    // It sails in December.
    box('c3', { shipment_id: 's2', created_at: '2026-09-01T20:00:00Z' }),
    box('c4', { shipment_id: 's3', created_at: '2026-09-01T20:00:00Z' }),
  ])
  await shows(`
    c1 | no_news | low | 528.0 | nothing was recorded since 2026-10-17 20:00 UTC`)
})

it('takes a change for news and misses an appointment', { tags: ['JA14'] }, async () => {
  await scene.insert('terminals', [{ terminal_id: 't1', name: 'West Basin' }])
  await insertKnown(scene, 'shipments', [shipment('s1')])
  const gone = (id: string, days: number, byRail: boolean) =>
    box(id, {
      ...AT_PORT,
      pod_terminal_id: 't1',
      pod_discharged_at: '2026-10-01T00:00:00Z',
      [byRail ? 'pod_rail_departed_at' : 'pod_full_out_at']: `2026-10-0${days + 1}T00:00:00Z`,
      empty_terminated_at: '2026-10-20T00:00:00Z',
    })
  const waiting = { ...AT_PORT, pod_terminal_id: 't1' }
  await insertKnown(scene, 'containers', [
    // Trucks leave after a day, trains after eight.
    gone('o1', 1, false),
    gone('o2', 8, true),
    box('c1', waiting),
    box('c2', { ...waiting, pod_rail_carrier_scac: 'BNSF' }),
    box('c3', { ...waiting, pickup_appointment_at: '2026-11-07T20:00:00Z' }),
    box('c4', { created_at: '2026-10-01T00:00:00Z' }),
    box('c5', { created_at: '2026-10-01T00:00:00Z' }),
  ])
  await says('c3 30')
  // Of both nothing was recorded since October; one of them has another fee since the 1st.
  await scene.query(`update tracking.containers set _first_seen_at = '2026-10-01T00:00:00Z'`)
  await scene.query(
    `update tracking.container_history set valid_from = '2026-11-01T00:00:00Z'
      where container_id = 'c5'`,
  )
  const events = ['c1', 'c2', 'c3'].map((id) => event(id, '2026-11-07T08:00:00Z'))
  await scene.insert('transport_events', events)
  await shows(`
    c1 | long_there | medium | 120.0 | no last free day, and there for 5.0 days: longer than four in five
    c3 | appointment_missed | medium | 24.0 | appointment on 2026-11-07 has passed, and it is still there
    c4 | no_news | low | 932.0 | nothing was recorded since 2026-10-01 00:00 UTC`)
})
