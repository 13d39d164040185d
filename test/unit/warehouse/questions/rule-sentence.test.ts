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
    expect(said).toMatchSnapshot()
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
