import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Simulator } from '../../../src/extensions/simulator/server.js'
import {
  isServerRunning,
  makeFreshHome,
  makePreparedHome,
  removeFreshHomes,
  type FreshHome,
} from '../../support/fresh-home.js'
import { callProgram, type CliCall } from '../../support/call-cli.js'
import { openOwnServer, type OwnServer } from '../../support/own-server.js'
import {
  endPrograms,
  repositoryDirectory,
  runCli,
  type ProgramResult,
} from '../../support/run-cli.js'
import { startSameWorld } from '../../support/simulate-cli.js'
import { withClient } from '../../support/with-client.js'

const RULES = join(repositoryDirectory, 'config/free-time-rules.example.csv')

/** Of the place they are at: each server has its own. */
const STAYING = ['migrations', 'installed_views', 'lease', 'request_budget', 'time_zones']

let simulator: Simulator
let home: FreshHome
let server: OwnServer
let targetUrl: string

/** Every row of every table, as JSON in an order of its own. */
async function readRows(url: string): Promise<Record<string, readonly string[]>> {
  return withClient(url, async (client) => {
    await client.query(`set timezone = 'UTC'`)
    const { rows: tables } = await client.query<{ name: string; table: string }>(
      `select format('%I.%I', schemaname, tablename) as name, tablename as table from pg_tables
      where schemaname in ('tracking', 'tracking_sync', 'tracking_analytics') order by 1`,
    )
    const found: Record<string, readonly string[]> = {}
    for (const { name, table } of tables) {
      if (STAYING.includes(table)) continue
      const { rows } = await client.query<{ row: string }>(
        `select to_jsonb(one)::text as row from ${name} as one order by 1`,
      )
      found[name] = rows.map(({ row }) => row)
    }
    return found
  })
}

/** The embedded database, running for as long as `work` looks at it. */
async function atSource<Result>(work: (url: string) => Promise<Result>): Promise<Result> {
  const { directory } = home
  await runCli(['database', 'start'], { directory })
  const { stdout } = await runCli(['database', 'url'], { directory, isPrintingPassword: true })
  try {
    return await work(stdout.trim())
  } finally {
    await runCli(['database', 'stop'], { directory })
  }
}

const service = (): Record<string, string> => ({
  TRACKING_API_URL: simulator.url,
  TRACKING_API_KEY: simulator.apiKey,
  TRACKING_RATE_LIMIT_PER_MINUTE: '100000',
  TRACKING_LOG_LEVEL: 'error',
})

const move = (env: Readonly<Record<string, string>> = {}): Promise<ProgramResult> =>
  runCli(['database', 'move-to'], {
    directory: home.directory,
    env: { TRACKING_MOVE_TO_URL: targetUrl, ...env },
  })

const onTarget = (...args: readonly string[]): Promise<CliCall> =>
  callProgram(args, { directory: home.directory, env: { ...service(), DATABASE_URL: targetUrl } })

beforeAll(async () => {
  simulator = await startSameWorld({ shipments: 20 })
  home = await makePreparedHome()
  server = await openOwnServer()
  targetUrl = (await server.start()).url
  const { directory } = home
  for (const args of [['backfill'], ['rules', 'import', RULES]]) {
    expect(await runCli(args, { directory, env: service() })).toMatchObject({ exitCode: 0 })
  }
  simulator.clock.advance(30 * 24 * 3_600_000)
  expect(await runCli(['sync'], { directory, env: service() })).toMatchObject({ exitCode: 0 })
  await atSource((url) =>
    withClient(url, async (client) => {
      await client.query(
        `insert into tracking_sync.quarantine
            (stream, reason, pointer, payload, payload_hash, source)
        select 'shipments', 'odd', '', payload, md5(payload), 'sync'
        from unnest($1::text[]) as payload`,
        [['tab\t, line\r\n, back\\slash, \\N', '\\.', '', 'null', '"quoted" é ☃ 𝄞']],
      )
      await client.query(
        `insert into tracking_sync.webhook_notifications
            (notification_id, headers, body, created_at)
        select 'n' || at, '{"a": [1.50, null, "\\u00e9"]}', $1, timestamptz 'infinity'
        from generate_series(1, 300) as at`,
        [Buffer.concat([Buffer.from([0, 1, 9, 10, 13, 92, 255]), Buffer.alloc(60_000, 7)])],
      )
    }),
  )
}, 240_000)

