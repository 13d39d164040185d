import { it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { importRules } from '../../support/scenes/charges.js'
import { givenAndExpected, rowsOf } from '../../support/tables.js'

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
  scene.expectRows('arrivals', { asOf: AS_OF, rest: 'order by container_id' }, table)

it('lists who has not arrived, by the day of the ETA there', async () => {
  const [shipments, expected] = givenAndExpected(`
    shipment_id | pod_eta_at        | pod_timezone | pod_ata_at        | port_of_discharge_id | line_tracking_stopped_reason => state       | arrival_on | days_until | is_zone_known
    -- At 00:30 today, hours ago; yesterday 23:30; far away.
    s1          | 2026-03-19T07:30Z |              |                   |                      |                              => expected    | 2026-03-19 | 0          | true
    s2          | 2026-03-19T06:30Z |              |                   |                      |                              => eta_passed  | 2026-03-18 | -1         | true
    s3          | 2026-06-24T19:00Z |              |                   |                      |                              => expected    | 2026-06-24 | 97         | true
    s4          | -                 |              |                   |                      |                              => no_eta      | -          | -          | true
    s5          |                   | Mars/Olympus |                   |                      |                              => eta_unclear | -          | -          | false
    -- No zone: the day as sent; or its port says which day it is: there the 20th has not begun.
    s6          | 2026-03-20T01:00Z | -            |                   |                      |                              => expected    | 2026-03-20 | 0          | false
    s7          | 2026-03-19T23:00Z | -            |                   | p1                   |                              => expected    | 2026-03-19 | 0          | false
    -- Arrived three days ago without its box; just now; announced to.
    s8          | 2026-03-17T04:00Z |              | 2026-03-17T04:00Z |                      |                              => left_behind | 2026-03-16 | -3         | true
    s9          |                   |              | 2026-03-19T04:00Z |                      |                              =>
    t1          |                   |              | 2026-03-25T04:00Z |                      |                              => expected    | 2026-03-24 | 5          | true
    -- No longer tracked: no day to come of it, but nobody says that it arrived.
    t2          | 2026-01-10T04:00Z |              |                   |                      | no_updates_at_line           => eta_passed  | 2026-01-09 | -69        | true
    t3          |                   |              |                   |                      | booking_cancelled            =>`)
  await scene.insert('ports', [{ port_id: 'p1', code: 'USLAX', time_zone: 'America/Los_Angeles' }])
  const rows = rowsOf(shipments, TO_LA)
  await scene.insertKnown('shipments', rows)
  await scene.insertKnown('containers', [
    ...rows.map(({ shipment_id }) => ({ container_id: `of ${shipment_id}`, shipment_id })),
    // Boxes that are reported as further, of a shipment that has not arrived.
    { container_id: 'x1', shipment_id: 's3', pod_arrived_at: '2026-03-18T00:00Z' },
    { container_id: 'x2', shipment_id: 's3', pod_rail_loaded_at: '2026-03-18T00:00Z' },
    { container_id: 'x3', shipment_id: 's3', current_status: 'grounded' },
    { container_id: 'x4', equipment_length: 45 },
  ])
  await shows(`${expected}\n- | no_eta | - | - | false`)
  const long = { asOf: AS_OF, rest: `where container_id = 'x4'` }
  await scene.expectRows('arrivals', long, 'container_id | teu\nx4 | 2.25')
})

it('holds the ETA against the first, and against that of a week ago', async () => {
  // A week ago it was 05:00 of the 13th.
  await scene.insertVersionTable(
    TO_LA,
    `shipment_id | valid_from        | pod_eta_at        | pod_original_eta_at
     -- First seen without one; then 19 March, then the 20th, up to less than a week ago.
     s1          | 2026-02-01T00:00Z | -                 |
     s1          | 2026-03-01T00:00Z | 2026-03-19T19:00Z |
     s1          | 2026-03-10T00:00Z | 2026-03-20T19:00Z |
     s1          | 2026-03-13T06:00Z |                   |
     -- Known for six days; known without an ETA a week ago; the line says which was the first.
     s2          | 2026-03-14T00:00Z |                   |
     s3          | 2026-03-10T00:00Z | -                 |
     s3          | 2026-03-19T00:00Z |                   |
     s4          | 2026-03-19T00:00Z |                   | 2026-03-22T13:30Z
     none        | 2026-03-19T00:00Z | -                 |`,
  )
  const ids = ['s1', 's2', 's3', 's4', 'none']
  await scene.insertKnown(
    'containers',
    ids.map((shipment_id) => ({ container_id: shipment_id, shipment_id })),
  )
  await shows(`
    container_id | first_eta_at           | slip_hours | moved_7_days_hours
    none         | -                      | -          | -
    s1           | 2026-03-19 19:00:00+00 | 120.00     | 96.00
    s2           | 2026-03-24 19:00:00+00 | 0.00       | -
    s3           | 2026-03-24 19:00:00+00 | 0.00       | -
    s4           | 2026-03-22 13:30:00+00 | 53.50      | -`)
})

it('knows the usual dwell of the terminal and mode, else of the port', async () => {
  await scene.insertKnown('shipments', [
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
  await scene.insertKnown('containers', [
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
  const lines = ['MAEU', 'MSCU', 'ONEY', 'HLCU', 'CMDU', 'ZIMU', 'EGLV', 'LONG', 'NONE']
  await scene.insertKnown('shipments', [
    ...lines.map((scac) => ({ ...TO_LA, shipment_id: scac, shipping_line_scac: scac })),
    // Where nobody knows the dwell.
    { ...TO_LA, shipment_id: 'OAK', shipping_line_scac: 'OAK', port_of_discharge_locode: 'USOAK' },
    { shipment_id: 'gone', port_of_discharge_locode: 'USLAX' },
  ])
  // Half a day more is a whole day: out on 30 March.
  await scene.insertKnown('containers', [
    ...gone('a', [5.5, 5.5, 5.5, 5.5, 5.5]),
    ...[...lines, 'OAK'].map((scac) => ({
      container_id: scac,
      shipment_id: scac,
      pod_terminal_id: ['EGLV', 'LONG', 'NONE', 'OAK'].includes(scac) ? 't9' : 't1',
    })),
  ])
  // Storage: the 28th, as the day of the start counts. Of ONEY the working days 25, 26, 27, 30;
  // HLCU starts with a day that nobody knows; ZIMU has the reported day, and none.
  await importRules(
    scene,
    `rule,charge,line,terminal,free_days,counts,starts_with,first_day,from_day,daily_rate,currency
storage,storage,,t1,5,calendar,discharge,1,1,7,USD
maersk,demurrage,MAEU,,2,calendar,discharge,,1,100,EUR
msc,demurrage,MSCU,,4,calendar,discharge,,1,100,USD
one,demurrage,ONEY,,4,working,discharge,,1,100,USD
hapag,demurrage,HLCU,,1,calendar,available,,1,100,USD
cma,demurrage,CMDU,,1,calendar,arrival,,1,100,USD
zim,demurrage,ZIMU,,,calendar,discharge,,1,100,USD
no rate,demurrage,NONE,,4,calendar,discharge,,,,USD
long,demurrage,LONG,,10,calendar,discharge,,1,100,USD
elsewhere,demurrage,OAK,,4,calendar,discharge,,1,100,USD
`,
  )
  await shows(`
    container_id | charge | rule_name | by_rule_on | days_short | expected_amount | currency_code
    CMDU | demurrage | cma | 2026-03-25 | 5 | 500 | USD
    -- No rule of either charge.
    EGLV | - | - | - | - | - | -
    HLCU | storage | storage | 2026-03-28 | 2 | 14 | USD
    -- Free time will do.
    LONG | demurrage | long | 2026-04-03 | 0 | 0 | USD
    MAEU | demurrage | maersk | 2026-03-26 | 4 | 400 | EUR
    -- Of equal days that of storage.
    MSCU | storage | storage | 2026-03-28 | 2 | 14 | USD
    NONE | demurrage | no rate | 2026-03-28 | 2 | - | USD
    OAK | demurrage | elsewhere | 2026-03-28 | - | - | USD
    ONEY | storage | storage | 2026-03-28 | 2 | 14 | USD
    ZIMU | storage | storage | 2026-03-28 | 2 | 14 | USD`)
})
