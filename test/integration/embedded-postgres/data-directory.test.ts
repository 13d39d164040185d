import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, chown, mkdir, readFile, readdir, rm, stat, truncate } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { startEmbeddedDatabase } from '../../../src/extensions/embedded-postgres/embedded-database.js'
import { EmbeddedDatabaseError } from '../../../src/base/errors.js'
import { silentLogger } from '../../../src/base/logger.js'
import { classifyProcess } from '../../../src/extensions/embedded-postgres/processes.js'
import {
  cleanUp,
  makeDirectory,
  makeHome,
  makePreparedHome,
  query,
  startChild,
} from './embedded-homes.js'

const logger = silentLogger
const OLDEST = 'embedded-postgres-14'
/**
 * Where the registry holds no programs of 14, `overrides` in package.json puts those of the oldest
 * it holds.
 */
const OLDEST_MAJOR = process.platform === 'linux' && process.arch === 'x64' ? 14 : 15

afterEach(cleanUp)

/** Command lines of all processes that mention a text. */
async function listCommandLines(mention: string): Promise<string[]> {
  if (process.platform !== 'linux') {
    const { stdout } = await promisify(execFile)('ps', ['-Awwo', 'command'])
    return stdout.split('\n').filter((line) => line.includes(mention))
  }
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const lines = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
  )
  return lines.filter((line) => line.includes(mention))
}

describe('a new data directory', () => {
  it('is UTF8 with checksums, and reached from here alone', { tags: ['FC2', 'JD1'] }, async () => {
    const homeDirectory = await makeHome()
    const database = await startEmbeddedDatabase({ homeDirectory, logger })
    const settings = `select current_setting('server_encoding') as encoding, 'Ålesund' ilike 'å%' as knows_letters,
        current_setting('data_checksums') as checksums, current_setting('timezone') as zone, current_setting('jit') as jit`
    expect(await query(database.url, settings)).toEqual([
      { encoding: 'UTF8', knows_letters: true, checksums: 'on', zone: 'UTC', jit: 'off' },
    ])
    const sockets = `select current_setting('listen_addresses') as address, current_setting('unix_socket_directories') as socket`
    expect(await query(database.adminUrl, sockets)).toEqual([{ address: '127.0.0.1', socket: '' }])
    const wrong = new URL(database.url)
    wrong.password = 'wrong'
    await expect(query(wrong.href, settings)).rejects.toMatchObject({ code: '28P01' })
    const rights = `select rolname, rolsuper, rolreplication, rolbypassrls,
        pg_has_role(datdba, 'usage') as owns,
        pg_has_role('pg_execute_server_program', 'usage') as runs,
        pg_has_role('pg_read_server_files', 'usage') as reads
      from pg_roles, pg_database where rolname = current_user and datname = current_database()`
    expect(await query(database.url, rights)).toEqual([
      {
        rolname: 'tracking',
        rolsuper: false,
        rolreplication: false,
        rolbypassrls: false,
        owns: true,
        runs: false,
        reads: false,
      },
    ])
    for (const refused of [
      `copy (select 1) to program 'true'`,
      `select pg_read_file('postgresql.conf')`,
      'select * from pg_authid',
      `alter system set jit = 'on'`,
      'create role other superuser',
      'grant pg_execute_server_program to tracking',
    ]) {
      await expect(query(database.url, refused)).rejects.toMatchObject({ code: '42501' })
      await expect(query(database.readerUrl, refused)).rejects.toMatchObject({ code: '42501' })
    }
    expect(await query(database.readerUrl, rights)).toMatchObject([
      { rolname: 'tracking_query', rolsuper: false, owns: false, runs: false, reads: false },
    ])
    expect(new URL(database.readerUrl).password).not.toBe(new URL(database.url).password)
    const adminFile = join(homeDirectory, 'database', 'admin-password')
    expect(((await stat(adminFile)).mode & 0o777).toString(8)).toBe('600')
    expect((await readFile(adminFile, 'utf8')).trim()).toBe(new URL(database.adminUrl).password)
    await database.stop()
  })

  it('is made again when its first making was killed half-way', { tags: ['release'] }, async () => {
    for (const reach of ['with_children', 'alone'] as const) {
      const homeDirectory = await makeHome(0o755)
      await mkdir(homeDirectory)
      const killed = await startChild({ homeDirectory })
      const area = join(homeDirectory, 'database')
      await vi.waitFor(
        async () => {
          const names = await readdir(area)
          const staging = names.find((name) => name.startsWith('initializing-'))!
          expect(await readdir(join(area, staging, 'data'))).toContain('base')
        },
        { timeout: 20_000, interval: 5 },
      )
      await killed.kill('SIGKILL', reach)
      expect(await readdir(area)).not.toContain('data')

      const database = await startEmbeddedDatabase({ homeDirectory, logger })
      expect(await query(database.url, 'select 1 as one')).toEqual([{ one: 1 }])
      await database.stop()
      // One more start, for what a left-over initdb wrote while the first one removed it.
      await (await startEmbeddedDatabase({ homeDirectory, logger })).stop()
      expect((await readdir(area)).filter((name) => name.startsWith('initializing-'))).toEqual([])
    }
  })

  it(
    'of an older PostgreSQL is refused, with its version and the way out, and stays',
    { tags: ['release'] },
    async () => {
      const options = { homeDirectory: await makeHome(), logger, packageName: OLDEST }
      const database = await startEmbeddedDatabase(options)
      await query(database.url, 'create table old_data as select 1 as version')
      await database.stop()
      const start = startEmbeddedDatabase({ homeDirectory: options.homeDirectory, logger })
      await expect(start).rejects.toThrow(EmbeddedDatabaseError)
      await expect(start).rejects.toThrow(
        new RegExp(`made by PostgreSQL ${OLDEST_MAJOR}, .* brings PostgreSQL 18; .*backfill`),
      )
      const again = await startEmbeddedDatabase(options)
      expect(await query(again.url, 'select version from old_data')).toEqual([{ version: 1 }])
      await again.stop()
    },
  )
})

