import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  parseInvoices,
  storeInvoices,
} from '../../../src/extensions/answers/questions/dd-invoices.js'
import { parseRulesFile } from '../../../src/extensions/answers/questions/rules-file.js'
import { openAnalyticsScene, type AnalyticsScene } from '../../support/analytics-scene.js'
import { insertKnown } from '../../support/insert-known.js'
import { createTestWarehouse } from '../../support/test-warehouse.js'

const RULES = `rule,charge,line,terminal,locode,place,equipment_type,equipment_length,free_days,counts,holiday_calendar,starts_with,from_day,daily_rate,currency,valid_from,valid_to,note,until
line,demurrage,MAEU,,,port,,,4,,,,1,100,USD,,,,
line,demurrage,MAEU,,,port,,,4,,,,3,150,USD,,,,
terminal,storage,,,,port,,,,,,,2,40,USD,,,,
ramp,storage,,,,ramp,,,2,calendar,,arrival,1,75,USD,,,,
out,detention,,,,,,,5,calendar,,,1,120,USD,,,,
merged,demurrage,HLCU,,,port,,,10,calendar,,,1,90,USD,,,,empty_return
`

const ZONE = 'America/Los_Angeles'
/** Midnight there, in winter. */
const dayOf = (date: number) => `2026-11-${String(date).padStart(2, '0')}T08:00:00Z`
const NOW = '2026-12-24T20:00:00Z'

/** The line of an invoice that is right and says all that is asked for. */
const RIGHT = {
  invoice_number: 'A',
  line_number: '1',
  issuer: 'Maersk',
  charge: 'demurrage',
  container_number: 'NYKU7401215',
  bill_of_lading_number: 'MAEU199146355',
  charged_from_on: '2026-11-07',
  charged_to_on: '2026-11-08',
  amount: '200',
  currency_code: 'USD',
  daily_rate: '100',
  issued_on: '2026-11-20',
  due_on: '2026-12-20',
  port_of_discharge: 'USLAX',
  billed_because: 'consignee',
  free_days: '4',
  free_from_on: '2026-11-03',
  free_to_on: '2026-11-06',
  available_on: '2026-11-05',
  rule_reference: 'Tariff 1',
  dispute_contact: 'disputes@line.example',
  dispute_url: 'https://line.example/disputes',
  dispute_within: '30 days',
  certification: 'yes',
  note: '',
}
type Line = typeof RIGHT

/**
 * Storage by the terminal that reports the 6th: the first day lacks a rate, the others cost 40.
 */
const STORAGE = { charge: 'storage', issuer: 'WBCT', amount: '40', daily_rate: '40', free_days: '' }

let scene: AnalyticsScene

/** Versions of a container, one after the other: from when on, and what it says then. */
async function insertVersions(
  container: object,
  versions: readonly (readonly [from: string, said: object])[],
): Promise<void> {
  const [, last] = versions.at(-1)!
  await scene.insert('containers', [{ ...container, ...last }])
  await scene.insert(
    'container_history',
    versions.map(([valid_from, said], at) => ({
      ...container,
      ...said,
      valid_from,
      valid_to: versions[at + 1]?.[0] ?? null,
    })),
  )
}

