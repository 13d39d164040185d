import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { insertKnown } from '../../support/insert-known.js'
import { insertRule } from '../../support/scenes/charges.js'
import { expectRows } from '../../support/tables.js'

const scene = useAnalyticsScene()

/** 19 March 22:00 in Los Angeles. */
const AS_OF = '2026-03-20T05:00Z'

/** The ETA is 24 March, 12:00 there. */
const ETA = '2026-03-24T19:00Z'
const TO_LA = {
  shipping_line_scac: 'MAEU',
  port_of_discharge_locode: 'USLAX',
  pod_timezone: 'America/Los_Angeles',
  pod_eta_at: ETA,
}

/** A rule with one rate from the first day over on. */
const rule = (rule_name: string, more: object, rate = 100) =>
  insertRule(scene, { rule_name, charge: 'demurrage', ...more }, { 1: String(rate) })

/** Containers that left after so many days, discharged on 1 March. */
const gone = (name: string, days: readonly number[], more: object = {}) =>
  days.map((lasted, n) => ({
    container_id: `gone ${name} ${String(n)}`,
    shipment_id: 'gone',
    pod_terminal_id: 't1',
    pod_timezone: 'America/Los_Angeles',
    pod_discharged_at: '2026-03-01T12:00Z',
    pod_full_out_at: new Date(Date.parse('2026-03-01T12:00Z') + lasted * 86_400_000).toISOString(),
    ...more,
  }))

const shows = (table: string) =>
  expectRows(scene, 'arrivals', { asOf: AS_OF, rest: 'order by container_id' }, table)

it('shows every column of a container at sea', async () => {
  await scene.insert('ports', [{ port_id: 'p1', code: 'USLAX', time_zone: 'America/Los_Angeles' }])
  await scene.insert('terminals', [
    { terminal_id: 't1', name: 'West Basin', nickname: 'WBCT', port_id: 'p1' },
  ])
  const known = {
    ...TO_LA,
    shipment_id: 's1',
    bill_of_lading_number: 'BOL1',
    port_of_discharge_name: 'Los Angeles',
    destination_locode: 'USCHI',
    pod_vessel_name: 'EMMA MAERSK',
    pod_vessel_imo: '9000001',
    pod_voyage_number: '612E',
    pod_original_eta_at: '2026-03-22T13:30Z',
  }
  await scene.insert('shipments', [known])
  // A week ago the ETA was 36 hours earlier.
  const week = { valid_from: '2026-03-01T00:00Z', valid_to: '2026-03-15T00:00Z' }
  await scene.insert('shipment_history', [
    { ...known, ...week, pod_eta_at: '2026-03-23T07:00Z' },
    { ...known, valid_from: week.valid_to },
  ])
  await insertKnown(scene, 'shipments', [
    { shipment_id: 'gone', port_of_discharge_locode: 'USLAX' },
  ])
  await insertKnown(scene, 'containers', [
    {
      container_id: 'c1',
      number: 'MSKU1',
      shipment_id: 's1',
      pod_terminal_id: 't1',
      equipment_type: 'dry',
      equipment_length: 45,
    },
    ...gone('a', [2, 3, 5.3, 6, 18]),
  ])
  await rule('four days', { free_days: 4 })
  // days_short 2: out on the 30th, free up to the 28th.
  expect(await scene.read('arrivals', { asOf: AS_OF })).toMatchSnapshot()
})