afterAll(async () => {
  await endPrograms()
  await server.remove()
  await removeFreshHomes()
  await simulator.close()
})

describe('moving the embedded warehouse to a server', { tags: ['release'] }, () => {
  it('leaves nothing when it is killed, and brings every row when it is not', async () => {
    const before = await atSource(readRows)
    expect(before['tracking.container_history']!.length).toBeGreaterThan(20)
    expect(before['tracking_analytics.free_time_rules']!.length).toBeGreaterThan(0)

    const killed = await move({ TRACKING_FAILPOINT: 'mid_move:20' })
    expect(killed.signal).toBe('SIGKILL')
    const left = await readRows(targetUrl)
    expect(Object.keys(left)).toEqual(Object.keys(before))
    expect(Object.values(left).flat()).toEqual(left['tracking_sync.stored_views'])
    const moved = await move()
    expect(moved).toMatchObject({ exitCode: 0 })
    const [, rows] = /^(\d+) rows of \d+ tables were copied/m.exec(moved.stdout)!
    const all = Object.values(before)
    expect(Number(rows)).toBe(all.flat().length - before['tracking_sync.stored_views']!.length)
    expect(moved.stdout).toContain('Set DATABASE_URL to the new address')
    expect(moved.stdout).not.toContain('not ours')

    expect(await readRows(targetUrl)).toEqual(before)
    expect(await atSource(readRows)).toEqual(before)
    expect(await isServerRunning(home)).toBe(false)
  })

  it('leads to a warehouse that goes on where the other stopped', async () => {
    const ids = async (): Promise<number[]> => {
      const rows = (await readRows(targetUrl))['tracking_sync.sync_runs'] ?? []
      return rows.map((row) => (JSON.parse(row) as { sync_run_id: number }).sync_run_id)
    }
    const before = await ids()
    expect(await onTarget('check')).toMatchObject({ exitCode: 0 })
    const sync = await onTarget('sync')
    expect(sync).toMatchObject({ exitCode: 0 })
    expect(sync.stdout).toMatch(/\nsync complete: 0 rows written, /)
    // After the last one that the embedded database gave.
    expect((await ids()).sort()).toEqual([...before, Math.max(...before) + 1].sort())
  })
})

describe('a move is refused', () => {
  it('into a warehouse that has rows, which stay', { tags: ['release'] }, async () => {
    const before = await readRows(targetUrl)
    const refused = await move()
    expect(refused.stderr).toMatch(/the target has rows in tracking\w*\.\w+; .* drop the schemas/)
    expect(refused.exitCode).toBe(2)
    expect(await readRows(targetUrl)).toEqual(before)
  })

  it('with a password on the command line, to two addresses, to none, and to no database', async () => {
    const { directory } = home
    const moveTo = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
      callProgram(['database', 'move-to', ...args], { directory, env })
    // As a literal: a test’s own secret would be refused on a command line by the tests.
    const typed = 'postgres://me:word@127.0.0.1:1/x'
    for (const [args, env, told] of [
      [[typed], {}, /holds a password, .* TRACKING_MOVE_TO_URL/],
      [['postgres://me@127.0.0.1:1/x'], { TRACKING_MOVE_TO_URL: targetUrl }, /use one of them/],
      [[], {}, /TRACKING_MOVE_TO_URL is not set/],
      [['mysql://x'], {}, /must look like postgres/],
      [['postgres://me@db.example/x'], {}, /on another machine.*verify-full/],
      [[], { DATABASE_URL: targetUrl }, /DATABASE_URL is set/],
    ] as const) {
      const refused = await moveTo(args, env)
      expect(refused.stderr).toMatch(told)
      expect(refused.exitCode).toBe(2)
    }
  })

  it('where no embedded database is, and none is made', async () => {
    const { directory, homeDirectory } = await makeFreshHome()
    const env = { TRACKING_MOVE_TO_URL: targetUrl }
    const refused = await runCli(['database', 'move-to'], { directory, env })
    expect(refused.stderr).toContain(`there is no embedded database in ${homeDirectory}`)
    expect(refused.exitCode).toBe(5)
  })
})
