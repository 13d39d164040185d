import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { insertVersions } from '../../support/insert-versions.js'

const scene = useAnalyticsScene()

const AS_OF = '2026-06-30T00:00:00Z'
const LANE = {
  shipping_line_scac: 'MAEU',
  shipping_line_name: 'Maersk',
  port_of_lading_locode: 'CNSHA',
  port_of_discharge_locode: 'USLAX',
  pol_timezone: 'Asia/Shanghai',
  pod_timezone: 'America/Los_Angeles',
  created_at: '2026-03-01T00:00Z',
}
const EMMA = {
  pod_vessel_imo: '9000001',
  pod_vessel_name: 'EMMA MAERSK',
  pod_voyage_number: '118E',
}

/** An arrival on 1 June, first seen after it, so that nothing was promised. */
async function arrive(shipment: string, more: object): Promise<void> {
  await insertVersions(scene, shipment, [
    ['2026-06-02T00:00Z', { ...LANE, pod_ata_at: '2026-06-01T12:00Z', ...more }],
  ])
}

/** A ship due on 1 June that came so many hours later; null: not until 30 June, 696 hours after. */
async function promise(shipment: string, hours: number | null, more: object = {}): Promise<void> {
  const due = '2026-06-01T00:00Z'
  const known = { ...LANE, pod_eta_at: due, ...more }
  const arrivedAt = new Date(Date.parse(due) + (hours ?? 0) * 3_600_000).toISOString()
  await insertVersions(scene, shipment, [
    ['2026-05-28T00:00Z', known],
    ...(hours === null
      ? []
      : ([['2026-06-20T00:00Z', { ...known, pod_ata_at: arrivedAt }]] as const)),
  ])
}

const OF_ALL = `where cut = 'all' and period = 'last 90 days'`

