import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { RunReport } from '../../src/sync/run-sync.js'
import { callProgram } from '../support/call-cli.js'
import { sum } from '../support/sum-cli-report.js'
import {
  isProcessAlive,
  isServerRunning,
  makeFreshHome,
  makePreparedHome,
  readServerPid,
  removeFreshHomes,
  type FreshHome,
} from '../support/fresh-home.js'
import { differencesFrom, valuesIn, versionsIn } from '../support/look-at-cli-rows.js'
import { endPrograms, runCli, startCli } from '../support/run-cli.js'
import {
  startSameWorld,
  startSimulateCli,
  WORLD,
  WORLD_ARGUMENTS,
} from '../support/simulate-cli.js'
import { createTestDatabase, type TestDatabase } from '../support/test-database.js'

const databases: TestDatabase[] = []
const closers: (() => Promise<unknown>)[] = []

afterEach(async () => {
  await endPrograms()
  for (const close of closers.splice(0)) await close()
  for (const database of databases.splice(0)) await database.drop()
  await removeFreshHomes()
})

async function makeDatabase(): Promise<TestDatabase> {
  const database = await createTestDatabase()
  databases.push(database)
  return database
}

/** No limit of ours: the simulator has none either. */
const UNHURRIED = { TRACKING_RATE_LIMIT_PER_MINUTE: '100000' }
const KEY = 'canary/key+9f3a='

async function databaseUrl({ directory }: FreshHome): Promise<string> {
  const options = { directory, isPrintingPassword: true }
  const { exitCode, stdout } = await callProgram(['database', 'url'], options)
  expect(exitCode).toBe(0)
  return stdout.trim()
}

/** A `psql` that tells how it was called. */
async function makeFakePsql(directory: string, script: string): Promise<string> {
  const bin = join(directory, 'bin')
  await mkdir(bin)
  await writeFile(join(bin, 'psql'), `#!/bin/sh\n${script}\n`)
  await chmod(join(bin, 'psql'), 0o755)
  return `${bin}${delimiter}${process.env.PATH ?? ''}`
}

