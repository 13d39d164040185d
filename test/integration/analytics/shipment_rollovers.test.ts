import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { insertVersions } from '../../support/insert-versions.js'
import { expectRows } from '../../support/tables.js'

const scene = useAnalyticsScene()

const SHIP = {
  pol_atd_at: '2026-03-01T00:00Z',
  pod_vessel_name: 'EMMA MAERSK',
  pod_vessel_imo: '9000001',
  pod_voyage_number: '118E',
}
const ARRIVED = { pod_ata_at: '2026-03-21T12:00Z' }

it('has the whole row of a shipment that arrived', async () => {
  await insertVersions(scene, 's1', [
    ['2026-02-10T00:00Z', SHIP],
    ['2026-03-22T00:00Z', { ...SHIP, ...ARRIVED }],
  ])
  const row = `
    shipment_id | is_watched | is_vessel_changed | is_voyage_changed | is_rollover_free | departed_at
    s1          | true       | false             | false             | true             | 2026-03-01 00:00:00+00`
  await expectRows(scene, 'shipment_rollovers', { asOf: '2026-03-30T00:00Z' }, row)
  // Not arrived yet by then.
  expect(await scene.read('shipment_rollovers', { asOf: '2026-03-21T18:00Z' })).toEqual([])
})

it('counts what changed from departure to arrival, and no other spelling', async () => {
  const changes = [
    ['another voyage', '2026-03-05T00:00Z', {}, { pod_voyage_number: '119E' }, [false, true]],
    ['another vessel', '2026-03-05T00:00Z', {}, { pod_vessel_imo: '9000002' }, [true, false]],
    ['a new plan', '2026-02-20T00:00Z', {}, { pod_voyage_number: '119E' }, [false, false]],
    ['after arrival', '2026-03-22T00:00Z', {}, { pod_vessel_imo: '9000002' }, [false, false]],
    ['written otherwise', '2026-03-05T00:00Z', {}, { pod_voyage_number: ' 0118e' }, [false, false]],
    ['a number filled in', '2026-03-05T00:00Z', { pod_vessel_imo: null }, {}, [false, false]],
    [
      'another name',
      '2026-03-05T00:00Z',
      { pod_vessel_imo: null },
      { pod_vessel_name: 'EVER GIVEN' },
      [true, false],
    ],
    [
      'only an estimate of the departure',
      '2026-03-05T00:00Z',
      { pol_atd_at: null, pol_etd_at: '2026-03-06T00:00Z' },
      { pol_atd_at: null, pol_etd_at: '2026-03-06T00:00Z', pod_voyage_number: '119E' },
      [false, false],
    ],
  ] as const
  for (const [shipment, at, before, after, changed] of changes) {
    await insertVersions(scene, shipment, [
      ['2026-02-10T00:00Z', { ...SHIP, ...before }],
      [at, { ...SHIP, ...after, ...(at > '2026-03-21' ? ARRIVED : {}) }],
      ['2026-03-23T00:00Z', { ...SHIP, ...after, ...ARRIVED }],
    ])
    const [row] = await scene.read('shipment_rollovers', {
      columns: ['is_vessel_changed', 'is_voyage_changed', 'is_rollover_free'],
      rest: `where shipment_id = '${shipment}'`,
      asOf: '2026-03-30T00:00Z',
    })
    const isFree = !changed[0] && !changed[1]
    expect(Object.values(row!), shipment).toEqual([...changed, isFree])
  }
})

it('does not know of a shipment that we saw after its departure, or that never departed', async () => {
  await insertVersions(scene, 'late', [['2026-03-02T00:00Z', { ...SHIP, ...ARRIVED }]])
  await insertVersions(scene, 'never', [
    ['2026-02-10T00:00Z', { ...SHIP, ...ARRIVED, pol_atd_at: null }],
  ])
  await scene.insert('shipments', [{ ...SHIP, ...ARRIVED, shipment_id: 'unseen' }])
  const shows = (asOf: string, ...ids: readonly string[]) =>
    expectRows(
      scene,
      'shipment_rollovers',
      { asOf, rest: 'order by shipment_id' },
      `shipment_id | is_watched | is_rollover_free\n${ids.map((id) => `${id} | false | -`).join('\n')}`,
    )
  await shows('2026-03-30T00:00Z', 'late', 'never')
  await shows('', 'unseen')
})
