import { sql } from 'kysely'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { storeRulesFile } from '../../../src/extensions/answers/questions/free-time-rules.js'
import { parseRulesFile } from '../../../src/extensions/answers/questions/rules-file.js'
import {
  parseInvoices,
  storeInvoices,
} from '../../../src/extensions/answers/questions/dd-invoices.js'
import { openAnalyticsScene, type AnalyticsScene } from '../../support/analytics-scene.js'
import { callCli } from '../../support/call-cli.js'
import { insertKnown } from '../../support/insert-known.js'
import { importRules, lastFreeDay } from '../../support/scenes/charges.js'
import { expectRows } from '../../support/tables.js'
import { createTestWarehouse } from '../../support/test-warehouse.js'

/** One rule a name, each worked out by hand below. */
const RULES = `rule,charge,line,terminal,locode,place,equipment_type,equipment_length,free_days,counts,holiday_calendar,starts_with,from_day,daily_rate,currency,valid_from,valid_to,note
line,demurrage,MAEU,,,port,,,,,,,1,100,USD,,,
line,demurrage,MAEU,,,port,,,,,,,3,150.50,USD,,,
terminal,storage,,WBCT,,,,,,,,,2,40,USD,,,
working,demurrage,MSCU,,USLAX,port,,,4,working,us,discharge,1,200,USD,2026-11-01,,
too old,demurrage,MSCU,WBCT,USLAX,port,,,1,calendar,,discharge,1,9999,USD,,2026-11-01,
wide,demurrage,MSCU,,,,,,1,calendar,,discharge,1,9999,USD,,,
ramp,storage,,,,ramp,,,2,calendar,,arrival,1,75,CAD,,,
out,detention,,,,,,,5,calendar,,,1,120,USD,,,
arrives,storage,HLCU,,,port,,,1,calendar,,arrival,1,5,USD,,,
`
const HOLIDAYS = 'calendar;holiday_on;name\nus;2026-11-26;Thanksgiving Day\n'

let scene: AnalyticsScene

/** 18:00 UTC, in the morning of a day at each of the places. */
const at = (day: string) => `2026-${day}T18:00:00Z`

beforeAll(async () => {
  scene = await openAnalyticsScene()
  await importRules(scene, HOLIDAYS)
  await importRules(scene, RULES)
  await scene.insert('terminals', [{ terminal_id: 't1', name: 'West Basin', nickname: 'WBCT' }])
  await insertKnown(scene, 'shipments', [
    { shipment_id: 'maersk', shipping_line_scac: 'MAEU', customer_name: 'Acme' },
    { shipment_id: 'msc', shipping_line_scac: 'MSCU', port_of_discharge_locode: 'USLAX' },
    { shipment_id: 'other', shipping_line_scac: 'ONEY' },
    { shipment_id: 'hapag', shipping_line_scac: 'HLCU' },
    { shipment_id: 'inland', shipping_line_scac: 'MSCU', destination_id: 'dallas' },
  ])
  await scene.insert('ports', [{ port_id: 'dallas', time_zone: 'America/Chicago' }])
  const box = (container_id: string, shipment_id: string, more: object = {}) => ({
    container_id,
    number: container_id.toUpperCase().replaceAll(' ', ''),
    shipment_id,
    pod_timezone: 'America/Los_Angeles',
    pod_discharged_at: at('11-02'),
    ...more,
  })
  const byRail = {
    pod_discharged_at: at('10-28'),
    pod_rail_departed_at: at('10-30'),
    ind_rail_unloaded_at: at('11-04'),
  }
  // Unloaded at the ramp on the 4th, so free to the 6th; gone on the 9th, empty on the 16th: five
  // days from the 9th on are free, up to the 14th.
  const inland = {
    ...byRail,
    final_destination_timezone: 'America/Chicago',
    final_destination_full_out_at: at('11-09'),
    empty_terminated_at: at('11-16'),
  }
  const out = { pod_full_out_at: at('11-09') }
  const late = { ...out, empty_terminated_at: '2026-11-15T06:30:00Z' }
  await insertKnown(scene, 'containers', [
    // The line's day is 10 November, the terminal's the 6th.
    box('two charges', 'maersk', { pod_terminal_id: 't1', available_for_pickup: true }),
    // Discharged on Friday the 20th: 23, 24, 25 and, after Thanksgiving, 27 November are free.
    box('thanksgiving', 'msc', {
      pod_terminal_id: 't1',
      pod_discharged_at: at('11-20'),
      pod_arrived_at: at('11-18'),
    }),
    box('rail', 'other', inland),
    // A truck took it to the train: its empty is owed from the ramp on.
    box('by truck to the train', 'other', { ...inland, pod_full_out_at: at('10-29') }),
    // A milestone announced for the future does not start a clock.
    box('to come', 'hapag', { pod_arrived_at: at('12-24') }),
    // Its empty is said to be back before it is.
    box('announced', 'other', {
      ...out,
      empty_terminated_at: at('11-16'),
      current_status: 'empty_returned',
    }),
    // In New York it is back after midnight, when it is still the 14th at the port.
    ...['America/New_York', 'Mars/Olympus'].map((zone) =>
      box(`back in ${zone}`, 'other', { ...late, empty_terminated_timezone: zone }),
    ),
    box('no zone', 'msc', { pod_timezone: null }),
    // The railway says a day without a zone.
    box('no zone said', 'inland', byRail),
    box('no rule', 'other'),
  ])
  await insertKnown(scene, 'container_import_deadlines', [
    lastFreeDay('two charges', 'line', '2026-11-10'),
    lastFreeDay('to come', 'line', '2026-11-10'),
    lastFreeDay('no zone said', 'rail', '2026-11-07', { time_zone: null }),
  ])
  const terminalDay = lastFreeDay('two charges', 'terminal', '2026-11-06')
  await scene.insert('container_import_deadlines', [terminalDay])
  await scene.insert('container_hold_history', [
    {
      ...{ container_id: 'two charges', hold_key: 'customs', name: 'customs', status: 'hold' },
      ...{ valid_from: '2026-11-07T20:00:00Z', valid_to: '2026-11-08T04:00:00Z' },
    },
  ])
  await scene.insert('container_fee_history', [
    {
      ...{ container_id: 'two charges', fee_key: 'demurrage', type: 'demurrage' },
      ...{ amount: '300.00', currency_code: 'USD', valid_from: '2026-11-08T20:00:00Z' },
    },
  ])
  const extended = '2026-11-08T12:00:00Z'
  await scene.insert('container_import_deadline_history', [
    {
      ...lastFreeDay('two charges', 'terminal', '2026-11-05'),
      valid_from: '2026-11-03T00:00:00Z',
      valid_to: extended,
    },
    { ...terminalDay, valid_from: extended },
  ])
})
afterAll(() => scene.drop())

