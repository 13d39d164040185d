import { sql } from 'kysely'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, inject, it } from 'vitest'
import type { Simulator } from '../../src/extensions/simulator/server.js'
import { callProgram, type CliCall } from '../support/call-cli.js'
import { makeFreshHome, removeFreshHomes } from '../support/fresh-home.js'
import { isOnCitus } from '../support/distributed-database.js'
import { differencesFrom, lookAt, selectRows } from '../support/look-at-cli-rows.js'
import { prepareHome } from '../support/prepared-home.js'
import {
  endPrograms,
  startCli,
  startProgram,
  waitUntil,
  type ProgramOptions,
} from '../support/run-cli.js'
import { repositoryDirectory } from '../support/run-cli.js'
import { startSameWorld } from '../support/simulate-cli.js'
import { createTestDatabase, readerSettings, type TestDatabase } from '../support/test-database.js'
import { presetFile } from '../support/preset-file.js'

const KEY = 'canary/key+9f3a='
const PASSWORD = 'canary/pass+7c1e='

interface Scene {
  readonly simulator: Simulator
  readonly database: TestDatabase
  readonly options: ProgramOptions
}

type Fault = Parameters<Simulator['faults']['add']>[0]['fault']

const scenes: Scene[] = []

async function makeScene(settings: Readonly<Record<string, string>> = {}): Promise<Scene> {
  const { directory } = await makeFreshHome()
  const simulator = await startSameWorld({ apiKey: KEY })
  const database = await createTestDatabase({ template: inject('migratedDatabase') })
  const env = {
    TRACKING_API_URL: simulator.url,
    TRACKING_API_KEY: KEY,
    DATABASE_URL: database.url,
    ...readerSettings(database.url),
    TRACKING_RATE_LIMIT_PER_MINUTE: '100000',
    // The format that cron and people read. The clocks disagree in these tests, so the warning
    // about that is left out.
    TRACKING_LOG_FORMAT: 'text',
    TRACKING_LOG_LEVEL: 'error',
    ...settings,
  }
  const scene = { simulator, database, options: { directory, env } }
  scenes.push(scene)
  return scene
}

function withSettings({ options }: Scene, settings: Readonly<Record<string, string>>) {
  return { ...options, env: { ...options.env, ...settings } }
}

async function closeScenes(): Promise<void> {
  await endPrograms()
  for (const { simulator, database } of scenes.splice(0)) {
    await simulator.close()
    await database.drop()
  }
}

afterAll(removeFreshHomes)

