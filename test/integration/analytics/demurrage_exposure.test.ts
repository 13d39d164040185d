import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { insertKnown } from '../../support/insert-known.js'
import { insertRule, lastFreeDay, listedFee } from '../../support/scenes/charges.js'
import { expectRows } from '../../support/tables.js'

const scene = useAnalyticsScene()

/** 23:30 of 17 March in Los Angeles, UTC-7. */
const AS_OF = '2026-03-18T06:30:00Z'

const shows = (table: string, asOf = AS_OF) =>
  expectRows(scene, 'demurrage_exposure', { asOf, rest: 'order by container_id' }, table)

const container = (container_id: string, more: object = {}) => ({
  container_id,
  number: container_id,
  shipment_id: 's1',
  pod_terminal_id: 't1',
  equipment_type: 'dry',
  equipment_length: 40,
  pod_timezone: 'America/Los_Angeles',
  pod_discharged_at: '2026-03-09T10:00:00Z',
  ...more,
})

/** One container of the shipment, whose last free day is the 13th. */
async function insertOverdue(): Promise<void> {
  await insertKnown(scene, 'shipments', [
    { shipment_id: 's1', bill_of_lading_number: 'BOL1', shipping_line_scac: 'MAEU' },
  ])
  await insertKnown(scene, 'containers', [container('c1')])
  await insertKnown(scene, 'container_import_deadlines', [
    lastFreeDay('c1', 'service', '2026-03-13'),
  ])
}

/** A rule of the terminal, without free days of its own. */
const rule = (rule_name: string, rates: Readonly<Record<number, string>>, more: object = {}) =>
  insertRule(scene, { charge: 'demurrage', terminal: 't1', rule_name, ...more }, rates)

const lists = (...fees: readonly Record<string, unknown>[]) =>
  insertKnown(scene, 'container_fees', fees)

it('shows every column of a container past its last free day', async () => {
  await scene.insert('terminals', [{ terminal_id: 't1', name: 'West Basin', nickname: 'WBCT' }])
  await insertOverdue()
  await lists(listedFee('c1', 'demurrage', '700'), listedFee('c1', 'exam', '120.50'))
  await lists(listedFee('c1', 'total', '820.50'))
  // 14, 15, 16, 17 March are days 1 to 4: the first lacks a rate, two are at 100, one is at 150.
  await rule('rule', { 2: '100', 4: '150' })
  const rest = 'order by container_id'
  expect(await scene.read('demurrage_exposure', { asOf: AS_OF, rest })).toMatchSnapshot()
})

it('takes a listed fee of 0 for one that was not calculated', { tags: ['JA10'] }, async () => {
  await insertOverdue()
  await lists(listedFee('c1', 'demurrage', '0'), listedFee('c1', 'exam', '0.00', 'CAD'))
  await rule('rule', { 1: '100' })
  const overdue = { asOf: AS_OF, rest: `where exception = 'overdue'` }
  await shows(`
    fees_by_currency | fee_amount | fees_unreadable | estimate_amount
    -                | -          | 0               | 400`)
  await expectRows(scene, 'attention', overdue, 'cost_amount | cost_currency_code\n400 | USD')
  // Beside an amount it changes neither the sum nor its currency.
  await lists(listedFee('c1', 'storage', '30'))
  await shows(`
    fees_by_currency | fee_amount | fees_unreadable | estimate_amount
    USD 30           | 30         | 0               | 400`)
  await expectRows(scene, 'attention', overdue, 'cost_amount | cost_currency_code\n30 | USD')
})

it('says that a fee is below zero, and takes it into the sum as it is listed', async () => {
  await insertOverdue()
  await lists(listedFee('c1', 'demurrage', '500'), listedFee('c1', 'credit', '-200'))
  await shows('fee_amount | fees_negative | fees_unreadable\n300 | 1 | 0')
})

it(
  'takes a total of 0 at the ramp for a list that is not there yet',
  { tags: ['JA10'] },
  async () => {
    const atRamp = {
      final_destination_timezone: 'America/Chicago',
      pod_rail_departed_at: '2026-03-10T10:00:00Z',
      ind_ata_at: '2026-03-12T10:00:00Z',
    }
    await insertKnown(scene, 'containers', [container('c1', atRamp)])
    await insertKnown(scene, 'container_import_deadlines', [
      lastFreeDay('c1', 'rail', '2026-03-14', { place: 'ramp' }),
    ])
    const total = { ...listedFee('c1', 'total', '0', null), fee_key: 'ramp', place: 'ramp' }
    await lists(listedFee('c1', 'demurrage', '900', 'CAD'), total)
    await shows('container_id | place | fees_by_currency\nc1 | ramp | CAD 900')
  },
)
