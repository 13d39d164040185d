import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { planOf, useAnalyticsScene } from '../../support/analytics-scene.js'

const scene = useAnalyticsScene()

const TYPES: Readonly<Record<string, string>> = { timestamp: 'timestamp without time zone' }

/** view, position, column, type */
const FILE = new URL('../../fixtures/datasync-columns.tsv', import.meta.url)
const published = readFileSync(FILE, 'utf8')
  .trim()
  .split('\n')
  .slice(1)
  .map((line) => line.split('\t'))
  .map(([view, position, column, type = '']) => [view, position, column, TYPES[type] ?? type])

it('has the tables of the export with its columns, in its order and types, and nothing else', async () => {
  const found = await scene.query(
    `select table_name, ordinal_position::text, column_name, data_type
    from information_schema.columns
    where table_schema = 'tracking_datasync'`,
  )
  expect(found.map((row) => String(Object.values(row))).sort()).toEqual(
    published.map(String).sort(),
  )
  expect(published.length).toBe(168)
})

it('says of every column that is never filled that it is unavailable, and why', async () => {
  const unfilled = await scene.query(
    `select attrelid::regclass::text || '.' || attname as name, col_description(attrelid, attnum) as comment
    from pg_attribute
    inner join pg_class on pg_class.oid = attrelid
    where relnamespace = 'tracking_datasync'::regnamespace
      and pg_get_viewdef(attrelid) like '%NULL::text AS ' || attname || '%'`,
  )
  expect(unfilled).toEqual([
    {
      name: 'tracking_datasync.transport_events.invalidation_reason',
      comment: expect.stringMatching(
        /^Unavailable, always null: the public interface .+\.$/,
      ) as string,
    },
  ])
})

it('finds one container by its key', async () => {
  const one = `select * from tracking_datasync.containers where container_id = 'c1'`
  const plan = await planOf(scene.warehouse, one)
  expect(plan).toMatch(/transport_events_milestones_idx/)
  expect(plan).not.toMatch(/Seq Scan on (?:containers|transport_events|container_)/)
})