beforeAll(async () => {
  scene = await openAnalyticsScene()
  const file = parseRulesFile('rules.csv', RULES)
  if (file.kind === 'rules') {
    await scene.insertInto('analytics', 'free_time_rules', file.rules)
    await scene.insertInto('analytics', 'free_time_tiers', file.tiers)
  }
  const shipment = (shipment_id: string, more: object = {}) => ({
    shipment_id,
    shipping_line_scac: 'MAEU',
    bill_of_lading_number: null,
    normalized_number: null,
    ...more,
  })
  await insertKnown(scene, 'shipments', [
    shipment('now', { bill_of_lading_number: 'MAEU199146355', normalized_number: '199146355' }),
    shipment('before', { bill_of_lading_number: 'Maeu188-abc-111' }),
    shipment('to come', { bill_of_lading_number: 'MAEU200000000' }),
    shipment('nameless'),
    shipment('hamburg', { port_of_discharge_locode: 'DEHAM' }),
    shipment('msc', { shipping_line_scac: 'MSCU' }),
    shipment('hapag', { shipping_line_scac: 'HLCU' }),
  ])

  // Free to the 6th, gone on the 16th. On the 9th and the 10th it was not available.
  const gone = {
    pod_timezone: ZONE,
    pod_discharged_at: '2026-11-02T18:00:00Z',
    pod_full_out_at: '2026-11-16T18:00:00Z',
    empty_terminated_at: '2026-11-23T18:00:00Z',
  }
  const box = { number: 'NYKU7401215', shipment_id: 'now', ...gone }
  await insertVersions({ container_id: 'box', ...box }, [
    ['2026-10-20T00:00:00Z', {}],
    [dayOf(2), { availability_known: true, available_for_pickup: false }],
    [dayOf(5), { availability_known: true, available_for_pickup: true }],
    [dayOf(9), { availability_known: true, available_for_pickup: false }],
    [dayOf(11), { availability_known: true, available_for_pickup: true }],
    [dayOf(13), { availability_known: false, available_for_pickup: false }],
  ])
  const lastDay = {
    container_id: 'box',
    kind: 'pickup_lfd_terminal',
    local_date: '2026-11-06',
    deadline_at: '2026-11-06T09:00:00Z',
    time_zone: ZONE,
  }
  await insertKnown(scene, 'container_import_deadlines', [lastDay])
  await scene.insert('container_hold_history', [
    {
      container_id: 'box',
      hold_key: 'customs',
      name: 'customs',
      status: 'hold',
      valid_from: dayOf(12),
      valid_to: dayOf(13),
    },
  ])

  const known = (container_id: string, more: object = {}) => ({
    container_id,
    shipment_id: 'nameless',
    ...gone,
    ...more,
  })
  await insertKnown(scene, 'containers', [
    // The same box half a year before, and on a journey whose ship has not arrived.
    known('box before', {
      number: box.number,
      shipment_id: 'before',
      pod_discharged_at: '2026-05-04T18:00:00Z',
      pod_full_out_at: '2026-05-20T18:00:00Z',
      empty_terminated_at: '2026-05-26T18:00:00Z',
    }),
    { container_id: 'box to come', number: box.number, shipment_id: 'to come' },
    // Nobody ever says whether it is available, nor which bill of lading it has.
    known('silent', { number: 'MSKU0000001' }),
    // The same, and one of which the bill of lading is known began before.
    known('one of two', {
      number: 'MSKU0000003',
      shipment_id: 'now',
      pod_discharged_at: '2026-11-01T18:00:00Z',
    }),
    known('two of two', { number: 'MSKU0000003' }),
    // In a zone that nobody knows no day of it is known.
    known('no zone', { number: 'MSKU0000002', pod_timezone: 'Mars/Olympus' }),
    // No rule holds for the demurrage of this line.
    known('no rule', { number: 'MSCU0000001', shipment_id: 'msc' }),
    // One clock of the line, free to the 12th, which the gate-out on the 16th does not end.
    known('merged', { number: 'HLXU0000001', shipment_id: 'hapag' }),
    // Not to the United States.
    known('to hamburg', { number: 'MSKU0000007', shipment_id: 'hamburg' }),
    // The days of its line and its terminal are moved, see below.
    known('moved', { number: 'MSKU0000008', shipment_id: 'hamburg' }),
    // Available already when we first looked.
    known('was available', { number: 'MSKU0000004', available_for_pickup: true }),
    // The line says a last free day, and no rule holds for it.
    known('only a day', { number: 'MSCU0000002', shipment_id: 'msc' }),
  ])
  await insertKnown(scene, 'container_import_deadlines', [
    { ...lastDay, container_id: 'only a day', kind: 'pickup_lfd_line' },
  ])
  // The line moves its day on the 9th, and back after the gate-out; the terminal at noon of the 9th.
  const said = (kind: string, local_date: string, valid_from: string, valid_to: string | null) => ({
    container_id: 'moved',
    kind,
    local_date,
    time_zone: ZONE,
    valid_from,
    valid_to,
  })
  const noon = '2026-11-09T20:00:00Z'
  await scene.insert('container_import_deadline_history', [
    said('pickup_lfd_line', '2026-11-10', dayOf(2), noon),
    said('pickup_lfd_line', '2026-11-12', noon, dayOf(18)),
    said('pickup_lfd_line', '2026-11-06', dayOf(18), null),
    said('pickup_lfd_terminal', '2026-11-10', dayOf(2), noon),
    said('pickup_lfd_terminal', '2026-11-06', noon, null),
  ])
  await scene.insert('container_import_deadlines', [
    { ...lastDay, container_id: 'moved', kind: 'pickup_lfd_line' },
    { ...lastDay, container_id: 'moved' },
  ])
  // Its terminal said nothing at first; the value of the column does not count.
  await insertVersions(known('heard late', { number: 'MSKU0000006' }), [
    ['2026-10-20T00:00:00Z', { availability_known: false, available_for_pickup: false }],
    [dayOf(5), { availability_known: true, available_for_pickup: true }],
  ])
  // Available at the port, then on a train; at the ramp on the 4th, available there on the 6th.
  const onTrain = {
    container_id: 'rail',
    number: 'MSKU0000005',
    shipment_id: 'nameless',
    pod_timezone: ZONE,
    final_destination_timezone: 'America/Chicago',
    pod_discharged_at: '2026-10-26T18:00:00Z',
  }
  const departed = { pod_rail_departed_at: '2026-10-30T18:00:00Z' }
  const unloaded = { ...departed, ind_rail_unloaded_at: '2026-11-04T18:00:00Z' }
  await insertVersions(onTrain, [
    ['2026-10-20T00:00:00Z', { current_status: 'not_available' }],
    ['2026-10-27T00:00:00Z', { current_status: 'available' }],
    ['2026-10-30T20:00:00Z', { ...departed, current_status: 'on_rail' }],
    ['2026-11-04T20:00:00Z', { ...unloaded, current_status: 'not_available' }],
    ['2026-11-06T20:00:00Z', { ...unloaded, current_status: 'available' }],
  ])
})
beforeEach(() => scene.query('delete from tracking_analytics.dd_invoices'))
afterAll(() => scene.drop())

function toCsv(lines: readonly Partial<Line>[]): string {
  const whole = lines.map((line, at) => ({ ...RIGHT, line_number: String(at + 1), ...line }))
  return [Object.keys(RIGHT), ...whole.map((line) => Object.values(line))].join('\n')
}

/** The audit of lines that are right except for the given cells, in their order. */
async function audit(
  lines: readonly Partial<Line>[],
  columns: readonly string[],
  asOf = NOW,
): Promise<unknown[][]> {
  await scene.insertInto('analytics', 'dd_invoices', parseInvoices('a.csv', toCsv(lines)))
  const rows = await scene.read('invoices', {
    asOf,
    columns,
    rest: 'order by line_number',
  })
  return rows.map((row) => Object.values(row))
}

const reasonsOf = async (...lines: Partial<Line>[]) =>
  (await audit(lines, ['reasons'])).map(([reasons]) => reasons)

/** Two days that no other line of a test claims. */
const days = (from: number, to: number) => ({
  charged_from_on: dayOf(from).slice(0, 10),
  charged_to_on: dayOf(to).slice(0, 10),
})

