import { expect, it } from 'vitest'
import {
  compareRules,
  sayComparison,
} from '../../../src/extensions/answers/questions/compare-rules.js'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { importRules, insertBoxes } from '../../support/scenes/charges.js'
import { givenAndExpected, rowsOf } from '../../support/tables.js'

/** Four free days each, from the discharge on Monday 2 November 2026. */
const RULES = `rule,charge,line,free_days,counts,starts_with,currency
calendar,demurrage,CALE,4,calendar,discharge,USD
working,demurrage,WORK,4,working,discharge,USD
arrival,demurrage,ARRI,4,calendar,arrival,USD
reported,demurrage,NONE,,calendar,discharge,USD
`

const scene = useAnalyticsScene()

it('says how each reported day differs from the rule', { tags: ['JA15'] }, async () => {
  await importRules(scene, RULES)
  await scene.insertInto('analytics', 'working_calendars', [
    { calendar: 'los angeles', place: 'USLAX', weekend: [6, 7] },
  ])
  await scene.insertInto('analytics', 'holidays', [
    { calendar: 'los angeles', holiday_on: '2026-11-05', name: 'a closure' },
  ])
  // The calendar rule: free to Friday the 6th. The working one: to Monday the 9th, because
  // Thursday is closed.
  const [given, expected] = givenAndExpected(`
    container_id | line | lastFree   => compared_on | difference    | days_apart
    c0           | CALE | 2026-11-06 => 2026-11-06  | same          | 0
    c1           | CALE | 2026-11-05 => 2026-11-05  | first_day     | -1
    c2           | CALE | 2026-11-09 => 2026-11-09  | working_days  | 3
    c3           | CALE | 2026-11-10 => 2026-11-10  | more_days     | 4
    c4           | CALE | 2026-11-03 => 2026-11-03  | fewer_days    | -3
    c5           | WORK | 2026-11-09 => 2026-11-09  | same          | 0
    c6           | WORK | 2026-11-06 => 2026-11-06  | calendar_days | -3
    c7           | WORK | 2026-11-20 => 2026-11-20  | more_days     | 11
    c8           | ARRI | 2026-11-06 => 2026-11-06  | unknown_start | -
    c9           | NONE | 2026-11-06 =>`)
  await insertBoxes(
    scene,
    rowsOf(given).map(({ container_id, line, lastFree }) => ({
      ...{ id: container_id!, line: line!, lastFree: lastFree!, locode: 'USLAX' },
      more: { pod_discharged_at: '2026-11-02T20:00:00Z' },
    })),
  )
  const options = { asOf: '2026-11-08T20:00:00Z', rest: 'order by container_id' }
  await scene.expectRows('rule_comparisons', options, expected)

  expect((await compareRules(scene.warehouse)).map(sayComparison)).toEqual([
    'arrival: 0 of 1 reported days agree; 1 without the day on which the clock starts.',
    'calendar: 1 of 5 reported days agree; 1 earlier; 1 would agree with the other first_day; ' +
      '1 later, as after an extension; 1 would agree if counts were working.',
    'working: 1 of 3 reported days agree; 1 would agree if counts were calendar; ' +
      '1 later, as after an extension.',
  ])
})
