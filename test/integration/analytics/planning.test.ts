import { expect, it } from 'vitest'
import { SchemaNames } from '../../../src/warehouse/connection/schema-names.js'
import { readShippedQueries } from '../../../src/extensions/answers/questions/shipped-queries.js'
import { useAnalyticsScene } from '../../support/analytics-scene.js'

const scene = useAnalyticsScene()

/**
 * Megabytes that PostgreSQL needs to plan a view in a new session. Time follows them, some 4 ms for
 * each, and unlike time they are the same on every machine. They may only fall.
 */
const MOST: Readonly<Record<string, number>> = {
  accrual: 88,
  attention: 106,
  invoices: 92,
  costs: 50,
}
const MOST_OF_OTHERS = 31

it('plans no question with more memory than before', { tags: ['B14'] }, async () => {
  const questions = await readShippedQueries(new SchemaNames('tracking'), 'analytics')
  const worse: unknown[] = []
  for (const { name } of questions) {
    const [row] = await scene.query(
      `explain (memory, format json) select * from tracking_analytics.${name}`,
    )
    const [{ Planning }] = row?.['QUERY PLAN'] as [{ Planning: { 'Memory Used': number } }]
    const used = Math.round(Planning['Memory Used'] / 1024)
    expect(used).toBeGreaterThan(0)
    if (used > (MOST[name] ?? MOST_OF_OTHERS)) worse.push({ name, used })
  }
  expect(worse).toEqual([])
  expect(questions).toHaveLength(20)
})