describe('a line', () => {
  it('that says what we know has no reason', async () => {
    const columns = [
      'container_id',
      'place',
      'rule_name',
      'days_claimed',
      'days_ours',
      'days_without_rate',
      'days_unavailable',
      'days_unknown',
      'days_on_hold',
      'amount',
      'amount_ours',
      'difference_amount',
      'rule_free_days',
      'clock_on',
      'last_free_on',
      'available_seen_on',
      'missing_items',
      'also_charged_text',
      'reasons',
      'reasons_text',
    ]
    const money = ['200', '200', '0', 4, '2026-11-02', '2026-11-06', '2026-11-05']
    expect(await audit([{}], columns)).toEqual([
      ['box', 'port', 'line', 2, 2, 0, 0, 0, 0, ...money, [], null, [], null],
    ])
  })

  it('of a number that nobody has: unknown_container', async () => {
    expect(
      await audit([{ container_number: 'NYKU7401216' }], ['container_id', 'days_ours', 'reasons']),
    ).toEqual([[null, null, ['unknown_container']]])
  })

  it('of a charge that has no clock: never_charged', async () => {
    // Once by a number alone, once on the journey that the bill of lading names.
    const lines = [
      { container_number: 'MSCU0000001', bill_of_lading_number: '' },
      { bill_of_lading_number: 'MAEU200000000' },
    ]
    expect(await audit(lines, ['container_id', 'missing_items', 'reasons'])).toEqual([
      [null, ['bill_of_lading_number'], ['never_charged', 'missing_items']],
      [null, [], ['never_charged']],
    ])
  })

  it('of a merged clock has either charge of the line', { tags: ['JA15'] }, async () => {
    const box = { container_number: 'HLXU0000001', bill_of_lading_number: '', daily_rate: '' }
    const columns = ['place', 'days_claimed', 'days_ours', 'amount_ours']
    expect(
      await audit(
        [
          { ...box, ...days(15, 16), amount: '180' },
          { ...box, ...days(17, 24), charge: 'detention', amount: '720' },
        ],
        columns,
      ),
    ).toEqual([
      ['port', 2, 2, '180'],
      // Back on the 23rd: seven days are ours.
      ['port', 8, 7, '630'],
    ])
  })

  it('of days that are not ours: outside_period', async () => {
    const lines = [
      { ...days(5, 8), amount: '400' },
      { ...days(16, 18), amount: '300' },
      { ...days(24, 25) },
    ]
    const columns = ['days_claimed', 'days_ours', 'amount_ours', 'difference_amount', 'reasons']
    expect(await audit(lines, columns)).toEqual([
      [4, 2, '200', '200', ['outside_period']],
      [3, 1, '150', '150', ['outside_period']],
      [2, 0, '0', '200', ['outside_period']],
    ])
  })

  it('of a clock that is unknown has no reason that would need it', async () => {
    const lines = [{ container_number: 'MSKU0000002', bill_of_lading_number: '' }]
    const columns = ['container_id', 'days_ours', 'days_unavailable', 'amount_ours', 'reasons']
    expect(await audit(lines, columns)).toEqual([
      ['no zone', null, null, null, ['missing_items', 'not_checked: clock unknown']],
    ])
  })

  it('with a sum, a currency or an issue of its own', async () => {
    const lines = [
      { amount: '210' },
      { ...days(9, 10), currency_code: 'EUR', amount: '900', daily_rate: '450' },
      { ...days(7, 8), ...STORAGE, issued_on: '2026-12-08' },
      { ...days(7, 8), charge: 'detention', issued_on: '2026-12-09' },
    ]
    const found = await reasonsOf(...lines)
    expect(found[0]).toEqual(['wrong_sum'])
    expect(found[1]).toEqual(['not_available', 'other_currency'])
    expect(found[2]).not.toContain('late_issue')
    expect(found[3]).toContain('late_issue')
  })

  it('without where a dispute is made: missing_items', async () => {
    const lines = [{ dispute_url: '' }, { ...days(11, 11), amount: '150', daily_rate: '150' }]
    expect(await audit(lines, ['missing_items', 'reasons'])).toEqual([
      [['dispute_url'], ['missing_items']],
      [[], []],
    ])
  })
})

describe('days on which it could not be fetched', () => {
  it('are not_available and on_hold', async () => {
    const lines = [
      { ...days(9, 10), amount: '200' },
      { ...days(12, 12), amount: '100' },
    ]
    expect(await audit(lines, ['days_unavailable', 'days_on_hold', 'reasons'])).toEqual([
      [2, 0, ['not_available']],
      [0, 1, ['on_hold']],
    ])
  })

  it('are unknown, and not none, where nobody said anything', async () => {
    const silent = { container_number: 'MSKU0000001', bill_of_lading_number: '' }
    const lines = [
      { ...days(12, 14), amount: '300' },
      { ...days(15, 16), amount: '200' },
      { ...silent },
      { ...silent, ...days(3, 4) },
    ]
    expect(await audit(lines, ['days_ours', 'days_unavailable', 'days_unknown'])).toEqual([
      [3, 0, 2],
      [2, null, 2],
      [2, null, 2],
      // None of them is ours.
      [0, 0, 0],
    ])
  })
})

