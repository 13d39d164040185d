import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { insertKnown } from '../../support/insert-known.js'
import { expectRows, rowsOf } from '../../support/tables.js'

const scene = useAnalyticsScene()

const LANE = {
  port_of_lading_locode: 'CNSHA',
  port_of_lading_name: 'Shanghai',
  port_of_discharge_locode: 'USLAX',
  port_of_discharge_name: 'Los Angeles',
  shipping_line_scac: 'MAEU',
  shipping_line_name: 'Maersk',
}
const ZONES = { pol_timezone: 'Asia/Shanghai', pod_timezone: 'America/Los_Angeles' }
const KNOWN = { ...LANE, ...ZONES }

it('takes elapsed days per lane, line and local month of arrival', async () => {
  const shipments = rowsOf(
    `
    shipment_id | pol_atd_at        | pod_ata_at        | pol_timezone | shipping_line_scac | shipping_line_name
    -- 10, 20 and 30 days; the first arrives on 31 March local, 1 April UTC. The third crosses the
    -- change of clocks and is still 30 times 24 hours.
    s1          | 2026-03-22T06:00Z | 2026-04-01T06:00Z |              |                    |
    s2          | 2026-03-01T00:00Z | 2026-03-21T00:00Z |              |                    |
    s3          | 2026-02-20T00:00Z | 2026-03-22T00:00Z | -            |                    |
    -- Not in order, and without a departure.
    s4          | 2026-03-22T00:00Z | 2026-03-21T00:00Z |              |                    |
    s5          |                   | 2026-03-21T00:00Z |              |                    |
    s6          | 2026-04-01T00:00Z | 2026-04-15T12:00Z |              | MSCU               | MSC`,
    KNOWN,
  )
  await insertKnown(scene, 'shipments', shipments)
  const rest = `where cut = 'lane and line' and period = 'month' order by shipping_line_scac`
  for (const asOf of ['', '2026-05-01T00:00Z']) {
    await expectRows(
      scene,
      'transit_times',
      { asOf, rest },
      `
      subject          | shipping_line_scac | shipping_line_name | arrival_month_on | pod_vessel_imo | pod_vessel_name
      CNSHA-USLAX MAEU | MAEU               | Maersk             | 2026-03-01       | -              | -
      CNSHA-USLAX MSCU | MSCU               | MSC                | 2026-04-01       | -              | -`,
    )
    // Between the values: 10 + 0.2 of the way to 20, and 20 + 0.8 of the way to 30.
    await expectRows(
      scene,
      'transit_times',
      { asOf, rest },
      `
      n | not_measured | zone_unknown | mean_days | p10_days | median_days | p90_days | is_single
      3 | 2            | 1            | 20.00     | 12.00    | 20.00       | 28.00    | false
      1 | 0            | 0            | 14.50     | 14.50    | 14.50       | 14.50    | true`,
    )
  }
  expect(await scene.read('transit_times', { rest })).toMatchObject([LANE, { period: 'month' }])
  expect(await scene.read('transit_times', { asOf: '2025-12-31T00:00Z' })).toEqual([])
})
