import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { silentLogger } from '../../../src/base/logger.js'
import type { Column } from '../../../src/source/records/column.js'
import { resources } from '../../../src/source/records/index.js'
import { vesselPositions } from '../../../src/source/records/vessel.js'
import { containerChildren } from '../../../src/warehouse/rows/container-children.js'
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

/** The columns of a data table with their types, `timestamptz` in short. */
function columnsOf(table: string): Map<string, string> {
  const relation = catalog
    .find(({ name }) => name === 'tracking')
    ?.relations.find(({ name }) => name === table)
  const columns = relation?.columns ?? []
  return new Map(
    columns.map(({ name, type }) => [
      name,
      type.replace('timestamp with time zone', 'timestamptz'),
    ]),
  )
}

function typed(columns: readonly Column[]): [string, string][] {
  return columns.map(({ name, type }) => [name, type])
}

const OWN: readonly [string, string][] = [
  ['_observed_at', 'timestamptz'],
  ['_first_seen_at', 'timestamptz'],
  ['_changed_at', 'timestamptz'],
  ['_fingerprint', 'text'],
  ['_digest', 'text'],
  ['_deleted_at', 'timestamptz'],
  ['_sync_run_id', 'bigint'],
  ['_unmapped', 'jsonb'],
  ['_coercions', 'jsonb'],
]
const VERSION: readonly [string, string][] = [
  ['valid_from', 'timestamptz'],
  ['valid_to', 'timestamptz'],
  ['source', 'text'],
  ['_sync_run_id', 'bigint'],
]

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

describe('the data tables', () => {
  it.each(resources.map((resource) => [resource.stream, resource] as const))(
    '%s has the columns of its resource, with their types, and our own',
    (table, resource) => {
      expect(columnsOf(table)).toEqual(new Map([...typed(resource.columns), ...OWN]))
    },
  )

  it.each(
    resources.flatMap((resource) =>
      resource.historyTable === undefined ? [] : [[resource.historyTable, resource] as const],
    ),
  )('%s has exactly the material columns', (table, { idColumn, columns }) => {
    const material = columns.filter(({ isMaterial }) => isMaterial)
    expect(columnsOf(table)).toEqual(new Map([[idColumn, 'text'], ...VERSION, ...typed(material)]))
  })

  it.each(containerChildren.map((child) => [child.table, child] as const))(
    '%s and its history have the columns of the children',
    (table, { material, immaterial, keyColumn, historyTable }) => {
      const keys = ['container_id', keyColumn]
      const own = OWN.filter(([name]) => /observed|first_seen|sync_run/.test(name))
      const standing = columnsOf(table)
      expect(new Set(standing.keys())).toEqual(
        new Set([...keys, ...material, ...immaterial, ...own.map(([name]) => name)]),
      )
      const history = columnsOf(historyTable)
      expect(new Set(history.keys())).toEqual(
        new Set([...keys, ...material, ...VERSION.map(([name]) => name)]),
      )
      for (const name of material) expect(history.get(name)).toBe(standing.get(name))
    },
  )

  it('vessel_positions has the columns of a position', () => {
    expect(columnsOf('vessel_positions')).toEqual(
      new Map([
        ...typed(vesselPositions.columns),
        ['_first_seen_at', 'timestamptz'],
        ['_sync_run_id', 'bigint'],
      ]),
    )
  })
})
