import { describe, expect, it } from 'vitest'
import { parseRulesFile } from '../../../src/extensions/answers/questions/rules-file.js'
import { importRules } from '../../support/scenes/charges.js'
import { useAnalyticsScene } from '../../support/analytics-scene.js'

const scene = useAnalyticsScene()

/** Every column of the first version of the file. */
const HEADER =
  'rule,charge,line,terminal,locode,place,equipment_type,equipment_length,free_days,counts,' +
  'holiday_calendar,starts_with,from_day,daily_rate,currency,valid_from,valid_to,note'

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
    const text = `${HEADER}
line,demurrage,MAEU,,,port,,,,,,,1,100,USD,,,
line,demurrage,MAEU,,,port,,,,,,,1,100,EUR,,,
bad,Car parking,,,Los Angeles,,,,-1,,,,1,-5,USD,2026-02-30,,
short,storage
dates,storage,,,,,,,3,,,gate_out,,7,USD,2026-03-02,2026-03-01,`
    expect(message(text).split('\n')).toEqual([
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
    const line = 'a,storage,,,,,,,,,,,1,7,USD,,,'
    expect(
      [
        `${HEADER}\n${line.replace('a', 'a\0b')}`,
        `${HEADER}\n${line.replace('a', 'a'.repeat(501))}`,
        `${HEADER},reported\n${line},later`,
        `${HEADER}\n${line.replace('USD,', 'USD,0000-01-01')}`,
        'rule,charge\n',
        `${HEADER},colour\n`,
        `${HEADER}\n"open,demurrage\n`,
        '',
      ].map((one) => message(one)),
    ).toEqual(
      [
        'line 2: rule "a\\u0000b" must be a text without NUL',
        'must be a text without NUL of at most 500 characters',
        'line 2: a: reported is later, and free_days, with which it is compared, is empty',
        'line 2: valid_from "0000-01-01" must be a day',
        'line 1: columns are missing: currency',
        'line 1: unknown column colour (it accepts rule, charge',
        'cannot be read',
        'line 1: columns are missing',
      ].map((part) => expect.stringContaining(part) as string),
    )
  })

  /** Warnings of an import. */
  const warnings = async (text: string) => (await importRules(scene, text)).warnings

  it('is told of lines, places and equipment that nothing has, where anything has some', async () => {
    const text = `rule,charge,line,locode,equipment_type,currency,customer,tag
one,demurrage,MAEU,USLAX,dry,USD,Akme,urgnt
two,demurrage,MAEV,USLAS,reefr,USD,Akme,urgnt
again,storage,MAEV,USLAS,reefr,USD,Akme,urgnt
inland,storage,,USDAL,,USD,Akme,urgnt
port,storage,,USNYC,,USD,Akme,urgnt
metro area,storage,,USCHI,,USD,Akme,urgnt
`
    expect(await warnings(text)).toEqual([])
    await scene.insert('ports', [{ port_id: 'p', code: 'USNYC' }])
    await scene.insert('metro_areas', [{ metro_area_id: 'm', code: 'USCHI' }])
    await scene.insert('shipments', [
      {
        shipment_id: 's',
        shipping_line_scac: 'MAEU',
        port_of_discharge_locode: 'USLAX',
        destination_locode: 'USDAL',
        customer_name: 'Acme',
        tags: ['urgent'],
      },
    ])
    await scene.insert('containers', [{ container_id: 'c', equipment_type: 'dry' }])
    expect(await warnings(text)).toEqual([
      'the warehouse has no container of the equipment type reefr',
      'the warehouse has no place USLAS by UN/LOCODE',
      'the warehouse has no shipment of the customer Akme',
      'the warehouse has no shipment with the tag urgnt',
      'the warehouse has no shipping line MAEV by SCAC',
    ])
  })

  it('is told of calendars that no clock meets', { tags: ['JA15'] }, async () => {
    await warnings('rule,charge,holiday_calendar,currency\none,storage,us,USD\n')
    await scene.insert('shipments', [{ shipment_id: 's', port_of_discharge_locode: 'USLAX' }])
    const place = (calendar: string, name: string) =>
      warnings(`calendar,place,weekend\n${calendar},${name},\n`)
    expect(await place('la', 'USLAX')).toEqual([])
    expect(await place('apm', 'APM')).toEqual([
      'the calendar apm is of APM, and the warehouse has no such place, by UN/LOCODE, or terminal, by id, FIRMS code, nickname or name',
    ])
    await place('apm', '')
    const holiday = (calendar: string) =>
      warnings(`calendar,holiday_on,name\n${calendar},2026-11-30,closed\n`)
    expect([await holiday('us'), await holiday('la')]).toEqual([[], []])
    expect(await holiday('apmla')).toEqual([
      'the holidays of apmla count nowhere: no rule names the calendar, and no working calendar gives it a place',
    ])
  })
})
