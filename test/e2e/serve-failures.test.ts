import { sql } from 'kysely'
import { randomUUID } from 'node:crypto'
import { afterEach, expect, it, vi } from 'vitest'
import { callProgram } from '../support/call-cli.js'
import { startFaultProxy, type FaultProxy } from '../support/fault-proxy.js'
import { injectSqlFault } from '../integration/faults/sql-faults.js'
import { differencesFrom, lookAt } from '../support/look-at-cli-rows.js'
import { startCli, waitUntil } from '../support/run-cli.js'
import { notificationBody } from '../support/test-receiver.js'
import {
  closeServeScenes,
  logLines,
  metricOf,
  openServeScene,
  untilSynced,
  type ServeScene,
} from './serve-scene.js'
import { presetFile } from '../support/preset-file.js'

let proxy: FaultProxy | undefined

afterEach(async () => {
  await proxy?.restore()
  await closeServeScenes()
  await proxy?.close()
  proxy = undefined
})

const behindProxy = async (url: string): Promise<string> => {
  proxy = await startFaultProxy(url)
  return proxy.url
}

/** Code that the program loads before its own. */
const preload = (code: string): { readonly NODE_OPTIONS: string } => ({
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}`,
})

/** In the middle of a list of six. */
const hangAtPageFour: Parameters<ServeScene['simulator']['faults']['add']>[0] = {
  fault: { kind: 'hang', phase: 'beforeHeaders' },
  match: ({ path, query }) => path === '/shipments' && query.get('page[number]') === '4',
}

async function storedIds(scene: ServeScene): Promise<Set<string>> {
  const rows = await scene.select<{ id: string }>(
    'select notification_id as id from tracking_sync.webhook_notifications',
  )
  return new Set(rows.map(({ id }) => id))
}

it('serve that stops answers what it was storing', { tags: ['X3', 'release'] }, async () => {
  const scene = await openServeScene()
  const program = await scene.serve(['--no-scheduler'])
  const id = randomUUID()
  const [answer] = await lookAt(scene.database.url, (warehouse) =>
    warehouse.transaction('hold the inbox', async (session) => {
      await session.query(
        'lock',
        sql`lock table tracking_sync.webhook_notifications in exclusive mode`,
      )
      const posted = scene.post(notificationBody(id))
      await waitUntil('it waits to store', async () => {
        const waiting = await scene.select(
          `select from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock' and query like '%insert%'`,
        )
        return waiting.length > 0
      })
      program.kill('SIGTERM')
      await waitUntil('it stops', () => logLines(program, 'stopping').length > 0)
      return [posted]
    }),
  )
  expect((await answer).status).toBe(202)
  expect(await storedIds(scene)).toEqual(new Set([id]))
  expect((await program.ended).exitCode).toBe(0)
})

it('serve waits for its database', { tags: ['W16', 'W20', 'FG8', 'release'] }, async () => {
  const scene = await openServeScene({ throughUrl: behindProxy })
  await proxy!.cut()
  const program = await startCli(['serve'], scene.options)
  await program.waitFor(({ stdout }) => stdout().includes('serving at'))
  await expectUnavailable(scene)
  expect(logLines(program, 'the database can be reached')).toEqual([])
  const comeBack = async (): Promise<void> => {
    await proxy!.restore()
    await waitUntil('ready', async () => (await scene.get('/readyz')).status === 200)
  }
  await comeBack()
  await untilSynced(scene)
  const ids = [randomUUID(), randomUUID()]
  const deliver = async (id: string): Promise<void> => {
    expect((await scene.post(notificationBody(id))).status).toBe(202)
  }
  await proxy!.cut()
  await expectUnavailable(scene)
  await comeBack()
  for (const id of ids) await deliver(id)
  // A processor that lost the database tries again after pauses that grow to a minute.
  const isApplied = async (): Promise<boolean> =>
    (await scene.select(`select from tracking_sync.webhook_notifications where state = 'received'`))
      .length === 0
  await waitUntil('applied', isApplied, 120_000)
  // A disk that refuses deliveries.
  await lookAt(scene.database.url, async (warehouse) => {
    const tables = ['tracking_sync.webhook_notifications']
    const fault = await injectSqlFault(warehouse, { state: '53100', tables })
    expect((await scene.post(notificationBody('refused'))).status).toBe(503)
    expect((await scene.get('/readyz')).status).toBe(503)
    expect((await scene.get('/healthz')).status).toBe(200)
    await fault.end()
    expect((await scene.get('/readyz')).status).toBe(200)
    await fault.remove()
  })
  await deliver(randomUUID())
  const stored = await storedIds(scene)
  expect([...ids.filter((id) => !stored.has(id)), stored.has('refused')]).toEqual([false])
  program.kill('SIGTERM')
  expect((await program.ended).exitCode).toBe(0)
})