describe('wrong_rate', () => {
  it('is a daily rate above the rules, or without one an amount above them', async () => {
    // The third day and those after it cost 150.
    const lines = [
      { daily_rate: '100.01', amount: '200.02' },
      { ...days(9, 10), daily_rate: '', amount: '300.01' },
      { ...days(11, 12), daily_rate: '', amount: '300' },
      { ...days(13, 13), daily_rate: '', amount: '90' },
    ]
    expect(await audit(lines, ['amount_ours', 'difference_amount', 'reasons'])).toEqual([
      ['200', '0.02', ['wrong_rate']],
      ['300', '0.01', ['not_available', 'wrong_rate', 'missing_items']],
      ['300', '0', ['on_hold', 'missing_items']],
      ['150', '-60', ['missing_items']],
    ])
  })

  it('is not told of an amount for days that are not ours, nor in another currency', async () => {
    const found = await reasonsOf(
      { ...days(5, 8), daily_rate: '', amount: '400' },
      { ...days(11, 11), daily_rate: '', amount: '400', currency_code: 'EUR' },
    )
    expect(found).toEqual([
      ['outside_period', 'missing_items'],
      ['other_currency', 'missing_items'],
    ])
  })

  it('follows from no day without a rate', async () => {
    const day = { ...STORAGE, ...days(7, 7) }
    const lines = [
      { ...STORAGE, amount: '80' },
      { ...STORAGE, amount: '80', ...days(7, 8), daily_rate: '' },
      { ...STORAGE, amount: '100', ...days(7, 8), daily_rate: '50' },
      { ...day, amount: '999', daily_rate: '999' },
    ]
    const columns = ['days_ours', 'days_without_rate', 'amount_ours', 'difference_amount']
    const rows = await audit(lines, [...columns, 'reasons'])
    expect(rows.map((row) => row.slice(0, 4))).toEqual([
      [2, 1, '40', null],
      [2, 1, '40', null],
      [2, 1, '40', null],
      [1, 1, null, null],
    ])
    expect(rows.map(([, , , , reasons]) => (reasons as string[]).includes('wrong_rate'))).toEqual([
      false,
      false,
      true,
      false,
    ])
  })
})

it('has no amount of ours without a rule', async () => {
  const lines = [{ container_number: 'MSCU0000002', bill_of_lading_number: '', free_from_on: '' }]
  const columns = ['rule_name', 'days_ours', 'days_without_rate', 'amount_ours', 'reasons']
  expect(await audit(lines, columns)).toEqual([
    [null, 2, null, null, ['missing_items', 'not_checked: no rate']],
  ])
})

describe('the container of a line', () => {
  it('takes a file from before there was a column for the address of disputes', () => {
    const without = (...names: readonly string[]): string => {
      const cells = Object.entries(RIGHT).filter(([name]) => !names.includes(name))
      return [cells.map(([name]) => name).join(','), cells.map(([, cell]) => cell).join(',')].join(
        '\n',
      )
    }
    expect(parseInvoices('a.csv', without('dispute_url'))).toMatchObject([
      { amount: '200', dispute_url: null },
    ])
    expect(() => parseInvoices('a.csv', without('dispute_url', 'note'))).toThrow(
      'columns are missing: note',
    )
  })

  it('is found by its number however that is typed', async () => {
    const numbers = ['NYKU 740121-5', ' nyku7401215', 'NyKu-740.121/5']
    const lines = numbers.map((container_number, at) => ({
      container_number,
      ...days(7 + at, 7 + at),
    }))
    expect(await audit(lines, ['container_id', 'container_number'])).toEqual(
      numbers.map(() => ['box', 'NYKU7401215']),
    )
    expect(() => parseInvoices('a.csv', toCsv([{ container_number: ' - ' }]))).toThrow(
      'line 2: container_number " - " must be a container number as MSKU0000001',
    )
  })

  it('is imported without a warning then', { tags: ['JB10'] }, async () => {
    const { warehouse, drop } = await createTestWarehouse()
    await warehouse.query(
      'insert a container',
      sql`insert into tracking.containers
        (container_id, number, _observed_at, _first_seen_at, _changed_at)
      values ('box', 'NYKU7401215', now(), now(), now())`,
    )
    const lines = parseInvoices(
      'a.csv',
      toCsv([
        { container_number: 'nyku 740121-5', invoice_number: '0071' },
        { container_number: 'NYKU7401216', invoice_number: '71' },
      ]),
    )
    const report = await warehouse.transaction('import', (session) => storeInvoices(session, lines))
    expect(report).toMatchObject({ total: 2, added: 2 })
    expect(report.warnings).toEqual([
      'container NYKU7401216 ends with the check digit 6, but ISO 6346 requires 5',
      'invoice 0071 of Maersk is there as 71 too: did a spreadsheet remove its zeros?',
      'the warehouse has no container NYKU7401216',
    ])
    await drop()
  })

  it('is that of the bill of lading, with or without SCAC, in any case', async () => {
    const bills = [
      'MAEU199146355',
      '199146355',
      ' maeu 199-146-355 ',
      'SEAU199146355',
      '188ABC111',
      'maeu 188abc111',
    ]
    const lines = bills.map((bill_of_lading_number) => ({ bill_of_lading_number }))
    const rows = await audit(lines, ['container_id', 'bill_of_lading_number'])
    expect(rows).toEqual([
      ['box', bills[0]],
      ['box', bills[1]],
      ['box', bills[2]!.trim()],
      ['box', bills[3]],
      ['box before', bills[4]],
      ['box before', bills[5]],
    ])
  })

  it('is none where no journey has the bill of lading: other_bill_of_lading', async () => {
    const bills = ['MAEU199146356', '19914635', 'U199146355', 'MAEU']
    const lines = bills.map((bill_of_lading_number, at) => ({
      bill_of_lading_number,
      ...days(7 + at, 7 + at),
      amount: '100',
    }))
    expect(await audit(lines, ['container_id', 'days_ours', 'reasons'])).toEqual(
      bills.map(() => [null, null, ['other_bill_of_lading']]),
    )
  })

  it('is one whose bill of lading nobody knows where none is known to have it', async () => {
    const silent = { container_number: 'MSKU0000001', available_on: '' }
    const two = { container_number: 'MSKU0000003', available_on: '' }
    const lines = [
      silent,
      // The other one was discharged later.
      { ...two, bill_of_lading_number: '' },
      { ...two, ...days(10, 10) },
      { ...two, ...days(11, 11), bill_of_lading_number: 'XXXX1' },
    ]
    expect(await audit(lines, ['container_id'])).toEqual([
      ['silent'],
      ['two of two'],
      ['one of two'],
      ['two of two'],
    ])
  })

  it('is of several journeys under one number the last that had begun', async () => {
    const unnamed = { bill_of_lading_number: '' }
    const may = { charged_from_on: '2026-05-09', charged_to_on: '2026-05-10' }
    const columns = ['container_id', 'days_ours', 'clock_on']
    expect(await audit([unnamed, { ...unnamed, ...may }], columns)).toEqual([
      ['box', 2, '2026-11-02'],
      ['box before', 2, '2026-05-04'],
    ])
  })
})