it('lists who has not arrived, by the day of the ETA there', async () => {
  const to = (shipment_id: string, more: object) => ({ ...TO_LA, shipment_id, ...more })
  const shipments = [
    // At 00:30 today, hours ago; yesterday 23:30; far away.
    to('s1', { pod_eta_at: '2026-03-19T07:30Z' }),
    to('s2', { pod_eta_at: '2026-03-19T06:30Z' }),
    to('s3', { pod_eta_at: '2026-06-24T19:00Z' }),
    to('s4', { pod_eta_at: null }),
    to('s5', { pod_timezone: 'Mars/Olympus' }),
    // No zone: the day as sent.
    to('s6', { pod_timezone: null, pod_eta_at: '2026-03-20T01:00Z' }),
    // Its port says which day it is: there the 20th has not begun.
    to('s7', { pod_timezone: null, pod_eta_at: '2026-03-19T23:00Z', port_of_discharge_id: 'p1' }),
    // Arrived three days ago without its box; just now; announced to.
    to('s8', { pod_ata_at: '2026-03-17T04:00Z', pod_eta_at: '2026-03-17T04:00Z' }),
    to('s9', { pod_ata_at: '2026-03-19T04:00Z' }),
    to('t1', { pod_ata_at: '2026-03-25T04:00Z' }),
    // No longer tracked: no day to come of it, but nobody says that it arrived.
    to('t2', {
      pod_eta_at: '2026-01-10T04:00Z',
      line_tracking_stopped_at: '2026-02-01T00:00Z',
      line_tracking_stopped_reason: 'no_updates_at_line',
    }),
    to('t3', { line_tracking_stopped_reason: 'booking_cancelled' }),
  ]
  await scene.insert('ports', [{ port_id: 'p1', code: 'USLAX', time_zone: 'America/Los_Angeles' }])
  await insertKnown(scene, 'shipments', shipments)
  await insertKnown(scene, 'containers', [
    ...shipments.map(({ shipment_id }) => ({ container_id: `of ${shipment_id}`, shipment_id })),
    // Boxes that are reported as further, of a shipment that has not arrived.
    { container_id: 'x1', shipment_id: 's3', pod_arrived_at: '2026-03-18T00:00Z' },
    { container_id: 'x2', shipment_id: 's3', pod_rail_loaded_at: '2026-03-18T00:00Z' },
    { container_id: 'x3', shipment_id: 's3', current_status: 'grounded' },
    { container_id: 'x4' },
  ])
  await shows(`
    container_id | state | arrival_on | days_until | is_zone_known
    of s1 | expected | 2026-03-19 | 0 | true
    of s2 | eta_passed | 2026-03-18 | -1 | true
    of s3 | expected | 2026-06-24 | 97 | true
    of s4 | no_eta | - | - | true
    of s5 | eta_unclear | - | - | false
    of s6 | expected | 2026-03-20 | 0 | false
    of s7 | expected | 2026-03-19 | 0 | false
    of s8 | left_behind | 2026-03-16 | -3 | true
    of t1 | expected | 2026-03-24 | 5 | true
    of t2 | eta_passed | 2026-01-09 | -69 | true
    x4 | no_eta | - | - | false`)
})

it('holds the ETA against the first, and against that of a week ago', async () => {
  const history = (shipment_id: string, valid_from: string, pod_eta_at: string | null) => ({
    shipment_id,
    valid_from,
    pod_eta_at,
  })
  const ids = ['s1', 's2', 's3', 's4']
  await scene.insert(
    'shipments',
    ids.map((shipment_id) => ({ ...TO_LA, shipment_id })),
  )
  await scene.insert(
    'containers',
    ids.map((shipment_id) => ({ container_id: `of ${shipment_id}`, shipment_id })),
  )
  const ago = (hours: number): string => new Date(Date.now() - hours * 3_600_000).toISOString()
  await scene.insert('shipment_history', [
    // First seen without one; then 19 March, then the 20th, up to less than a week ago.
    { ...history('s1', ago(1000), null), valid_to: ago(900) },
    { ...history('s1', ago(900), '2026-03-19T19:00Z'), valid_to: ago(200) },
    { ...history('s1', ago(200), '2026-03-20T19:00Z'), valid_to: ago(167) },
    history('s1', ago(167), ETA),
    // Known for six days; known without an ETA a week ago.
    history('s2', ago(144), ETA),
    { ...history('s3', ago(200), null), valid_to: ago(20) },
    history('s3', ago(20), ETA),
  ])
  const table = `
    container_id | first_eta_at           | slip_hours | moved_7_days_hours
    of s1        | 2026-03-19 19:00:00+00 | 120.00     | 96.00
    of s2        | 2026-03-24 19:00:00+00 | 0.00       | -
    of s3        | 2026-03-24 19:00:00+00 | 0.00       | -
    of s4        | -                      | -          | -`
  await expectRows(scene, 'arrivals', { rest: 'order by 1' }, table)
})

it('knows the usual dwell of the terminal and mode, else of the port', async () => {
  await insertKnown(scene, 'shipments', [
    { ...TO_LA, shipment_id: 's1' },
    { ...TO_LA, shipment_id: 's2', pod_eta_at: '2026-03-18T00:00Z' },
    { ...TO_LA, shipment_id: 's3', port_of_discharge_locode: 'USOAK' },
    { shipment_id: 'gone', port_of_discharge_locode: 'USLAX' },
  ])
  const box = (container_id: string, pod_terminal_id: string | null, more: object = {}) => ({
    container_id,
    shipment_id: 's1',
    pod_terminal_id,
    ...more,
  })
  await insertKnown(scene, 'containers', [
    ...gone('a', [1, 2, 3, 4, 5]),
    // Neither who still is there nor who was discharged a minute too early.
    { ...gone('b', [0])[0], container_id: 'there', pod_full_out_at: null },
    ...gone('c', [8, 8], { pod_discharged_at: '2025-12-20T04:59Z' }),
    ...gone('d', [10, 11, 12, 13], { pod_terminal_id: 't2' }),
    // By rail from the first terminal: four of them.
    ...[1, 2, 3, 4].map((n) => ({
      ...gone('e', [n])[0],
      container_id: `rail ${String(n)}`,
      pod_full_out_at: null,
      pod_rail_departed_at: '2026-03-08T12:00Z',
    })),
    box('c1', 't1'),
    box('c2', 't2'),
    box('c3', null),
    box('c4', 't1', { ind_rail_carrier_scac: 'BNSF' }),
    box('c5', 't9', { shipment_id: 's3' }),
    box('c6', 't1', { shipment_id: 's2' }),
  ])
  await shows(`
    container_id | mode | usual_dwell_days | expected_out_on
    c1 | truck | 3.00 | 2026-03-27
    -- Of nine at the port the fifth.
    c2 | truck | 5.00 | 2026-03-29
    c3 | truck | 5.00 | 2026-03-29
    c4 | rail | - | -
    c5 | truck | - | -
    -- Its ETA has passed: nobody expects it on a day.
    c6 | truck | - | -`)
})

