import { expect, it } from 'vitest'
import { readViews } from '../../../src/warehouse/schema/shipped-views.js'

/** Views for people that are neither questions nor dimensions, and never were questions. */
const FACTS = [
  'charge_clocks',
  'container_customers',
  'eta_promises',
  'invoice_days',
  'port_stages',
  'rule_comparisons',
  'shipment_outcomes',
  'stored_views',
]

it('people see questions, facts and dimensions, and no part', { tags: ['JE8'] }, async () => {
  const views = await readViews()
  const marked = await Promise.all(
    views.map(async ({ schema, name, describe: read }) => {
      const { meaning = '', members = {} } = (await read?.()) ?? {}
      const isAsked = ['question', 'key', 'askedAs'].some((one) => one in members)
      return { schema, name, isForPeople: isAsked || meaning.startsWith('Former name of ') }
    }),
  )
  const of = (schema: string) => marked.filter((one) => one.schema === schema)
  expect(of('parts').filter(({ isForPeople }) => isForPeople)).toEqual([])
  expect(
    of('analytics')
      .flatMap((one) => (one.isForPeople ? [] : [one.name]))
      .sort(),
  ).toEqual(FACTS)
  expect(of('parts').length).toBeGreaterThan(20)
  expect(of('asOf').length).toBe(of('parts').length + of('analytics').length)
})