/** Outside the United States the form of an invoice gives no reason. */
const ABROAD = { port_of_discharge: 'DEHAM' }
const VERDICT = ['verdict', 'disputable_amount', 'disputable_by_cause', 'reasons']

describe('the verdict', { tags: ['JA3'] }, () => {
  it('is to pay what was compared and is right', async () => {
    // The rules charge 150 for the 11th.
    const lines = [{}, { ...days(11, 11), amount: '100' }]
    expect(await audit(lines, VERDICT)).toEqual(lines.map(() => ['pay', '0', {}, []]))
  })

  it('is to dispute what a cause is worth, as claimed', async () => {
    // 100 for the 7th and the 8th each, then 150.
    const lines = [
      { ...days(5, 6) },
      { ...days(9, 10), amount: '320', daily_rate: '160' },
      { ...days(12, 12), amount: '150', daily_rate: '150' },
      { ...days(7, 8), amount: '240', daily_rate: '120' },
      { ...days(11, 11), amount: '160', daily_rate: '150' },
    ]
    expect(await audit(lines, VERDICT)).toEqual([
      ['dispute', '200', { outside_period: 200 }, ['outside_period']],
      ['dispute', '320', { not_available: 320 }, ['not_available', 'wrong_rate']],
      ['dispute', '150', { on_hold: 150 }, ['on_hold']],
      ['dispute', '40', { wrong_rate: 40 }, ['wrong_rate']],
      ['dispute', '10', { wrong_sum: 10 }, ['wrong_sum']],
    ])
  })

  it('counts a day once, and a rate over the days without another cause', async () => {
    // The 5th and 6th are not ours; 7 and 8 cost 100 each; 9 and 10 could not be fetched; the 11th
    // costs 150, the 12th has a hold.
    const line = { ...ABROAD, ...days(5, 12), daily_rate: '170', amount: '1400' }
    const reasons = ['outside_period', 'not_available', 'on_hold', 'wrong_rate', 'wrong_sum']
    const causes = {
      outside_period: 340,
      not_available: 340,
      on_hold: 170,
      // 3 × 170 above 100 + 100 + 150.
      wrong_rate: 160,
      // 8 × 170 are 1360.
      wrong_sum: 40,
    }
    expect(await audit([line], [...VERDICT, 'amount'])).toEqual([
      ['dispute', '1050', causes, reasons, '1400'],
    ])
  })

  it('takes the share of the amount where no daily rate says more', async () => {
    const lines = [
      { ...ABROAD, ...days(5, 7), daily_rate: '', amount: '100' },
      // The rate would make 200 of the two days that are not ours.
      { ...ABROAD, ...days(16, 18), daily_rate: '100', amount: '90' },
    ]
    expect(await audit(lines, VERDICT)).toEqual([
      ['dispute', '66.67', { outside_period: 66.67 }, ['outside_period']],
      ['dispute', '60.00', { outside_period: 60 }, ['outside_period', 'wrong_sum']],
    ])
  })

  it('is to check what could not be compared, and never 0', async () => {
    const lines = [
      { ...ABROAD, container_number: 'MSKU0000002', bill_of_lading_number: '' },
      { ...ABROAD, ...STORAGE, ...days(7, 8), amount: '80' },
      { ...ABROAD, ...days(7, 8), currency_code: 'EUR' },
      { ...ABROAD, ...days(11, 11), amount: '150', daily_rate: '150', free_to_on: '2026-11-05' },
      { ...ABROAD, container_number: 'NYKU7401216' },
    ]
    const check = (...reasons: string[]) => ['check', null, null, reasons]
    expect(await audit(lines, VERDICT)).toEqual([
      check('not_checked: clock unknown'),
      check('not_checked: no rate'),
      check('other_currency'),
      check('wrong_free_time'),
      check('unknown_container'),
    ])
  })

  it('is to dispute what is known of a line that could not be checked as a whole', async () => {
    // No rate for the 7th; the 5th and 6th are not ours.
    const line = { ...ABROAD, ...STORAGE, ...days(5, 8), amount: '160' }
    expect(await audit([line], VERDICT)).toEqual([
      ['dispute', '80', { outside_period: 80 }, ['outside_period', 'not_checked: no rate']],
    ])
  })

  it('takes the rest for a form that need not be paid, where it holds', async () => {
    const late = { issued_on: '2026-12-20' }
    const lines = [
      { ...days(6, 8), amount: '300', certification: '' },
      { ...days(9, 9), amount: '100', certification: '', ...late },
      { ...days(11, 11), amount: '150', daily_rate: '150', ...late },
      // Abroad, somewhere, and in Puerto Rico.
      { ...days(13, 13), amount: '150', daily_rate: '150', certification: '', ...ABROAD },
      { ...days(14, 14), amount: '150', daily_rate: '150', port_of_discharge: 'Hamburg', ...late },
      { ...days(15, 15), amount: '150', daily_rate: '150', port_of_discharge: 'prsju', ...late },
      { ...days(16, 16), amount: '150', daily_rate: '150', certification: '', ...late },
    ]
    expect(await audit(lines, VERDICT)).toEqual([
      [
        'dispute',
        '300',
        { outside_period: 100, missing_items: 200 },
        ['outside_period', 'missing_items'],
      ],
      // All of it is not_available already.
      ['dispute', '100', { not_available: 100 }, ['not_available', 'missing_items', 'late_issue']],
      ['dispute', '150', { late_issue: 150 }, ['late_issue']],
      ['pay', '0', {}, []],
      ['check', null, null, ['late_issue']],
      ['dispute', '150', { late_issue: 150 }, ['late_issue']],
      ['dispute', '150', { late_issue: 150 }, ['missing_items', 'late_issue']],
    ])
  })

  it('takes the port of the shipment, and no railway for a party that the rules bind', async () => {
    const late = { issued_on: '2026-12-20', bill_of_lading_number: '' }
    const lines = [
      { ...late, container_number: 'MSKU0000007', available_on: '' },
      { ...late, ...STORAGE, container_number: 'MSKU0000005', ...days(10, 11), amount: '80' },
      { ...late, ...STORAGE, container_number: 'MSKU0000001', ...days(10, 11), amount: '80' },
    ]
    expect(await audit(lines, ['place', 'missing_items', ...VERDICT])).toEqual([
      ['port', ['bill_of_lading_number', 'available_on'], 'pay', '0', {}, []],
      [
        'ramp',
        ['bill_of_lading_number', 'free_days'],
        'check',
        null,
        null,
        ['wrong_availability', 'wrong_free_time'],
      ],
      [
        'port',
        ['bill_of_lading_number', 'free_days'],
        'dispute',
        '80',
        { late_issue: 80 },
        ['missing_items', 'late_issue', 'not_checked: clock unknown'],
      ],
    ])
  })

  it('is one for every line, and each unit of money counts once', async () => {
    const lines = [5, 6, 8, 10, 13].flatMap((from) =>
      [0, 3].flatMap((more) =>
        ['', '100', '110.55'].flatMap((daily_rate) =>
          ['10', '99.99', '300'].map((amount, at) => ({
            ...(at === 1 ? {} : ABROAD),
            ...(from > 10 ? {} : { certification: '' }),
            ...days(from, from + more),
            invoice_number: `${from} ${more} ${daily_rate}`,
            container_number: ['NYKU7401215', 'MSKU0000002', 'MSCU0000002'][(from + at) % 3]!,
            bill_of_lading_number: '',
            daily_rate,
            amount: (from + more) % 4 === 0 ? `-${amount}` : amount,
          })),
        ),
      ),
    )
    await audit(lines, ['verdict'])
    const [sums] = await scene.query(
      `select count(*)::int as lines,
        array_agg(distinct verdict order by verdict) as verdicts,
        sum(amount) = sum(net_amount) as is_netted,
        count(*) filter (where disputable_by_cause ? 'credited') > 0 as has_credits,
        count(*) filter (
          where verdict <> case
              when disputable_amount > 0 then 'dispute'
              when disputable_amount = 0 then 'pay'
              else 'check'
            end
            or disputable_amount is distinct from causes.total
            or disputable_amount > greatest(net_amount, 0)
            or causes.has_nothing
            or disputable_amount = 0 and net_amount > 0 and reasons_text like '%not_checked%'
        )::int as wrong
      from tracking_analytics.invoices
      cross join lateral (
        select case when disputable_by_cause is not null then coalesce(sum(one.value::numeric), 0) end
            as total,
          bool_or(one.value::numeric = 0) as has_nothing
        from jsonb_each_text(disputable_by_cause) as one
      ) as causes`,
    )
    expect(sums).toEqual({
      lines: 90,
      verdicts: ['check', 'dispute', 'pay'],
      is_netted: true,
      has_credits: true,
      wrong: 0,
    })
  })
})

