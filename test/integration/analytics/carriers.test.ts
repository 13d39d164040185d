import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'

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
  await scene.insertVersions(shipment, [
    ['2026-06-02T00:00Z', { ...LANE, pod_ata_at: '2026-06-01T12:00Z', ...more }],
  ])
}

/** A ship due on 1 June that came so many hours later; null: not until 30 June, 696 hours after. */
async function promise(shipment: string, hours: number | null): Promise<void> {
  const due = Date.UTC(2026, 5, 1)
  const known = { ...LANE, pod_eta_at: '2026-06-01T00:00Z' }
  const pod_ata_at = hours === null ? null : new Date(due + hours * 3_600_000).toISOString()
  await scene.insertVersions(shipment, [
    ['2026-05-28T00:00Z', known],
    ['2026-06-20T00:00Z', { ...known, pod_ata_at }],
  ])
}

const shows = (rest: string, table: string) =>
  scene.expectRows('carriers', { asOf: AS_OF, rest }, table)
const OF_ALL = `where cut = 'all' and period = 'last 90 days'`

/**
 * Two shipments on one ship, on time after 20 days; one on another, three days late after 30. Their
 * ETAs of two days were 12, 6 and 24 hours off, those of seven and of fourteen 12, 6 and 72.
 */
it('has the whole row of each cut, in the quarter and the last 90 days', async () => {
  await scene.insertVersionTable(
    { ...LANE, ...EMMA, pol_atd_at: '2026-04-11T12:00Z' },
    `shipment_id | valid_from        | pod_voyage_number | pod_eta_at        | pod_original_eta_at | pod_ata_at
     s1          | 2026-04-01T00:00Z | 118E              | 2026-05-01T00:00Z | -                   | -
     s1          | 2026-05-01T18:00Z | 118E              | -                 | 2026-05-01T12:00Z   | 2026-05-01T12:00Z
     s2          | 2026-04-01T00:00Z | 0118e             | 2026-05-01T06:00Z | -                   | -
     s2          | 2026-05-01T18:00Z | 118E              | -                 | 2026-05-01T12:00Z   | 2026-05-01T12:00Z`,
  )
  // On another voyage since 5 May, and the ETA of two days moved with it.
  await scene.insertVersionTable(
    { ...LANE, pod_vessel_name: 'EVER GIVEN', pol_atd_at: '2026-04-11T12:00Z' },
    `shipment_id | valid_from        | pod_voyage_number | pod_eta_at        | pod_original_eta_at | pod_ata_at
     s3          | 2026-04-01T00:00Z | 7W                | 2026-05-08T12:00Z | -                   | -
     s3          | 2026-05-05T00:00Z | 8W                | 2026-05-10T12:00Z | -                   | -
     s3          | 2026-05-11T18:00Z | 8W                | -                 | 2026-05-08T12:00Z   | 2026-05-11T12:00Z`,
  )
  // 2 of 2, and 2 of 3: its arrival is missing.
  await scene.insert(
    'container_history',
    `
    container_id | shipment_id | valid_from        | pod_arrived_at    | pod_discharged_at
    c1           | s1          | 2026-04-01T00:00Z | 2026-05-01T12:00Z | -
    c3           | s3          | 2026-04-01T00:00Z | -                 | 2026-05-12T12:00Z`,
  )
  await scene.insertEvents(
    `event          | container_id | shipment_id | created_at
     vessel_arrived | c1           | s1          | 2026-05-01T14:00Z
     vessel_arrived | c1           | s1          | 2026-05-01T17:00Z
     vessel_arrived | c3           | s3          | 2026-05-01T21:00Z`,
    { data_source: 'shipping_line', timestamp: '2026-05-01T12:00Z', timezone: LANE.pod_timezone },
  )
  const read = (cut: string, period: string) =>
    scene.read('carriers', {
      rest: `where cut = '${cut}' and period = '${period}' order by pod_vessel_imo`,
      asOf: AS_OF,
    })
  const [all = {}] = await read('all', '2026-Q2')
  // Of two thirds of two observations: (0.66667 + 0.96040 ∓ 1.16156) / 2.92080.
  expect(all).toMatchSnapshot()
  // Of one observation: 1 and (1 + 1.9208 - 1.9208) / 4.8416; 0 and 3.8416 / 4.8416.
  expect(await read('vessel', '2026-Q2')).toMatchSnapshot()
  const ports = { port_of_lading_locode: 'CNSHA', port_of_discharge_locode: 'USLAX' }
  const maersk = { shipping_line_scac: 'MAEU', shipping_line_name: 'Maersk' }
  for (const row of [
    all,
    { ...all, cut: 'line', subject: 'MAEU', ...maersk },
    { ...all, cut: 'lane', subject: 'CNSHA-USLAX', ...ports },
    { ...all, cut: 'lane and line', subject: 'CNSHA-USLAX MAEU', ...ports, ...maersk },
  ]) {
    for (const period of ['2026-Q2', 'last 90 days']) {
      expect(await read(String(row.cut), period)).toEqual([{ ...row, period }])
    }
  }
})