it('counts the days short by the earlier of both rules, and what they cost', async () => {
  await insertKnown(scene, 'shipments', [
    ...['MAEU', 'MSCU', 'ONEY', 'HLCU', 'CMDU', 'ZIMU', 'EGLV'].map((scac) => ({
      ...TO_LA,
      shipment_id: scac,
      shipping_line_scac: scac,
    })),
    { shipment_id: 'gone', port_of_discharge_locode: 'USLAX' },
  ])
  // Half a day more is a whole day: out on 30 March.
  await insertKnown(scene, 'containers', [
    ...gone('a', [5.5, 5.5, 5.5, 5.5, 5.5]),
    ...['MAEU', 'MSCU', 'ONEY', 'HLCU', 'CMDU', 'ZIMU', 'EGLV'].map((scac) => ({
      container_id: scac,
      shipment_id: scac,
      pod_terminal_id: scac === 'EGLV' ? 't9' : 't1',
    })),
  ])
  // The 28th; the day of the start counts.
  await rule('storage', { charge: 'storage', terminal: 't1', free_days: 5, first_day: 1 }, 7)
  await rule('maersk', { shipping_line_scac: 'MAEU', free_days: 2, currency_code: 'EUR' })
  await rule('msc', { shipping_line_scac: 'MSCU', free_days: 4 })
  // Working days: 25, 26, 27, 30.
  await rule('one', { shipping_line_scac: 'ONEY', free_days: 4, counts: 'working' })
  // It starts with a day that nobody knows.
  await rule('hapag', {
    shipping_line_scac: 'HLCU',
    free_days: 1,
    starts_with: 'available',
  })
  await rule('cma', { shipping_line_scac: 'CMDU', free_days: 1, starts_with: 'arrival' })
  // The reported day, and none.
  await rule('zim', { shipping_line_scac: 'ZIMU', free_days: null })
  await shows(`
    container_id | charge | rule_name | by_rule_on | days_short | expected_amount | currency_code
    CMDU | demurrage | cma | 2026-03-25 | 5 | 500 | USD
    -- No rule of either charge.
    EGLV | - | - | - | - | - | -
    HLCU | storage | storage | 2026-03-28 | 2 | 14 | USD
    MAEU | demurrage | maersk | 2026-03-26 | 4 | 400 | EUR
    -- Of equal days that of storage.
    MSCU | storage | storage | 2026-03-28 | 2 | 14 | USD
    ONEY | storage | storage | 2026-03-28 | 2 | 14 | USD
    ZIMU | storage | storage | 2026-03-28 | 2 | 14 | USD`)
})

it('has no amount without a rate, and none to pay where free time will do', async () => {
  await insertKnown(scene, 'shipments', [
    { ...TO_LA, shipment_id: 's1' },
    { ...TO_LA, shipment_id: 's2', shipping_line_scac: 'MSCU' },
    { ...TO_LA, shipment_id: 's3', shipping_line_scac: 'ONEY', port_of_discharge_locode: 'USOAK' },
    { shipment_id: 'gone', port_of_discharge_locode: 'USLAX' },
  ])
  await insertKnown(scene, 'containers', [
    ...gone('a', [5, 5, 5, 5, 5]),
    { container_id: 'c1', shipment_id: 's1', pod_terminal_id: 't1' },
    { container_id: 'c2', shipment_id: 's2', pod_terminal_id: 't1' },
    { container_id: 'c3', shipment_id: 's3' },
  ])
  const unrated = { rule_name: 'no rate', charge: 'demurrage', shipping_line_scac: 'MAEU' }
  await insertRule(scene, { ...unrated, free_days: 4 }, {})
  await rule('long', { shipping_line_scac: 'MSCU', free_days: 10 })
  await rule('elsewhere', { shipping_line_scac: 'ONEY', free_days: 4 })
  await shows(`
    container_id | by_rule_on | days_short | expected_amount
    c1 | 2026-03-28 | 1 | -
    c2 | 2026-04-03 | 0 | 0
    c3 | 2026-03-28 | - | -`)
})
