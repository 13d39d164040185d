import { sql } from 'kysely'
import { expect } from 'vitest'
import type { Warehouse } from '../../src/warehouse/connection/warehouse.js'

/** How many rows each view has when all of its columns are read. */
export async function countViewRows(
  warehouse: Warehouse,
): Promise<[view: string, count: number][]> {
  const views = await warehouse.query(
    'list the views',
    sql<{
      name: string
    }>`select schemaname || '.' || viewname as name from pg_views where schemaname like 'tracking%' order by name`,
  )
  expect(views.length).toBeGreaterThan(20)
  const counts: [string, number][] = []
  for (const { name } of views) {
    const [row] = await warehouse.query(
      'read a view',
      sql<{ count: number }>`select count(one::text) as count from ${sql.raw(name)} one`,
    )
    counts.push([name, row!.count])
  }
  return counts
}
