import { expect, it } from 'vitest'
import {
  compareRules,
  sayComparison,
} from '../../../src/extensions/answers/questions/compare-rules.js'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { insertKnown } from '../../support/insert-known.js'
import { importRules, lastFreeDay } from '../../support/scenes/charges.js'

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
  const given = [
    ['CALE', '2026-11-06', 'same', 0],
    ['CALE', '2026-11-05', 'first_day', -1],
    ['CALE', '2026-11-09', 'working_days', 3],
    ['CALE', '2026-11-10', 'more_days', 4],
    ['CALE', '2026-11-03', 'fewer_days', -3],
    ['WORK', '2026-11-09', 'same', 0],
    ['WORK', '2026-11-06', 'calendar_days', -3],
    ['WORK', '2026-11-20', 'more_days', 11],
    ['ARRI', '2026-11-06', 'unknown_start', null],
    ['NONE', '2026-11-06', undefined, null],
  ] as const
  const lines = [...new Set(given.map(([line]) => line))]
  await insertKnown(
    scene,
    'shipments',
    lines.map((line) => ({
      shipment_id: line,
      shipping_line_scac: line,
      port_of_discharge_locode: 'USLAX',
    })),
  )
  await insertKnown(
    scene,
    'containers',
    given.map(([line], n) => ({
      container_id: `c${n}`,
      number: `c${n}`,
      shipment_id: line,
      pod_timezone: 'America/Los_Angeles',
      pod_discharged_at: '2026-11-02T20:00:00Z',
    })),
  )
  await insertKnown(
    scene,
    'container_import_deadlines',
    given.map(([, local_date], n) => lastFreeDay(`c${n}`, 'line', local_date)),
  )
  const rows = await scene.read('rule_comparisons', {
    asOf: '2026-11-08T20:00:00Z',
    columns: ['container_id', 'compared_on', 'difference', 'days_apart'],
    rest: 'order by container_id',
  })
  expect(rows.map((row) => Object.values(row))).toEqual(
    given.flatMap(([, day, difference, apart], n) =>
      difference === undefined ? [] : [[`c${n}`, day, difference, apart]],
    ),
  )
  expect(rows).toHaveLength(9)

  expect((await compareRules(scene.warehouse)).map(sayComparison)).toEqual([
    'arrival: 0 of 1 reported days agree; 1 without the day on which the clock starts.',
    'calendar: 1 of 5 reported days agree; 1 earlier; 1 would agree with the other first_day; ' +
      '1 later, as after an extension; 1 would agree if counts were working.',
    'working: 1 of 3 reported days agree; 1 would agree if counts were calendar; ' +
      '1 later, as after an extension.',
  ])
})
