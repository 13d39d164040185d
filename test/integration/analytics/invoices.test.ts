import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  parseInvoices,
  storeInvoices,
} from '../../../src/extensions/answers/questions/dd-invoices.js'
import { openAnalyticsScene, type AnalyticsScene } from '../../support/analytics-scene.js'
import { importRules, lastFreeDay } from '../../support/scenes/charges.js'
import { cellOf, linesOf, toLines } from '../../support/tables.js'

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
type Line = typeof RIGHT & { readonly paid_amount?: string; readonly paid_on?: string }

/** Cells of a line that one word replaces. */
const WORDS: Readonly<Record<string, Partial<Line>>> = {
  // Outside the United States the form of an invoice gives no reason.
  abroad: { port_of_discharge: 'DEHAM' },
  // By the terminal that reports the 6th: the first day lacks a rate, the others cost 40.
  storage: { charge: 'storage', issuer: 'WBCT', amount: '40', daily_rate: '40', free_days: '' },
  detention: { charge: 'detention' },
  unissued: { issued_on: '' },
  late: { issued_on: '2026-12-20' },
  uncertified: { certification: '' },
  undated: { available_on: '' },
  unfree: { free_days: '', free_from_on: '', free_to_on: '' },
}

let scene: AnalyticsScene

beforeAll(async () => {
  scene = await openAnalyticsScene()
  await importRules(scene, RULES)
  const shipments = `
    shipment_id | bill_of_lading_number | normalized_number | shipping_line_scac | port_of_discharge_locode
    now         | MAEU199146355         | 199146355         |                    |
    before      | Maeu188-abc-111       |                   |                    |
    to come     | MAEU200000000         |                   |                    |
    nameless    |                       |                   |                    |
    hamburg     |                       |                   |                    | DEHAM
    msc         |                       |                   | MSCU               |
    hapag       |                       |                   | HLCU               |`
  await scene.insertKnown('shipments', shipments, { shipping_line_scac: 'MAEU' })

  // Free to the 6th, gone on the 16th. On the 9th and the 10th it was not available.
  const gone = {
    pod_timezone: ZONE,
    pod_discharged_at: '2026-11-02T18:00:00Z',
    pod_full_out_at: '2026-11-16T18:00:00Z',
    empty_terminated_at: '2026-11-23T18:00:00Z',
  }
  const box = { number: 'NYKU7401215', shipment_id: 'now', ...gone }
  await scene.insertContainer({ container_id: 'box', ...box }, [
    ['2026-10-20T00:00:00Z', {}],
    [dayOf(2), { availability_known: true, available_for_pickup: false }],
    [dayOf(5), { availability_known: true, available_for_pickup: true }],
    [dayOf(9), { availability_known: true, available_for_pickup: false }],
    [dayOf(11), { availability_known: true, available_for_pickup: true }],
    [dayOf(13), { availability_known: false, available_for_pickup: false }],
  ])
  await scene.insertKnown('container_import_deadlines', [
    lastFreeDay('box', 'terminal', '2026-11-06'),
    lastFreeDay('only a day', 'line', '2026-11-06'),
  ])
  const hold = { hold_key: 'customs', name: 'customs', status: 'hold' }
  await scene.insert('container_hold_history', [
    { ...hold, container_id: 'box', valid_from: dayOf(12), valid_to: dayOf(13) },
  ])

  const nameless = { shipment_id: 'nameless', ...gone }
  const others = `
    container_id  | number      | shipment_id | pod_discharged_at    | pod_full_out_at      | empty_terminated_at  | pod_timezone | available_for_pickup
    -- The same box half a year before, and on a journey whose ship has not arrived.
    box before    | NYKU7401215 | before      | 2026-05-04T18:00:00Z | 2026-05-20T18:00:00Z | 2026-05-26T18:00:00Z |              |
    box to come   | NYKU7401215 | to come     | -                    | -                    | -                    | -            |
    -- Nobody ever says whether it is available, nor which bill of lading it has.
    silent        | MSKU0000001 |             |                      |                      |                      |              |
    -- The same, and one of which the bill of lading is known began before.
    one of two    | MSKU0000003 | now         | 2026-11-01T18:00:00Z |                      |                      |              |
    two of two    | MSKU0000003 |             |                      |                      |                      |              |
    -- In a zone that nobody knows no day of it is known.
    no zone       | MSKU0000002 |             |                      |                      |                      | Mars/Olympus |
    -- One clock of the line, free to the 12th, which the gate-out on the 16th does not end.
    merged        | HLXU0000001 | hapag       |                      |                      |                      |              |
    -- Not to the United States; the days of the line and the terminal of the second are moved.
    to hamburg    | MSKU0000007 | hamburg     |                      |                      |                      |              |
    moved         | MSKU0000008 | hamburg     |                      |                      |                      |              |
    -- Available already when we first looked.
    was available | MSKU0000004 |             |                      |                      |                      |              | true
    -- No rule holds for the demurrage of this line, which says a last free day of the second.
    no rule       | MSCU0000001 | msc         |                      |                      |                      |              |
    only a day    | MSCU0000002 | msc         |                      |                      |                      |              |`
  await scene.insertKnown('containers', others, nameless)
  // The line moves its day on the 9th, and back after the gate-out;
  // the terminal at noon of the 9th.
  const said = (whose: 'line' | 'terminal', on: string, from: string, to: string | null) =>
    lastFreeDay('moved', whose, on, { valid_from: from, valid_to: to })
  const noon = '2026-11-09T20:00:00Z'
  await scene.insert('container_import_deadline_history', [
    said('line', '2026-11-10', dayOf(2), noon),
    said('line', '2026-11-12', noon, dayOf(18)),
    said('line', '2026-11-06', dayOf(18), null),
    said('terminal', '2026-11-10', dayOf(2), noon),
    said('terminal', '2026-11-06', noon, null),
  ])
  await scene.insert('container_import_deadlines', [
    lastFreeDay('moved', 'line', '2026-11-06'),
    lastFreeDay('moved', 'terminal', '2026-11-06'),
  ])
  // Its terminal said nothing at first; the value of the column does not count.
  const heardLate = { ...nameless, container_id: 'heard late', number: 'MSKU0000006' }
  await scene.insertContainer(heardLate, [
    ['2026-10-20T00:00:00Z', { availability_known: false, available_for_pickup: false }],
    [dayOf(5), { availability_known: true, available_for_pickup: true }],
  ])
  // Available at the port, then on a train; at the ramp on the 4th, available there on the 6th by
  // its status. The flag still speaks of the port, which disputes no day at the ramp.
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
  await scene.insertContainer(onTrain, [
    ['2026-10-20T00:00:00Z', { current_status: 'not_available' }],
    ['2026-10-27T00:00:00Z', { current_status: 'available' }],
    ['2026-10-30T20:00:00Z', { ...departed, current_status: 'on_rail' }],
    ['2026-11-04T20:00:00Z', { ...unloaded, current_status: 'not_available' }],
    [
      '2026-11-06T20:00:00Z',
      {
        ...unloaded,
        current_status: 'available',
        availability_known: true,
        available_for_pickup: false,
      },
    ],
  ])
})
afterAll(() => scene.drop())

