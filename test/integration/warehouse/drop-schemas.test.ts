import { expect, test } from 'vitest'
import {
  dropDemoSchemas,
  markDemoSchemas,
} from '../../../src/extensions/simulator/commands/demo/demo-schemas.js'
import { useTestWarehouse } from '../../support/reused-warehouse.js'

const scene = useTestWarehouse()

async function schemas(): Promise<string[]> {
  return scene.column`
    select nspname as name from pg_namespace where nspname like 'tracking%' order by nspname`
}

test('the demo drops the schemas that it made, and no others', { tags: ['FC6'] }, async () => {
  const { warehouse } = scene
  const before = await schemas()
  expect(before).toContain('tracking_sync')
  expect(await dropDemoSchemas(warehouse)).toBe(false)
  expect(await schemas()).toEqual(before)

  await markDemoSchemas(warehouse)
  expect(await dropDemoSchemas(warehouse)).toBe(true)
  expect(await schemas()).toEqual([])
  expect(await dropDemoSchemas(warehouse)).toBe(true)

  // Somebody's own table, in a schema of that name.
  await scene.run`create schema tracking`
  expect(await dropDemoSchemas(warehouse)).toBe(false)
  expect(await schemas()).toEqual(['tracking'])
})
