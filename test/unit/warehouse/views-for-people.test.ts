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

it('one thing has one name in all questions and dimensions', { tags: ['JE8'] }, async () => {
  const views = await readViews()
  const asked = await Promise.all(
    views.map(async ({ schema, describe: read }) => {
      const description = schema === 'analytics' ? await read?.() : undefined
      return description !== undefined && 'key' in description.members ? description.columns : []
    }),
  )
  const columns = asked.flat()
  expect(columns.length).toBeGreaterThan(500)
  const names = new Map<string, Set<string>>()
  for (const { name, meaning } of columns) {
    // Each list has a text beside it, and some columns a name that goes.
    if (/^(?:The same as one text|Former name of)/.test(meaning)) continue
    names.set(meaning, (names.get(meaning) ?? new Set()).add(name))
  }
  const doubled = [...names].filter(([, found]) => found.size > 1)
  expect(doubled.map(([meaning, found]) => [meaning, ...found])).toEqual([])
  for (const own of asked.filter((one) => one.some(({ name }) => name.endsWith('_amount')))) {
    expect(own.map(({ name }) => name)).toContain('currency_code')
  }
  const unjoined = ['terminal_id', 'terminal', 'line', 'customer', 'scac']
  expect(columns.filter(({ name }) => unjoined.includes(name))).toEqual([])
})