it('counts each shipment once in each cut, also where nobody says which line or lane', async () => {
  await arrive('s1', EMMA)
  await arrive('s2', { ...EMMA, shipping_line_scac: 'MSCU' })
  await arrive('s3', { ...EMMA, port_of_discharge_locode: 'USOAK' })
  await arrive('s4', {
    shipping_line_scac: null,
    port_of_lading_locode: null,
    pod_vessel_name: 'Emma Maersk',
  })
  // In a zone that is none: in no quarter, and in the last 90 days.
  await arrive('s5', { ...EMMA, pod_timezone: 'Mars/Olympus' })
  // At another port the ship makes another call; without a voyage and number it is another ship.
  await shows(
    `where period = '2026-Q2' order by cut, subject nulls last`,
    `cut           | subject          | arrivals | vessel_calls
     all           | all              | 4        | 3
     lane          | CNSHA-USLAX      | 2        | 1
     lane          | CNSHA-USOAK      | 1        | 1
     lane          | -                | 1        | 1
     lane and line | CNSHA-USLAX MAEU | 1        | 1
     lane and line | CNSHA-USLAX MSCU | 1        | 1
     lane and line | CNSHA-USOAK MAEU | 1        | 1
     lane and line | -                | 1        | 1
     line          | MAEU             | 2        | 2
     line          | MSCU             | 1        | 1
     line          | -                | 1        | 1
     vessel        | EMMA MAERSK      | 3        | 2
     vessel        | Emma Maersk      | 1        | 1`,
  )
  await shows(
    `where period = 'last 90 days' and cut in ('all', 'vessel') order by cut, arrivals desc`,
    'cut | arrivals\nall | 5\nvessel | 4\nvessel | 1',
  )
})

it('takes a ship for one observation, however many shipments it brings', async () => {
  const figures = 'vessel_calls | is_few | transit_calls | p10_transit_days | p90_transit_days'
  const says = (row: string) => shows(OF_ALL, `${figures}\n${row}`)
  const left = { pol_atd_at: '2026-05-12T12:00Z' }
  for (let n = 1; n <= 12; n++) await arrive(`emma ${n}`, { ...EMMA, ...left })
  await says('1 | true | 1 | - | -')
  const others = async (from: number, to: number) => {
    for (let n = from; n <= to; n++) {
      await arrive(`ship ${n}`, { ...EMMA, ...left, pod_voyage_number: `${n}` })
    }
  }
  await others(2, 4)
  await says('4 | true | 4 | - | -')
  await others(5, 5)
  await says('5 | false | 5 | - | -')
  await others(6, 9)
  await says('9 | false | 9 | - | -')
  // Calls that left nobody knows when, or after they came, are none of the transit.
  await arrive('unknown', { ...EMMA, pod_voyage_number: '98' })
  await arrive('backwards', { ...EMMA, pod_voyage_number: '99', pol_atd_at: '2026-06-02T12:00Z' })
  await says('11 | false | 9 | - | -')
  await others(10, 10)
  await says('12 | false | 10 | 20.00 | 20.00')
})

const ETA_2 = ['n', 'calls', 'within_24_hours_share', 'median_error_hours'].map(
  (figure) => `eta_2_days_${figure}`,
)

it('counts ships that have not come, and tells the median only if it is known', async () => {
  const figures = ['arrivals', 'vessel_calls', ...ETA_2].join(' | ')
  const says = (row: string) => shows(OF_ALL, `${figures}\n${row}`)
  await promise('never 1', null)
  // The only ship has not come: its error is anybody's guess.
  await says('0 | 0 | 1 | 1 | 0.0000 | -')
  await promise('6 hours', 6)
  // The middle of 6 and more than 696.
  await says('1 | 1 | 2 | 2 | 0.5000 | -')
  await promise('10 hours', 10)
  // Whenever the first comes, it comes after the one in the middle.
  await says('2 | 2 | 3 | 3 | 0.6667 | 10.00')
  await promise('720 hours', 720)
  // The fourth comes after the end of June: the middle is between 10 and an unknown figure.
  await says('2 | 2 | 4 | 4 | 0.5000 | -')
  await promise('14 hours', 14)
  await promise('-30 hours', -30)
  // -30, 6, 10 | 14, and two still to come.
  await says('4 | 4 | 6 | 6 | 0.5000 | 12.00')
})
