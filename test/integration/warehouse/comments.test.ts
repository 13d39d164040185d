import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { silentLogger } from '../../../src/base/logger.js'
import { resources } from '../../../src/source/records/index.js'
import {
  readCatalog,
  type CatalogSchema,
} from '../../../src/extensions/doctor/schema/describe-schema.js'
import { holdsStoredRows } from '../../../src/warehouse/schema/shipped-views.js'
import { storeViews } from '../../../src/extensions/answers/store-views.js'
import { createTestWarehouse, type TestWarehouse } from '../../support/test-warehouse.js'

let opened: TestWarehouse
let catalog: CatalogSchema[] = []

beforeAll(async () => {
  opened = await createTestWarehouse()
  const { signal } = new AbortController()
  await storeViews(opened.warehouse, { logger: silentLogger, signal })
  catalog = await readCatalog(opened.warehouse)
})
afterAll(async () => {
  await opened.drop()
})

describe('every object of ours says what it is', () => {
  it('as a comment on each schema, table, view and column', () => {
    expect(catalog.map(({ name }) => name)).toEqual([
      'tracking',
      'tracking_analytics',
      'tracking_as_of',
      'tracking_datasync',
      'tracking_parts',
      'tracking_stored',
      'tracking_sync',
    ])
    const silent = catalog.flatMap((schema) => [
      ...(schema.comment ? [] : [schema.name]),
      ...schema.relations.flatMap((relation) => {
        const name = `${schema.name}.${relation.name}`
        // Explained where the stored view is.
        const columns = holdsStoredRows(relation.name)
          ? []
          : relation.columns.filter(({ comment }) => !comment)
        return [
          ...(relation.comment ? [] : [name]),
          ...columns.map((column) => `${name}.${column.name}`),
        ]
      }),
    ])
    expect(silent, 'a column of a view is named in the .yml beside it').toEqual([])
  })

  it('with the attribute or relationship that a column of a record comes from', () => {
    const tables = catalog.find(({ name }) => name === 'tracking')?.relations ?? []
    const vague = resources.flatMap(({ stream, attributes, relationships }) => {
      const columns = tables.find(({ name }) => name === stream)?.columns ?? []
      return columns.flatMap(({ name, comment }) => {
        const relationship = [...relationships.keys()].find((one) => name.startsWith(`${one}_`))
        const origin = attributes.has(name)
          ? `attributes.${name}`
          : relationship === undefined
            ? ''
            : `relationships.${relationship}`
        return comment?.includes(origin) ? [] : [`${stream}.${name} does not name ${origin}`]
      })
    })
    expect(vague).toEqual([])
  })
})
