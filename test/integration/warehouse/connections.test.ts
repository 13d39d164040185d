import { once } from 'node:events'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { silentLogger } from '../../../src/base/logger.js'
import { boundConnection } from '../../../src/warehouse/connection/bound-connection.js'
import { createWarehouse } from '../../../src/warehouse/connection/warehouse.js'
import { createTestWarehouse, type TestWarehouse } from '../../support/test-warehouse.js'

let scene: TestWarehouse

beforeAll(async () => {
  scene = await createTestWarehouse({ isMigrated: false })
})

afterAll(async () => {
  await scene.drop()
})

test('the server notices within a minute that we are gone', { tags: ['C9'] }, async () => {
  const rows = await scene.rows<{ name: string; seconds: number }>`
    select name,
    case unit when 'ms' then setting::integer / 1000 else setting::integer end as seconds
    from pg_settings
    where name in (
        'client_connection_check_interval',
        'tcp_keepalives_idle',
        'tcp_keepalives_interval',
        'tcp_keepalives_count'
    )`
  expect(Object.fromEntries(rows.map(({ name, seconds }) => [name, seconds]))).toEqual({
    client_connection_check_interval: 10,
    tcp_keepalives_idle: 30,
    tcp_keepalives_interval: 10,
    tcp_keepalives_count: 3,
  })
})

test('a warehouse that closes waits for nothing that only reads', { tags: ['C9'] }, async () => {
  const warehouse = createWarehouse({ url: scene.url, schema: 'tracking', logger: silentLogger })
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
