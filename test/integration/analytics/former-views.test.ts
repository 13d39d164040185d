import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'

const scene = useAnalyticsScene()

const MAEU = { shipping_line_scac: 'MAEU', shipping_line_name: 'Maersk' }
const OF_LINES = `where cut = 'line' and period = 'all'`

const IN_ORDER = { rest: `${OF_LINES} order by subject, horizon_from_days` }

it('compares the ETA of each whole day before the arrival, once for a shipment in a bucket', async () => {
  // s1 arrives on 31 March 12:00. First seen 24.5 days before with an ETA 48 h too early, corrected
  // 3 days and 6 hours before to one 6 h too late, and that taken back a day and a half before.
  //   days 24, 23, 22 (22+), 21-15, 14-8, 7-4: error +48; days 3 and 2: error -6; days 1 and 0: no ETA.
  // s2: seen two days before, an ETA 12 h too early, and never another: days 2, 1, 0: error +12.
  const shipments = `
    shipment_id | shipping_line_scac | pod_ata_at        | _deleted_at
    s1          |                    | 2026-03-31T12:00Z |
    s2          |                    | 2026-03-10T12:00Z |
    -- Found arrived; not arrived; gone at the source: none of them counts.
    s3          |                    | 2026-03-01T00:00Z |
    s4          |                    |                   |
    s5          |                    | 2026-03-10T12:00Z | 2026-03-11T00:00Z
    s6          | MSCU               | 2026-03-31T12:00Z |
    s7          | ONEY               | 2026-03-31T12:00Z |`
  await scene.insert('shipments', shipments, MAEU)
  const history = `
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
    s7          | 2026-01-31T12:00Z |                   | -                 |`
  await scene.insert('shipment_history', history)
  // Of the days 2 and 3 the errors are 6, 6 and 12; -6, -6 and 12. A row is single of one shipment,
  // however many days it gave samples for.
  const table = `
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
    ONEY    | 22+     | 22                | 1 | 1         | 0.00                      | 0.00       | 1.0000                | true`
  await scene.expectRows('eta_accuracy', IN_ORDER, table)
  const [row] = await scene.read('eta_accuracy', { rest: `${OF_LINES} order by subject` })
  expect(row).toMatchObject({ ...MAEU, cut: 'line', period: 'all', subject: 'MAEU' })
  const places = Object.entries(row!).filter(([name]) => /^p(?:ort|od)_/.test(name))
  expect(places.map(([, value]) => value)).toEqual(Array.from({ length: 6 }, () => null))
})
