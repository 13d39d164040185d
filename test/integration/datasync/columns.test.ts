import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { planOf, useAnalyticsScene } from '../../support/analytics-scene.js'

const scene = useAnalyticsScene()

const TYPES: Readonly<Record<string, string>> = { timestamp: 'timestamp without time zone' }

/** view, position, column, type */
const published = readFileSync(
  new URL('../../fixtures/datasync-columns.tsv', import.meta.url),
  'utf8',
)
  .trim()
  .split('\n')
  .slice(1)
  .map((line) => line.split('\t'))
  .map(([view, position, column, type = '']) => [view, position, column, TYPES[type] ?? type])

it('has the tables of the export with its columns, in its order and types, and nothing else', async () => {
  const rows = await scene.query(
    `select c.table_name as view, c.ordinal_position::text as position, c.column_name as column, c.data_type as type
    from information_schema.columns as c
    where c.table_schema = 'tracking_datasync'`,
  )
  const found = rows.map(({ view, position, column, type }) => [view, position, column, type])
  expect(found.map(String).sort()).toEqual(published.map(String).sort())
  expect(published.length).toBe(168)
})

it('says of every column that is never filled that it is unavailable, and why', async () => {
  const rows = await scene.query(
    `select attrelid::regclass::text || '.' || attname as name, col_description(attrelid, attnum) as comment
    from pg_attribute
    inner join pg_class on pg_class.oid = attrelid
    where relnamespace = 'tracking_datasync'::regnamespace
      and pg_get_viewdef(attrelid) like '%NULL::text AS ' || attname || '%'
    order by name`,
  )
  expect(rows.map(({ name }) => name)).toEqual([
    'tracking_datasync.transport_events.invalidation_reason',
  ])
  for (const { comment } of rows) {
    expect(comment).toMatch(/^Unavailable, always null: the public interface .+\.$/)
  }
})

it('finds one container by its key', async () => {
  const one = `select * from tracking_datasync.containers where container_id = 'c1'`
  const plan = await planOf(scene.warehouse, one)
  expect(plan).toMatch(/transport_events_milestones_idx/)
  expect(plan).not.toMatch(/Seq Scan on (?:containers|transport_events|container_)/)
})
