import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { insertKnown } from '../../support/insert-known.js'

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

it('takes elapsed days per lane, line and local month of arrival', async () => {
  await insertKnown(scene, 'shipments', [
    // 10, 20 and 30 days; the first arrives on 31 March local, 1 April UTC. The third crosses the
    // change of clocks and is still 30 times 24 hours.
    {
      ...LANE,
      ...ZONES,
      shipment_id: 's1',
      pol_atd_at: '2026-03-22T06:00Z',
      pod_ata_at: '2026-04-01T06:00Z',
    },
    {
      ...LANE,
      ...ZONES,
      shipment_id: 's2',
      pol_atd_at: '2026-03-01T00:00Z',
      pod_ata_at: '2026-03-21T00:00Z',
    },
    {
      ...LANE,
      pod_timezone: 'America/Los_Angeles',
      pol_timezone: null,
      shipment_id: 's3',
      pol_atd_at: '2026-02-20T00:00Z',
      pod_ata_at: '2026-03-22T00:00Z',
    },
    // Not in order, and without a departure.
    {
      ...LANE,
      ...ZONES,
      shipment_id: 's4',
      pol_atd_at: '2026-03-22T00:00Z',
      pod_ata_at: '2026-03-21T00:00Z',
    },
    { ...LANE, ...ZONES, shipment_id: 's5', pod_ata_at: '2026-03-21T00:00Z' },
    {
      ...LANE,
      ...ZONES,
      shipment_id: 's6',
      shipping_line_scac: 'MSCU',
      shipping_line_name: 'MSC',
      pol_atd_at: '2026-04-01T00:00Z',
      pod_ata_at: '2026-04-15T12:00Z',
    },
  ])
  const march = {
    ...LANE,
    cut: 'lane and line',
    period: 'month',
    subject: 'CNSHA-USLAX MAEU',
    pod_vessel_imo: null,
    pod_vessel_name: null,
    arrival_month_on: '2026-03-01',
    n: 3,
    not_measured: 2,
    zone_unknown: 1,
    mean_days: '20.00',
    // Between the values: 10 + 0.2 of the way to 20, and 20 + 0.8 of the way to 30.
    p10_days: '12.00',
    median_days: '20.00',
    p90_days: '28.00',
    is_single: false,
  }
  const april = {
    ...march,
    subject: 'CNSHA-USLAX MSCU',
    shipping_line_scac: 'MSCU',
    shipping_line_name: 'MSC',
    arrival_month_on: '2026-04-01',
    n: 1,
    not_measured: 0,
    zone_unknown: 0,
    mean_days: '14.50',
    p10_days: '14.50',
    median_days: '14.50',
    p90_days: '14.50',
    is_single: true,
  }
  const rest = `where cut = 'lane and line' and period = 'month' order by shipping_line_scac`
  expect(await scene.read('transit_times', { rest })).toEqual([march, april])
  expect(await scene.read('transit_times', { rest, asOf: '2026-05-01T00:00Z' })).toEqual([
    march,
    april,
  ])
  expect(await scene.read('transit_times', { asOf: '2025-12-31T00:00Z' })).toEqual([])
})

it('leaves out what is gone at the source, and has no row for nothing', async () => {
  await scene.insert('shipments', [
    {
      ...LANE,
      ...ZONES,
      shipment_id: 's1',
      pod_ata_at: '2026-04-01T06:00Z',
      _deleted_at: '2026-04-02T00:00Z',
    },
  ])
  expect(await scene.read('transit_times')).toEqual([])
})