it('has a last day to dispute, by its own words or 46 CFR 541.8', { tags: ['JA3'] }, async () => {
  const says = (dispute_within: string, more: Partial<Line> = {}) => ({ dispute_within, ...more })
  const lines = [
    ...['14 days', '14', 'Within 14 calendar days from receipt', '2026-12-04', '2026-11-34'],
    ...['10 working days', 'see our site', '1400 days', ''],
  ].map((words) => says(words))
  const more = [
    says('', ABROAD),
    says('14 days', { issued_on: '' }),
    says('2026-02-31', ABROAD),
    says('14 days', { amount: '-5' }),
  ]
  const found = await audit([...lines, ...more], ['dispute_by_on'])
  expect(found.flat()).toEqual([
    // Issued on the 20th of November.
    ...['2026-12-04', '2026-12-04', '2026-12-04', '2026-12-04', '2026-12-20'],
    ...['2026-12-20', '2026-12-20', '2026-12-20', '2026-12-20'],
    ...[null, null, null, null],
  ])
})

describe('was_free_then', { tags: ['JA5'] }, () => {
  const moved = { ...ABROAD, container_number: 'MSKU0000008', bill_of_lading_number: '' }
  const columns = ['days_ours', 'days_free_then', ...VERDICT]

  it('is a day that was free when it ended, before the last free day was moved back', async () => {
    const lines = [
      // The 13th and the 14th were never free.
      { ...moved, ...days(7, 14), daily_rate: '150', amount: '1200' },
      // The 8th was free at its end, the 9th was not.
      { ...moved, ...STORAGE, ...days(8, 9), amount: '80' },
      // The 6th is free by the day that is known now.
      { ...moved, ...days(6, 6), amount: '100' },
    ]
    expect(await audit(lines, columns)).toEqual([
      // 1200 is more than 1100, and not for the days that are left.
      [8, 6, 'dispute', '900', { was_free_then: 900 }, ['was_free_then', 'wrong_rate']],
      [2, 1, 'dispute', '40', { was_free_then: 40 }, ['was_free_then']],
      [0, 0, 'dispute', '100', { outside_period: 100 }, ['outside_period']],
    ])
  })

  it('is unknown where the one who charges reported no day', async () => {
    const lines = [
      {},
      { ...STORAGE, ...days(8, 8) },
      { ...moved, ...days(17, 18), charge: 'detention' },
      { container_number: 'MSKU0000002', bill_of_lading_number: '' },
    ]
    expect((await audit(lines, ['days_ours', 'days_free_then'])).flat()).toEqual(
      // The terminal reported one day, and never moved it.
      [2, null, 1, 0, 0, 0, null, null],
    )
  })
})

