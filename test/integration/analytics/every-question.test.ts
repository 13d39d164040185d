import { expect, it } from 'vitest'
import { explainEmpty } from '../../../src/extensions/answers/ask/explain-answer.js'
import { OPTIONS } from '../../../src/extensions/answers/ask/ask-words.js'
import {
  readShippedQueries,
  type ShippedQuery,
} from '../../../src/extensions/answers/questions/shipped-queries.js'
import { SchemaNames } from '../../../src/warehouse/connection/schema-names.js'
import { useAnalyticsScene } from '../../support/analytics-scene.js'

const scene = useAnalyticsScene()

it('an answer without rows says that nothing was loaded, as long as that is so', async () => {
  const question: Partial<ShippedQuery> = { name: 'pickups', needs: 'a container', parameters: [] }
  const reasons = () => explainEmpty(scene.warehouse, question as ShippedQuery, {}, OPTIONS)
  expect(await reasons()).toEqual([
    'no rows: nothing was loaded into this schema; run `tracking-sync backfill`',
  ])
  await scene.insertKnown('containers', [{ container_id: 'c1', number: 'c1' }])
  expect(await reasons()).toEqual(['no rows: pickups needs a container'])
})

it('the customer is in every view that has containers', async () => {
  const views = await scene.query(
    `select table_name as name, count(*) filter (where column_name = any($1))::int as found
    from information_schema.columns
    where table_schema = 'tracking_analytics'
      -- Bases of other views, which add the customer.
      and table_name not in (
        'known_milestones', 'journey_facts', 'clock_days', 'invoice_clocks', 'invoice_days',
        'invoice_shares', 'expected_arrivals'
      )
    group by table_name
    having bool_or(column_name = 'container_id')
      and bool_or(column_name = 'container_number')`,
    [['customer_name', 'ref_numbers_text', 'tags_text', 'custom_fields']],
  )
  expect(views.filter(({ found }) => found !== 4)).toEqual([])
  expect(views.length).toBeGreaterThan(20)
})

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