it('has the same days by lane, with the line and with the vessel, by month and of the last 90 days', async () => {
  const emma = { pod_vessel_imo: '9000001', pod_vessel_name: 'EMMA MAERSK' }
  // Each leaves so many days before it arrives. As of 30 June 00:00 the last 90 days begin on
  // 1 April 00:00, which is still March in Los Angeles.
  const arrivals = [
    ['s1', '2026-04-01T00:00:00Z', 10, { ...LANE, ...emma }],
    ['s2', '2026-03-31T23:59:59Z', 20, { ...LANE, ...emma }],
    // Without an IMO number the name says which vessel it is, however it is written.
    ['s3', '2026-05-01T12:00:00Z', 30, { ...LANE, pod_vessel_name: 'EVER GIVEN' }],
    [
      's4',
      '2026-05-02T12:00:00Z',
      40,
      { ...LANE, shipping_line_scac: 'MSCU', pod_vessel_name: ' Ever Given' },
    ],
    ['s5', '2026-05-03T12:00:00Z', 50, {}],
    // Said to have arrived half an hour from then: it has not yet.
    ['s6', '2026-06-30T00:30:00Z', 60, { ...LANE, shipping_line_scac: 'ZIMU' }],
    // Nobody said when it left: none is not one.
    ['s7', '2026-05-02T12:00:00Z', null, { ...LANE, pod_vessel_name: 'CAP ARKONA' }],
  ] as const
  await insertKnown(
    scene,
    'shipments',
    arrivals.map(([shipment_id, arrivedAt, days, more]) => ({
      ...ZONES,
      ...more,
      shipment_id,
      pol_atd_at:
        days === null ? null : new Date(Date.parse(arrivedAt) - days * 86_400_000).toISOString(),
      pod_ata_at: arrivedAt,
    })),
  )
  const read = async (cut: string) => {
    const rows = await scene.read('transit_times', {
      columns: ['period', 'arrival_month_on', 'subject', 'n', 'mean_days', 'is_single'],
      rest: `where cut = '${cut}' order by period, arrival_month_on, mean_days`,
      asOf: '2026-06-30T00:00:00Z',
    })
    return rows.map(({ period, arrival_month_on, subject, ...row }) => [
      arrival_month_on ?? period,
      (subject as string | null)?.toUpperCase().replaceAll(/ +/g, ' ') ?? null,
      ...Object.values(row),
    ])
  }
  const lane = 'CNSHA-USLAX'
  expect(await read('lane')).toEqual([
    ['last 90 days', lane, 3, '26.67', false],
    ['last 90 days', null, 1, '50.00', true],
    ['2026-03-01', lane, 2, '15.00', false],
    ['2026-05-01', lane, 2, '35.00', false],
    ['2026-05-01', null, 1, '50.00', true],
  ])
  expect(await read('lane and line')).toEqual([
    ['last 90 days', `${lane} MAEU`, 2, '20.00', false],
    ['last 90 days', `${lane} MSCU`, 1, '40.00', true],
    ['last 90 days', null, 1, '50.00', true],
    ['2026-03-01', `${lane} MAEU`, 2, '15.00', false],
    ['2026-05-01', `${lane} MAEU`, 1, '30.00', true],
    ['2026-05-01', `${lane} MSCU`, 1, '40.00', true],
    ['2026-05-01', null, 1, '50.00', true],
  ])
  expect(await read('lane and vessel')).toEqual([
    ['last 90 days', `${lane} EMMA MAERSK`, 1, '10.00', true],
    ['last 90 days', `${lane} EVER GIVEN`, 2, '35.00', false],
    ['last 90 days', null, 1, '50.00', true],
    ['last 90 days', `${lane} CAP ARKONA`, 0, null, false],
    ['2026-03-01', `${lane} EMMA MAERSK`, 2, '15.00', false],
    ['2026-05-01', `${lane} EVER GIVEN`, 2, '35.00', false],
    ['2026-05-01', null, 1, '50.00', true],
    ['2026-05-01', `${lane} CAP ARKONA`, 0, null, false],
  ])
  // Columns of the cut are filled; the others are null.
  const { shipping_line_scac, shipping_line_name, ...ports } = LANE
  const nobody = {
    ...ports,
    shipping_line_scac: null,
    shipping_line_name: null,
    pod_vessel_imo: null,
    pod_vessel_name: null,
  }
  expect(
    await scene.read('transit_times', {
      columns: Object.keys(nobody),
      rest: `where arrival_month_on = '2026-03-01' order by cut`,
      asOf: '2026-06-30T00:00:00Z',
    }),
  ).toEqual([nobody, { ...nobody, shipping_line_scac, shipping_line_name }, { ...nobody, ...emma }])
})
