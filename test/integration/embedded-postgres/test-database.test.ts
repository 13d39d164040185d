import pg from 'pg'
import { describe, expect, inject, it } from 'vitest'
import { createTestDatabase } from '../../support/test-database.js'

async function query<Row extends pg.QueryResultRow>(url: string, sql: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Row>(sql)).rows
  } finally {
    await client.end()
  }
}

describe('a test database', () => {
  it('is empty, UTF8, and apart from every other one', async () => {
    const [one, other] = await Promise.all([createTestDatabase(), createTestDatabase()])
    await query(one.url, 'create table only_here ()')
    const sql = `select pg_encoding_to_char(encoding) as encoding, to_regclass('only_here') is not null as has_table
      from pg_database where datname = current_database()`
    expect(await query(one.url, sql)).toEqual([{ encoding: 'UTF8', has_table: true }])
    expect(await query(other.url, sql)).toEqual([{ encoding: 'UTF8', has_table: false }])
    await Promise.all([one.drop(), other.drop()])
  })

  it('is a copy of its template when one is named', async () => {
    const template = await createTestDatabase()
    await query(template.url, 'create table copied as select 7 as seven')
    const copy = await createTestDatabase({ template: template.name })
    expect(await query(copy.url, 'select seven from copied')).toEqual([{ seven: 7 }])
    await Promise.all([template.drop(), copy.drop()])
  })

  it('is dropped although somebody is connected, and can be dropped twice', async () => {
    const database = await createTestDatabase()
    const client = new pg.Client({ connectionString: database.url })
    const ended = new Promise<void>((resolve) => {
      client.on('error', () => undefined)
      client.on('end', resolve)
    })
    await client.connect()
    await database.drop()
    await database.drop()
    await ended
    const sql = `select from pg_database where datname = '${database.name}'`
    expect(await query(inject('databaseServerUrl'), sql)).toEqual([])
  })
})