/** The sentence on standard error, without progress and log lines. */
function sentenceOf({ stderr }: Pick<CliCall, 'stderr'>): string {
  expect(stderr).not.toMatch(/\n {4}at |node:internal|\.js:\d+/)
  const isOther = /^(?:\w+: page \d+,|\{"progress":|\d\d:\d\d:\d\d )/
  const lines = stderr.split('\n').filter((line) => line !== '' && !isOther.test(line))
  expect(lines).toEqual([expect.stringMatching(/^error: .{10,500}$/)])
  return lines[0]!
}

interface RunRow {
  readonly outcome: string
  readonly exit_code: number | null
  readonly error_code: string | null
}

async function runRows({ database }: Scene): Promise<RunRow[]> {
  return selectRows<RunRow>(
    database.url,
    'select outcome, exit_code, error_code from tracking_sync.sync_runs order by sync_run_id',
  )
}

async function countRows({ database }: Scene, table: string): Promise<number> {
  const [row] = await selectRows<{ count: number }>(
    database.url,
    `select count(*) as count from tracking.${table}`,
  )
  return row!.count
}

/** The next undisturbed run makes everything good. */
async function expectRecovery(scene: Scene): Promise<void> {
  const { simulator, database, options } = scene
  simulator.faults.clear()
  const again = await callProgram(['backfill', '--json'], options)
  expect(again.exitCode).toBe(0)
  expect(JSON.parse(again.stdout)).toMatchObject({ outcome: 'complete', problems: [] })
  expect(await differencesFrom(simulator.world, simulator.clock.now(), database.url)).toEqual([])
}

describe('a failure ends with one clear sentence and the right exit code', () => {
  afterEach(closeScenes)

  it('when the database cannot be reached: 5, and nothing is asked of the service', async () => {
    const scene = await makeScene()
    const dead = `postgres://me:${encodeURIComponent(PASSWORD)}@127.0.0.1:9/house`
    for (const command of ['backfill', 'sync', 'status', 'migrate']) {
      const result = await callProgram([command], withSettings(scene, { DATABASE_URL: dead }))
      expect({ command, exitCode: result.exitCode }).toEqual({ command, exitCode: 5 })
      expect(result.stdout).toBe('')
      expect(sentenceOf(result)).toMatch(
        /ECONNREFUSED 127\.0\.0\.1:9; check that PostgreSQL runs and DATABASE_URL points to it$/,
      )
    }
    expect(scene.simulator.requests.total).toBe(0)
  })

  // The cluster may trust everybody.
  it.skipIf(isOnCitus)(
    'when the password of the database is wrong: 5, without the password',
    async () => {
      const scene = await makeScene()
      const [, user, , host] = /\/\/([^:@/]*)(:[^@]*)?@([^/]*)/.exec(scene.database.url) ?? []
      expect(user).not.toBe('')
      const wrong = `postgres://${user!}:${encodeURIComponent(PASSWORD)}@${host!}/${scene.database.name}`
      const result = await callProgram(['sync'], withSettings(scene, { DATABASE_URL: wrong }))
      expect(result.exitCode).toBe(5)
      expect(sentenceOf(result)).toMatch(/password.*; check user and password in DATABASE_URL, or/)
    },
  )
})

function isSecondPage({
  path,
  query,
}: {
  readonly path: string
  readonly query: URLSearchParams | string
}): boolean {
  const parameters = typeof query === 'string' ? new URLSearchParams(query) : query
  return path.endsWith('/shipments') && parameters.get('page[number]') === '2'
}

describe('a signal', { tags: ['release'] }, () => {
  afterEach(closeScenes)

  it('ends a paused backfill with 143; the next completes', { tags: ['X1', 'X2'] }, async () => {
    const scene = await makeScene({ TRACKING_SERVICE: presetFile({ pageSize: 8 }) })
    const { simulator, database, options } = scene
    const fault: Fault = { kind: 'status', status: 429, headers: { 'retry-after': '250' } }
    const played = simulator.faults.add({ fault, match: isSecondPage, times: Infinity })
    const backfill = await startCli(['backfill'], options)
    await waitUntil('the second page is asked for', () => played.played > 0)
    await waitUntil(
      'the first page is stored',
      async () => (await countRows(scene, 'shipments')) > 0,
    )
    const sentAt = performance.now()
    backfill.kill('SIGTERM')
    const result = await backfill.ended
    expect((performance.now() - sentAt) / 1000).toBeLessThan(5)
    expect(result).toMatchObject({ exitCode: 143, signal: null })
    expect(sentenceOf(result)).toBe(
      'error: the run was stopped by SIGTERM; run the command again to go on',
    )
    expect(await runRows(scene)).toEqual([
      { outcome: 'aborted', exit_code: 143, error_code: 'aborted' },
    ])
    expect(await countRows(scene, 'shipments')).toBe(8)
    // The pause that the service asked for applies to every process of the account; the test
    // shortens it.
    await lookAt(database.url, (warehouse) =>
      warehouse.query('lift the pause', sql`delete from tracking_sync.request_budget`),
    )
    await expectRecovery(scene)
    expect((await runRows(scene)).map(({ outcome }) => outcome)).toEqual(['aborted', 'complete'])
  })

  it('of a closed terminal ends with 129, and stops the embedded database too', async () => {
    const scene = await makeScene({ TRACKING_SERVICE: presetFile({ pageSize: 8 }) })
    const { simulator, options } = scene
    await prepareHome(join(options.directory, '.tracking-sync'))
    const { DATABASE_URL, TRACKING_READER_URL, ...env } = options.env!
    expect([DATABASE_URL, TRACKING_READER_URL]).not.toContain(undefined)
    const played = simulator.faults.add({
      fault: { kind: 'hang', phase: 'beforeHeaders' },
      match: isSecondPage,
      times: Infinity,
    })
    const backfill = await startCli(['backfill'], { ...options, env })
    await waitUntil('the second page is asked for', () => played.played > 0)
    backfill.kill('SIGHUP')
    expect(await backfill.ended).toMatchObject({ exitCode: 129, signal: null })
    const status = await callProgram(['status', '--json'], { ...options, env })
    expect(JSON.parse(status.stdout)).toMatchObject({
      runs: [{ command: 'backfill', outcome: 'aborted' }],
    })
  })
})

describe('a reader that goes away', { tags: ['X4'] }, () => {
  afterEach(closeScenes)

  it('of all three from before the start costs neither rows nor the run', async () => {
    const scene = await makeScene({ TRACKING_LOG_LEVEL: 'debug' })
    const { simulator, database, options } = scene
    const script = `node "$0/dist/program/cli.js" backfill <&- >&- 2>&-; echo "ended with $?"`
    const shell = startProgram('sh', ['-c', script, repositoryDirectory], options)
    expect(await shell.ended).toMatchObject({ stdout: 'ended with 0\n' })
    expect(await differencesFrom(simulator.world, simulator.clock.now(), database.url)).toEqual([])
  })
})
