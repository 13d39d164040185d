import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { callProgram } from '../support/call-cli.js'
import {
  isServerRunning,
  makeFreshHome,
  makePreparedHome,
  removeFreshHomes,
} from '../support/fresh-home.js'
import { endPrograms, runCli, startCli } from '../support/run-cli.js'
import { startSameWorld } from '../support/simulate-cli.js'
import { createTestDatabase } from '../support/test-database.js'

afterEach(async () => {
  await endPrograms()
  await removeFreshHomes()
})

const KEY = 'canary/key+9f3a='

async function makeService() {
  const simulator = await startSameWorld({ apiKey: KEY })
  onTestFinished(() => simulator.close())
  return simulator
}

/** A `psql` that tells how it was called. */
async function makeFakePsql(directory: string, script: string): Promise<string> {
  const bin = join(directory, 'bin')
  await mkdir(bin)
  await writeFile(join(bin, 'psql'), `#!/bin/sh\n${script}\n`)
  await chmod(join(bin, 'psql'), 0o755)
  return `${bin}${delimiter}${process.env.PATH ?? ''}`
}

describe('the embedded database', () => {
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

  it('gives psql the database of DATABASE_URL with the security it asks for', async () => {
    const { directory } = await makeFreshHome()
    const script = 'env | grep ^PG | grep -v PASSWORD; test -n "$PGPASSWORD" && cat; exit 7'
    const PATH = await makeFakePsql(directory, script)
    const env = {
      PATH,
      PGSERVICE: 'other',
      PGHOSTADDR: '192.0.2.1',
      PGSSLMODE: 'disable',
      DATABASE_URL: 'postgres://me:canary%2Fpass@db.invalid:6543/house?sslmode=verify-full',
    }
    const psql = await runCli(['database', 'psql'], { directory, env, input: 'typed\n' })
    expect(psql).toMatchObject({ exitCode: 7, stderr: '' })
    expect(psql.stdout.trimEnd().split('\n').sort()).toEqual([
      'PGDATABASE=house',
      'PGHOST=db.invalid',
      'PGOPTIONS=-c search_path=tracking,tracking_analytics',
      'PGPORT=6543',
      'PGSSLMODE=verify-full',
      'PGUSER=me',
      'typed',
    ])
  })
})

describe('check', () => {
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

  it('names each thing that is wrong', { tags: ['G3', 'release'] }, async () => {
    const { directory } = await makeFreshHome()
    const simulator = await makeService()
    const database = await createTestDatabase()
    onTestFinished(() => database.drop())
    const { url: DATABASE_URL } = database
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
    const old = /^FAIL {2}schema {4}tracking is at version 0 of \d+; run `tracking-sync migrate`/
    const unset = ['settings', 'service'].map((name) => new RegExp(`^FAIL {2}${name} ${lacks}`))
    for (const [env, exitCode, fails] of [
      [{ ...good, ...wrongKey }, 3, [/^FAIL {2}service .*refused the API key \(401\)/]],
      [{ ...good, DATABASE_URL: dead }, 5, [away, ...UNASKED]],
      [{ ...good, DATABASE_URL: noDatabase.href }, 5, [missing, ...UNASKED]],
      [{ ...good, ...wrongKey, DATABASE_URL: dead }, 5, [away, ...UNASKED, /^FAIL {2}service/]],
      [{ DATABASE_URL }, 2, unset],
      [{ ...good, TRACKING_MIGRATE: 'false' }, 5, [old]],
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
    expect(simulator.requests.recent.every(({ status }) => status === 200 || status === 401)).toBe(
      true,
    )
  })
})
