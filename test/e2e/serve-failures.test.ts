import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { callProgram } from '../support/call-cli.js'
import { startFaultProxy, type FaultProxy } from '../support/fault-proxy.js'
import { differencesFrom } from '../support/look-at-cli-rows.js'
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
/** A timer of so long ends with SIGUSR2. */
const atSignal = (timerMs: number): string =>
  `const wait = setTimeout; globalThis.setTimeout = (work, ms, ...rest) => { if (ms === ${timerMs}) process.once('SIGUSR2', work); return wait(work, ms, ...rest) }`

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

describe('serve that is told to stop', { tags: ['release'] }, () => {
  it('answers the delivery that it was storing, and ends with 0', { tags: ['X3'] }, async () => {
    const scene = await openServeScene()
    const program = await scene.serve(['--no-scheduler'])
    const other = new pg.Client({ connectionString: scene.database.url })
    await other.connect()
    try {
      await other.query('begin')
      await other.query('lock table tracking_sync.webhook_notifications in exclusive mode')
      const id = randomUUID()
      const answer = scene.post(notificationBody(id))
      await waitUntil('it waits to store', async () => {
        const waiting = await scene.select(
          `select from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock' and query like '%insert%'`,
        )
        return waiting.length > 0
      })
      program.kill('SIGTERM')
      await waitUntil('it stops', () => logLines(program, 'stopping').length > 0)
      await other.query('commit')
      expect((await answer).status).toBe(202)
      expect(await storedIds(scene)).toEqual(new Set([id]))
      expect((await program.ended).exitCode).toBe(0)
    } finally {
      await other.end()
    }
  })

  it('ends in time where the database hangs', { tags: ['X2'] }, async () => {
    const scene = await openServeScene({ throughUrl: behindProxy })
    // Its time is over when this test says so.
    const patient = await scene.serve([], preload(atSignal(25_000)))
    await untilSynced(scene)
    proxy!.freeze()
    const answers = scene.post(notificationBody()).then(
      ({ status }) => status,
      () => 'no answer',
    )
    await new Promise((resolve) => setImmediate(resolve))
    patient.kill('SIGTERM')
    await waitUntil('it stops', () => logLines(patient, 'stopping').length > 0)
    patient.kill('SIGUSR2')
    const cut = await patient.ended
    expect(cut.exitCode).toBe(143)
    expect(logLines(patient, 'not everything has ended in time; the rest is cut off')).toHaveLength(
      1,
    )
    expect(await answers).not.toBe(202)
  })
})

describe('serve without its database', { tags: ['W16', 'W20', 'release'] }, () => {
  it('starts, answers 503, takes up its work when the database comes, and again when it was away, and applies all that it acknowledged', async () => {
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
      (
        await scene.select(
          `select from tracking_sync.webhook_notifications where state = 'received'`,
        )
      ).length === 0
    await waitUntil('applied', isApplied, 120_000)
    const stored = await storedIds(scene)
    expect(ids.filter((id) => !stored.has(id))).toEqual([])
    program.kill('SIGTERM')
    expect((await program.ended).exitCode).toBe(0)
  })
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

describe('a fault of the program', { tags: ['C22'] }, () => {
  it('ends serve with 1 in the middle of a sync, and the next run takes over at once', async () => {
    const fault = `setImmediate(() => { throw new Error('an injected fault') })`
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
    expect(stderr).toContain('error: a fault of the program: Error: an injected fault\n')
    await expect(scene.get('/healthz')).rejects.toThrow()
    const next = await callProgram(['sync', '--json'], scene.options)
    expect(next.exitCode).toBe(0)
    expect(JSON.parse(next.stdout)).toMatchObject({ outcome: 'complete' })
  })
})

describe('a run that takes too long', { tags: ['X7'] }, () => {
  it('a sync that takes longer than it may ends with 6 and says so, and the next one goes on', async () => {
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
})
