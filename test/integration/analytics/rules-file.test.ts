import { sql } from 'kysely'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { storeRulesFile } from '../../../src/extensions/answers/questions/free-time-rules.js'
import { parseRulesFile } from '../../../src/extensions/answers/questions/rules-file.js'
import { parseInvoices } from '../../../src/extensions/answers/questions/dd-invoices.js'
import { callCli } from '../../support/call-cli.js'
import { createTestWarehouse } from '../../support/test-warehouse.js'

/** Rules with every column of the first version of the file. */
const RULES = `rule,charge,line,terminal,locode,place,equipment_type,equipment_length,free_days,counts,holiday_calendar,starts_with,from_day,daily_rate,currency,valid_from,valid_to,note
line,demurrage,MAEU,,,port,,,,,,,1,100,USD,,,
line,demurrage,MAEU,,,port,,,,,,,3,150.50,USD,,,
working,demurrage,MSCU,,USLAX,port,,,4,working,us,discharge,1,200,USD,2026-11-01,,
`

describe('an invoice', () => {
  const HEADER =
    'invoice_number,line_number,issuer,charge,container_number,bill_of_lading_number,' +
    'charged_from_on,charged_to_on,amount,currency_code,daily_rate,issued_on,due_on,' +
    'port_of_discharge,billed_because,free_days,free_from_on,free_to_on,available_on,' +
    'rule_reference,dispute_contact,dispute_url,dispute_within,certification,note'

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
})
