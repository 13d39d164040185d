import { sql } from 'kysely'
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { silentLogger } from '../../../src/base/logger.js'
import { createWarehouse } from '../../../src/warehouse/connection/warehouse.js'
import { findObstacles } from '../../../src/extensions/accounts/distribute/find-obstacles.js'
import { createTestWarehouse, type TestWarehouse } from '../../support/test-warehouse.js'
import { rawStatement } from '../../../src/warehouse/connection/typed-database.js'

const [owner, other] = ['owner', 'other'].map((name) => `${name}_${randomUUID().slice(0, 8)}`)

let opened: TestWarehouse
beforeAll(async () => {
  opened = await createTestWarehouse()
  for (const statement of [
    `create role ${owner!} login password 'owner'`,
    `create role ${other!}`,
    `grant usage on schema tracking to ${owner!}, ${other!}`,
    `alter table tracking.ports owner to ${owner!}`,
    `grant select on tracking.ports to ${other!}`,
    `create view public.of_another as select port_id from tracking.ports`,
    `create table tracking.of_another (one integer)`,
    `alter view public.of_another owner to ${other!}`,
    `alter table tracking.of_another owner to ${other!}`,
    `create publication own for table tracking.ports`,
  ]) {
    await opened.warehouse.query('prepare', rawStatement(statement))
  }
})
afterAll(async () => {
  await opened.run`drop owned by ${sql.raw(owner!)}, ${sql.raw(other!)} cascade`
  await opened.run`drop role ${sql.raw(owner!)}, ${sql.raw(other!)}`
  await opened.drop()
})

/** Of one table of ours, for a login that owns only this. */
async function obstacles(...tables: readonly string[]): Promise<string[]> {
  const url = new URL(opened.url)
  url.username = owner!
  url.password = 'owner'
  const warehouse = createWarehouse({ url: url.href, schema: 'tracking', logger: silentLogger })
  try {
    return await findObstacles(warehouse, tables)
  } finally {
    await warehouse.close()
  }
}

it('names what others have on our tables and in our schemas', { tags: ['O2'] }, async () => {
  const found = await obstacles('tracking.ports')
  expect(found).toEqual([
    expect.stringMatching(/^this login cannot grant rights on objects of others in our schemas; /),
    `Citus creates views on our tables again, which only their owners may; drop first: view public.of_another of ${other!}`,
    expect.stringMatching(/^a publication here .*; drop first: publication own$/),
  ])
  expect(found[0]).toContain(`tracking.of_another of ${other!}`)
})

it('names the login that owns our tables', { tags: ['O2'] }, async () => {
  const name = await opened.value<string>`select current_user::text as name`
  expect(await obstacles('tracking.ports', 'tracking.containers')).toContain(
    `only the owner of our tables may do this; run it with the login ${name}`,
  )
})
