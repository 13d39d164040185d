import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { expectRows, rowsOf } from '../../support/tables.js'

const scene = useAnalyticsScene()

const MAEU = { shipping_line_scac: 'MAEU', shipping_line_name: 'Maersk' }
const OF_LINES = `where cut = 'line' and period = 'all'`

const shows = (table: string) =>
  expectRows(
    scene,
    'eta_accuracy',
    { rest: `${OF_LINES} order by subject, horizon_from_days` },
    table,
  )

it('compares the ETA of each whole day before the arrival, once for a shipment in a bucket', async () => {
  // s1 arrives on 31 March 12:00. First seen 24.5 days before with an ETA 48 h too early, corrected
  // 3 days and 6 hours before to one 6 h too late, and that taken back a day and a half before.
  //   days 24, 23, 22 (22+), 21-15, 14-8, 7-4: error +48; days 3 and 2: error -6; days 1 and 0: no ETA.
  await scene.insert('shipments', [
    { ...MAEU, shipment_id: 's1', pod_ata_at: '2026-03-31T12:00Z' },
    // s2: seen two days before, an ETA 12 h too early, and never another: days 2, 1, 0: error +12.
    { ...MAEU, shipment_id: 's2', pod_ata_at: '2026-03-10T12:00Z' },
    // Found arrived; not arrived; gone at the source: none of them counts.
    { ...MAEU, shipment_id: 's3', pod_ata_at: '2026-03-01T00:00Z' },
    { ...MAEU, shipment_id: 's4' },
    {
      ...MAEU,
      shipment_id: 's5',
      pod_ata_at: '2026-03-10T12:00Z',
      _deleted_at: '2026-03-11T00:00Z',
    },
    { shipping_line_scac: 'MSCU', shipment_id: 's6', pod_ata_at: '2026-03-31T12:00Z' },
    { shipping_line_scac: 'ONEY', shipment_id: 's7', pod_ata_at: '2026-03-31T12:00Z' },
  ])
  const history = rowsOf(`
    shipment_id | valid_from        | valid_to          | pod_eta_at        | pod_ata_at
    s1          | 2026-03-07T00:00Z | 2026-03-28T06:00Z | 2026-03-29T12:00Z |
    s1          | 2026-03-28T06:00Z | 2026-03-30T00:00Z | 2026-03-31T18:00Z |
    s1          | 2026-03-30T00:00Z |                   | -                 |
    s2          | 2026-03-08T12:00Z | 2026-03-10T18:00Z | 2026-03-10T00:00Z |
    s2          | 2026-03-10T18:00Z |                   | 2026-03-10T00:00Z | 2026-03-10T12:00Z
    s3          | 2026-03-09T00:00Z |                   | 2026-03-10T00:00Z |
    s4          | 2026-03-01T00:00Z |                   | 2026-03-10T00:00Z |
    s5          | 2026-03-01T00:00Z |                   | 2026-03-10T00:00Z |
    -- Once in a bucket. Days 14 and 13 with an ETA, 12 without, a version shorter than a day between
    -- 12 and 11, then 11 to 8 with one, and from there to the arrival the same.
    s6          | 2026-03-17T12:00Z | 2026-03-19T00:00Z | 2026-03-31T12:00Z |
    s6          | 2026-03-19T00:00Z | 2026-03-19T18:00Z | -                 |
    s6          | 2026-03-19T18:00Z | 2026-03-20T00:00Z | 2026-03-31T12:00Z |
    s6          | 2026-03-20T00:00Z | 2026-03-24T00:00Z | 2026-03-31T12:00Z |
    s6          | 2026-03-24T00:00Z |                   | 2026-03-31T12:00Z |
    -- From 100 days before to exactly 59: valid at 60, and no further back; no longer at 59.
    s7          | 2025-12-21T12:00Z | 2026-01-31T12:00Z | 2026-03-31T12:00Z |
    s7          | 2026-01-31T12:00Z |                   | -                 |`)
  await scene.insert('shipment_history', history)
  // Of the days 2 and 3 the errors are 6, 6 and 12; -6, -6 and 12. A row is single of one shipment,
  // however many days it gave samples for.
  await shows(`
    subject | horizon | horizon_from_days | n | shipments | mean_absolute_error_hours | bias_hours | within_24_hours_share | is_single
    MAEU    | 0-1     | 0                 | 2 | 1         | 12.00                     | 12.00      | 1.0000                | true
    MAEU    | 2-3     | 2                 | 3 | 2         | 8.00                      | 0.00       | 1.0000                | false
    MAEU    | 4-7     | 4                 | 4 | 1         | 48.00                     | 48.00      | 0.0000                | true
    MAEU    | 8-14    | 8                 | 7 | 1         | 48.00                     | 48.00      | 0.0000                | true
    MAEU    | 15-21   | 15                | 7 | 1         | 48.00                     | 48.00      | 0.0000                | true
    MAEU    | 22+     | 22                | 3 | 1         | 48.00                     | 48.00      | 0.0000                | true
    MSCU    | 0-1     | 0                 | 2 | 1         | 0.00                      | 0.00       | 1.0000                | true
    MSCU    | 2-3     | 2                 | 2 | 1         | 0.00                      | 0.00       | 1.0000                | true
    MSCU    | 4-7     | 4                 | 4 | 1         | 0.00                      | 0.00       | 1.0000                | true
    MSCU    | 8-14    | 8                 | 6 | 1         | 0.00                      | 0.00       | 1.0000                | true
    ONEY    | 22+     | 22                | 1 | 1         | 0.00                      | 0.00       | 1.0000                | true`)
  const [row] = await scene.read('eta_accuracy', { rest: `${OF_LINES} order by subject` })
  expect(row).toMatchObject({ ...MAEU, cut: 'line', period: 'all', subject: 'MAEU' })
  const places = Object.entries(row!).filter(([name]) => /^p(?:ort|od)_/.test(name))
  expect(places.map(([, value]) => value)).toEqual(Array.from({ length: 6 }, () => null))
})

