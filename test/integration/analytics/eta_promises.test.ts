import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { insertVersions } from '../../support/insert-versions.js'

const scene = useAnalyticsScene()

const AS_OF = '2026-03-31T00:00:00Z'
const LINE = { shipping_line_scac: 'MAEU', pod_timezone: 'America/Los_Angeles' }

/** Horizon, outcome, whether it counts, and the error of each promise of a shipment. */
async function promisesOf(shipment: string): Promise<unknown[][]> {
  const rows = await scene.read('eta_promises', {
    columns: ['horizon_days', 'outcome', 'is_counted', 'error_hours'],
    rest: `where shipment_id = '${shipment}' order by horizon_days`,
    asOf: AS_OF,
  })
  return rows.map((row) => Object.values(row))
}

it('has the whole row of a promise', async () => {
  const ship = {
    ...LINE,
    bill_of_lading_number: 'B1',
    port_of_discharge_locode: 'USLAX',
    // Of no interest once it has arrived.
    line_tracking_stopped_reason: 'all_containers_terminated',
  }
  await insertVersions(scene, 's1', [
    ['2026-03-01T00:00Z', { ...ship, pod_eta_at: '2026-03-10T12:00Z' }],
    [
      '2026-03-11T06:00Z',
      { ...ship, pod_eta_at: '2026-03-10T12:00Z', pod_ata_at: '2026-03-11T00:00Z' },
    ],
  ])
  const row = {
    shipment_id: 's1',
    horizon_days: 2,
    bill_of_lading_number: 'B1',
    shipping_line_scac: 'MAEU',
    port_of_discharge_locode: 'USLAX',
    tracking_stopped_reason: null,
    due_quarter_on: '2026-01-01',
    outcome: 'kept',
    has_arrived: true,
    is_counted: true,
    error_hours: 12,
    promised_at: '2026-03-08 12:00:00+00',
    due_at: '2026-03-10 12:00:00+00',
    arrived_at: '2026-03-11 00:00:00+00',
  }
  expect(await scene.read('eta_promises', { rest: 'order by horizon_days', asOf: AS_OF })).toEqual([
    row,
    { ...row, horizon_days: 7, promised_at: '2026-03-03 12:00:00+00' },
  ])
})

it('keeps a promise within 24 hours, before and after', async () => {
  const arrivals = [
    ['late', '2026-03-11T12:00:00Z', 'kept', 24],
    ['later', '2026-03-11T12:00:36Z', 'not_kept', 24.01],
    ['early', '2026-03-09T12:00:00Z', 'kept', -24],
    ['earlier', '2026-03-09T11:59:24Z', 'not_kept', -24.01],
  ] as const
  for (const [shipment, arrivedAt, outcome, error] of arrivals) {
    const known = { ...LINE, pod_eta_at: '2026-03-10T12:00Z' }
    await insertVersions(scene, shipment, [
      ['2026-03-05T00:00Z', known],
      ['2026-03-12T00:00Z', { ...known, pod_ata_at: arrivedAt }],
    ])
    expect(await promisesOf(shipment), shipment).toEqual([[2, outcome, true, error]])
  }
})

it('takes the first ETA that was so far ahead', async () => {
  const arrived = { ...LINE, pod_ata_at: '2026-03-14T00:00Z' }
  // Postponed when it was two days ahead: it is so again, and the first counts.
  await insertVersions(scene, 'postponed', [
    ['2026-03-06T00:00Z', { ...LINE, pod_eta_at: '2026-03-10T12:00Z' }],
    ['2026-03-09T00:00Z', { ...LINE, pod_eta_at: '2026-03-14T00:00Z' }],
    ['2026-03-14T06:00Z', { ...arrived, pod_eta_at: '2026-03-14T00:00Z' }],
  ])
  expect(await promisesOf('postponed')).toEqual([[2, 'not_kept', true, 84]])
  // From twenty days to one: it passed over all of them.
  await insertVersions(scene, 'jumped', [
    ['2026-03-01T00:00Z', { ...LINE, pod_eta_at: '2026-03-21T00:00Z' }],
    ['2026-03-05T00:00Z', { ...LINE, pod_eta_at: '2026-03-06T00:00Z' }],
    ['2026-03-14T06:00Z', arrived],
  ])
  expect(await promisesOf('jumped')).toEqual([])
  // A version is valid at its first instant, and no longer at its last.
  await insertVersions(scene, 'first instant', [
    ['2026-03-08T12:00Z', { ...LINE, pod_eta_at: '2026-03-10T12:00Z' }],
    ['2026-03-14T06:00Z', arrived],
  ])
  expect(await promisesOf('first instant')).toEqual([[2, 'not_kept', true, 84]])
  await insertVersions(scene, 'last instant', [
    ['2026-03-05T00:00Z', { ...LINE, pod_eta_at: '2026-03-10T12:00Z' }],
    ['2026-03-08T12:00Z', { ...LINE, pod_eta_at: null }],
    ['2026-03-14T06:00Z', arrived],
  ])
  expect(await promisesOf('last instant')).toEqual([])
})