it('has the whole row of each cut, in the quarter and the last 90 days', async () => {
  // Two shipments on one ship, on time after 20 days; one on another, three days late after 30.
  const emma = { ...LANE, ...EMMA, pol_atd_at: '2026-04-11T12:00Z' }
  const ever = { ...LANE, pod_vessel_name: 'EVER GIVEN', pol_atd_at: '2026-04-11T12:00Z' }
  await insertVersions(scene, 's1', [
    ['2026-04-01T00:00Z', { ...emma, pod_eta_at: '2026-05-01T00:00Z' }],
    [
      '2026-05-01T18:00Z',
      { ...emma, pod_original_eta_at: '2026-05-01T12:00Z', pod_ata_at: '2026-05-01T12:00Z' },
    ],
  ])
  await insertVersions(scene, 's2', [
    ['2026-04-01T00:00Z', { ...emma, pod_voyage_number: '0118e', pod_eta_at: '2026-05-01T06:00Z' }],
    [
      '2026-05-01T18:00Z',
      { ...emma, pod_original_eta_at: '2026-05-01T12:00Z', pod_ata_at: '2026-05-01T12:00Z' },
    ],
  ])
  // On another voyage since 5 May, and the ETA of two days moved with it.
  await insertVersions(scene, 's3', [
    ['2026-04-01T00:00Z', { ...ever, pod_voyage_number: '7W', pod_eta_at: '2026-05-08T12:00Z' }],
    ['2026-05-05T00:00Z', { ...ever, pod_voyage_number: '8W', pod_eta_at: '2026-05-10T12:00Z' }],
    [
      '2026-05-11T18:00Z',
      {
        ...ever,
        pod_voyage_number: '8W',
        pod_original_eta_at: '2026-05-08T12:00Z',
        pod_ata_at: '2026-05-11T12:00Z',
      },
    ],
  ])
  await scene.insert('container_history', [
    // 2 of 2, and 2 of 3: its arrival is missing.
    {
      container_id: 'c1',
      shipment_id: 's1',
      valid_from: '2026-04-01T00:00Z',
      pod_arrived_at: '2026-05-01T12:00Z',
    },
    {
      container_id: 'c3',
      shipment_id: 's3',
      valid_from: '2026-04-01T00:00Z',
      pod_discharged_at: '2026-05-12T12:00Z',
    },
  ])
  const report = (id: string, container: string, shipment: string, recorded: string) => ({
    container_id: container,
    transport_event_id: id,
    shipment_id: shipment,
    event: 'container.transport.vessel_arrived',
    data_source: 'shipping_line',
    timestamp: '2026-05-01T12:00Z',
    created_at: recorded,
    timezone: 'America/Los_Angeles',
    is_estimated: false,
  })
  await scene.insert('transport_events', [
    report('e1', 'c1', 's1', '2026-05-01T14:00Z'),
    report('e2', 'c1', 's1', '2026-05-01T17:00Z'),
    report('e3', 'c3', 's3', '2026-05-01T21:00Z'),
  ])
  const all = {
    cut: 'all',
    period: '2026-Q2',
    subject: 'all',
    shipping_line_scac: null,
    shipping_line_name: null,
    port_of_lading_locode: null,
    port_of_discharge_locode: null,
    pod_vessel_imo: null,
    pod_vessel_name: null,
    arrivals: 3,
    containers: 2,
    vessel_calls: 2,
    on_time_share: '0.6667',
    on_time_n: 3,
    on_time_calls: 2,
    // Two in three of two observations: (0.66667 + 0.96040 ∓ 1.16156) / 2.92080.
    on_time_low_share: '0.1594',
    on_time_high_share: '0.9547',
    median_days_late: '0.0',
    transit_n: 3,
    transit_calls: 2,
    p10_transit_days: null,
    median_transit_days: '20.00',
    p90_transit_days: null,
    // 12, 6 and 24 hours after the ETA of two days.
    eta_2_days_n: 3,
    eta_2_days_calls: 2,
    eta_2_days_within_24_hours_share: '1.0000',
    eta_2_days_median_error_hours: '12.00',
    // 12, 6 and 72 hours after that of seven days and of fourteen.
    eta_7_days_n: 3,
    eta_7_days_calls: 2,
    eta_7_days_within_24_hours_share: '0.6667',
    eta_7_days_median_error_hours: '12.00',
    eta_14_days_n: 3,
    eta_14_days_calls: 2,
    eta_14_days_within_24_hours_share: '0.6667',
    eta_14_days_median_error_hours: '12.00',
    rollover_n: 3,
    rollover_free_share: '0.6667',
    lag_n: 3,
    lag_median_hours: '5.00',
    completeness_n: 5,
    milestone_completeness: '0.8000',
    is_few: true,
  }
  const ports = { port_of_lading_locode: 'CNSHA', port_of_discharge_locode: 'USLAX' }
  const maersk = { shipping_line_scac: 'MAEU', shipping_line_name: 'Maersk' }
  const cuts = [
    all,
    { ...all, cut: 'line', subject: 'MAEU', ...maersk },
    { ...all, cut: 'lane', subject: 'CNSHA-USLAX', ...ports },
    { ...all, cut: 'lane and line', subject: 'CNSHA-USLAX MAEU', ...ports, ...maersk },
  ]
  const rest = `order by array_position(array['all', 'line', 'lane', 'lane and line'], cut)`
  for (const period of ['2026-Q2', 'last 90 days']) {
    expect(
      await scene.read('carriers', {
        rest: `where cut <> 'vessel' and period = '${period}' ${rest}`,
        asOf: AS_OF,
      }),
    ).toEqual(cuts.map((row) => ({ ...row, period })))
  }
  const vessel = {
    ...all,
    cut: 'vessel',
    subject: 'EMMA MAERSK',
    pod_vessel_imo: '9000001',
    pod_vessel_name: 'EMMA MAERSK',
    arrivals: 2,
    containers: 1,
    vessel_calls: 1,
    on_time_share: '1.0000',
    on_time_n: 2,
    on_time_calls: 1,
    // 1 and (1 + 1.9208 - 1.9208) / 4.8416.
    on_time_low_share: '0.2065',
    on_time_high_share: '1.0000',
    transit_n: 2,
    transit_calls: 1,
    eta_2_days_n: 2,
    eta_2_days_calls: 1,
    eta_2_days_median_error_hours: '9.00',
    eta_7_days_n: 2,
    eta_7_days_calls: 1,
    eta_7_days_within_24_hours_share: '1.0000',
    eta_7_days_median_error_hours: '9.00',
    eta_14_days_n: 2,
    eta_14_days_calls: 1,
    eta_14_days_within_24_hours_share: '1.0000',
    eta_14_days_median_error_hours: '9.00',
    rollover_n: 2,
    rollover_free_share: '1.0000',
    lag_n: 2,
    lag_median_hours: '3.50',
    completeness_n: 2,
    milestone_completeness: '1.0000',
  }
  expect(
    await scene.read('carriers', {
      rest: `where cut = 'vessel' and period = '2026-Q2' and pod_vessel_imo is not null`,
      asOf: AS_OF,
    }),
  ).toEqual([vessel])
  const other = await scene.read('carriers', {
    columns: ['subject', 'pod_vessel_name', 'on_time_low_share', 'on_time_high_share'],
    rest: `where cut = 'vessel' and period = '2026-Q2' and pod_vessel_imo is null`,
    asOf: AS_OF,
  })
  expect(other).toEqual([
    {
      subject: 'EVER GIVEN',
      pod_vessel_name: 'EVER GIVEN',
      on_time_low_share: '0.0000',
      on_time_high_share: '0.7935',
    },
  ])
})

