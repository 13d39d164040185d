import { sql } from 'kysely'
import { once } from 'node:events'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest'
import { silentLogger } from '../../../src/base/logger.js'
import { readTable } from '../../../src/extensions/answers/read-answer.js'
import { boundConnection } from '../../../src/warehouse/connection/bound-connection.js'
import {
  prepareSession,
  sessionSettings,
} from '../../../src/warehouse/connection/session-settings.js'
import { createWarehouse, type Warehouse } from '../../../src/warehouse/connection/warehouse.js'
import { createTestWarehouse, type TestWarehouse } from '../../support/test-warehouse.js'
import { rawStatement } from '../../../src/warehouse/connection/typed-database.js'

const LOGIN = 'far_away'
const HOSTILE = {
  TimeZone: 'America/Los_Angeles',
  DateStyle: 'German',
  IntervalStyle: 'postgres_verbose',
  standard_conforming_strings: 'off',
  array_nulls: 'off',
  statement_timeout: '0',
  idle_session_timeout: '1min',
  jit: 'on',
}

let scene: TestWarehouse
let address: URL
const closers: (() => Promise<void>)[] = []

beforeAll(async () => {
  // PostgreSQL itself: this file plays the pooler.
  const serverUrl = inject('databaseServerUrl')
  scene = await createTestWarehouse({ isMigrated: false, serverUrl })
  address = new URL(scene.url)
  address.username = LOGIN
  address.password = LOGIN
  const client = await connect(scene.url)
  await client.query(`create role ${LOGIN} login password '${LOGIN}'`)
  for (const [name, value] of Object.entries(HOSTILE)) {
    await client.query(`alter role ${LOGIN} set ${name} = '${value}'`)
  }
})

afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

afterAll(async () => {
  const client = await connect(scene.url)
  await client.query(`drop role ${LOGIN}`)
  for (const close of closers.splice(0)) await close()
  await scene.drop()
})

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  closers.push(() => client.end())
  return client
}

function open(url: string): Warehouse {
  const warehouse = createWarehouse({ url, schema: 'tracking', logger: silentLogger })
  closers.push(() => warehouse.close())
  return warehouse
}

const LOOK = `select
    current_setting('TimeZone') as zone,
    current_setting('statement_timeout') as "statementTimeout",
    current_setting('lock_timeout') as "lockTimeout",
    current_setting('idle_in_transaction_session_timeout') as "idleTimeout",
    current_setting('idle_session_timeout') as "sessionTimeout",
    current_setting('search_path') as path,
    current_setting('standard_conforming_strings') as strings,
    current_setting('jit') as jit,
    ('{1,NULL}'::text[])[2] is null as "hasNulls",
    ('2026-03-02T08:00:00Z'::timestamptz)::text as instant`

const OURS = {
  zone: 'UTC',
  statementTimeout: '30s',
  lockTimeout: '5s',
  idleTimeout: '45s',
  sessionTimeout: '0',
  path: 'pg_catalog, pg_temp',
  strings: 'on',
  jit: 'off',
  hasNulls: true,
  instant: '2026-03-02 08:00:00+00',
}

describe('a login whose settings are hostile', { tags: ['FA3'] }, () => {
  test('has ours on every connection, and the options of the address beside them', async () => {
    address.searchParams.set('options', '-c work_mem=8MB -c TimeZone=Asia/Tokyo')
    const warehouse = open(address.href)
    expect(await warehouse.query('look', rawStatement(LOOK))).toEqual([OURS])
    const [row] = await warehouse.transaction('look', (session) =>
      session.query(
        'look',
        sql`select current_setting('work_mem') as memory, current_setting('TimeZone') as zone`,
      ),
    )
    expect(row).toEqual({ memory: '8MB', zone: 'UTC' })
    const answer = await readTable(
      warehouse,
      'ask',
      sql`select '2026-03-02T08:00:00Z'::timestamptz::text, current_setting('TimeZone')`,
    )
    expect(answer.rows).toEqual([['2026-03-02 08:00:00+00', 'UTC']])
  })

  test('is refused where a setting does not hold', async () => {
    const client = await connect(address.href)
    const query = client.query.bind(client) as (config: unknown) => unknown
    // Something between that answers and does not do it.
    client.query = ((config: { text: string; values?: unknown[] }) => {
      const text = config.text.replaceAll('set_config(', 'concat(')
      return query({ ...config, text })
    }) as never
    await expect(prepareSession(client, sessionSettings({}), 5_000)).rejects.toThrow(
      /does not keep its settings: TimeZone is \S+ and not UTC, DateStyle is/,
    )
  })
})

