import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { describeRule } from '../../../../src/extensions/answers/questions/rule-sentence.js'
import {
  findDoubts,
  groupTiers,
  parseRulesFile,
} from '../../../../src/extensions/answers/questions/rules-file.js'

const RULES = new URL('../../../../config/rules/', import.meta.url)

function read(name: string, text: string) {
  const file = parseRulesFile(name, text)
  if (file.kind !== 'rules') throw new Error(`${name} has ${file.kind}`)
  return file
}

const sayAll = ({ rules, tiers }: ReturnType<typeof read>) =>
  rules.map((rule) => describeRule(rule, groupTiers(tiers).get(rule.rule_name) ?? []))

describe('a rule in a sentence', { tags: ['JA15'] }, () => {
  it('is one sentence for every rule of the twenty tariffs', () => {
    const files = readdirSync(RULES).filter(
      (name) => name.endsWith('.csv') && !['calendars.csv', 'holidays.csv'].includes(name),
    )
    const said = files.flatMap((name) =>
      sayAll(read(name, readFileSync(new URL(name, RULES), 'utf8'))),
    )
    expect(files).toHaveLength(20)
    expect(said.join('\n')).toMatchInlineSnapshot(`
      "demurrage (line MSCU, locode BEANR, place port): 7 free calendar days from the day after berthing, or to the reported day where there is one; from day 8 EUR 35.00, from day 11 EUR 70.00, from day 15 EUR 140.00, until the empty is back
      demurrage (line MSCU): 3 free calendar days from the day after discharge, or to the reported day where there is one; from day 4 EUR 99.00
      storage (locode USMEM, place ramp): 1 free working day (calendar us) from the day after the first availability, or to the reported day if that is earlier; from charged day 1 USD 100.00, from charged day 3 USD 200.00, working days only
      storage (locode COCTG, place port): 3 free calendar days from the day after discharge, or to the reported day where there is one; from day 4 USD 30.00, from day 9 USD 60.00
      demurrage (line HLCU, locode COCTG, place port): 10 free calendar days from the day after discharge, or to the reported day where there is one; from day 11 USD 90.00, from day 16 USD 150.00, until the empty is back
      storage (locode USCHI, place ramp): 2 free working days (calendar us) from the day after the first availability, or to the reported day where there is one; from charged day 1 USD 150.00, from charged day 3 USD 300.00
      demurrage (line MAEU): 4 free working days (calendar us) from the day after discharge, or to the reported day where there is one; from charged day 1 USD 175.00, from charged day 5 USD 350.00
      detention (line MAEU): 5 free working days (calendar us) from the day after the gate-out; from charged day 1 USD 125.00, until the empty is back
      storage (locode AEJEA, place port): 5 free working days from the day after discharge, or to the reported day where there is one; from charged day 1 AED 100.00, from charged day 4 AED 200.00
      demurrage (line CMDU, locode AEJEA, place port): 5 free working days (calendar ae-line) from the day after discharge, or to the reported day where there is one; from charged day 1 USD 60.00, from charged day 6 USD 120.00
      detention (line CMDU, locode AEJEA): 7 free calendar days from the day after the gate-out; from day 8 AED 75.00, until the empty is back
      demurrage (line MAEU, locode ZADUR, place port): 3 free working days (calendar za) from the day after discharge, or to the reported day where there is one; from day 4 ZAR 600.00, from day 8 ZAR 1200.00, working days only
      detention (line MAEU, locode ZADUR): 7 free calendar days from the day after the gate-out; from day 8 ZAR 450.00, until the empty is back
      storage (locode EGALY, place port): 3 free working days from the day after discharge, or to the reported day where there is one; from charged day 1 USD 20.00, from charged day 4 USD 45.00
      demurrage (line MAEU, locode EGALY, place port): 7 free calendar days from the day after discharge, or to the reported day where there is one; from day 8 USD 40.00, from day 15 USD 80.00, until the empty is back
      demurrage (line EGLV, locode GBFXT, place port): 4 free calendar days from the day after discharge, or to the reported day where there is one; from day 5 GBP 70.00, from day 8 GBP 120.00
      demurrage (line EGLV, locode GBFXT, place port, customer Example Trading): 6 free calendar days from the day after discharge, or to the reported day where there is one; from day 7 GBP 60.00, from day 10 GBP 100.00
      demurrage (line EGLV, locode GBFXT, place port, customer Example Trading, ref EX-4711): 10 free calendar days from the day after discharge, or to the reported day where there is one; from day 11 GBP 40.00, from day 14 GBP 60.00
      detention (line EGLV, locode GBFXT): 5 free calendar days from the day after the gate-out; from day 6 GBP 45.00, until the empty is back
      detention (line EGLV, locode GBFXT, tag long-detention): 10 free calendar days from the day after the gate-out; from day 11 GBP 30.00, until the empty is back
      demurrage (line HLCU, locode DEHAM, place port): 5 free working days from the day after discharge, or to the reported day where there is one; from charged day 1 EUR 50.00, from charged day 6 EUR 90.00
      demurrage (line HLCU, locode DEHAM, place port, equipment_height high_cube): 4 free calendar days from the day after discharge, or to the reported day where there is one; from day 5 EUR 60.00, from day 10 EUR 100.00
      demurrage (line HLCU, locode DEHAM, place port, equipment_type reefer, equipment_length 40, equipment_height high_cube): 2 free calendar days from the day after discharge, or to the reported day where there is one; from day 3 EUR 150.00, from day 6 EUR 220.00
      detention (line HLCU, locode DEHAM): 6 free calendar days from the day after the gate-out; from day 7 EUR 55.00, until the empty is back
      demurrage (line ARKU, locode ITGOA, place port, equipment_length 20): 7 free calendar days from the day of discharge, whatever day is reported; from day 8 EUR 40.00, from day 15 EUR 70.00, until the empty is back
      demurrage (line ARKU, locode ITGOA, place port, equipment_length 40): 7 free calendar days from the day of discharge, whatever day is reported; from day 8 EUR 80.00, from day 15 EUR 140.00, until the empty is back
      storage (locode USLAX, place port): free to the last free day that is reported; from charged day 1 USD 95.00, from charged day 5 USD 190.00, working days only
      demurrage (line MAEU, locode USLAX, place port, equipment_type dry): 4 free working days (calendar us-california) from the day after discharge, or to the reported day where there is one; from charged day 1 USD 185.00, from charged day 5 USD 310.00, working days only; for clocks that start from 2026-01-01
      detention (line MAEU, locode USLAX): 4 free working days (calendar us-california) from the day after the gate-out; from charged day 1 USD 100.00, working days only, until the empty is back
      storage (locode INNSA, place port, equipment_length 20): 3 free working days from the day after discharge, or to the reported day where there is one; from day 1 INR 500.00, from day 8 INR 900.00
      demurrage (line ONEY, locode INNSA, place port, equipment_length 20): 5 free calendar days from the day after arrival, or to the reported day where there is one; from day 6 USD 30.00, from day 9 USD 60.00
      detention (line ONEY, locode INNSA, equipment_length 20): 5 free calendar days from the day after the gate-out; from day 6 USD 25.00, from day 10 USD 50.00, until the empty is back
      chassis (locode USNYC): no free day, counted from the day of the gate-out; from day 1 USD 38.00, until the empty is back; at least USD 150.00
      detention (line MAEU, locode USNYC): 5 free working days (calendar us) from the day after the gate-out; from charged day 1 USD 110.00, until the empty is back
      demurrage (line MAEU, locode NLRTM, place port, equipment_type dry): 7 free calendar days from the day after discharge, or to the reported day where there is one; from day 8 EUR 65.00, from day 15 EUR 130.00, until the empty is back
      storage (locode BRSSZ, place port): no free day, counted from the day of discharge, or to the reported day where there is one; from day 1 BRL 900.00 once, from day 8 BRL 1400.00 once, from day 15 BRL 2100.00 once
      demurrage (line CMDU, locode BRSSZ, place port): 10 free calendar days from the day after discharge, or to the reported day if that is earlier; from day 11 USD 80.00, from day 16 USD 130.00, until the empty is back
      demurrage (line COSU, locode CNSHA, place port): 7 free calendar days from the day after discharge, or to the reported day where there is one; from day 8 CNY 160.00, from day 13 CNY 320.00; for vessels that depart up to 2026-10-31
      demurrage (line COSU, locode CNSHA, place port): 5 free calendar days from the day after discharge, or to the reported day where there is one; from day 6 CNY 200.00, from day 11 CNY 400.00; for vessels that depart from 2026-11-01
      detention (line COSU, locode CNSHA): 4 free calendar days from the day after the gate-out; from day 5 CNY 100.00, until the empty is back; for clocks that start up to 2026-11-30
      detention (line COSU, locode CNSHA): 3 free calendar days from the day after the gate-out; from day 4 CNY 110.00, until the empty is back; for clocks that start from 2026-12-01
      storage (terminal Pasir Panjang, locode SGSIN, place port): 3 free working days from the day after discharge, or to the reported day where there is one; from charged day 1 SGD 50.00, from charged day 4 SGD 110.00, working days only; at least SGD 120.00; at most SGD 1000.00
      plug_in (locode ESVLC, place port, equipment_type reefer): no free day, counted from the day of discharge; from day 1 EUR 45.00
      demurrage (line MSCU, locode ESVLC, place port, equipment_type reefer): 5 free calendar days from the day after discharge, or to the reported day where there is one; from day 6 EUR 120.00, from day 9 EUR 180.00
      detention (line MSCU, locode ESVLC, equipment_type reefer): 4 free calendar days from the day after the gate-out; from day 5 EUR 90.00, until the empty is back
      storage (locode AUSYD, place port): 3 free calendar days from the day after the first availability, or to the reported day where there is one; from day 4 AUD 150.00, from day 6 AUD 250.00, from day 8 AUD 400.00
      detention (line ANNU, locode AUSYD): 7 free calendar days from the day of the gate-out; from day 8 AUD 80.00, from day 13 AUD 160.00, from day 18 AUD 240.00, until the empty is back
      demurrage (line MSCU, locode TRMER, place port): 10 free calendar days from the day after arrival, or to the reported day if that is later; from day 11 USD 50.00, from day 16 USD 100.00, from day 21 USD 150.00, until the empty is back"
    `)
  })

  it('is refused where two rules hold for the same, or contradict themselves', () => {
    const header =
      'rule,charge,place,free_days,starts_with,until,from_day,daily_rate,minimum,cap,valid_from,currency'
    const refused = (...lines: readonly string[]) => {
      try {
        read('rules.csv', [header, ...lines].join('\n'))
      } catch (thrown) {
        return (thrown as Error).message.split('\n').slice(1)
      }
      return []
    }
    const tie = ['one,storage,port,3,,,1,9,,,,USD', 'two,storage,port,4,,,1,9,,,,USD']
    expect(refused(...tie)).toEqual([
      '  line 3: two: holds for the same storage as one in line 2; name more of what it holds for, ' +
        'or give it another valid_from',
    ])
    expect(refused(tie[0]!, 'two,storage,port,4,,,1,9,,,2026-01-01,USD')).toEqual([])
    expect(
      refused(
        'chassis,chassis,port,,,out,1,9,,,,USD',
        'plug,plug_in,,,discharge,,1,9,,,,USD',
        'bounds,storage,,3,gate_out,,1,9,10,9.5,,USD',
      ),
    ).toEqual([
      '  line 2: chassis: chassis has no place: it starts with gate_out',
      '  line 2: chassis: chassis ends with empty_return: it starts with gate_out',
      '  line 2: chassis: chassis needs free_days, because nobody reports a day',
      '  line 3: plug: plug_in needs free_days, because nobody reports a day',
      '  line 4: bounds: detention starts with gate_out, and storage and demurrage do not',
      '  line 4: bounds: minimum is more than cap',
    ])
  })

  it('is noted where it is allowed and seldom meant', () => {
    const header = 'rule,charge,free_days,tier_counts,from_day,daily_rate,currency'
    const { rules, tiers } = read(
      'rules.csv',
      `${header}
from the start,storage,5,over,6,85,USD
one day,plug_in,4,over,2,85,USD
counted so,demurrage,5,start,6,85,USD
too late,detention,4,start,7,85,USD
in free time,chassis,6,start,1,70,USD
in free time,chassis,6,start,7,140,USD
misspelt,demurage,4,over,1,85,USD
swapped,lift_on,4,over,1,85,USD
swapped,lift_on,4,over,6,50,USD
swapped,lift_on,4,over,11,120,USD
`,
    )
    expect(findDoubts(rules, tiers)).toEqual([
      'from the start has no rate for days 1 to 5 over; if from_day counts from the start of the clock, set tier_counts to start',
      'one day has no rate for day 1 over; if from_day counts from the start of the clock, set tier_counts to start',
      'too late has no rate for days 5 to 6 since the start',
      'in free time never charges its tier from day 1, which ends in free time; if from_day counts days over, set tier_counts to over',
      'misspelt is for a charge of its own, demurage; did you mean demurrage',
      'swapped charges less from day 6 on, 50 after 85',
    ])
  })
})