it('counts each shipment once in each cut, also where nobody says which line or lane', async () => {
  await arrive('s1', EMMA)
  await arrive('s2', { ...EMMA, shipping_line_scac: 'MSCU' })
  await arrive('s3', { ...EMMA, port_of_discharge_locode: 'USOAK' })
  await arrive('s4', {
    shipping_line_scac: null,
    port_of_lading_locode: null,
    pod_vessel_name: ' Emma Maersk',
  })
  // In a zone that is none: in no quarter, and in the last 90 days.
  await arrive('s5', { ...EMMA, pod_timezone: 'Mars/Olympus' })
  const rows = await scene.read('carriers', {
    columns: ['cut', 'subject', 'arrivals', 'vessel_calls'],
    rest: `where period = '2026-Q2' order by cut, subject nulls last`,
    asOf: AS_OF,
  })
  // At another port the ship makes another call; without a voyage and number it is another ship.
  expect(rows.map((row) => Object.values(row))).toEqual([
    ['all', 'all', 4, 3],
    ['lane', 'CNSHA-USLAX', 2, 1],
    ['lane', 'CNSHA-USOAK', 1, 1],
    ['lane', null, 1, 1],
    ['lane and line', 'CNSHA-USLAX MAEU', 1, 1],
    ['lane and line', 'CNSHA-USLAX MSCU', 1, 1],
    ['lane and line', 'CNSHA-USOAK MAEU', 1, 1],
    ['lane and line', null, 1, 1],
    ['line', 'MAEU', 2, 2],
    ['line', 'MSCU', 1, 1],
    ['line', null, 1, 1],
    ['vessel', ' Emma Maersk', 1, 1],
    ['vessel', 'EMMA MAERSK', 3, 2],
  ])
  expect(
    await scene.read('carriers', {
      columns: ['cut', 'arrivals'],
      rest: `where period = 'last 90 days' and cut in ('all', 'vessel') and pod_vessel_imo is not null
        or ${OF_ALL.slice(6)} order by cut`,
      asOf: AS_OF,
    }),
  ).toEqual([
    { cut: 'all', arrivals: 5 },
    { cut: 'vessel', arrivals: 4 },
  ])
})

