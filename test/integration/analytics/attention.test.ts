import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { lastFreeDay, listedFee } from '../../support/scenes/charges.js'
import { rowsOf } from '../../support/tables.js'

const scene = useAnalyticsScene()

const LOS_ANGELES = 'America/Los_Angeles'
/** Noon of 8 November 2026 in Los Angeles. */
const AS_OF = '2026-11-08T20:00:00Z'

const ORDER = 'order by container_id, exception'

const SHIPMENT = {
  ...{ shipment_id: 's1', bill_of_lading_number: 'BOL-s1', shipping_line_scac: 'MAEU' },
  ...{ port_of_discharge_name: 'Los Angeles', pol_atd_at: '2026-10-01T00:00:00Z' },
}

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

/** A last free day of the terminal, in November. */
const day = (id: string, on: string) => lastFreeDay(id, 'terminal', `2026-11-${on}`)

it('shows every column of what is overdue, with what it costs', async () => {
  const acme = { customer_name: 'Acme', ref_numbers: ['PO 1'] }
  await scene.insertKnown('shipments', [{ ...SHIPMENT, ...acme }])
  await scene.insertKnown('containers', [box('c1', { ...AT_PORT, ref_numbers: ['R1'] })])
  await scene.insertKnown('container_import_deadlines', [day('c1', '06')])
  await scene.insertKnown('container_fees', [listedFee('c1', 'demurrage', '350.00')])
  // hours 36.0: since the midnight after the 6th, in Los Angeles (UTC-8).
  expect(await scene.read('attention', { asOf: AS_OF, rest: ORDER })).toMatchSnapshot()
})

/** Shipments that were otherwise until a morning of November, each with a box of its name. */
async function insertChanged(
  shipments: Readonly<Record<string, readonly [on: string, before: object, after: object]>>,
): Promise<void> {
  for (const [id, [on, before, after]] of Object.entries(shipments)) {
    await scene.insert('shipments', [{ ...SHIPMENT, shipment_id: id }])
    await scene.insertVersions(id, [
      ['2026-10-20T00:00:00Z', { ...SHIPMENT, ...before }],
      [`2026-11-${on}T06:00:00Z`, { ...SHIPMENT, ...after }],
    ])
    await scene.insertKnown('containers', [box(id, { shipment_id: id })])
  }
}

