import { sql } from 'kysely'
import { randomUUID } from 'node:crypto'
import { describe, expect, it, onTestFinished } from 'vitest'
import { isOnCitus } from '../../support/distributed-database.js'
import { notificationBody, startTestReceiver } from '../../support/test-receiver.js'
import { runTestSync } from '../../support/run-test-sync.js'
import { openFaultScene, openPool } from './fault-scene.js'

/** The product waits this long for a connection. */
const CONNECT_MS = 5_000

describe('too few connections', { tags: ['C15'] }, () => {
  it('of a pool of five: never more, and an end of waiting', { tags: ['release'] }, async () => {
    const scene = await openFaultScene()
    const name = `pool-${randomUUID()}`
    const warehouse = openPool(scene, { poolSize: 5, applicationName: name })
    const count = async (): Promise<number> => {
      return scene.value<number>`
        select count(*)::int as count from pg_stat_activity where application_name = ${name}`
    }
    let release = (): void => undefined
    const held = new Promise<void>((resolve) => (release = resolve))
    const holders = Array.from({ length: 5 }, () =>
      warehouse.transaction('hold', async (session) => {
        await session.query('hold', sql`select 1`)
        await held
      }),
    )
    await expect.poll(count).toBe(5)
    const startedAt = performance.now()
    const waiting = await Promise.allSettled(
      Array.from({ length: 500 }, () => warehouse.query('wait', sql`select 1`)),
    )
    expect(performance.now() - startedAt).toBeLessThan(CONNECT_MS + 5_000)
    const codes = waiting.map((one) =>
      one.status === 'rejected' ? (one.reason as { code?: string }).code : 'answered',
    )
    expect(new Set(codes)).toEqual(new Set(['warehouse_unavailable']))
    expect(await count()).toBe(5)
    release()
    await Promise.all(holders)
    const answers = Array.from({ length: 500 }, () => warehouse.query('go on', sql`select 1`))
    expect(await Promise.all(answers)).toHaveLength(500)
    expect(await count()).toBe(5)
  })

  // Nodes cannot take a role's rights away with `drop owned by`.
  it.skipIf(isOnCitus)('of the server (53300): 503, exit 5, and then both work', async () => {
    const scene = await openFaultScene()
    const { query, simulator } = scene
    const role = `few_${randomUUID().replaceAll('-', '')}`
    const [database] = await query<{ name: string }>('select current_database() as name')
    await query(`create role ${role} login password 'few' connection limit 0`)
    await query(`grant all on database "${database!.name}" to ${role}`)
    for (const schema of ['tracking', 'tracking_sync', 'tracking_analytics']) {
      await query(`grant usage on schema ${schema} to ${role}`)
      await query(`grant all on all tables in schema ${schema} to ${role}`)
      await query(`grant all on all sequences in schema ${schema} to ${role}`)
    }
    onTestFinished(async () => {
      await query(`drop owned by ${role}`)
      await query(`drop role ${role}`)
    })
    const url = new URL(scene.url)
    url.username = role
    url.password = 'few'
    const warehouse = openPool(scene, { url: url.href })
    const { post, stop } = await startTestReceiver({ warehouse })
    onTestFinished(stop)
    const startedAt = performance.now()
    const refused = await post(notificationBody('first'))
    expect(refused.status).toBe(503)
    expect(performance.now() - startedAt).toBeLessThan(CONNECT_MS + 2_000)
    const run = runTestSync({ warehouse, source: simulator })
    await expect(run).rejects.toMatchObject({ code: 'warehouse_unavailable' })
    await expect(run).rejects.toThrow(/\(53300\); close idle connections/)
    await query(`alter role ${role} connection limit 10`)
    expect((await post(notificationBody('first'))).status).toBe(202)
    expect(await runTestSync({ warehouse, source: simulator })).toMatchObject({ exitCode: 0 })
    expect(await scene.differences()).toEqual([])
  })
})
