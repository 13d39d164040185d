import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'

const scene = useAnalyticsScene()

const MAERSK = {
  shipping_line_scac: 'MAEU',
  shipping_line_name: 'Maersk',
  created_at: '2026-02-01T00:00Z',
  pol_timezone: 'Asia/Shanghai',
  pod_timezone: 'America/Los_Angeles',
}

it('gives each figure of a quarter with its n', async () => {
  const arrived = { ...MAERSK, pod_ata_at: '2026-03-21T12:00Z' }
  await scene.insert('shipments', [
    // 20 days at sea; the first ETA was right, and a day late.
    {
      ...arrived,
      shipment_id: 's1',
      pol_atd_at: '2026-03-01T12:00Z',
      pod_original_eta_at: '2026-03-21T12:00Z',
    },
    {
      ...arrived,
      shipment_id: 's2',
      pol_atd_at: '2026-03-01T12:00Z',
      pod_original_eta_at: '2026-03-22T12:00Z',
    },
    // 5 days late, and only an estimate of its departure is known.
    {
      ...arrived,
      shipment_id: 's3',
      pol_etd_at: '2026-03-01T12:00Z',
      pod_original_eta_at: '2026-03-16T12:00Z',
    },
    // In a zone that is none: in no quarter. Not arrived, gone at the source: nowhere.
    {
      ...arrived,
      shipment_id: 's4',
      pod_timezone: 'Mars/Olympus',
      pod_original_eta_at: '2026-03-16T12:00Z',
    },
    { ...MAERSK, shipment_id: 's5' },
    { ...arrived, shipment_id: 's6', _deleted_at: '2026-03-22T00:00Z' },
    // 1 April 05:00 UTC is 31 March in Los Angeles, and 1 April in New York: another quarter.
    {
      ...MAERSK,
      shipment_id: 's7',
      pod_timezone: 'America/New_York',
      pod_ata_at: '2026-04-01T05:00Z',
    },
  ])
  const version = (
    id: string,
    from: string,
    to: string | null,
    vessel: string,
    voyage: string,
    eta: string,
  ) => ({
    shipment_id: id,
    valid_from: from,
    valid_to: to,
    pod_vessel_imo: vessel,
    pod_voyage_number: voyage,
    pod_eta_at: eta,
  })
  await scene.insert('shipment_history', [
    // s1 is on another voyage from 10 March on, after it departed: rolled. Its ETA of the 14th was
    // 12 hours off.
    version('s1', '2026-02-10T00:00Z', '2026-03-10T00:00Z', '9000001', '001E', '2026-03-20T12:00Z'),
    version('s1', '2026-03-10T00:00Z', '2026-03-15T00:00Z', '9000001', '002E', '2026-03-22T00:00Z'),
    version('s1', '2026-03-15T00:00Z', null, '9000001', '002E', '2026-03-21T12:00Z'),
    // s2 got a new plan before it departed: not a rollover. 6 hours off. A change after the arrival
    // does not count either.
    version('s2', '2026-02-10T00:00Z', '2026-02-20T00:00Z', '9000001', '001E', '2026-03-20T12:00Z'),
    version('s2', '2026-02-20T00:00Z', '2026-03-25T00:00Z', '9000002', '001E', '2026-03-21T06:00Z'),
    version('s2', '2026-03-25T00:00Z', null, '9000003', '009E', '2026-03-21T12:00Z'),
    // s3 was seen too late for either: after its departure, and 6 days before its arrival.
    version('s3', '2026-03-15T12:00Z', '2026-03-16T00:00Z', '9000001', '001E', '2026-03-21T06:00Z'),
    version('s3', '2026-03-16T00:00Z', null, '9000002', '001E', '2026-03-21T06:00Z'),
  ])
  await scene.insert('containers', [
    // 2 of 2, and 1 of 2: its departure is missing.
    { container_id: 'c1', shipment_id: 's1', pod_arrived_at: '2026-03-21T12:00Z' },
    { container_id: 'c3', shipment_id: 's3', pod_arrived_at: '2026-03-21T12:00Z' },
  ])
  const report = (id: string, shipment: string, recorded: string, more = {}) => ({
    container_id: 'c1',
    transport_event_id: id,
    shipment_id: shipment,
    event: 'container.transport.vessel_arrived',
    data_source: 'shipping_line',
    timestamp: '2026-03-21T12:00Z',
    created_at: recorded,
    timezone: 'America/Los_Angeles',
    is_estimated: false,
    ...more,
  })
  await scene.insert('transport_events', [
    // 5 and 9 hours. The rest: of a terminal, without a zone, of another thing, before the service
    // knew the shipment.
    report('e1', 's1', '2026-03-21T17:00Z'),
    report('e2', 's2', '2026-03-21T21:00Z', { event: 'container.transport.vessel_discharged' }),
    report('e3', 's1', '2026-03-23T12:00Z', { data_source: 'terminal' }),
    report('e4', 's3', '2026-03-23T12:00Z', { timezone: null }),
    report('e5', 's1', '2026-03-23T12:00Z', { event: 'container.transport.full_out' }),
    report('e6', 's1', '2026-03-23T12:00Z', { timestamp: '2026-01-21T12:00Z' }),
  ])
  const rest = 'order by arrival_quarter_on'
  expect(await scene.read('carrier_scorecards', { rest })).toMatchSnapshot()
})

it('has no row for nothing, nor for an arrival not known yet', async () => {
  const version = { ...MAERSK, shipment_id: 's1', pod_ata_at: '2026-03-21T12:00Z' }
  await scene.insert('shipment_history', [{ ...version, valid_from: '2026-03-22T00:00Z' }])
  expect(await scene.read('carrier_scorecards', { asOf: '2026-03-21T18:00Z' })).toEqual([])
  expect(
    await scene.read('carrier_scorecards', { asOf: '2026-03-22T18:00Z', columns: ['arrivals'] }),
  ).toEqual([{ arrivals: 1 }])
})

it('takes no number filled in or written otherwise for a rollover', { tags: ['FE5'] }, async () => {
  const seen = (shipment_id: string, day: number, more: object) => ({
    ...MAERSK,
    shipment_id,
    pol_atd_at: '2026-03-01T00:00Z',
    pod_vessel_name: 'EMMA MAERSK',
    pod_vessel_imo: '9000001',
    pod_voyage_number: '118E',
    valid_from: `2026-02-${day}T00:00Z`,
    valid_to: day === 10 ? '2026-03-05T00:00Z' : null,
    ...more,
  })
  const later = { valid_from: '2026-03-05T00:00Z', valid_to: null }
  await scene.insert(
    'shipments',
    ['s1', 's2', 's3'].map((shipment_id) => ({
      ...MAERSK,
      shipment_id,
      pol_atd_at: '2026-03-01T00:00Z',
      pod_ata_at: '2026-03-21T12:00Z',
    })),
  )
  await scene.insert('shipment_history', [
    seen('s1', 10, { pod_vessel_imo: null }),
    seen('s1', 11, later),
    seen('s2', 10, {}),
    seen('s2', 11, { ...later, pod_voyage_number: '0118e' }),
    // Without an IMO number the name decides.
    seen('s3', 10, { pod_vessel_imo: null }),
    seen('s3', 11, { ...later, pod_vessel_name: 'EVER GIVEN' }),
  ])
  expect(
    await scene.read('carrier_scorecards', { columns: ['rollover_n', 'rollover_free_share'] }),
  ).toEqual([{ rollover_n: 3, rollover_free_share: '0.6667' }])
})