it('takes a ship for one observation, however many shipments it brings', async () => {
  const figures = [
    'vessel_calls',
    'is_few',
    'transit_calls',
    'p10_transit_days',
    'p90_transit_days',
  ]
  const read = async () => scene.read('carriers', { columns: figures, rest: OF_ALL, asOf: AS_OF })
  const left = { pol_atd_at: '2026-05-12T12:00Z' }
  for (let n = 1; n <= 12; n++) await arrive(`emma ${n}`, { ...EMMA, ...left })
  expect(await read()).toEqual([
    {
      vessel_calls: 1,
      is_few: true,
      transit_calls: 1,
      p10_transit_days: null,
      p90_transit_days: null,
    },
  ])
  const others = async (from: number, to: number) => {
    for (let n = from; n <= to; n++) {
      await arrive(`ship ${n}`, { ...EMMA, ...left, pod_voyage_number: `${n}` })
    }
  }
  await others(2, 4)
  expect(await read()).toMatchObject([{ vessel_calls: 4, is_few: true }])
  await others(5, 5)
  expect(await read()).toMatchObject([{ vessel_calls: 5, is_few: false }])
  await others(6, 9)
  expect(await read()).toMatchObject([{ transit_calls: 9, p10_transit_days: null }])
  // A call of which nobody says when it left is none of the transit.
  await arrive('unknown', { ...EMMA, pod_voyage_number: '99' })
  expect(await read()).toMatchObject([
    { vessel_calls: 10, transit_calls: 9, p10_transit_days: null, p90_transit_days: null },
  ])
  await others(10, 10)
  expect(await read()).toMatchObject([
    { transit_calls: 10, p10_transit_days: '20.00', p90_transit_days: '20.00' },
  ])
})

it('counts ships that have not come, and tells the median only if it is known', async () => {
  const figures = [
    'arrivals',
    'vessel_calls',
    'eta_2_days_n',
    'eta_2_days_calls',
    'eta_2_days_within_24_hours_share',
    'eta_2_days_median_error_hours',
  ]
  const read = async (): Promise<unknown[]> => {
    const [row] = await scene.read('carriers', { columns: figures, rest: OF_ALL, asOf: AS_OF })
    return Object.values(row!)
  }
  await promise('never 1', null)
  // The only ship has not come: its error is anybody's guess.
  expect(await read()).toEqual([0, 0, 1, 1, '0.0000', null])
  await promise('6 hours', 6)
  // The middle of 6 and more than 696.
  expect(await read()).toEqual([1, 1, 2, 2, '0.5000', null])
  await promise('10 hours', 10)
  // Whenever the first comes, it comes after the one in the middle.
  expect(await read()).toEqual([2, 2, 3, 3, '0.6667', '10.00'])
  await promise('720 hours', 720)
  // The fourth comes after the end of June: the middle is between 10 and an unknown figure.
  expect(await read()).toEqual([2, 2, 4, 4, '0.5000', null])
  await promise('14 hours', 14)
  await promise('-30 hours', -30)
  // -30, 6, 10 | 14, and two still to come.
  expect(await read()).toEqual([4, 4, 6, 6, '0.5000', '12.00'])
})

it('tells no median that a late ship may still move', async () => {
  // Still to come, and 30 hours late so far; the others of the middle came 40 hours late.
  const more = { pod_eta_at: '2026-06-28T18:00Z' }
  await insertVersions(scene, 'to come', [['2026-06-25T00:00Z', { ...LANE, ...more }]])
  await promise('40 hours', 40)
  await promise('2 hours', 2)
  const figures = ['eta_2_days_n', 'eta_2_days_median_error_hours']
  const read = async () => scene.read('carriers', { columns: figures, rest: OF_ALL, asOf: AS_OF })
  // It may be 31 hours late in the end, and then be the one in the middle.
  expect(await read()).toEqual([{ eta_2_days_n: 3, eta_2_days_median_error_hours: null }])
  await promise('3 hours', 3)
  await promise('4 hours', 4)
  expect(await read()).toEqual([{ eta_2_days_n: 5, eta_2_days_median_error_hours: '4.00' }])
})
