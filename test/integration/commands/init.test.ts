import { existsSync } from 'node:fs'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { runCli } from '../../../src/commands/program.js'
import { loadConfig } from '../../../src/config/load.js'
import type { Simulator } from '../../../src/extensions/simulator/server.js'
import type { CliCall } from '../../support/call-cli.js'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js'
import { makePreparedHome, removeFreshHomes } from '../../support/fresh-home.js'
import { selectRows } from '../../support/look-at-cli-rows.js'
import { startSameWorld } from '../../support/simulate-cli.js'
import { useFolder } from '../../support/temp-folder.js'
import { createSink } from '../../support/sink.js'

const KEY = 'canary-key-5f8e3a90'
const SECRET = 'canary-webhook-secret-77'

let simulator: Simulator
let database: TestDatabase
const folder = useFolder()

beforeAll(async () => {
  simulator = await startSameWorld({ shipments: 5, apiKey: KEY, startAt: new Date() })
  database = await createTestDatabase()
})

afterAll(async () => {
  await database.drop()
  await simulator.close()
  await removeFreshHomes()
})

afterEach(async () => {
  const made = existsSync(join(folder.path, '.env')) ? configIn().readerUrl : undefined
  if (made !== undefined) await selectRows(database.url, `drop role ${new URL(made).username}`)
})

/**
 * With `answers`, there is a person at a terminal who types them as the questions come, and sees
 * questions, errors and echoed input beside the answer.
 */
async function init(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  answers?: readonly string[],
  cwd = folder.path,
): Promise<CliCall> {
  const [stdout, stderr] = [createSink(false), createSink(answers !== undefined)]
  const keys = Object.assign(new PassThrough(), {
    isTTY: answers !== undefined,
    setRawMode: () => keys,
  })
  const left = [...(answers ?? [])]
  let seen = 0
  stderr.stream.on('data', () => {
    // Each question ends with a colon and a space, once.
    const asked = stderr.text().match(/\d\. [^\n]*?: (?=$|\n|.)/g)?.length ?? 0
    if (asked <= seen) return
    seen = asked
    const answer = left.shift()
    if (answer === undefined) keys.end()
    else setImmediate(() => keys.write(answer === '^C' ? '\u0003' : `${answer}\r`))
  })
  const exitCode = await runCli(['node', 'tracking-sync', 'init', ...args], {
    stdout: stdout.stream,
    stderr: stderr.stream,
    stdin: keys,
    env: { TRACKING_LOG_LEVEL: 'silent', ...env },
    cwd: () => cwd,
    exit: (code) => {
      throw new Error(`exit(${code}) was called`)
    },
    on: () => undefined,
    off: () => undefined,
  })
  const called = { exitCode, stdout: stdout.text(), stderr: stderr.text() }
  for (const secret of [KEY, SECRET, new URL(database.url).password]) {
    if (secret !== '') expect(called.stdout + called.stderr).not.toContain(secret)
  }
  return called
}

const escape = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

const readEnv = (cwd = folder.path): Promise<string> => readFile(join(cwd, '.env'), 'utf8')

const configIn = (cwd = folder.path) =>
  loadConfig({ environment: {}, workingDirectory: cwd }).config