/** At noon in Los Angeles what a view says of a container. */
const shows = (view: string, on: string, container: string, table: string) =>
  expectRows(
    scene,
    view,
    { asOf: `2026-${on}T20:00:00Z`, rest: `where container_id = '${container}' order by 1, 2` },
    table,
  )

/** Charge, state, last free day and whose it is, days over and amount of each clock. */
const clocks = (on: string, container: string, rows: string) =>
  shows(
    'charge_clocks',
    on,
    container,
    `charge | state | last_free_on | last_free_source | days_over | amount\n${rows}`,
  )

describe('each charge has a clock of its own', () => {
  it('counts storage from the terminal’s day and demurrage from the line’s, side by side', async () => {
    // Day 1 of storage lacks a rate: the first tier begins with day 2.
    await clocks(
      '11-08',
      'two charges',
      `demurrage | upcoming | 2026-11-10 | line     | 0 | 0.00
       storage   | overdue  | 2026-11-06 | terminal | 2 | 40`,
    )
    await clocks(
      '11-14',
      'two charges',
      `demurrage | overdue  | 2026-11-10 | line     | 4 | 501.00
       storage   | overdue  | 2026-11-06 | terminal | 8 | 280`,
    )
    const exposed = 'days_over | estimate_amount | days_without_rate\n8 | 781.00 | 1'
    await shows('demurrage_exposure', '11-14', 'two charges', exposed)
  })

  it('counts working days over Thanksgiving, by the narrowest rule that is valid', async () => {
    // The rule of storage takes the terminal's day, which nobody has said.
    await clocks(
      '11-30',
      'thanksgiving',
      `demurrage | overdue | 2026-11-27 | rule | 3 | 600
       storage   | unknown | -          | -    | - | -`,
    )
  })

  it('counts at the ramp in its own currency, and detention until the empty box is back', async () => {
    for (const id of ['rail', 'by truck to the train']) {
      await clocks(
        '11-20',
        id,
        `detention | ended_late | 2026-11-14 | rule | 2 | 240
         storage   | ended_late | 2026-11-06 | rule | 3 | 225`,
      )
    }
    // On the train its empty is not owed yet.
    await clocks('11-01', 'by truck to the train', '')
    await shows(
      'detention_clock',
      '11-15',
      'rail',
      `state   | days_over | amount | next_day_amount | gate_out_on | returned_on
       overdue | 1         | 120    | 120             | 2026-11-09  | -`,
    )
  })

  it('goes on for an empty that is announced and is not back', { tags: ['FE5'] }, async () => {
    await clocks('11-15', 'announced', 'detention | overdue    | 2026-11-14 | rule | 1 | 120')
    await clocks('11-20', 'announced', 'detention | ended_late | 2026-11-14 | rule | 2 | 240')
  })

  it('counts the day on the ticket of the depot', { tags: ['JA8'] }, async () => {
    const [there, nowhere] = ['back in America/New_York', 'back in Mars/Olympus']
    await clocks('11-20', there, 'detention | ended_late | 2026-11-14 | rule | 1 | 120')
    await clocks('11-20', nowhere, 'detention | unknown    | 2026-11-14 | rule | - | -')
  })

  it('has no today of UTC where the zone is unknown, and nothing where no rule holds', async () => {
    await clocks('11-30', 'no zone', 'demurrage | unknown | 2026-11-06 | rule | - | -')
    await clocks('11-30', 'no rule', '')
    // The rule would count from the vessel's arrival, which is announced and has not happened.
    await clocks(
      '11-14',
      'to come',
      `demurrage | overdue | 2026-11-10 | line | 4 | -
       storage   | overdue | 2026-11-10 | line | 4 | 20`,
    )
    await shows('demurrage_exposure', '11-14', 'to come', 'state | estimate_amount\noverdue | 20')
  })

  it('forecasts what more days cost', async () => {
    // Demurrage after 5 and 12 days, storage after 9 and 16.
    await shows(
      'exposure_forecast',
      '11-08',
      'two charges',
      `charge    | amount | seven_days_amount | fourteen_days_amount
       demurrage | 0.00   | 651.50            | 1705.00
       storage   | 40     | 320               | 600`,
    )
  })

  it('shows the last free day of the one who charges', async () => {
    // The line has one free day from the 4th on, and reports no day at a ramp.
    await shows(
      'charged_days',
      '11-08',
      `no zone said' and place = 'ramp`,
      `charge    | charged_on | last_free_on | last_free_seen_on
       demurrage | 2026-11-06 | 2026-11-05   | -
       demurrage | 2026-11-07 | 2026-11-05   | -
       demurrage | 2026-11-08 | 2026-11-05   | -
       storage   | 2026-11-08 | 2026-11-07   | 2026-11-07`,
    )
  })

  it('shows of each day what was known then', async () => {
    await shows(
      'charged_days',
      '11-09',
      'two charges',
      `charged_on | day_over | charge_amount | was_available | holds   | fees_seen            | is_working_day
       2026-11-07 | 1        | -             | true          | customs | []                   | false
       2026-11-08 | 2        | 40            | true          | []      | demurrage 300.00 USD | false
       2026-11-09 | 3        | 40            | true          | []      | demurrage 300.00 USD | true`,
    )
    await shows(
      'charged_days',
      '11-09',
      'two charges',
      `charged_on | last_free_on | last_free_seen_on
       2026-11-07 | 2026-11-06   | 2026-11-05
       2026-11-08 | 2026-11-06   | 2026-11-06
       2026-11-09 | 2026-11-06   | 2026-11-06`,
    )
  })
})