describe('charged_twice', () => {
  const also = ['also_charged_text', 'reasons']

  it('is a day on two lines, of one issuer or of two', async () => {
    const lines = [
      { ...days(7, 8) },
      { ...days(8, 8), amount: '100', invoice_number: 'B' },
      { ...days(8, 8), amount: '100', invoice_number: 'C', issuer: 'Agent' },
    ]
    expect(await audit(lines, also)).toEqual([
      ['Agent C 3, Maersk B 2', ['charged_twice']],
      ['Agent C 3, Maersk A 1', ['charged_twice']],
      ['Maersk A 1, Maersk B 2', ['charged_twice']],
    ])
  })

  it('is worth the days of the line that came later', { tags: ['JA3'] }, async () => {
    const lines = [
      { ...ABROAD, invoice_number: 'B', issued_on: '2026-11-21', ...days(5, 7), amount: '300' },
      { ...ABROAD, invoice_number: 'C', issued_on: '2026-11-20', ...days(6, 8), amount: '300' },
      { ...ABROAD, invoice_number: 'D', issued_on: '', ...days(8, 8), amount: '100' },
    ]
    expect(await audit(lines, VERDICT)).toEqual([
      [
        'dispute',
        '300',
        // The 6th and the 7th, and the 5th; the 6th is not ours either, and counts once.
        { charged_twice: 200, outside_period: 100 },
        ['charged_twice', 'outside_period'],
      ],
      ['dispute', '100', { outside_period: 100 }, ['charged_twice', 'outside_period']],
      ['dispute', '100', { charged_twice: 100 }, ['charged_twice']],
    ])
    await scene.query('delete from tracking_analytics.dd_invoices')
    const two = [{ ...ABROAD }, { ...ABROAD, invoice_number: 'B' }]
    expect(await audit(two, VERDICT)).toEqual([
      ['check', null, null, ['charged_twice']],
      ['dispute', '200', { charged_twice: 200 }, ['charged_twice']],
    ])
  })

  it('is none of another day, charge or container', async () => {
    const silent = { container_number: 'MSKU0000001', bill_of_lading_number: '', available_on: '' }
    const lines = [
      { ...days(7, 8) },
      { ...days(11, 11), daily_rate: '150', amount: '150' },
      { ...STORAGE, ...days(8, 8) },
      { ...silent },
    ]
    expect(await audit(lines, also)).toEqual([
      [null, []],
      [null, []],
      [null, ['missing_items']],
      [null, ['missing_items']],
    ])
  })
})

describe('a credit note', () => {
  it('is taken, and claims no day', async () => {
    const lines = [
      { ...days(9, 10), amount: '300', daily_rate: '150' },
      // Two days of 150, given back at a rate that would be wrong.
      { ...days(9, 10), amount: '-300.00', daily_rate: '160', invoice_number: 'B' },
    ]
    const columns = ['amount', 'amount_ours', 'difference_amount', 'also_charged_text', 'reasons']
    expect(await audit(lines, columns)).toEqual([
      ['300', '300', '0', null, ['not_available']],
      ['-300.00', '0', '-300.00', null, ['negative_amount']],
    ])
  })

  const NET = ['amount', 'net_amount', 'verdict', 'disputable_amount', 'disputable_by_cause']

  it('counts for the line that it belongs to, and once', { tags: ['JA3'] }, async () => {
    const line = { ...ABROAD, ...days(9, 10), amount: '300', daily_rate: '150' }
    const lines = [
      line,
      { ...line, amount: '-100', invoice_number: 'B' },
      // More than is disputable of it; and all of it.
      { ...ABROAD, ...days(6, 7), amount: '200' },
      { ...ABROAD, ...days(6, 7), amount: '-120', invoice_number: 'B' },
      { ...ABROAD, ...days(12, 12), amount: '150', daily_rate: '150', free_days: '3' },
      { ...ABROAD, ...days(12, 12), amount: '-150', invoice_number: 'B' },
      // For nothing that was charged.
      { ...ABROAD, ...days(20, 21), amount: '-50', invoice_number: 'B' },
    ]
    expect(await audit(lines, [...NET, 'reasons'])).toEqual([
      ['300', '200', 'dispute', '200', { not_available: 300, credited: -100 }, ['not_available']],
      ['-100', '0', 'pay', '0', {}, ['negative_amount']],
      ['200', '80', 'pay', '0', { outside_period: 100, credited: -100 }, ['outside_period']],
      ['-120', '0', 'pay', '0', {}, ['negative_amount']],
      // 0.
      ['150', '0', 'pay', '0', { on_hold: 150, credited: -150 }, ['on_hold', 'wrong_free_time']],
      ['-150', '0', 'pay', '0', {}, ['negative_amount']],
      ['-50', '-50', 'check', null, null, ['negative_amount']],
    ])
  })

  it('takes a line back, so that another may charge its days', { tags: ['JA3'] }, async () => {
    const line = { ...ABROAD, amount: '240', daily_rate: '120' }
    const lines = [
      line,
      { ...line, amount: '-240', invoice_number: 'B' },
      { ...ABROAD, invoice_number: 'C', issued_on: '2026-11-25' },
    ]
    expect(await audit(lines, [...NET, 'reasons'])).toEqual([
      ['240', '0', 'pay', '0', { wrong_rate: 40, credited: -40 }, ['charged_twice', 'wrong_rate']],
      ['-240', '0', 'pay', '0', {}, ['negative_amount']],
      ['200', '200', 'pay', '0', {}, []],
    ])
  })

  it('belongs to its own invoice, then to its amount, its days, the first', async () => {
    const note = { ...days(7, 10), daily_rate: '' }
    const lines = [
      { invoice_number: 'A', ...days(7, 8), amount: '10', issued_on: '2026-11-21' },
      { invoice_number: 'B', ...days(7, 10), amount: '20', issued_on: '2026-11-22' },
      { invoice_number: 'C', ...days(7, 10), amount: '30', issued_on: '2026-11-21' },
      // No day in common, and the same invoice.
      { invoice_number: 'D', ...days(1, 2), amount: '40' },
      { invoice_number: 'E', ...days(7, 10), amount: '50', currency_code: 'EUR' },
      { invoice_number: 'F', ...days(7, 10), amount: '60', issuer: 'Agent' },
      { invoice_number: 'G', ...days(7, 10), amount: '70', charge: 'detention' },
      { ...note, invoice_number: 'D', amount: '-1' },
      { ...note, invoice_number: 'N', amount: '-10' },
      { ...note, invoice_number: 'N', amount: '-2' },
      { ...note, ...days(3, 4), invoice_number: 'N', amount: '-3' },
    ]
    expect(await audit(lines, ['invoice_number', 'net_amount'])).toEqual([
      ['A', '0'],
      ['B', '20'],
      ['C', '28'],
      ['D', '39'],
      ['E', '50'],
      ['F', '60'],
      ['G', '70'],
      ['D', '0'],
      ['N', '0'],
      ['N', '0'],
      ['N', '-3'],
    ])
  })

  it('has an amount below zero, and no rate', () => {
    expect(() => parseInvoices('a.csv', toCsv([{ daily_rate: '-1', amount: '--1' }]))).toThrow(
      /amount "--1" must be an amount as 150, 150.00 or, of a credit note, -150.00\n.*daily_rate "-1" must be an amount as 150 or 150.00, zero or more/,
    )
  })
})

