import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { compareSchema } from '../../../src/extensions/doctor/schema/compare-schema.js'
import { prepareSchemas } from '../../../src/warehouse/schema/prepare-schemas.js'
import type { Warehouse } from '../../../src/warehouse/connection/warehouse.js'
import { callCli } from '../../support/call-cli.js'
import {
  createTestWarehouse,
  withWarehouse,
  type TestWarehouse,
} from '../../support/test-warehouse.js'
import { rawStatement } from '../../../src/warehouse/connection/typed-database.js'

let opened: TestWarehouse
let warehouse: Warehouse

beforeAll(async () => {
  opened = await createTestWarehouse()
  warehouse = opened.warehouse
})
afterAll(() => opened.drop())

/** Compares with the change made, and takes it back. */
async function after(...statements: readonly string[]) {
  class Undone extends Error {}
  let found: Awaited<ReturnType<typeof compareSchema>> | undefined
  await warehouse
    .transaction('change by hand', async (session) => {
      for (const statement of statements)
        await session.query('change by hand', rawStatement(statement))
      found = await compareSchema({ ...session, names: warehouse.names })
      throw new Undone()
    })
    .catch((thrown: unknown) => {
      if (!(thrown instanceof Undone)) throw thrown
    })
  return found
}

const NOTHING = { broken: [], foreign: [] }

describe('a schema that somebody changed by hand', { tags: ['G8'] }, () => {
  it('is not found in a fresh schema of any name', { tags: ['G8', 'release'] }, async () => {
    expect(await compareSchema(warehouse)).toEqual(NOTHING)
    // A word of SQL, which PostgreSQL quotes in its definitions.
    for (const schema of ['user', 'acme_1']) {
      await withWarehouse({ url: opened.url, schema }, async (other) => {
        await prepareSchemas(other, { sleep: () => Promise.resolve() })
        expect(await compareSchema(other)).toEqual(NOTHING)
      })
    }
  })

  it.each<[string, RegExp]>([
    [
      'drop index tracking.containers_shipment_id_idx; create index containers_shipment_id_idx on tracking.containers (number)',
      /^index tracking\.containers_shipment_id_idx is "CREATE INDEX .*\(number\)" and should be ".*\(shipment_id\)"$/,
    ],
    [
      'alter table tracking.ports drop column latitude cascade',
      /^column tracking\.ports\.latitude is missing/,
    ],
    [
      'alter table tracking_sync.migrations alter column checksum drop not null',
      /^column tracking_sync\.migrations\.checksum is "text" and should be "text not null"$/,
    ],
    [
      'alter table tracking_sync.absences drop constraint absences_pkey',
      /^constraint tracking_sync\.absences\.absences_pkey is missing \(PRIMARY KEY \(stream, row_key\)\)$/,
    ],
    ['drop table tracking_sync.absences', /^table tracking_sync\.absences is missing/],
    [
      'alter table tracking_sync.absences set unlogged',
      /^table tracking_sync\.absences is "unlogged" and should be "logged"$/,
    ],
    [
      `create or replace function tracking_analytics.as_of() returns timestamptz language sql stable return null::timestamptz`,
      /^function tracking_analytics\.as_of has another definition$/,
    ],
    [
      'drop view tracking_analytics.days',
      /^view tracking_analytics\.days is missing \(run `tracking-sync migrate`\)$/,
    ],
  ])('is told, once: %s', { tags: ['G8', 'release'] }, async (change, sentence) => {
    const found = await after(...change.split('; '))
    const broken = found?.broken.filter(
      (text) => sentence.source.startsWith('^view') || !text.startsWith('view '),
    )
    expect(broken).toEqual([expect.stringMatching(sentence)])
  })

  it('things of others are told and tolerated', { tags: ['G8'] }, async () => {
    const found = await after(
      'create schema reports',
      'alter table tracking.containers add column note text',
      'create index note_idx on tracking.containers (note)',
      'alter table tracking.containers add constraint note_is_short check (length(note) < 100)',
      'create table tracking.own_notes (note text primary key)',
      'create view reports.boxes as select number from tracking.containers',
      'create view tracking_analytics.our_ports as select name from tracking.ports',
    )
    expect(found).toEqual({
      broken: [],
      foreign: [
        'column tracking.containers.note',
        'constraint tracking.containers.note_is_short',
        'index tracking.note_idx',
        'table tracking.own_notes',
        'view reports.boxes (reads from tracking.containers)',
        'view tracking_analytics.our_ports (reads from tracking.ports)',
      ],
    })
  })
})

describe('what is gone is told as that, and what is ours alone is made again', () => {
  const call = (...args: string[]) =>
    callCli(args, { DATABASE_URL: opened.url, TRACKING_LOG_LEVEL: 'silent' })

  it('schemas of views come back with the next migrate', { tags: ['FG8', 'release'] }, async () => {
    for (const schema of ['parts', 'as_of', 'datasync', 'stored']) {
      await warehouse.query('drop', sql`drop schema tracking_${sql.raw(schema)} cascade`)
    }
    expect((await call('check')).stdout).toMatch(/^FAIL +schema /m)
    expect((await call('migrate')).exitCode).toBe(0)
    const { broken } = await compareSchema(warehouse)
    expect(broken.filter((fact) => /^(?:view|function)/.test(fact))).toEqual([])
    expect((await call('query', 'data_quality', '--as-of', '2026-03-01')).exitCode).toBe(0)
  })

  it('a missing table does not make a migration run again', { tags: ['FG8'] }, async () => {
    await warehouse.query('drop', sql`drop table tracking.ports cascade`)
    const { exitCode, stderr } = await call('migrate')
    expect(exitCode).toBe(5)
    expect(stderr).toMatch(
      /^error: something that the migrations of tracking had made is gone: relation "tracking\.ports" does not exist\. Bring it back/,
    )
    expect(stderr).not.toContain('run `tracking-sync migrate`')
  })

  it('a warehouse without its bookkeeping is not upgraded', { tags: ['FG8'] }, async () => {
    await warehouse.query('drop', sql`drop schema tracking_sync cascade`)
    const { stdout } = await call('check')
    expect(stdout).toMatch(
      /^FAIL +schema +tracking\.container_changes, .* and \d+ more have names that this program needs.* restore tracking_sync from a backup/m,
    )
  })
})