describe('an invoice', () => {
  const HEADER =
    'invoice_number,line_number,issuer,charge,container_number,bill_of_lading_number,' +
    'charged_from_on,charged_to_on,amount,currency_code,daily_rate,issued_on,due_on,' +
    'port_of_discharge,billed_because,free_days,free_from_on,free_to_on,available_on,' +
    'rule_reference,dispute_contact,dispute_url,dispute_within,certification,note'

  it('waits for another import', async () => {
    const lines = parseInvoices(
      'a.csv',
      `${HEADER}\nA,1,Line,storage,BOX,,2026-11-05,2026-11-06,1,USD,,,,,,,,,,,,,,,`,
    )
    const { warehouse, drop } = await createTestWarehouse()
    await warehouse.transaction('the first import', async (session) => {
      expect(await storeInvoices(session, lines)).toMatchObject({ total: 1, added: 1 })
      const second = warehouse.transaction('the second import', async (other) => {
        await other.query('do not wait long', sql`set local lock_timeout = '50ms'`)
        return storeInvoices(other, lines)
      })
      await expect(second).rejects.toThrow('wait for another import')
    })
    await drop()
  })

  it('is refused with the number and reason of every bad line', () => {
    const bad = (text: string) => () => parseInvoices('a.csv', `${HEADER}\n${text}`)
    const line = 'A,1,Line,storage,BOX,,2026-11-05,2026-11-04,1,USD,,,,,,,,,,,,,,,'
    expect(bad(`${line}\n${line}`)).toThrow(
      'a.csv cannot be imported; nothing was stored:\n' +
        '  line 2: charged_to_on is before charged_from_on\n' +
        '  line 3: charged_to_on is before charged_from_on\n' +
        '  line 3: line 1 of invoice A of Line is in line 2 already',
    )
    expect(bad('A,,Line,storage,BOX,,,2026-11-04,,USD,,,,,,,,,,,,,,,')).toThrow(
      /line_number "" is empty\n.*charged_from_on "" is empty\n.*amount "" is empty/,
    )
  })
})

