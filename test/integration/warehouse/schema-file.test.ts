import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeDictionary } from '../../../src/warehouse/schema/describe-dictionary.js'
import { describeSchema } from '../../../src/warehouse/schema/describe-schema.js'
import { createTestWarehouse, type TestWarehouse } from '../../support/test-warehouse.js'

let opened: TestWarehouse
beforeAll(async () => {
  opened = await createTestWarehouse()
})
afterAll(async () => {
  await opened.drop()
})

it('sql/schema.sql is what a migrated database holds: run `npm run db:dump` when this fails', async () => {
  const file = await readFile(new URL('../../../sql/schema.sql', import.meta.url), 'utf8')
  expect(file, 'sql/schema.sql is out of date; run `npm run db:dump`').toBe(
    await describeSchema(opened.warehouse),
  )
})

it('docs/dictionary.md says what the comments of the database say: run `npm run db:dump` when this fails', async () => {
  const file = await readFile(new URL('../../../docs/dictionary.md', import.meta.url), 'utf8')
  expect(file, 'docs/dictionary.md is out of date; run `npm run db:dump`').toBe(
    await describeDictionary(opened.warehouse),
  )
})