const LANE = {
  shipping_line_scac: 'MAEU',
  shipping_line_name: 'Maersk',
  port_of_lading_locode: 'CNSHA',
  port_of_lading_name: 'Shanghai',
  port_of_discharge_locode: 'USLAX',
  port_of_discharge_name: 'Los Angeles',
  pod_timezone: 'America/Los_Angeles',
}

it('counts local days from the first ETA, and what cannot be measured apart', async () => {
  const shipments = `
    shipment_id | pod_timezone | pod_original_eta_at | pod_ata_at        | _deleted_at
    -- Clocks went forward on 8 March. 7 March 12:00 to 8 March 23:30 local: one day late, on time.
    -- In UTC it would be two days. 34.5 h = 1.4375 days.
    s1          |              | 2026-03-07T20:00Z   | 2026-03-09T06:30Z |
    -- Its first ETA is in the history: 10 March, found at the 14th: 4 days late.
    s2          |              |                     | 2026-03-14T12:00Z |
    -- 3 days early.
    s3          |              | 2026-03-20T12:00Z   | 2026-03-17T12:00Z |
    -- Its only ETA was first seen after the arrival: not measured.
    s4          |              |                     | 2026-03-16T12:00Z |
    s5          |              | 2026-03-01T12:00Z   | 2026-03-16T12:00Z | 2026-03-17T00:00Z
    -- No zone: days as sent, the 18th and the 20th: 2 days late, 26 h = 1.0833 days.
    s6          | -            | 2026-03-18T23:00Z   | 2026-03-20T01:00Z |
    -- No such zone: nobody can say the month or the days.
    s7          | Mars/Olympus | 2026-03-18T23:00Z   | 2026-03-20T01:00Z |
    s8          |              | 2026-03-18T23:00Z   |                   |
    -- 31 March 20:00 local: still March; on the minute.
    s9          |              | 2026-04-01T03:00Z   | 2026-04-01T03:00Z |
    -- Announced for a time to come: not happened.
    s10         |              | 2026-03-18T23:00Z   | 2099-03-18T23:00Z |`
  await scene.insert('shipments', rowsOf(shipments, LANE))
  const history = rowsOf(`
    shipment_id | valid_from        | valid_to          | pod_eta_at
    s2          | 2026-02-19T00:00Z | 2026-02-20T00:00Z |
    s2          | 2026-02-20T00:00Z | 2026-03-01T00:00Z | 2026-03-10T12:00Z
    s2          | 2026-03-01T00:00Z |                   | 2026-03-14T12:00Z
    s4          | 2026-03-25T00:00Z |                   | 2026-03-10T12:00Z`)
  await scene.insert('shipment_history', history)
  // mean_delay_of_late_days 2.54: (4 + 1.0833) / 2
  // mean_delay_days 0.70: (1.4375 + 4 - 3 + 1.0833 + 0) / 5
  expect(
    await scene.read('schedule_reliability', { rest: 'order by arrival_month_on' }),
  ).toMatchSnapshot()
})