describe('what runs in the place of a server', { tags: ['FC4'] }, () => {
  it('is none of ours when another account started it, whatever it calls itself', async () => {
    const isRoot = process.getuid?.() === 0
    const mine = await makeDirectory()
    // A server runs under the account that owns its data, and this directory is not that of the
    // process.
    if (isRoot) await chown(mine, 65_534, 65_534)
    const notOurs = isRoot ? mine : '/usr'
    const ours = await makeDirectory()
    const wait = ['-e', 'setInterval(() => {}, 1000)', '--', '-D']
    const posing = [notOurs, ours].map((directory) => {
      const child = spawn(process.execPath, [...wait, directory], {
        argv0: 'postgres',
        stdio: 'ignore',
      })
      return { child, directory }
    })
    try {
      await Promise.all(posing.map(({ child }) => once(child, 'spawn')))
      const kinds = posing.map(({ child, directory }) =>
        vi.waitFor(async () => {
          const kind = await classifyProcess(child.pid!, directory)
          expect(
            (await readFile(`/proc/${child.pid!}/cmdline`, 'utf8')).startsWith('postgres'),
          ).toBe(true)
          return kind
        }),
      )
      expect(await Promise.all(kinds)).toEqual(
        process.platform === 'linux' ? ['other', 'server'] : ['server', 'server'],
      )
    } finally {
      for (const { child } of posing) child.kill('SIGKILL')
    }
  })
})

describe('secrets', { tags: ['release'] }, () => {
  it('are in a file for its owner only, and never on a command line', async () => {
    const homeDirectory = await makeHome()
    const child = await startChild({ homeDirectory })
    const seen = new Set<string>()
    let isReady = false
    const ready = child.ready.finally(() => (isReady = true))
    do for (const line of await listCommandLines(dirname(homeDirectory))) seen.add(line)
    while (!isReady)

    const { url, dataDirectory } = await ready
    for (const line of await listCommandLines(dataDirectory)) seen.add(line)
    const passwordFile = join(homeDirectory, 'database', 'password')
    const password = (await readFile(passwordFile, 'utf8')).trim()
    expect(new URL(url).password).toBe(password)
    expect(((await stat(passwordFile)).mode & 0o777).toString(8)).toBe('600')
    const adminPassword = (
      await readFile(join(homeDirectory, 'database', 'admin-password'), 'utf8')
    ).trim()
    const lines = [...seen]
    expect(lines.filter((line) => line.includes(adminPassword))).toEqual([])
    for (const program of ['initdb', 'postgres']) {
      expect(lines.some((line) => line.includes(program))).toBe(true)
    }
    expect(lines.filter((line) => line.includes(password))).toEqual([])
    await child.stop()
  })
})

describe('a port that is taken', { tags: ['release'] }, () => {
  it('is replaced by another one, which is kept from then on', async () => {
    const homeDirectory = await makePreparedHome()
    const first = await startEmbeddedDatabase({ homeDirectory, logger })
    await first.stop()
    const stranger = createServer().listen(first.port, '127.0.0.1')
    await once(stranger, 'listening')
    const warn = vi.fn()
    const second = await startEmbeddedDatabase({ homeDirectory, logger: { ...logger, warn } })
    expect(second.port).not.toBe(first.port)
    expect(warn.mock.calls).toEqual([
      [expect.any(String), { takenPort: first.port, databasePort: second.port }],
    ])
    await second.stop()
    stranger.close()
    await once(stranger, 'close')

    const third = await startEmbeddedDatabase({ homeDirectory, logger })
    expect(third.port).toBe(second.port)
    await third.stop()
  })
})

describe('a data directory that cannot be used', () => {
  it('is reported when its password is lost', { tags: ['release'] }, async () => {
    const homeDirectory = await makePreparedHome()
    await (await startEmbeddedDatabase({ homeDirectory, logger })).stop()
    await rm(join(homeDirectory, 'database', 'password'))
    await expect(startEmbeddedDatabase({ homeDirectory, logger })).rejects.toThrow(
      /password of the embedded database is missing/,
    )
  })
})

describe('the log of the server', { tags: ['FD10'] }, () => {
  it('is for its owner only, explains an end by what came last, and starts again beyond its limit', async () => {
    const homeDirectory = await makePreparedHome()
    const database = await startEmbeddedDatabase({ homeDirectory, logger })
    const log = join(dirname(database.dataDirectory), 'server.log')
    expect((await stat(log)).mode & 0o077).toBe(0)
    expect(await database.explain()).toBeUndefined()
    await appendFile(log, 'PANIC:  could not write to file "x": No space left on device\n')
    expect((await database.explain())?.message).toMatch(/^The disk that holds .* is full/)
    await database.stop()
    await truncate(log, 11 * 1024 * 1024)
    const next = await startEmbeddedDatabase({ homeDirectory, logger })
    // Of nothing older.
    expect(await next.explain()).toBeUndefined()
    await next.stop()
    expect((await stat(log)).size).toBeLessThan(100_000)
  })
})