it('takes no ETA of a ship that is there for a promise', async () => {
  // Three days early, and reported two days later: the ETA was still to come two days before it.
  const known = { ...LINE, pod_eta_at: '2026-03-20T00:00Z' }
  await insertVersions(scene, 'reported late', [
    ['2026-03-10T00:00Z', known],
    ['2026-03-19T00:00Z', { ...known, pod_ata_at: '2026-03-17T00:00Z' }],
  ])
  expect(await promisesOf('reported late')).toEqual([[7, 'not_kept', true, -72]])
  // An arrival that was taken back: the version said that it was there.
  const eta = { ...LINE, pod_eta_at: '2026-03-12T00:00Z' }
  await insertVersions(scene, 'taken back', [
    ['2026-03-09T00:00Z', { ...eta, pod_ata_at: '2026-03-08T00:00Z' }],
    ['2026-03-11T00:00Z', eta],
    ['2026-03-12T06:00Z', { ...eta, pod_ata_at: '2026-03-12T00:00Z' }],
  ])
  expect(await promisesOf('taken back')).toEqual([])
})

it('says of a ship that has not arrived what is known by then', async () => {
  const at = async (shipment: string, eta: string, more = {}): Promise<unknown[][]> => {
    await insertVersions(scene, shipment, [
      ['2026-03-26T00:00Z', { ...LINE, pod_eta_at: eta, ...more }],
    ])
    return promisesOf(shipment)
  }
  expect(await at('overdue', '2026-03-29T00:00Z')).toEqual([[2, 'not_kept', true, 48]])
  expect(await at('a day over', '2026-03-30T00:00Z')).toEqual([[2, 'undecided', false, null]])
  expect(
    await at('said to come', '2026-03-29T00:00Z', { pod_ata_at: '2026-03-31T01:00Z' }),
  ).toEqual([[2, 'not_kept', true, 48]])
  // In two days from now on, and not yet.
  expect(await at('to come', '2026-04-02T00:00Z')).toEqual([
    [2, 'undecided', false, null],
    [7, 'undecided', false, null],
  ])
  expect(await at('not yet', '2026-04-02T00:00:01Z')).toEqual([[7, 'undecided', false, null]])
})

it('does not know of a ship that nobody asks for, or that is there without an arrival', async () => {
  const stopped = async (shipment: string, more: object): Promise<unknown[][]> => {
    await insertVersions(scene, shipment, [
      ['2026-03-08T00:00Z', { ...LINE, pod_eta_at: '2026-03-10T12:00Z', ...more }],
    ])
    return promisesOf(shipment)
  }
  const unknown = [[2, 'unknown', false, null]]
  const reason = { line_tracking_stopped_reason: 'no_updates_at_line' }
  const stop = (at: string): object => ({ ...reason, line_tracking_stopped_at: at })
  expect(await stopped('too early', stop('2026-03-11T12:00Z'))).toEqual(unknown)
  // It still asked by then: not kept, and late so far until it stopped.
  expect(await stopped('late enough', stop('2026-03-11T18:00Z'))).toEqual([
    [2, 'not_kept', true, 30],
  ])
  expect(await stopped('nobody said when', reason)).toEqual(unknown)
  expect(await stopped('will stop', { line_tracking_stopped_at: '2026-04-05T00:00Z' })).toEqual([
    [2, 'not_kept', true, 492],
  ])
  await scene.insert('container_history', [
    {
      container_id: 'c1',
      shipment_id: 'landed',
      valid_from: '2026-03-08T00:00Z',
      pod_discharged_at: '2026-03-10T18:00Z',
    },
  ])
  expect(await stopped('landed', {})).toEqual(unknown)
})

it('counts no promise before those of late ships could', async () => {
  const known = { ...LINE, pod_eta_at: '2026-03-30T00:00Z' }
  await insertVersions(scene, 'on time', [
    ['2026-03-26T00:00Z', known],
    ['2026-03-30T12:00Z', { ...known, pod_ata_at: '2026-03-30T06:00Z' }],
  ])
  expect(await promisesOf('on time')).toEqual([[2, 'kept', false, 6]])
  const later = await scene.read('eta_promises', {
    columns: ['is_counted'],
    asOf: '2026-03-31T00:00:01Z',
  })
  expect(later).toEqual([{ is_counted: true }])
})

it('takes the quarter of the local day, and none in a zone that is none', async () => {
  const zones = [
    ['America/Los_Angeles', '2026-01-01'],
    [null, '2026-04-01'],
    ['Mars/Olympus', null],
  ] as const
  for (const [pod_timezone, quarter] of zones) {
    const shipment = String(pod_timezone)
    await insertVersions(scene, shipment, [
      ['2026-03-29T12:00Z', { pod_timezone, pod_eta_at: '2026-04-01T05:00Z' }],
    ])
    const rows = await scene.read('eta_promises', {
      columns: ['due_quarter_on'],
      rest: `where shipment_id = '${shipment}'`,
      asOf: AS_OF,
    })
    expect(rows, shipment).toEqual([{ due_quarter_on: quarter }])
  }
})

it('leaves out what is gone at the source, and has no row for nothing', async () => {
  expect(await scene.read('eta_promises')).toEqual([])
  const known = { ...LINE, pod_ata_at: '2026-03-10T12:00Z' }
  await scene.insert('shipments', [
    { ...known, shipment_id: 'gone', _deleted_at: '2026-03-11T00:00Z' },
    { ...known, shipment_id: 'here' },
  ])
  for (const shipment of ['gone', 'here']) {
    await insertVersions(scene, shipment, [
      ['2026-03-06T00:00Z', { ...LINE, pod_eta_at: '2026-03-10T12:00Z' }],
    ])
  }
  expect(await scene.read('eta_promises', { columns: ['shipment_id', 'error_hours'] })).toEqual([
    { shipment_id: 'here', error_hours: 0 },
  ])
})