describe('demo', { tags: ['FD4', 'release'] }, () => {
  it('answers three questions in an empty directory, leaves no server running, and does it again', async () => {
    const home = await makeFreshHome()
    const { directory } = home
    // It takes the embedded database also where another one and a service are set.
    const others = {
      DATABASE_URL: 'postgres://nobody:canary-password@127.0.0.1:9/none',
      TRACKING_API_URL: 'http://127.0.0.1:9/v2',
      TRACKING_API_KEY: KEY,
    }
    for (const time of ['first', 'second']) {
      const { exitCode, stdout, stderr } = await runCli(['demo', '--shipments', '100'], {
        directory,
        env: time === 'second' ? others : {},
      })
      expect({ time, exitCode }).toEqual({ time, exitCode: 0 })
      const [, ...answers] = stdout.split(/^.*\((?=pickups|costs|arrivals)/m)
      expect(answers.map((answer) => /^\w+/.exec(answer)?.[0])).toEqual([
        'pickups',
        'costs',
        'arrivals',
      ])
      for (const answer of answers) {
        const lines = answer.split('\n')
        const rule = lines.findIndex((line) => /^-+(?: +-+)*$/.test(line))
        const rows = lines.slice(rule + 1, rule + 9)
        // How many wait for a truck today depends on the day.
        const found = rows.filter((row) => /^(?:[A-Z]{4}\d{7}|\d{4}-\d\d-\d\d) /.test(row))
        expect(found.length, answer).toBeGreaterThanOrEqual(5)
      }
      const [told = ''] = stdout.split('What to try next')
      expect(told.split('\n').filter((line) => line.length > 80)).toEqual([])
      expect(stdout).toMatch(/^containers +\d+ +0 +0 +0$/m)
      expect(stdout).toMatch(/^shipments +100 +0 +0 +0$/m)
      expect(stdout).toMatch(/^shipments +\d+ +\d+ +\d+ +1$/m)
      expect(stdout).toMatch(/invoices import: .* 2 lines of invoices$/m)
      expect(stderr).toMatch(
        /^(?:\w+: page \d+, \d+ of \d+ records, \d+ requests?, \d+ s, [\d.]+ records\/s, \d+ s left\n)+$/,
      )
      expect(await isServerRunning(home)).toBe(false)
      expect(await readdir(directory)).toEqual(['.tracking-sync'])
    }

    const query = ['query', '--schema', 'tracking_demo']
    const count = await callProgram(
      [...query, 'select count(*) as shipments from shipments', '--json'],
      { directory },
    )
    expect(count.exitCode).toBe(0)
    expect(JSON.parse(count.stdout)).toEqual([{ shipments: 105 }])
    const worklist = await callProgram([...query, 'pickups', '--format', 'csv'], {
      directory,
    })
    expect(worklist.exitCode).toBe(0)
    expect(worklist.stdout).toMatch(/^container_number,[a-z_,]+\r\n(?:[A-Z]{4}\d{7},.*\r\n)+$/)

    const status = await callProgram(['status', '--schema', 'tracking_demo', '--json'], {
      directory,
    })
    expect(status).toMatchObject({ exitCode: 0, stderr: '' })
    expect(JSON.parse(status.stdout)).toMatchObject({
      runs: [
        { command: 'sync', outcome: 'complete', problem: null },
        { command: 'sync', outcome: 'complete', problem: null },
        { command: 'backfill', outcome: 'complete', problem: null },
      ],
      streams: expect.arrayContaining([
        expect.objectContaining({ stream: 'shipments', rows: 104, tombstoned: 1 }),
      ]) as unknown,
      quarantined: 1,
      refetchQueue: 0,
    })
    const shown = await callProgram(['status', '--schema', 'tracking_demo'], { directory })
    expect(shown.stdout).toMatch(/^shipments +104 +1 /m)
    expect(await isServerRunning(home)).toBe(false)
  })
})

describe('a service and a warehouse in processes of their own', { tags: ['release'] }, () => {
  it('end with identical rows in the embedded database and in the one of DATABASE_URL, and a second run writes nothing; progress is told as JSON lines, the report as a table or as JSON', async () => {
    const home = await makePreparedHome()
    const { directory } = home
    // The account's own key stays out of it.
    const simulate = await startSimulateCli(WORLD_ARGUMENTS, {
      directory,
      env: { TRACKING_API_KEY: KEY },
    })
    const { apiUrl: TRACKING_API_URL, apiKey: TRACKING_API_KEY } = simulate
    expect(TRACKING_API_KEY).toBe('simulator-key')
    const service = {
      TRACKING_API_URL,
      TRACKING_API_KEY,
      ...UNHURRIED,
      TRACKING_LOG_LEVEL: 'error',
    }
    const { url: DATABASE_URL } = await makeDatabase()
    const same = await startSameWorld()
    closers.push(() => same.close())
    const start = await callProgram(['database', 'start', '--json'], { directory })
    expect(JSON.parse(start.stdout)).toMatchObject({
      dataDirectory: join(home.homeDirectory, 'database', 'data'),
    })
    const targets = [
      { env: service, url: await databaseUrl(home) },
      { env: { ...service, DATABASE_URL }, url: DATABASE_URL },
    ] as const
    for (const { env, url } of targets) {
      const first = await runCli(['backfill', '--json'], { directory, env })
      expect(first.exitCode).toBe(0)
      const filled = JSON.parse(first.stdout) as RunReport
      expect(filled).toMatchObject({ command: 'backfill', outcome: 'complete', problems: [] })
      expect(sum(filled, 'inserted')).toBe(sum(filled, 'fetched') - sum(filled, 'duplicate'))
      expect(filled.streams).toContainEqual(
        expect.objectContaining({
          stream: 'shipments',
          counts: expect.objectContaining({ inserted: WORLD.shipments }) as unknown,
        }),
      )
      const lines = first.stderr.trimEnd().split('\n')
      expect(lines.map((line) => JSON.parse(line) as unknown)).toContainEqual({
        progress: expect.objectContaining({ stream: 'shipments', page: 1, total: 12 }) as unknown,
      })
      expect(await differencesFrom(same.world, same.clock.now(), url)).toEqual([])
    }
    const [embedded, given] = targets
    const before = await Promise.all(targets.map(({ url }) => versionsIn(url)))
    const second = await runCli(['sync', '--json'], { directory, env: embedded.env })
    expect(second.exitCode).toBe(0)
    const quiet = JSON.parse(second.stdout) as RunReport
    expect(quiet).toMatchObject({ command: 'sync', outcome: 'complete', problems: [] })
    for (const name of ['inserted', 'updated', 'tombstoned', 'quarantined'] as const) {
      expect({ [name]: sum(quiet, name) }).toEqual({ [name]: 0 })
    }
    expect(sum(quiet, 'fetched')).toBeGreaterThan(WORLD.shipments)
    const shown = await callProgram(['sync'], { directory, env: given.env })
    expect(shown.stderr).toMatch(/^shipments: page 1, \d+ of \d+ records, \d+ requests?, \d+ s, /m)
    expect(shown.stdout).toMatch(/^shipments +(\d+) +0 +0 +\1 +0 +0 +0 +0 +1 +complete$/m)
    expect(shown.stdout).toMatch(/\nsync complete: 0 rows written, \d+ requests\.\n$/)
    expect(await Promise.all(targets.map(({ url }) => versionsIn(url)))).toEqual(before)
    expect(await valuesIn(embedded.url)).toEqual(await valuesIn(given.url))

    const stop = await callProgram(['database', 'stop', '--json'], { directory })
    expect(JSON.parse(stop.stdout)).toEqual({ outcome: 'stopped' })
    simulate.program.kill('SIGTERM')
    expect(await simulate.program.ended).toMatchObject({ exitCode: 0, signal: null, stderr: '' })
  })
})

describe('the embedded database', () => {
  it('stays from start to stop, has an address and opens psql', { tags: ['release'] }, async () => {
    const home = await makePreparedHome()
    const { directory } = home
    const before = await callProgram(['database', 'url'], { directory })
    expect(before).toMatchObject({
      exitCode: 5,
      stdout: '',
      stderr:
        'error: the embedded database is not running; start it with `tracking-sync database start`\n',
    })
    const start = await runCli(['database', 'start'], { directory })
    expect(start).toMatchObject({ exitCode: 0, stderr: '' })
    expect(start.stdout).toMatch(
      /^The embedded database runs on 127\.0\.0\.1:\d+; its data are in /,
    )
    const pid = await readServerPid(home)
    expect(await isProcessAlive(pid)).toBe(true)
    const url = await databaseUrl(home)
    const { port, password, username } = new URL(url)

    const PATH = await makeFakePsql(
      directory,
      'env | grep ^PG | grep -v PASSWORD; test -n "$PGPASSWORD" && echo password given\ntr "\\0" " " < /proc/$$/cmdline; echo "arguments: $*"; cat; exit 7',
    )
    const psql = await runCli(['database', 'psql'], {
      directory,
      env: { PATH },
      input: 'typed\n',
    })
    expect(psql).toMatchObject({ exitCode: 7, stderr: '' })
    for (const line of [
      'PGHOST=127.0.0.1',
      `PGPORT=${port}`,
      `PGUSER=${username}`,
      'PGDATABASE=tracking',
      'PGOPTIONS=-c search_path=tracking,tracking_analytics',
      'password given',
      'typed',
    ]) {
      expect(psql.stdout.split('\n')).toContain(line)
    }
    expect(psql.stdout).toMatch(/arguments: $/m)
    expect(password).not.toBe('')
    expect(psql.stdout).not.toContain(password)

    // A command beside it uses the same server and leaves it running.
    await callProgram(['migrate'], { directory })
    expect(await readServerPid(home)).toBe(pid)
    const stop = await callProgram(['database', 'stop'], { directory })
    expect(stop).toMatchObject({ exitCode: 0, stdout: 'The embedded database is stopped.\n' })
    expect(await isProcessAlive(pid)).toBe(false)
    const again = await callProgram(['database', 'stop'], { directory })
    expect(again).toMatchObject({ exitCode: 0, stdout: 'It was not running.\n' })
  })

  it('leaves Ctrl-C to psql, passes SIGTERM on, and stops', { tags: ['release'] }, async () => {
    const home = await makePreparedHome()
    const { directory } = home
    const PATH = await makeFakePsql(
      directory,
      // Like psql: an interrupt ends the current input, and not the program.
      'trap "echo interrupted" INT\ntrap "echo terminated; exit 9" TERM\necho ready\nwhile :; do read -r line || sleep 0.05; done',
    )
    const psql = await startCli(['database', 'psql'], { directory, env: { PATH } })
    await psql.waitFor(({ stdout }) => stdout().includes('ready'))
    for (const times of [1, 2, 3]) {
      process.kill(-psql.pid, 'SIGINT')
      await psql.waitFor(({ stdout }) => stdout().split('interrupted').length > times)
    }
    expect(await isServerRunning(home)).toBe(true)
    psql.kill('SIGTERM')
    expect(await psql.ended).toMatchObject({ exitCode: 143, signal: null })
    expect(psql.stdout()).toContain('terminated')
    expect(await isServerRunning(home)).toBe(false)
  })

  it('says what to install if psql is missing', { tags: ['release'] }, async () => {
    const { directory } = await makePreparedHome()
    const bin = join(directory, 'bin')
    await mkdir(bin)
    const env = { PATH: bin, TRACKING_LOG_LEVEL: 'error' }
    const result = await runCli(['database', 'psql'], { directory, env })
    expect(result).toMatchObject({
      exitCode: 5,
      stdout: '',
      stderr:
        'error: psql cannot be run; install the PostgreSQL client, or connect another tool with the address that `tracking-sync database url` prints\n',
    })
  })

  it('gives psql the database of DATABASE_URL with the security it asks for', async () => {
    const { directory } = await makeFreshHome()
    const PATH = await makeFakePsql(directory, 'env | grep ^PG | grep -v PASSWORD')
    const env = {
      PATH,
      PGSERVICE: 'other',
      PGHOSTADDR: '192.0.2.1',
      PGSSLMODE: 'disable',
      DATABASE_URL: 'postgres://me:canary%2Fpass@db.invalid:6543/house?sslmode=verify-full',
    }
    const psql = await runCli(['database', 'psql'], { directory, env })
    expect(psql).toMatchObject({ exitCode: 0, stderr: '' })
    expect(psql.stdout.trimEnd().split('\n').sort()).toEqual([
      'PGDATABASE=house',
      'PGHOST=db.invalid',
      'PGOPTIONS=-c search_path=tracking,tracking_analytics',
      'PGPORT=6543',
      'PGSSLMODE=verify-full',
      'PGUSER=me',
    ])
  })

  it.each(['start', 'stop'])('refuses %s where DATABASE_URL is set', async (verb) => {
    const { directory } = await makeFreshHome()
    const env = { DATABASE_URL: 'postgres://me:canary-pass@127.0.0.1:9/house' }
    expect(await callProgram(['database', verb], { directory, env })).toMatchObject({
      exitCode: 2,
      stdout: '',
      stderr:
        'error: DATABASE_URL is set, so the embedded database is not used; unset it to use the embedded one\n',
    })
  })
})

describe('simulate', { tags: ['release'] }, () => {
  it('tells its address and ends with Ctrl-C', async () => {
    const { directory } = await makeFreshHome()
    const simulate = await startCli(['simulate', '--port', '0', '--shipments', '5'], { directory })
    await simulate.waitFor(({ stdout }) => stdout().includes('Ctrl-C ends it.'))
    const url = /TRACKING_API_URL=(\S+)/.exec(simulate.stdout())?.[1] ?? ''
    const key = /TRACKING_API_KEY=(\S+)/.exec(simulate.stdout())?.[1] ?? ''
    const answer = await fetch(`${url}/shipments`, { headers: { authorization: `Token ${key}` } })
    const { data, meta } = (await answer.json()) as { data: unknown[]; meta: { total: number } }
    expect({ shipments: data.length, total: meta.total }).toEqual({ shipments: 5, total: 5 })
    const state = await fetch(new URL('/simulator', url))
    expect(await state.json()).toMatchObject({ counts: { shipment: 5 }, requests: 1 })
    simulate.kill('SIGINT')
    expect(await simulate.ended).toMatchObject({ exitCode: 0, signal: null, stderr: '' })
  })

  it('says in one sentence that its port or address cannot be had', async () => {
    const { directory } = await makeFreshHome()
    const first = await startSimulateCli(['--shipments', '1'], { directory })
    const { port } = new URL(first.apiUrl)
    expect(await callProgram(['simulate', '--port', port], { directory })).toMatchObject({
      exitCode: 2,
      stdout: '',
      stderr: `error: --port ${port} is in use; name another, or 0 for a free one\n`,
    })
    const args = ['simulate', '--port', '0', '--host', '192.0.2.1']
    expect(await callProgram(args, { directory })).toMatchObject({
      exitCode: 2,
      stdout: '',
      stderr: 'error: --host 192.0.2.1 is not an address of this machine\n',
    })
    first.program.kill('SIGTERM')
    expect(await first.program.ended).toMatchObject({ exitCode: 0 })
  })
})

describe('check', () => {
  async function makeService() {
    const simulator = await startSameWorld({ apiKey: KEY })
    closers.push(() => simulator.close())
    return simulator
  }

  it('says ok to all six before and after the first run', { tags: ['release'] }, async () => {
    const { directory } = await makeFreshHome()
    const simulator = await makeService()
    const { url: DATABASE_URL } = await makeDatabase()
    const env = {
      TRACKING_API_URL: simulator.url,
      TRACKING_API_KEY: KEY,
      DATABASE_URL,
      TRACKING_LOG_LEVEL: 'error',
    }
    const before = await callProgram(['check'], { directory, env })
    expect(before).toMatchObject({ exitCode: 0, stderr: '' })
    expect(before.stdout.trimEnd().split('\n')).toEqual([
      'ok    settings  complete and well-formed; preset generic (default)',
      expect.stringMatching(
        /^ok {4}database {2}PostgreSQL \d+\.\d+.*, as \w+; warning: \w+ is a superuser; /,
      ),
      expect.stringMatching(/^ok {4}zones {5}time zone data .*PostgreSQL \d+\.\d+.*; /),
      expect.stringMatching(/^ok {4}schema {4}tracking is at version 0 of \d+; the next command /),
      expect.stringMatching(
        /^ok {4}own SQL {3}warning: own SQL is refused, for \w+ is a superuser, .*; give your own SQL a login: set TRACKING_READER_URL=/,
      ),
      expect.stringMatching(/^ok {4}service {3}answers, accepts the key, has 12 shipments; its/),
    ])
    expect(await versionsIn(DATABASE_URL)).toEqual({})
    expect((await callProgram(['migrate'], { directory, env })).exitCode).toBe(0)
    const after = await callProgram(['check', '--json'], { directory, env })
    expect(JSON.parse(after.stdout)).toMatchObject([
      { name: 'settings', isOk: true, exitCode: 0 },
      { name: 'database', isOk: true, exitCode: 0 },
      { name: 'zones', isOk: true, exitCode: 0 },
      { name: 'schema', isOk: true, exitCode: 0 },
      { name: 'own SQL', isOk: true, exitCode: 0 },
      { name: 'service', isOk: true, exitCode: 0 },
    ])
  })

  it('makes no database, and says that the first run does', { tags: ['JE9'] }, async () => {
    const home = await makeFreshHome()
    const { url, apiKey } = await makeService()
    const env = { TRACKING_API_URL: url, TRACKING_API_KEY: apiKey }
    const { exitCode, stdout } = await callProgram(['check'], { directory: home.directory, env })
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(
      /^ok {4}database {2}none yet: the first run creates the embedded Postgre/m,
    )
    expect(await readdir(home.directory)).toEqual([])
  })

  it('leaves no embedded server running', { tags: ['release'] }, async () => {
    const home = await makePreparedHome()
    const simulator = await makeService()
    const env = { TRACKING_API_URL: simulator.url, TRACKING_API_KEY: KEY }
    const check = await callProgram(['check'], { directory: home.directory, env })
    expect(check.exitCode).toBe(0)
    expect(check.stdout).toMatch(/^ok {4}database {2}embedded PostgreSQL \d+\.\d+, as \w+$/m)
    expect(check.stdout).toMatch(
      /^ok {4}own SQL {3}own SQL is asked as tracking_query, which may read and nothing else$/m,
    )
    expect(await isServerRunning(home)).toBe(false)
  })

  it('names each thing that is wrong; exits as the first says', { tags: ['release'] }, async () => {
    const { directory } = await makeFreshHome()
    const simulator = await makeService()
    const { url: DATABASE_URL } = await makeDatabase()
    const good = { TRACKING_API_URL: simulator.url, TRACKING_API_KEY: KEY, DATABASE_URL }
    const dead = 'postgres://me:canary%2Fpass%2B1@127.0.0.1:9/house'
    const noDatabase = new URL(DATABASE_URL)
    noDatabase.pathname = '/test_of_nobody'
    const UNASKED = ['zones {5}', 'schema {4}', 'own SQL {3}'].map(
      (name) => new RegExp(`^FAIL {2}${name}not tested: the database does not answer$`),
    )
    const wrongKey = { TRACKING_API_KEY: 'canary/wrong+key' }
    const away = /^FAIL {2}database .*ECONNREFUSED.*check that PostgreSQL runs/
    const missing = /^FAIL {2}database .*does not exist.*create the database/
    const lacks = '.*TRACKING_API_URL is not set.*; TRACKING_API_KEY is not set'
    const unset = ['settings', 'service'].map((name) => new RegExp(`^FAIL {2}${name} ${lacks}`))
    for (const [env, exitCode, fails] of [
      [{ ...good, ...wrongKey }, 3, [/^FAIL {2}service .*refused the API key \(401\)/]],
      [{ ...good, DATABASE_URL: dead }, 5, [away, ...UNASKED]],
      [{ ...good, DATABASE_URL: noDatabase.href }, 5, [missing, ...UNASKED]],
      [{ ...good, ...wrongKey, DATABASE_URL: dead }, 5, [away, ...UNASKED, /^FAIL {2}service/]],
      [{ DATABASE_URL }, 2, unset],
    ] as const) {
      const check = await callProgram(['check'], {
        directory,
        env: { ...env, TRACKING_LOG_LEVEL: 'error' },
      })
      expect({ exitCode: check.exitCode, stderr: check.stderr }).toEqual({ exitCode, stderr: '' })
      const lines = check.stdout.trimEnd().split('\n')
      expect(lines).toHaveLength(6)
      const failed = lines.filter((line) => !line.startsWith('ok  '))
      expect(failed).toEqual(fails.map((pattern) => expect.stringMatching(pattern) as unknown))
    }
    const bad = {
      ...good,
      TRACKING_API_URL: 'nonsense',
      TRACKING_RATE_LIMIT_PER_MINUTE: 'canary-size',
    }
    expect(await callProgram(['check'], { directory, env: bad })).toMatchObject({
      exitCode: 2,
      stdout: '',
      stderr:
        'error: settings need attention\n  TRACKING_API_URL is not a URL\n  TRACKING_RATE_LIMIT_PER_MINUTE must be a whole number from 1 to 100000\n',
    })
    expect(simulator.requests.recent.every(({ status }) => status === 200 || status === 401)).toBe(
      true,
    )
  })

  it('names the command that an old schema needs', { tags: ['G3', 'release'] }, async () => {
    const { directory } = await makeFreshHome()
    const simulator = await makeService()
    const { url: DATABASE_URL } = await makeDatabase()
    const env = {
      TRACKING_API_URL: simulator.url,
      TRACKING_API_KEY: KEY,
      DATABASE_URL,
      TRACKING_MIGRATE: 'false',
      TRACKING_LOG_LEVEL: 'error',
    }
    const check = await callProgram(['check'], { directory, env })
    expect(check).toMatchObject({ exitCode: 5, stderr: '' })
    expect(check.stdout).toMatch(
      /^FAIL {2}schema {4}tracking is at version 0 of \d+; run `tracking-sync migrate`/m,
    )
    const sync = await callProgram(['sync'], { directory, env })
    expect(sync).toMatchObject({ exitCode: 5, stdout: '' })
    expect(sync.stderr).toMatch(
      /^error: the schemas are at version 0 and this program needs \d+; run `tracking-sync migrate` \(TRACKING_MIGRATE is false\)\n$/,
    )
    expect(await callProgram(['migrate'], { directory, env })).toMatchObject({ exitCode: 0 })
    expect((await callProgram(['sync'], { directory, env })).exitCode).toBe(0)
  })
})

describe('secrets', { tags: ['S4'] }, () => {
  it('come from files, with a warning where others read them', { tags: ['release'] }, async () => {
    const { directory } = await makeFreshHome()
    const simulator = await startSameWorld({ apiKey: KEY, shipments: 5 })
    closers.push(() => simulator.close())
    const address = new URL((await makeDatabase()).url)
    // Where the server trusts everybody, any will do.
    if (address.password === '') address.password = 'canary-pass'
    const url = address.href
    const keyFile = join(directory, 'key')
    const addressFile = join(directory, 'address')
    await writeFile(keyFile, `${KEY}\n`, { mode: 0o644 })
    await writeFile(addressFile, `${url}\n`, { mode: 0o600 })
    const secrets = [KEY, decodeURIComponent(new URL(url).password)].filter((one) => one !== '')
    const env = {
      TRACKING_API_URL: simulator.url,
      TRACKING_API_KEY_FILE: keyFile,
      DATABASE_URL_FILE: addressFile,
    }
    const sync = await callProgram(['sync'], { directory, env, secrets })
    expect(sync.exitCode).toBe(0)
    expect(sync.stderr).toContain(
      'other users can read or change the file of TRACKING_API_KEY_FILE',
    )
    expect(sync.stderr).not.toContain('DATABASE_URL_FILE can be read')
    const config = await callProgram(['config'], { directory, env, secrets })
    expect(config.stdout).toMatch(/^TRACKING_API_KEY +\[secret\] +environment /m)
    expect(config.stdout).toMatch(/^DATABASE_URL +postgres:\/\/\w+:\[secret\]@\S+ +environment /m)
  })

  it.each(['--api-key', '--database-url', '--key', '--token'])('come by no %s', async (flag) => {
    const { directory } = await makeFreshHome()
    const sync = await callProgram(['sync', flag, 'x'], { directory })
    expect(sync).toMatchObject({ exitCode: 2, stdout: '' })
    expect(sync.stderr).toMatch(/^error: unknown option '--[a-z-]+'/)
  })
})