function toCsv(lines: readonly Partial<Line>[]): string {
  const whole = lines.map((line, at) => ({ ...RIGHT, line_number: String(at + 1), ...line }))
  return [Object.keys(whole[0]!), ...whole.map((line) => Object.values(line))].join('\n')
}

const parse = (lines: readonly Partial<Line>[]) => parseInvoices('a.csv', toCsv(lines))
const store = (lines: ReturnType<typeof parse>) =>
  scene.warehouse.transaction('store', (session) => storeInvoices(session, lines))

const merge = (parts: readonly Partial<Line>[]): Partial<Line> =>
  parts.reduce((whole, part) => ({ ...whole, ...part }), {})

/** The cells of a line that a cell of a table says. */
function given(name: string, cell: string): Partial<Line> {
  if (cell === '') return {}
  if (name === 'is') return merge(cell.split(' ').map((word) => WORDS[word] ?? {}))
  // Of a journey whose bill of lading the line does not say.
  if (name === 'box') return { container_number: cell, bill_of_lading_number: '' }
  if (name === 'days') {
    const [from = 0, to = from] = cell.split('-').map(Number)
    return { charged_from_on: dayOf(from).slice(0, 10), charged_to_on: dayOf(to).slice(0, 10) }
  }
  return { [name]: cell === '-' ? '' : cell }
}

