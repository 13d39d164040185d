import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { MigrationError } from '../../../src/base/errors.js'
import { installViews } from '../../../src/warehouse/schema/install-views.js'
import type { ShippedView } from '../../../src/warehouse/schema/shipped-views.js'
import { createTestWarehouse, type TestWarehouse } from '../../support/test-warehouse.js'

let opened: TestWarehouse
const options = { sleep: () => Promise.resolve() }

beforeAll(async () => {
  opened = await createTestWarehouse()
})
afterAll(async () => {
  await opened.drop()
})
beforeEach(async () => {
  await opened.run`drop schema if exists people cascade`
  await installViews(opened.warehouse, [], options)
})

function view(
  name: string,
  select: string,
  schema: ShippedView['schema'] = 'analytics',
): ShippedView {
  const sqlText = `-- ${name}\n\ncreate view {{${schema}}}.${name} as ${select};`
  return { schema, name, title: name, definition: name, sqlText, checksum: sqlText }
}

async function viewNames(): Promise<string[]> {
  return opened.column`
    select viewname from pg_views where schemaname = 'tracking_analytics' order by 1`
}

const ships = view('ships', 'select 1 as imo, 2 as knots')
const fleets = view('fleets', 'select count(*) as ships from {{analytics}}.ships')

describe('installing views', () => {
  it('replaces a changed one, keeps what others built on it', { tags: ['G1'] }, async () => {
    const { warehouse } = opened
    // Of many starters one does it.
    const starts = Array.from({ length: 8 }, () =>
      installViews(warehouse, [ships, fleets], options),
    )
    expect((await Promise.all(starts)).flat().sort()).toEqual(['fleets', 'ships'])
    await opened.run`create schema people`
    await opened.run`create view people.mine as select imo from tracking_analytics.ships`
    const changed = view('ships', 'select 3 as imo, 4 as knots, 5 as draught')
    expect(await installViews(warehouse, [changed, fleets], options)).toEqual(['ships'])
    expect(await opened.column`select imo from people.mine`).toEqual([3])
    // Where its columns change their order or type, that is named, and nothing is changed.
    const attempt = installViews(warehouse, [view('ships', `select 'x' as name`)], options)
    await expect(attempt).rejects.toThrow(MigrationError)
    await expect(attempt).rejects.toThrow('people.mine')
    expect(await viewNames()).toEqual(['fleets', 'ships'])
    expect(await opened.column`select imo from people.mine`).toEqual([3])
  })

  it('creates all anew where columns change their order or type, and drops what is no longer shipped', async () => {
    const { warehouse } = opened
    await installViews(warehouse, [ships, fleets], options)
    const changed = view('ships', `select 'x' as name`)
    expect(await installViews(warehouse, [changed], options)).toEqual(['ships'])
    expect(await viewNames()).toEqual(['ships'])
    expect(await opened.column`select name from tracking_analytics.ships`).toEqual(['x'])
  })

  it('runs nothing of a planted row and drops only our views', { tags: ['FC1'] }, async () => {
    const { warehouse } = opened
    await installViews(warehouse, [ships], options)
    await opened.run`create schema people`
    await opened.run`create table people.victims as select 1 as id`
    await opened.run`create view people.mine as select 2 as id`
    await opened.run`
      create view tracking_stored."s_a; drop table people.victims; --" as select 3 as id`
    await opened.run`
      insert into tracking_sync.installed_views (schema_name, view_name, position, checksum)
      values
          ('people', 'mine', 7, ''),
          ('tracking_stored', 's_a; drop table people.victims; --', 8, '')`
    expect(await installViews(warehouse, [view('ships', `select 'x' as name`)], options)).toEqual([
      'ships',
    ])
    expect(
      await opened.column`select id from people.victims union all select id from people.mine`,
    ).toEqual([1, 2])
    expect(await viewNames()).toEqual(['ships'])
  })

  it('moves one to the other schema', { tags: ['JE8'] }, async () => {
    const { warehouse } = opened
    await installViews(warehouse, [ships, fleets], options)
    const moved = view('ships', 'select 1 as imo', 'parts')
    const above = view('fleets', 'select count(*) as ships from {{parts}}.ships')
    expect(await installViews(warehouse, [moved, above], options)).toEqual(['ships', 'fleets'])
    expect(await viewNames()).toEqual(['fleets'])
    expect(await opened.column`select ships from tracking_analytics.fleets`).toEqual([1])
  })
})
