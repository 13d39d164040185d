import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { dbtExposures, dbtSources, keysOf } from '../../../scripts/documents/dbt-models.js'
import {
  describeDictionary,
  describeReferences,
} from '../../../scripts/documents/describe-dictionary.js'
import { grafanaDashboard } from '../../../scripts/documents/grafana-dashboard.js'
import {
  describeSchema,
  readCatalog,
} from '../../../src/extensions/doctor/schema/describe-schema.js'
import { readViews } from '../../../src/warehouse/schema/shipped-views.js'
import { useTestWarehouse } from '../../support/reused-warehouse.js'

const opened = useTestWarehouse()

it('sql/schema.sql is what a migrated database holds: run `npm run db:dump` when this fails', async () => {
  const file = await readFile(new URL('../../../sql/schema.sql', import.meta.url), 'utf8')
  expect(file, 'sql/schema.sql is out of date; run `npm run db:dump`').toBe(
    await describeSchema(opened.warehouse),
  )
})

it('docs/dictionary.md says what the comments of the database say: run `npm run db:dump` when this fails', async () => {
  const file = await readFile(new URL('../../../docs/dictionary.md', import.meta.url), 'utf8')
  expect(file, 'docs/dictionary.md is out of date; run `npm run db:dump`').toBe(
    describeDictionary(await readCatalog(opened.warehouse), opened.warehouse.names),
  )
  const tables = await readFile(new URL('../../../docs/tables.md', import.meta.url), 'utf8')
  expect(tables, 'its picture is out of date; run `npm run db:dump`').toContain(
    describeReferences(await readCatalog(opened.warehouse), opened.warehouse.names),
  )
})

it('config/dbt says the same: run `npm run db:dump` when this fails', async () => {
  const catalog = await readCatalog(opened.warehouse)
  const read = (name: string) =>
    readFile(new URL(`../../../config/dbt/${name}`, import.meta.url), 'utf8')
  expect(await read('sources.yml')).toBe(dbtSources(catalog, await keysOf(await readViews())))
  const exposures = await read('exposures.yml')
  expect(exposures).toBe(dbtExposures(catalog, grafanaDashboard()))
  const views = [...exposures.matchAll(/source\('tracking_analytics', '(\w+)'\)/g)]
  expect(views.length).toBeGreaterThan(3)
  const described = dbtSources(catalog, {}).match(/^ +description: ""$/gm)
  expect(described, 'every table, view and column has its meaning').toBeNull()
})