async function expectUnavailable(scene: ServeScene): Promise<void> {
  expect((await scene.post(notificationBody())).status).toBe(503)
  expect(await scene.get('/readyz')).toEqual({ status: 503, text: 'unavailable\n' })
  expect(await scene.get('/healthz')).toEqual({ status: 200, text: 'ok\n' })
  const metrics = await scene.get('/metrics')
  expect(metrics.status).toBe(200)
  expect(metricOf(metrics.text, 'warehouse_up')).toBe(0)
  expect(metrics.text).not.toContain('tracking_sync_webhook_alerts')
  const page = await scene.get('/')
  expect(page.status).toBe(503)
  expect(page.text).toContain('The database does not answer.')
}

it('a fault ends serve with 1, and the next run takes over', { tags: ['C22', 'S1'] }, async () => {
  // The output of a process is searched for the key.
  const fault = `setImmediate(() => { throw new Error('a fault: ' + process.env.TRACKING_API_KEY) })`
  const scene = await openServeScene()
  const hang = scene.simulator.faults.add({
    fault: { kind: 'hang', phase: 'beforeHeaders' },
    match: { path: '/shipments' },
  })
  const program = await scene.serve([], preload(`process.on('SIGUSR2', () => { ${fault} })`))
  await waitUntil('the sync is under way', () => hang.played > 0)
  expect((await scene.post(notificationBody())).status).toBe(202)
  program.kill('SIGUSR2')
  const { exitCode, stderr } = await program.ended
  expect(exitCode).toBe(1)
  expect(stderr).toContain('error: a fault of the program: Error: a fault: [')
  await expect(scene.get('/healthz')).rejects.toThrow()
  const next = await callProgram(['sync', '--json'], scene.options)
  expect(next.exitCode).toBe(0)
  expect(JSON.parse(next.stdout)).toMatchObject({ outcome: 'complete' })
})

it('a sync that takes too long ends with 6, and the next goes on', { tags: ['X7'] }, async () => {
  const scene = await openServeScene({
    settings: { TRACKING_SERVICE: presetFile({ pageSize: 2 }) },
  })
  const { simulator, database } = scene
  const hang = simulator.faults.add(hangAtPageFour)
  // The limit's minute is over when this test says so.
  const ends: (() => void)[] = []
  const wait = globalThis.setTimeout
  const spy = vi
    .spyOn(globalThis, 'setTimeout')
    .mockImplementation((work: () => void, ms?: number) => {
      if (ms === 60_000) ends.push(work)
      return wait(work, ms)
    })
  const running = callProgram(['sync', '--run-minutes', '1', '--json'], scene.options)
  await waitUntil('a page is stored', async () => {
    if (hang.played === 0) return false
    return (await scene.select('select from tracking.shipments')).length >= 4
  })
  for (const end of ends) end()
  const limited = await running
  spy.mockRestore()
  expect(limited.exitCode).toBe(6)
  const sentence =
    'the run was stopped after 1 min (TRACKING_RUN_MINUTES); its rows are stored, and the next run continues from there'
  expect(limited.stderr).toContain(`error: ${sentence}\n`)
  expect(JSON.parse(limited.stdout)).toMatchObject({
    outcome: 'incomplete',
    problems: [sentence],
  })
  const before = simulator.requests.total
  const next = await callProgram(['sync', '--json'], scene.options)
  expect(next.exitCode).toBe(0)
  const firstPages = simulator.requests.recent
    .slice(before)
    .filter(
      ({ path, query }) => path === '/v2/shipments' && /number(?:%5D|\])=1(?:&|$)/.test(query),
    )
  expect(firstPages).toEqual([])
  expect(await differencesFrom(simulator.world, simulator.clock.now(), database.url)).toEqual([])
})