describe('wrong_free_time', () => {
  it('is another last day, fewer free days, or free time before the clock started', async () => {
    const silent = { free_days: '', free_from_on: '', free_to_on: '' }
    const found = await reasonsOf(
      { free_to_on: '2026-11-05', ...days(7, 7), amount: '100' },
      { free_days: '3', ...days(8, 8), amount: '100' },
      { free_from_on: '2026-11-01', ...days(9, 9), amount: '100' },
      { ...silent, ...days(11, 11), amount: '100' },
    )
    expect(found).toEqual([
      ['wrong_free_time'],
      ['wrong_free_time'],
      ['not_available', 'wrong_free_time'],
      ['missing_items'],
    ])
  })

  it('is no day of the start, no weekend, and nothing that no rule gives', async () => {
    const found = await reasonsOf(
      { free_from_on: '2026-11-02', ...days(7, 7), amount: '100' },
      { free_from_on: '2026-11-05', free_days: '5', ...days(8, 8), amount: '100' },
      // The rule takes the day that the terminal reports.
      { ...STORAGE, free_days: '1', ...days(8, 8) },
    )
    expect(found).toEqual([[], [], []])
  })
})

describe('wrong_availability', () => {
  it('is a day before we saw it available, after we saw that it was not', async () => {
    const lines = [
      { available_on: '2026-11-04', ...days(7, 7), amount: '100' },
      { available_on: '2026-11-06', ...days(8, 8), amount: '100' },
    ]
    const columns = ['available_on', 'available_seen_on', 'reasons']
    expect(await audit(lines, columns)).toEqual([
      ['2026-11-04', '2026-11-05', ['wrong_availability']],
      ['2026-11-06', '2026-11-05', []],
    ])
  })

  it('is at the ramp what the status says after it left the port', async () => {
    const line = { ...STORAGE, container_number: 'MSKU0000005', bill_of_lading_number: '' }
    const lines = [
      { ...line, available_on: '2026-11-05' },
      { ...line, available_on: '2026-11-06', ...days(9, 9) },
    ]
    const columns = ['place', 'available_seen_on', 'reasons']
    const rows = await audit(lines, columns)
    expect(rows.map((row) => row.slice(0, 2))).toEqual([
      ['ramp', '2026-11-06'],
      ['ramp', '2026-11-06'],
    ])
    expect(
      rows.map(([, , reasons]) => (reasons as string[]).includes('wrong_availability')),
    ).toEqual([true, false])
  })

  it('follows from nothing that nobody saw', async () => {
    const early = { available_on: '2026-11-01', bill_of_lading_number: '' }
    const lines = [
      // It was available when we first looked; nobody said anything before; nobody ever does;
      // another place; not named.
      { ...early, container_number: 'MSKU0000004' },
      { ...early, container_number: 'MSKU0000006' },
      { ...early, container_number: 'MSKU0000001' },
      { ...early, charge: 'detention' },
      { ...early, available_on: '', ...days(11, 11) },
    ]
    const rows = await audit(lines, ['available_seen_on', 'reasons'])
    expect(rows.map(([seen]) => seen)).toEqual([null, null, null, null, '2026-11-05'])
    expect(rows.flatMap(([, reasons]) => reasons)).not.toContain('wrong_availability')
  })

  it('is not known before we saw it', async () => {
    const early = { available_on: '2026-11-03' }
    const columns = ['available_seen_on']
    expect(await audit([early], columns, '2026-11-04T20:00:00Z')).toEqual([[null]])
  })
})
