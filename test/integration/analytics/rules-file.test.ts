import { describe, expect, it } from 'vitest'
import type { Session } from '../../../src/warehouse/connection/warehouse.js'
import { storeRulesFile } from '../../../src/extensions/answers/questions/free-time-rules.js'
import { parseRulesFile } from '../../../src/extensions/answers/questions/rules-file.js'
import { useAnalyticsScene } from '../../support/analytics-scene.js'

const scene = useAnalyticsScene()

/** Rules with every column of the first version of the file. */
const RULES = `rule,charge,line,terminal,locode,place,equipment_type,equipment_length,free_days,counts,holiday_calendar,starts_with,from_day,daily_rate,currency,valid_from,valid_to,note
line,demurrage,MAEU,,,port,,,,,,,1,100,USD,,,
line,demurrage,MAEU,,,port,,,,,,,3,150.50,USD,,,
working,demurrage,MSCU,,USLAX,port,,,4,working,us,discharge,1,200,USD,2026-11-01,,
`

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

  /** Warnings of an import. */
  const warnings = async (text: string): Promise<readonly string[]> => {
    const file = parseRulesFile('rules.csv', text)
    const load = (session: Session) => storeRulesFile(session, file)
    return (await scene.warehouse.transaction('import', load)).warnings
  }

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