/** Inserts a line of an invoice a row, with the cells in which it is not right. */
async function insertLines([header, ...rows]: readonly (readonly string[])[]): Promise<void> {
  const lines = rows.map((cells) => merge(header!.map((name, at) => given(name, cells[at]!))))
  await scene.query('delete from tracking_analytics.dd_invoices')
  await scene.insertInto('analytics', 'dd_invoices', parse(lines))
}

/** Inserts what is left of `=>`, and expects the audit to say what is right of it. */
async function audit(table: string, asOf = NOW): Promise<void> {
  const lines = linesOf(table.replaceAll('=>', '|=>|'))
  const at = lines[0]!.indexOf('=>')
  const [columns = [], ...expected] = lines.map((cells) => cells.slice(at + 1))
  await insertLines(lines.map((cells) => cells.slice(0, at)))
  const rows = await scene.read('invoices', { asOf, columns, rest: 'order by line_number' })
  expect(toLines(rows.map((row) => columns.map((name) => cellOf(row[name]))))).toEqual(
    toLines(expected),
  )
}

/** Tests, each a line with its title and a table for `audit`. */
function audits(text: string): void {
  for (const part of text.split(/^ *# /m).slice(1)) {
    const [title = '', ...table] = part.split('\n')
    it(title, () => audit(table.join('\n')))
  }
}

describe('a line', () => {
  audits(`
    # without a rule has no amount of ours
      box         | free_from_on => rule_name | days_ours | days_without_rate | amount_ours | reasons
      MSCU0000002 | -            => -         | 2         | -                 | -           | missing_items, not_checked: no rate
    # has days unknown, and not none, where nobody said whether it could be fetched
      -- None of the days of the last line is ours.
      box         | days  | amount => days_ours | days_unavailable | days_unknown
                  | 12-14 | 300    => 3         | 0                | 2
                  | 15-16 | 200    => 2         | -                | 2
      MSKU0000001 |       |        => 2         | -                | 2
      MSKU0000001 | 3-4   |        => 0         | 0                | 0
    # of an unknown number, or of a charge without a clock, says so
      -- A charge without a clock: by a number alone, and on the journey that the bill names.
      container_number | bill_of_lading_number => container_id | missing_items         | reasons
      NYKU7401216      |                       => -            | []                    | unknown_container
      MSCU0000001      | -                     => -            | bill_of_lading_number | never_charged, missing_items
                       | MAEU200000000         => -            | []                    | never_charged
    # with a sum, a currency or an issue of its own, or without the place for disputes
      is        | days | amount | daily_rate | currency_code | issued_on  | dispute_url => missing_items | reasons
                | 7-8  | 210    |            |               |            |             => []            | wrong_sum
                | 9-10 | 900    | 450        | EUR           |            |             => []            | not_available, other_currency
                | 11   | 150    | 150        |               |            |             => []            | []
                | 13   | 100    |            |               |            | -           => dispute_url   | missing_items
      storage   | 7-8  |        |            |               | 2026-12-08 |             => free_days     | wrong_sum, missing_items, not_checked: no rate
      detention | 7-8  |        |            |               | 2026-12-09 |             => []            | outside_period, wrong_free_time, late_issue`)

  it('that says what we know has no reason', async () => {
    await insertLines([['days'], ['']])
    expect(await scene.read('invoices', { asOf: NOW })).toMatchSnapshot()
  })

  it('of a merged clock has either charge of the line', { tags: ['JA15'] }, async () => {
    // Back on the 23rd: seven days of the second are ours.
    await audit(`
      is        | box         | days  | amount | daily_rate => place | days_claimed | days_ours | amount_ours
                | HLXU0000001 | 15-16 | 180    | -          => port  | 2            | 2         | 180
      detention | HLXU0000001 | 17-24 | 720    | -          => port  | 8            | 7         | 630`)
  })
})

describe('wrong_rate', () => {
  audits(`
    # is a daily rate above the rules, or without one an amount above them
      -- The third day and those after it cost 150.
      days  | daily_rate | amount => amount_ours | difference_amount | reasons
            | 100.01     | 200.02 => 200         | 0.02              | wrong_rate
      9-10  | -          | 300.01 => 300         | 0.01              | not_available, wrong_rate, missing_items
      11-12 | -          | 300    => 300         | 0                 | on_hold, missing_items
      13    | -          | 90     => 150         | -60               | missing_items
    # is not told of an amount for days that are not ours, nor in another currency
      days | daily_rate | amount | currency_code => reasons
      5-8  | -          | 400    |               => outside_period, missing_items
      11   | -          | 400    | EUR           => other_currency, missing_items`)

  it('follows from no day without a rate', async () => {
    const columns = 'days_ours | days_without_rate | amount_ours | difference_amount | reasons'
    const rest = '1 | 40 | - | missing_items, not_checked: no rate'
    for (const line of [
      `7-8 | 80  |     => 2 | ${rest}`,
      `7-8 | 80  | -   => 2 | ${rest}`,
      `7-8 | 100 | 50  => 2 | ${rest.replace('missing', 'wrong_rate, missing')}`,
      `7   | 999 | 999 => 1 | ${rest.replace('40', '-')}`,
    ]) {
      await audit(`is | days | amount | daily_rate => ${columns}\nstorage | ${line}`)
    }
  })
})

describe('the container of a line', () => {
  audits(`
    # is none where no journey has the bill of lading: other_bill_of_lading
      days | amount | bill_of_lading_number => container_id | days_ours | reasons
      7    | 100    | MAEU199146356         => -            | -         | other_bill_of_lading
      8    | 100    | 19914635              => -            | -         | other_bill_of_lading
      9    | 100    | U199146355            => -            | -         | other_bill_of_lading
      10   | 100    | MAEU                  => -            | -         | other_bill_of_lading
    # is one whose bill of lading nobody knows where none is known to have it
      -- The second of two was discharged later.
      is      | days | container_number | bill_of_lading_number => container_id
      undated |      | MSKU0000001      |                       => silent
      undated |      | MSKU0000003      | -                     => two of two
      undated | 10   | MSKU0000003      |                       => one of two
      undated | 11   | MSKU0000003      | XXXX1                 => two of two
    # is of several journeys under one number the last that had begun
      box         | charged_from_on | charged_to_on => container_id | days_ours | clock_on
      NYKU7401215 |                 |               => box          | 2         | 2026-11-02
      NYKU7401215 | 2026-05-09      | 2026-05-10    => box before   | 2         | 2026-05-04
    # is that of the bill of lading, with or without SCAC, in any case
      bill_of_lading_number => container_id | bill_of_lading_number
      MAEU199146355         => box          | MAEU199146355
      199146355             => box          | 199146355
      maeu 199-146-355      => box          | maeu 199-146-355
      SEAU199146355         => box          | SEAU199146355
      188ABC111             => box before   | 188ABC111
      maeu 188abc111        => box before   | maeu 188abc111`)

  it('is found by its number however that is typed', async () => {
    await audit(`
      days | container_number => container_id | container_number
      7    | NYKU 740121-5    => box          | NYKU7401215
      8    | nyku7401215      => box          | NYKU7401215
      9    | NyKu-740.121/5   => box          | NYKU7401215`)
    const [padded] = parse([{ container_number: ' nyku7401215' }])
    expect(padded).toMatchObject({ container_number: 'NYKU7401215' })
    expect(() => parse([{ container_number: ' - ' }])).toThrow(
      'line 2: container_number " - " must be a container number as MSKU0000001',
    )
  })

  it('is imported without a warning then', { tags: ['JB10'] }, async () => {
    await scene.query('delete from tracking_analytics.dd_invoices')
    const report = await store(
      parse([
        { container_number: 'nyku 740121-5', invoice_number: '0071' },
        { container_number: 'NYKU7401216', invoice_number: '71' },
      ]),
    )
    expect(report).toMatchObject({ total: 2, added: 2 })
    expect(report.warnings).toEqual([
      'container NYKU7401216 ends with the check digit 6, but ISO 6346 requires 5',
      'invoice 0071 of Maersk is there as 71 too: did a spreadsheet remove its zeros?',
      'the warehouse has no container NYKU7401216',
    ])
  })
})

describe('the verdict', { tags: ['JA3'] }, () => {
  audits(`
    # is to pay what was compared and is right
      -- The rules charge 150 for the 11th.
      days | amount => verdict | disputable_amount | disputable_by_cause | reasons
           |        => pay     | 0                 | {}                  | []
      11   | 100    => pay     | 0                 | {}                  | []
    # is to dispute what a cause is worth, as claimed
      -- 100 for the 7th and the 8th each, then 150.
      days | amount | daily_rate => verdict | disputable_amount | disputable_by_cause | reasons
      5-6  |        |            => dispute | 200               | outside_period 200  | outside_period
      9-10 | 320    | 160        => dispute | 320               | not_available 320   | not_available, wrong_rate
      12   | 150    | 150        => dispute | 150               | on_hold 150         | on_hold
      7-8  | 240    | 120        => dispute | 40                | wrong_rate 40       | wrong_rate
      11   | 160    | 150        => dispute | 10                | wrong_sum 10        | wrong_sum
    # takes the share of the amount where no daily rate says more
      -- The rate would make 200 of the two days of the second line that are not ours.
      is     | days  | daily_rate | amount => verdict | disputable_amount | disputable_by_cause  | reasons
      abroad | 5-7   | -          | 100    => dispute | 66.67             | outside_period 66.67 | outside_period
      abroad | 16-18 | 100        | 90     => dispute | 60.00             | outside_period 60    | outside_period, wrong_sum
    # is to dispute what is known of a line that could not be checked as a whole
      -- No rate for the 7th; the 5th and 6th are not ours.
      is             | days | amount => verdict | disputable_amount | disputable_by_cause | reasons
      abroad storage | 5-8  | 160    => dispute | 80                | outside_period 80   | outside_period, not_checked: no rate
    # counts a day once, and a rate over the days without another cause
      -- The 5th and 6th are not ours; 7 and 8 cost 100 each; 9 and 10 could not be fetched; the 11th
      -- costs 150, the 12th has a hold. So the rate is 3 × 170 above 350, and the sum 8 × 170, 1360.
      is     | days | daily_rate | amount => verdict | disputable_amount | amount | disputable_by_cause                                                               | reasons
      abroad | 5-12 | 170        | 1400   => dispute | 1050              | 1400   | on_hold 170, wrong_sum 40, wrong_rate 160, not_available 340, outside_period 340 | outside_period, not_available, on_hold, wrong_rate, wrong_sum
    # is to check what could not be compared, and never 0
      is             | box         | days | amount | currency_code | daily_rate | free_to_on => verdict | disputable_amount | disputable_by_cause | reasons
      abroad         | MSKU0000002 |      |        |               |            |            => check   | -                 | -                   | not_checked: clock unknown
      abroad storage |             | 7-8  | 80     |               |            |            => check   | -                 | -                   | not_checked: no rate
      abroad         |             | 7-8  |        | EUR           |            |            => check   | -                 | -                   | other_currency
      abroad         | NYKU7401216 |      |        |               |            |            => check   | -                 | -                   | unknown_container
      abroad         |             | 11   | 150    |               | 150        | 2026-11-05 => check   | -                 | -                   | wrong_free_time
    # takes the rest for a form that need not be paid, where it holds
      -- Of the second all is not_available already; then abroad, somewhere, and in Puerto Rico.
      is                 | days | amount | port_of_discharge => verdict | disputable_amount | disputable_by_cause                   | reasons
      uncertified        | 6-8  | 300    |                   => dispute | 300               | missing_items 200, outside_period 100 | outside_period, missing_items
      uncertified late   | 9    | 100    |                   => dispute | 100               | not_available 100                     | not_available, missing_items, late_issue
      late               | 11   | 100    |                   => dispute | 100               | late_issue 100                        | late_issue
      uncertified abroad | 13   | 100    |                   => pay     | 0                 | {}                                    | []
      late               | 14   | 100    | Hamburg           => check   | -                 | -                                     | late_issue
      late               | 15   | 100    | prsju             => dispute | 100               | late_issue 100                        | late_issue
      uncertified late   | 16   | 100    |                   => dispute | 100               | late_issue 100                        | missing_items, late_issue
    # takes the port of the shipment, and no railway for a party that the rules bind
      is           | box         | days  | amount => place | missing_items                       | verdict | disputable_amount | disputable_by_cause | reasons
      late undated | MSKU0000007 |       |        => port  | bill_of_lading_number, available_on | pay     | 0                 | {}                  | []
      late storage | MSKU0000005 | 10-11 | 80     => ramp  | bill_of_lading_number, free_days    | check   | -                 | -                   | wrong_availability, wrong_free_time
      late storage | MSKU0000001 | 10-11 | 80     => port  | bill_of_lading_number, free_days    | dispute | 80                | late_issue 80       | missing_items, late_issue, not_checked: clock unknown`)

  it('is one for every line, and each unit of money counts once', async () => {
    const lines = [5, 6, 8, 10, 13].flatMap((from) =>
      [0, 3].flatMap((more) =>
        ['', '100', '110.55'].flatMap((daily_rate) =>
          ['10', '99.99', '300'].map((amount, at) =>
            [
              [at === 1 ? '' : 'abroad', from > 10 ? '' : 'uncertified'].join(' ').trim(),
              ['NYKU7401215', 'MSKU0000002', 'MSCU0000002'][(from + at) % 3],
              `${from}-${from + more}`,
              `${from} ${more} ${daily_rate}`,
              daily_rate || '-',
              `${(from + more) % 4 === 0 ? '-' : ''}${amount}`,
            ].join(' | '),
          ),
        ),
      ),
    )
    await insertLines(
      linesOf(['is | box | days | invoice_number | daily_rate | amount', ...lines].join('\n')),
    )
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
  // Issued on the 20th of November; one invoice does not say it.
  await audit(`
    is       | dispute_within                       | amount => dispute_by_on | days_left
             | 14 days                              |        => 2026-12-04    | -20
             | 14                                   |        => 2026-12-04    | -20
             | Within 14 calendar days from receipt |        => 2026-12-04    | -20
             | 2026-12-04                           |        => 2026-12-04    | -20
             | 2026-11-34                           |        => 2026-12-20    | -4
             | 10 working days                      |        => 2026-12-20    | -4
             | see our site                         |        => 2026-12-20    | -4
             | 1400 days                            |        => 2026-12-20    | -4
             | -                                    |        => 2026-12-20    | -4
    abroad   | -                                    |        => -             | -
    unissued | 14 days                              |        => -             | -
    abroad   | 2026-02-31                           |        => -             | -
             | 14 days                              | -5     => -             | -`)
})

describe('was_free_then', { tags: ['JA5'] }, () => {
  it('is a day that was free when it ended, before the last free day was moved back', () =>
    audit(`
      -- Of the first line the 13th and the 14th were never free. 1200 is more than 1100, but not
      -- for the days that are left. The 8th was free at its end, the 9th was not. The 6th is free by
      -- the day that is known now.
      is             | box         | days | daily_rate | amount => days_ours | days_free_then | disputable_amount | disputable_by_cause | reasons
      abroad         | MSKU0000008 | 7-14 | 150        | 1200   => 8         | 6              | 900               | was_free_then 900   | was_free_then, wrong_rate
      abroad storage | MSKU0000008 | 8-9  |            | 80     => 2         | 1              | 40                | was_free_then 40    | was_free_then
      abroad         | MSKU0000008 | 6    |            | 100    => 0         | 0              | 100               | outside_period 100  | outside_period`))

  audits(`
    # is unknown where the one who charges reported no day
      -- The terminal reported one day, and never moved it.
      is               | box         | days  => days_ours | days_free_then
                       |             |       => 2         | -
      storage          |             | 8     => 1         | 0
      abroad detention | MSKU0000008 | 17-18 => 0         | 0
                       | MSKU0000002 |       => -         | -`)
})

describe('charged_twice', { tags: ['JA3'] }, () => {
  audits(`
    # is a day on two lines, of one issuer or of two
      invoice_number | issuer | days | amount => also_charged_text      | reasons
                     |        | 7-8  |        => Agent C 3, Maersk B 2  | charged_twice
      B              |        | 8    | 100    => Agent C 3, Maersk A 1  | charged_twice
      C              | Agent  | 8    | 100    => Maersk A 1, Maersk B 2 | charged_twice
    # is none of another day, charge or container
      is      | box         | days | daily_rate | amount => also_charged_text | reasons
              |             | 7-8  |            |        => -                 | []
              |             | 11   | 150        | 150    => -                 | []
      storage |             | 8    |            |        => -                 | missing_items
      undated | MSKU0000001 |      |            |        => -                 | missing_items
    # is worth the days of the line that came later
      -- Of the first the 6th and the 7th, and the 5th; the 6th is not ours either, and counts once.
      is     | invoice_number | issued_on  | days | amount => verdict | disputable_amount | disputable_by_cause                    | reasons
      abroad | B              | 2026-11-21 | 5-7  | 300    => dispute | 300               | charged_twice 200, outside_period 100 | charged_twice, outside_period
      abroad | C              | 2026-11-20 | 6-8  | 300    => dispute | 100               | outside_period 100                     | charged_twice, outside_period
      abroad | D              | -          | 8    | 100    => dispute | 100               | charged_twice 100                      | charged_twice
    # is worth those of the second line where both have one date
      is     | invoice_number => verdict | disputable_amount | disputable_by_cause | reasons
      abroad |                => check   | -                 | -                   | charged_twice
      abroad | B              => dispute | 200               | charged_twice 200   | charged_twice`)
})

describe('a credit note', { tags: ['JA3'] }, () => {
  audits(`
    # is taken, and claims no day
      -- Two days of 150, given back at a rate that would be wrong.
      invoice_number | days | daily_rate | amount  => amount  | amount_ours | difference_amount | also_charged_text | reasons
                     | 9-10 | 150        | 300     => 300     | 300         | 0                 | -                 | not_available
      B              | 9-10 | 160        | -300.00 => -300.00 | 0           | -300.00           | -                 | negative_amount
    # belongs to its own invoice, then to its amount, its days, the first
      -- The line of D shares none of the days of the note, and is of the same invoice.
      is        | invoice_number | issuer | days | daily_rate | currency_code | issued_on  | amount => net_amount
                | A              |        | 7-8  |            |               | 2026-11-21 | 10     => 0
                | B              |        | 7-10 |            |               | 2026-11-22 | 20     => 20
                | C              |        | 7-10 |            |               | 2026-11-21 | 30     => 28
                | D              |        | 1-2  |            |               |            | 40     => 39
                | E              |        | 7-10 |            | EUR           |            | 50     => 50
                | F              | Agent  | 7-10 |            |               |            | 60     => 60
      detention | G              |        | 7-10 |            |               |            | 70     => 70
                | D              |        | 7-10 | -          |               |            | -1     => 0
                | N              |        | 7-10 | -          |               |            | -10    => 0
                | N              |        | 7-10 | -          |               |            | -2     => 0
                | N              |        | 3-4  | -          |               |            | -3     => -3
    # counts for the line that it belongs to, and once
      -- More than is disputable of it, and all of it; the last one is for nothing that was charged.
      is     | invoice_number | days  | daily_rate | amount | free_days => net_amount | verdict | disputable_amount | disputable_by_cause                | reasons
      abroad |                | 9-10  | 150        | 300    |           => 200        | dispute | 200               | credited -100, not_available 300  | not_available
      abroad | B              | 9-10  | 150        | -100   |           => 0          | pay     | 0                 | {}                                 | negative_amount
      abroad |                | 6-7   |            | 200    |           => 80         | pay     | 0                 | credited -100, outside_period 100 | outside_period
      abroad | B              | 6-7   |            | -120   |           => 0          | pay     | 0                 | {}                                 | negative_amount
      abroad |                | 12    | 150        | 150    | 3         => 0          | pay     | 0                 | on_hold 150, credited -150        | on_hold, wrong_free_time
      abroad | B              | 12    |            | -150   |           => 0          | pay     | 0                 | {}                                 | negative_amount
      abroad | B              | 20-21 |            | -50    |           => -50        | check   | -                 | -                                  | negative_amount
    # takes a line back, so that another may charge its days
      is     | invoice_number | issued_on  | daily_rate | amount => net_amount | verdict | disputable_by_cause           | reasons
      abroad |                |            | 120        | 240    => 0          | pay     | credited -40, wrong_rate 40  | charged_twice, wrong_rate
      abroad | B              |            | 120        | -240   => 0          | pay     | {}                            | negative_amount
      abroad | C              | 2026-11-25 |            |        => 200        | pay     | {}                            | []`)

  it('has an amount below zero, and no rate', () => {
    expect(() => parse([{ daily_rate: '-1', amount: '--1' }])).toThrow(
      /amount "--1" must be an amount as 150, 150.00 or, of a credit note, -150.00\n.*daily_rate "-1" must be an amount as 150 or 150.00, zero or more/,
    )
  })
})

describe('wrong_free_time', () => {
  audits(`
    # is another last day, fewer free days, or free time before the clock started
      is     | days | amount | free_to_on | free_days | free_from_on => reasons
             | 7    | 100    | 2026-11-05 |           |              => wrong_free_time
             | 8    | 100    |            | 3         |              => wrong_free_time
             | 9    | 100    |            |           | 2026-11-01   => not_available, wrong_free_time
      unfree | 11   | 100    |            |           |              => missing_items
    # is no day of the start, no weekend, and nothing that no rule gives
      -- The rule of storage takes the day that the terminal reports.
      is      | days | amount | free_days | free_from_on => reasons
              | 7    | 100    |           | 2026-11-02   => []
              | 8    | 100    | 5         | 2026-11-05   => []
      storage | 8    |        | 1         |              => []`)
})

describe('wrong_availability', () => {
  audits(`
    # is a day before we saw it available, after we saw that it was not
      available_on | days | amount => available_on | available_seen_on | reasons
      2026-11-04   | 7    | 100    => 2026-11-04   | 2026-11-05        | wrong_availability
      2026-11-06   | 8    | 100    => 2026-11-06   | 2026-11-05        | []
    # is at the ramp what the status says after it left the port
      is      | box         | days | available_on => place | available_seen_on | reasons
      storage | MSKU0000005 |      | 2026-11-05   => ramp  | 2026-11-06        | wrong_availability, wrong_free_time, wrong_sum
      storage | MSKU0000005 | 9    | 2026-11-06   => ramp  | 2026-11-06        | wrong_free_time
    # follows from nothing that nobody saw
      -- It was available when we first looked; nobody said anything before; nobody ever does; another
      -- place; not named.
      is        | box         | days | available_on => available_seen_on | reasons
                | MSKU0000004 |      | 2026-11-01   => -                 | missing_items
                | MSKU0000006 |      | 2026-11-01   => -                 | missing_items
                | MSKU0000001 |      | 2026-11-01   => -                 | missing_items
      detention | NYKU7401215 |      | 2026-11-01   => -                 | outside_period, wrong_free_time, missing_items
      undated   | NYKU7401215 | 11   |              => 2026-11-05        | wrong_sum, missing_items`)

  it('is not known before we saw it', () =>
    audit('available_on => available_seen_on\n2026-11-03 => -', '2026-11-04T20:00:00Z'))
})

describe('a file of invoices', () => {
  it('is refused with the number and reason of every bad line', () => {
    const line = { line_number: '1', charged_from_on: '2026-11-05', charged_to_on: '2026-11-04' }
    expect(() => parse([line, line])).toThrow(
      'a.csv cannot be imported; nothing was stored:\n' +
        '  line 2: charged_to_on is before charged_from_on\n' +
        '  line 3: charged_to_on is before charged_from_on\n' +
        '  line 3: line 1 of invoice A of Maersk is in line 2 already',
    )
    expect(() => parse([{ line_number: '', charged_from_on: '', amount: '' }])).toThrow(
      /line_number "" is empty\n.*charged_from_on "" is empty\n.*amount "" is empty/,
    )
  })

  it('may have payments, and be from before there were any', async () => {
    const [before, paid] = [parse([{}]), parse([{ paid_amount: '150.50', paid_on: '2026-12-01' }])]
    expect(before).toMatchObject([{ amount: '200', paid_amount: null, paid_on: null }])
    await scene.query('delete from tracking_analytics.dd_invoices')
    expect(await store(before)).toMatchObject({ total: 1, added: 1 })
    expect(await store(paid)).toMatchObject({ total: 1, changed: 1 })
    expect(
      await scene.query('select paid_amount, paid_on from tracking_analytics.dd_invoices'),
    ).toEqual([{ paid_amount: '150.50', paid_on: '2026-12-01' }])
  })

  it.each([
    ['-200', '1', '', 'paid_amount is for a claim, and amount is not above zero'],
    ['0', '0.01', '', 'paid_amount is for a claim, and amount is not above zero'],
    ['200', '', '2026-12-01', 'paid_on is given without paid_amount'],
    ['200', '-1', '', 'line 2: paid_amount "-1" must be an amount'],
  ])(
    'is refused with %s and the payment "%s,%s", as by the table',
    async (amount, paid, on, reason) => {
      expect(() => parse([{ amount, paid_amount: paid, paid_on: on }])).toThrow(reason)
      const row = { ...parse([{}])[0], amount, paid_amount: paid || null, paid_on: on || null }
      const inserted = scene.insertInto('analytics', 'dd_invoices', [row])
      await expect(inserted).rejects.toThrow(/paid/)
    },
  )
})