it('says each exception in a sentence', { tags: ['JA9', 'JA14', 'FE5'] }, async () => {
  await scene.insert('terminals', [{ terminal_id: 't1', name: 'West Basin' }])
  const shipments = `
    shipment_id | pod_eta_at           | destination_locode | pod_ata_at           | line_tracking_stopped_at | line_tracking_stopped_reason
    s1          |                      |                    |                      |                          |
    passed      | 2026-11-07T20:00:00Z |                    |                      |                          |
    inland      |                      | USDAL              |                      |                          |
    arrived     |                      |                    | 2026-11-06T20:00:00Z |                          |
    stopped     |                      |                    |                      | 2026-11-01T20:00:00Z     | no_updates_at_line`
  await scene.insertKnown('shipments', shipments, SHIPMENT)
  const eta = (date: string) => ({ pod_eta_at: `2026-11-${date}:00:00Z` })
  const voyage = (pod_voyage_number: string, pod_vessel_name = 'EVER GIVEN') => ({
    pod_vessel_name,
    pod_voyage_number,
  })
  await insertChanged({
    'eta slipped': ['08', eta('20T06'), eta('21T12')],
    'other vessel': ['06', voyage('041E'), voyage('041E', 'MSC OSCAR')],
    // A later call of the same vessel, and the same voyage written in another way.
    'other voyage': ['06', voyage('041E'), voyage('042E')],
    'same voyage': ['06', voyage('041E'), voyage('41e', 'Ever Given ')],
  })
  // At a ramp and at a terminal where boxes leave after a day.
  const byRail = {
    ...AT_PORT,
    shipment_id: 'inland',
    pod_discharged_at: '2026-11-01T20:00:00Z',
    pod_rail_departed_at: '2026-11-02T20:00:00Z',
    ind_rail_unloaded_at: '2026-11-03T20:00:00Z',
    final_destination_timezone: 'America/Chicago',
  }
  const landed = rowsOf(
    `container_id       | pod_rail_departed_at | pod_full_out_at   | empty_terminated_at | available_for_pickup | pickup_appointment_at | pod_terminal_id | pod_timezone
     on the train       | 2026-11-04T20:00Z    |                   |                     |                      |                       |                 |
     out                |                      | 2026-10-26T20:00Z |                     |                      |                       |                 |
     not ready          |                      |                   |                     | false                |                       |                 |
     due today          |                      |                   |                     | false                |                       |                 |
     held               |                      |                   |                     |                      |                       |                 |
     appointment late   |                      |                   |                     |                      | 2026-11-12T18:00Z     |                 |
     appointment missed |                      |                   |                     |                      | 2026-11-07T20:00Z     |                 |
     hold new           |                      |                   |                     |                      |                       |                 |
     hold gone          |                      |                   |                     |                      |                       |                 |
     no zone            |                      |                   |                     |                      |                       |                 | Mars/Olympus
     long there         |                      |                   |                     |                      |                       | t1              |
     usual              |                      | 2026-11-04T20:00Z | 2026-11-06T20:00Z   |                      |                       | t1              |`,
    AT_PORT,
  )
  await scene.insertKnown('containers', [
    box('at sea'),
    box('eta passed', { shipment_id: 'passed' }),
    box('left behind', { shipment_id: 'arrived' }),
    box('not tracked', { shipment_id: 'stopped' }),
    box('at the ramp', byRail),
    box('was at the ramp', {
      ...byRail,
      final_destination_full_out_at: '2026-11-04T20:00:00Z',
      empty_terminated_at: '2026-11-06T20:00:00Z',
    }),
    ...landed.map(({ container_id, ...said }) => box(container_id!, said)),
  ])
  const days = {
    ...{ 'not ready': '10', 'due today': '08', held: '09' },
    ...{ 'appointment late': '11', 'appointment missed': '30' },
  }
  await scene.insertKnown('container_import_deadlines', [
    ...Object.entries(days).map(([id, on]) => day(id, on)),
    lastFreeDay('no zone', 'terminal', '2026-10-01', { deadline_at: null, time_zone: null }),
  ])
  const customs = { hold_key: 'a', name: 'customs', status: 'hold' }
  await scene.insertKnown('container_holds', [{ container_id: 'held', ...customs }])
  const holds = `
    container_id | description | valid_from           | valid_to
    hold new     | EXAM        | 2026-11-08T08:00:00Z | -
    hold gone    |             | 2026-11-05T08:00:00Z | 2026-11-08T08:00:00Z`
  await scene.insert('container_hold_history', holds, customs)
  await scene.insertEvents(`
    container_id | event           | created_at
    at sea       | vessel_departed | 2026-10-17T20:00:00Z
    on the train | vessel_departed | 2026-11-05T08:00:00Z`)
  const said = `
    container_id       | exception          | severity | hours | sentence
    appointment late   | appointment_late   | high     | 120.0 | appointment on 2026-11-12, after the last free day 2026-11-11 (terminal)
    appointment missed | appointment_missed | medium   | 24.0  | appointment on 2026-11-07 has passed, and it is still there
    at sea             | no_news            | low      | 528.0 | nothing was recorded since 2026-10-17 20:00 UTC
    at the ramp        | long_there         | medium   | 120.0 | no last free day, and there for 5.0 days: longer than four in five
    due today          | last_free_day_near | high     | 120.0 | last free day is today (terminal) at Los Angeles and not ready: not available
    eta passed         | eta_passed         | medium   | 24.0  | ETA at Los Angeles was 2026-11-07 20:00 UTC and nobody said that it arrived
    eta slipped        | eta_slipped        | medium   | 24.0  | ETA at Los Angeles slipped by 30 hours since yesterday, to 2026-11-21 12:00 UTC
    held               | last_free_day_near | high     | 120.0 | last free day is tomorrow (terminal) at Los Angeles and not ready: held by customs
    hold gone          | hold_cleared       | low      | 12.0  | no hold is left: customs was cleared
    hold new           | hold_new           | medium   | 12.0  | held by customs: EXAM
    left behind        | left_behind        | medium   | 48.0  | its shipment arrived at Los Angeles on 2026-11-06 20:00 UTC, and nobody said that it did
    long there         | long_there         | medium   | 120.0 | no last free day, and there for 5.0 days: longer than four in five
    no zone            | day_unknown        | medium   | 120.0 | last free day at Los Angeles is unreadable: the time zone of the place is not known
    not ready          | last_free_day_near | high     | 120.0 | last free day is 2026-11-10 (terminal) at Los Angeles and not ready: not available
    not tracked        | tracking_stopped   | medium   | 168.0 | the service stopped asking the line: no updates at line
    on the train       | rail_silent        | medium   | 84.0  | on the rail, and nothing was recorded since 2026-11-05 08:00 UTC
    other vessel       | rolled             | medium   | 72.0  | comes on MSC OSCAR 041E, not on EVER GIVEN 041E as three days ago
    other voyage       | rolled             | medium   | 72.0  | comes on EVER GIVEN 042E, not on EVER GIVEN 041E as three days ago
    out                | empty_not_returned | medium   | 72.0  | picked up 13 days ago, and the empty is not back`
  await scene.expectRows('attention', { asOf: AS_OF, rest: ORDER }, said)
})
