import pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { atScale } from '../../support/test-scale.js'
import { startTestReceiver } from '../../support/test-receiver.js'
import { openBench, statesOf } from '../webhooks/process-scene.js'
import { openFaultScene, openPool } from './fault-scene.js'
import { changeAll } from './notify-of-all.js'

const DELIVERIES = atScale(100, 1_000)

/** A transaction of a BI tool that has looked at every table and every view and does not end. */
async function openReader(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  onTestFinished(() => client.end())
  await client.query('begin isolation level repeatable read read only')
  const { rows } = await client.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
    where schemaname in ('tracking', 'tracking_sync')
    union all select format('%I.%I', schemaname, viewname) from pg_views
    where schemaname = 'tracking_analytics'
        and viewname in ('attention', 'costs', 'timeline', 'carriers')`,
  )
  for (const { name } of rows) await client.query(`select from ${name} limit 1`)
  return client
}

it('a reader who holds every table for ever keeps nobody waiting', { tags: ['C19'] }, async () => {
  const scene = await openFaultScene()
  await scene.sync()
  const reader = await openReader(scene.url)
  const seals = async (): Promise<unknown> =>
    (await reader.query('select container_id, seal_number from tracking.containers order by 1'))
      .rows
  const before = await seals()
  const bodies = changeAll(scene, 'NEW')
  const { post, stop } = await startTestReceiver({ warehouse: openPool(scene) })
  onTestFinished(stop)
  const latencies: number[] = []
  for (let at = 0; at < DELIVERIES; at += 1) {
    const startedAt = performance.now()
    const body = JSON.stringify(bodies[at % bodies.length])
    expect((await post(body)).status).toBe(202)
    latencies.push(performance.now() - startedAt)
  }
  latencies.sort((one, two) => one - two)
  expect(latencies[Math.ceil(latencies.length * 0.99) - 1]).toBeLessThan(500)
  const bench = openBench(scene.warehouse, scene.simulator)
  onTestFinished(() => bench.close())
  await bench.settle()
  expect(new Set(Object.values(await statesOf(scene.warehouse)))).toEqual(new Set(['processed']))
  expect(await scene.sync({ command: 'sync' })).toMatchObject({ exitCode: 0, problems: [] })
  expect(await scene.differences()).toEqual([])
  expect(await seals()).toEqual(before)
  await reader.query('commit')
  expect(await seals()).not.toEqual(before)
})