describe('behind a pooler, which gives each transaction another session', { tags: ['FA3'] }, () => {
  test('every statement has our settings, and the session keeps none', async () => {
    address.searchParams.set('options', '-c work_mem=8MB')
    const pool = new pg.Pool({ connectionString: address.href, max: 1 })
    closers.push(() => pool.end())
    const client = await pool.connect()
    // A pooler tells of a process that is none of PostgreSQL's.
    Object.assign(client, { processID: 1 })
    const session = await prepareSession(client, sessionSettings({ isReadOnly: true }), 5_000)
    expect(session.isShared).toBe(true)
    const bound = boundConnection(client, 5_000, session)
    const before = (await client.query<Record<string, unknown>>(LOOK)).rows
    expect(before).toMatchObject([{ zone: HOSTILE.TimeZone, statementTimeout: '0' }])
    expect((await bound.query(LOOK, [])).rows).toEqual([OURS])
    await expect(bound.query('select 1 / 0', [])).rejects.toThrow('division by zero')
    await bound.query('begin', [])
    const inside = `select current_setting('TimeZone') as zone, current_setting('work_mem') as memory,
      current_setting('transaction_read_only') as is_read_only`
    expect((await bound.query(inside, [])).rows).toEqual([
      { zone: 'UTC', memory: '8MB', is_read_only: 'on' },
    ])
    await bound.query('rollback', [])
    expect((await client.query(LOOK)).rows).toEqual(before)
    bound.release()
  })
})

test('a warehouse that closes waits for nothing that only reads', { tags: ['C9'] }, async () => {
  const warehouse = open(scene.url)
  const { client } = await warehouse.another('read')
  const lost = once(client, 'error')
  const reading = expect(client.query('select pg_sleep(60)')).rejects.toThrow(/terminated/)
  await warehouse.close()
  await Promise.all([reading, lost])
  await expect(warehouse.another('read again')).rejects.toThrow('the program ends')
})

describe('statements that travel together', { tags: ['C16'] }, () => {
  const LIMIT_MS = 500

  /** Sends the statements at once on one connection that may be silent for `LIMIT_MS`. */
  async function send(statements: readonly string[]): Promise<PromiseSettledResult<unknown>[]> {
    const pool = new pg.Pool({ connectionString: scene.url, pipeline: true })
    pool.on('connect', (client) => client.on('error', () => undefined))
    const connection = boundConnection(await pool.connect(), LIMIT_MS)
    try {
      return await Promise.allSettled(statements.map((text) => connection.query(text, [])))
    } finally {
      connection.release()
      await pool.end()
    }
  }

  test('are given up together, one limit after the last answer', async () => {
    const startedAt = performance.now()
    const settled = await send([
      ...Array<string>(5).fill('select 1'),
      'select pg_sleep(60)',
      'select 1',
    ])
    expect(performance.now() - startedAt).toBeLessThan(4 * LIMIT_MS)
    expect(settled.map(({ status }) => status)).toEqual([
      ...Array<string>(5).fill('fulfilled'),
      'rejected',
      'rejected',
    ])
    for (const one of settled.slice(5)) {
      expect(one).toMatchObject({
        reason: { message: 'Connection terminated: PostgreSQL did not answer within 500 ms' },
      })
    }
  })
})