describe('without a terminal', () => {
  it('tests what flags and environment give, and writes it', async () => {
    const args = ['--service', 'terminal49', '--api-url', simulator.url]
    const { exitCode, stdout } = await init(
      [...args, '--webhook-url', 'https://hooks.example/webhooks'],
      { TRACKING_API_KEY: KEY, DATABASE_URL: database.url, TRACKING_WEBHOOK_SECRET: SECRET },
    )
    expect(exitCode).toBe(0)
    expect(stdout).toContain(`${simulator.url} (preset terminal49)\n`)
    expect(stdout).toContain('the service answers, accepts the key, has 5 shipments\n')
    expect(stdout).toMatch(/^PostgreSQL \d+.*, as \w+/m)
    expect(stdout).toContain('no webhook sends there yet')
    expect(configIn()).toMatchObject({
      service: 'terminal49',
      apiUrl: simulator.url,
      apiKey: KEY,
      databaseUrl: database.url,
      webhookUrl: 'https://hooks.example/webhooks',
      webhookSecret: SECRET,
      preset: { webhooks: { signature: { header: 'X-T49-Webhook-Signature' } } },
    })
    expect((await stat(join(folder.path, '.env'))).mode & 0o777).toBe(0o600)
  })

  it('makes a login for own SQL, which a second time is kept', { tags: ['JD1'] }, async () => {
    const args = ['--api-url', simulator.url]
    const env = { TRACKING_API_KEY: KEY, DATABASE_URL: database.url }
    const first = await init(args, env)
    expect(first.exitCode).toBe(0)
    const { readerUrl = '' } = configIn()
    const { username, password } = new URL(readerUrl)
    expect(username).toMatch(/^tracking_query(?:_\w{6})?$/)
    expect(password.length).toBeGreaterThan(40)
    expect(first.stdout).toContain(`own SQL is asked as ${username}, a new login`)
    expect(first.stdout + first.stderr).not.toContain(password)
    const rights = `select session_user = '${username}' and not (rolsuper or rolcreaterole or
        rolcreatedb or rolreplication or rolbypassrls or
        exists (select from pg_auth_members where member = pg_roles.oid)) as is_reader
      from pg_roles where rolname = session_user`
    expect(await selectRows(readerUrl, rights)).toEqual([{ is_reader: true }])
    const again = await init(args, env)
    expect(again.stdout).toContain(`own SQL is asked as ${username}, which may read`)
    expect(configIn().readerUrl).toBe(readerUrl)
  })

  it.each([
    ['nothing', 2, {}, /--service is not given[^]*TRACKING_API_KEY is[^]*DATABASE_URL is/],
    ['a wrong key', 3, { TRACKING_API_KEY: 'wrong' }, /refused the API key/],
    ['a database that is away', 5, { DATABASE_URL: 'postgres://u:pw@127.0.0.1:1/x' }, /database/],
    ['a webhook by http', 2, { TRACKING_WEBHOOK_URL: 'http://x.example/' }, /must be an https/],
  ])('refuses %s with exit code %i, and writes nothing', async (what, code, wrong, told) => {
    const env = { TRACKING_API_KEY: KEY, DATABASE_URL: database.url, ...wrong }
    const { exitCode, stderr } = await (what === 'nothing'
      ? init([], {})
      : init(['--api-url', simulator.url], env))
    expect(stderr).toMatch(told)
    expect(exitCode).toBe(code)
    expect(await readdir(folder.path)).toEqual([])
  })

  it('starts the embedded database once', { tags: ['release'] }, async () => {
    const home = await makePreparedHome()
    await writeFile(join(home.directory, '.env'), `DATABASE_URL=${database.url}\n`, {
      mode: 0o600,
    })
    const args = ['--api-url', simulator.url, '--embedded']
    const env = { TRACKING_API_KEY: KEY }
    const { exitCode, stdout } = await init(args, env, undefined, home.directory)
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^embedded PostgreSQL \d+/m)
    expect(configIn(home.directory).databaseUrl).toBeUndefined()
    expect((await init(args, { ...env, DATABASE_URL: database.url })).exitCode).toBe(2)
  })
})

describe('at a terminal', () => {
  it('asks five questions, and again after an answer that is wrong', async () => {
    const { exitCode, stdout, stderr } = await init([], {}, [
      'nowhere',
      simulator.url,
      'wrong-key',
      KEY,
      'postgres://u:typed-password@127.0.0.1:1/x',
      database.url,
      'http://insecure.example/webhooks',
      'https://hooks.example/webhooks',
      'short',
      SECRET,
    ])
    expect(exitCode).toBe(0)
    expect(stdout).toContain('.env has TRACKING_SERVICE, TRACKING_API_URL, TRACKING_API_KEY, ')
    expect(stderr).toMatch(/error: .*is not a service we have a preset for/)
    expect(stderr).toMatch(/error: .*refused the API key/)
    expect(stderr).toMatch(/error: .*must be an https/)
    expect(stderr).toMatch(/error: TRACKING_WEBHOOK_SECRET is shorter/)
    expect(stderr).toContain('ok: the service answers, accepts the key, has 5 shipments')
    // Secret input is not echoed; other input is.
    for (const hidden of ['wrong-key', 'typed-password', 'short\r']) {
      expect(stderr).not.toContain(hidden)
    }
    expect(stderr).toContain('https://hooks.example/webhooks')
    expect(configIn()).toMatchObject({ apiKey: KEY, databaseUrl: database.url })
  })

  it('keeps what .env has on Enter', { tags: ['JE4'] }, async () => {
    const old = `TRACKING_SERVICE=terminal49\nTRACKING_API_URL=${simulator.url}\nTRACKING_API_KEY=${KEY}\nDATABASE_URL=${database.url} # ours\n`
    await writeFile(join(folder.path, '.env'), old, { mode: 0o600 })
    const kept = await init([], {}, ['', '', '', '', ''])
    expect(kept.stderr.match(/Enter keeps what \.env has: /g)).toHaveLength(3)
    expect(kept).toMatchObject({ exitCode: 0 })
    expect(await readEnv()).toMatch(new RegExp(`^${escape(old)}TRACKING_READER_URL=\\S+\n$`))
    const before = await readEnv()
    const changed = await init([], {}, [simulator.url, '', '', 'https://hooks.example/w', ''])
    expect(changed.exitCode).toBe(0)
    expect(await readEnv()).toBe(
      `${before.replace('terminal49', 'generic')}TRACKING_WEBHOOK_URL=https://hooks.example/w\n`,
    )
  })

  it.each([
    ['Ctrl-C', ['terminal49', '^C']],
    ['the end of the input', ['terminal49']],
  ])('writes nothing after %s', async (_, answers) => {
    const { exitCode, stderr } = await init([], {}, answers)
    expect(stderr).toContain(
      'error: the input ended before all questions were answered; nothing was',
    )
    expect(exitCode).toBe(130)
    expect(await readdir(folder.path)).toEqual([])
  })
})
