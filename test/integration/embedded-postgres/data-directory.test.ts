import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, chown, mkdir, readFile, readdir, rm, stat, truncate } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
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
    const rights = `select rolname as name, rolsuper or rolreplication or rolbypassrls as is_more,
        pg_has_role(datdba, 'usage') as owns,
        pg_has_role('pg_execute_server_program', 'usage') as runs,
        pg_has_role('pg_read_server_files', 'usage') as reads
      from pg_roles, pg_database where rolname = current_user and datname = current_database()`
    const none = { is_more: false, owns: false, runs: false, reads: false }
    expect(await query(database.url, rights)).toEqual([{ ...none, name: 'tracking', owns: true }])
    expect(await query(database.readerUrl, rights)).toEqual([{ ...none, name: 'tracking_query' }])
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
    expect(new URL(database.readerUrl).password).not.toBe(new URL(database.url).password)
    for (const [name, url] of [
      ['password', database.url],
      ['admin-password', database.adminUrl],
    ] as const) {
      const file = join(homeDirectory, 'database', name)
      expect(((await stat(file)).mode & 0o777).toString(8)).toBe('600')
      expect((await readFile(file, 'utf8')).trim()).toBe(new URL(url).password)
    }
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
    const options = { argv0: 'postgres', stdio: 'ignore' } as const
    const posing = [notOurs, ours].map((directory) => {
      const child = spawn(process.execPath, [...wait, directory], options)
      return { child, directory }
    })
    try {
      await vi.waitFor(async () => {
        const kinds = posing.map(({ child, directory }) => classifyProcess(child.pid!, directory))
        expect(await Promise.all(kinds)).toEqual([
          process.platform === 'linux' ? 'other' : 'server',
          'server',
        ])
      })
    } finally {
      for (const { child } of posing) child.kill('SIGKILL')
    }
  })
})

describe('a port that is taken', { tags: ['release'] }, () => {
  it('is replaced by another one, which is kept from then on; a lost password is told', async () => {
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