describe('a file of rules', () => {
  const message = (text: string): string => {
    try {
      parseRulesFile('rules.csv', text)
    } catch (thrown) {
      return (thrown as Error).message
    }
    return ''
  }

  it('is refused with the number and reason of every bad line', () => {
    const [header = '', first = ''] = RULES.split('\n')
    expect(
      message(
        [
          header,
          first,
          'line,demurrage,MAEU,,,port,,,,,,,1,100,EUR,,,',
          'bad,Car parking,,,Los Angeles,,,,-1,,,,1,-5,USD,2026-02-30,,',
          'short,storage',
          'dates,storage,,,,,,,3,,,gate_out,,7,USD,2026-03-02,2026-03-01,',
        ].join('\n'),
      ).split('\n'),
    ).toEqual([
      'rules.csv cannot be imported; nothing was stored:',
      '  line 3: line: differs from line 2 in currency_code',
      '  line 3: a tier of line from day 1 on is in line 2 already',
      '  line 4: charge "Car parking" must be a word of small letters and _, as storage, demurrage or plug_in',
      '  line 4: locode "Los Angeles" must be a UN/LOCODE as USLAX',
      '  line 4: free_days "-1" must be a whole number',
      '  line 4: daily_rate "-5" must be an amount as 150 or 150.00, zero or more',
      '  line 4: valid_from "2026-02-30" is not a day of the calendar',
      '  line 5: has 2 cells, but the header has 18',
      '  line 6: dates: from_day and daily_rate go together',
      '  line 6: dates: detention starts with gate_out, and storage and demurrage do not',
      '  line 6: dates: valid_to is before valid_from',
    ])
    const cells = (rule: string, valid_from: string) =>
      message(`${header}\n${rule},storage,,,,,,,,,,,1,7,USD,${valid_from},,`)
    expect(cells('a\0b', '')).toContain('line 2: rule "a\\u0000b" must be a text without NUL')
    expect(cells('a'.repeat(501), '')).toContain(
      'must be a text without NUL of at most 500 characters',
    )
    expect(message(`${header},reported\na,storage,,,,,,,,,,,1,7,USD,,,,later`)).toContain(
      'line 2: a: reported is later, and free_days, with which it is compared, is empty',
    )
    expect(cells('a', '0000-01-01')).toContain('line 2: valid_from "0000-01-01" must be a day')
    expect(message('rule,charge\n')).toContain('line 1: columns are missing: currency')
    expect(message(`${header},colour\n`)).toContain(
      'line 1: unknown column colour (it accepts rule, charge',
    )
    expect(message(`${header}\n"open,demurrage\n`)).toContain('cannot be read')
    expect(message('')).toContain('line 1: columns are missing')
  })

  it('waits for another import, so that the rules of both never mix', async () => {
    const { warehouse, drop } = await createTestWarehouse()
    const [header = '', rule = ''] = RULES.split('\n')
    const one = parseRulesFile('one.csv', `${header}\n${rule}`)
    const two = parseRulesFile('two.csv', `${header}\n${rule.replace('line,', 'other,')}`)
    const second = () =>
      warehouse.transaction('the second import', async (session) => {
        await session.query('do not wait long', sql`set local lock_timeout = '50ms'`)
        return storeRulesFile(session, two)
      })
    await warehouse.transaction('the first import', async (session) => {
      await storeRulesFile(session, one)
      await expect(second()).rejects.toThrow('wait for another import')
    })
    expect(await second()).toMatchObject({ total: 1, added: 1, removed: 1 })
    await drop()
  })

  it('is told of lines, places and equipment that nothing has, where anything has some', async () => {
    const { warehouse, drop } = await createTestWarehouse()
    const [header = ''] = RULES.split('\n')
    const file = parseRulesFile(
      'rules.csv',
      `${header}
one,demurrage,MAEU,,USLAX,,dry,,,,,,,,USD,,,
two,demurrage,MAEV,,USLAS,,reefr,,,,,,,,USD,,,
again,storage,MAEV,,USLAS,,reefr,,,,,,,,USD,,,
inland,storage,,,USDAL,,,,,,,,,,USD,,,
port,storage,,,USNYC,,,,,,,,,,USD,,,
metro area,storage,,,USCHI,,,,,,,,,,USD,,,
`
        .replace('note', 'note,customer,tag')
        .replaceAll(/USD,,,$/gm, 'USD,,,,Akme,urgnt'),
    )
    const warnings = async () => {
      const load = warehouse.transaction('import', (session) => storeRulesFile(session, file))
      return (await load).warnings
    }
    expect(await warnings()).toEqual([])
    for (const [table, columns, values] of [
      ['ports', 'port_id, code', `'p', 'USNYC'`],
      ['metro_areas', 'metro_area_id, code', `'m', 'USCHI'`],
      [
        'shipments',
        'shipment_id, shipping_line_scac, port_of_discharge_locode, destination_locode, customer_name, tags',
        `'s', 'MAEU', 'USLAX', 'USDAL', 'Acme', '{urgent}'`,
      ],
      ['containers', 'container_id, equipment_type', `'c', 'dry'`],
    ] as const) {
      await warehouse.query(
        'insert what there is',
        sql`insert into tracking.${sql.raw(table)} (${sql.raw(columns)}, _observed_at, _first_seen_at, _changed_at)
        values (${sql.raw(values)}, now(), now(), now())`,
      )
    }
    expect(await warnings()).toEqual([
      'the warehouse has no container of the equipment type reefr',
      'the warehouse has no place USLAS by UN/LOCODE',
      'the warehouse has no shipment of the customer Akme',
      'the warehouse has no shipment with the tag urgnt',
      'the warehouse has no shipping line MAEV by SCAC',
    ])
    await drop()
  })

  it('is told of calendars that no clock meets', { tags: ['JA15'] }, async () => {
    const { warehouse, drop } = await createTestWarehouse()
    const load = async (text: string) => {
      const file = parseRulesFile('calendars.csv', text)
      const report = await warehouse.transaction('import', (session) =>
        storeRulesFile(session, file),
      )
      return report.warnings
    }
    await load('rule,charge,holiday_calendar,currency\none,storage,us,USD\n')
    await warehouse.query(
      'insert a place',
      sql`insert into tracking.shipments (shipment_id, port_of_discharge_locode, _observed_at, _first_seen_at, _changed_at)
      values ('s', 'USLAX', now(), now(), now())`,
    )
    const place = (calendar: string, name: string) =>
      load(`calendar,place,weekend\n${calendar},${name},\n`)
    expect(await place('la', 'USLAX')).toEqual([])
    expect(await place('apm', 'APM')).toEqual([
      'the calendar apm is of APM, and the warehouse has no such place, by UN/LOCODE, or terminal, by id, FIRMS code, nickname or name',
    ])
    await place('apm', '')
    const holiday = (calendar: string) =>
      load(`calendar,holiday_on,name\n${calendar},2026-11-30,closed\n`)
    expect([await holiday('us'), await holiday('la')]).toEqual([[], []])
    expect(await holiday('apmla')).toEqual([
      'the holidays of apmla count nowhere: no rule names the calendar, and no working calendar gives it a place',
    ])
    await drop()
  })

  it('is refused where it is not UTF-8', async () => {
    const path = join(await mkdtemp(join(tmpdir(), 'rules-')), 'rules.csv')
    await writeFile(path, RULES.replace('working', 'Köln'), 'latin1')
    expect(await callCli(['rules', 'check', path], {})).toMatchObject({
      exitCode: 2,
      stderr: `error: ${path} is not UTF-8: save it as UTF-8 (a spreadsheet: as "CSV UTF-8")\n`,
    })
    await rm(dirname(path), { recursive: true })
  })

  it('has examples that can be imported', async () => {
    const read = async (name: string) =>
      parseRulesFile(
        name,
        await readFile(new URL(`../../../config/${name}`, import.meta.url), 'utf8'),
      )
    expect(await read('free-time-rules.example.csv')).toMatchObject({ kind: 'rules' })
    expect(await read('holidays.example.csv')).toMatchObject({ kind: 'holidays' })
    const invoices = new URL('../../../config/invoices.example.csv', import.meta.url)
    expect(parseInvoices('invoices', await readFile(invoices, 'utf8'))).toHaveLength(2)
  })
})
