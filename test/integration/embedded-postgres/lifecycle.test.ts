import { sql } from 'kysely'
import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  embeddedDatabaseStatus,
  startEmbeddedDatabase,
  stopEmbeddedDatabase,
} from '../../../src/extensions/embedded-postgres/embedded-database.js'
import { isAlive } from '../../../src/extensions/embedded-postgres/processes.js'
import { silentLogger } from '../../../src/base/logger.js'
import { REQUIRE_SCRAM } from '../../../src/warehouse/connection/scram-client.js'
import { HOSTILE_ENVIRONMENT } from '../../support/hostile-environment.js'
import { withWarehouse } from '../../support/test-warehouse.js'
import {
  cleanUp,
  makeHome,
  makePreparedHome,
  query,
  readServerPid,
  startChild,
} from './embedded-homes.js'

const logger = silentLogger

afterEach(cleanUp)

describe('the embedded database of one command', () => {
  it('keeps data, port and password across restarts', { tags: ['release'] }, async () => {
    const homeDirectory = await makePreparedHome()
    const first = await startEmbeddedDatabase({ homeDirectory, logger })
    expect(first.isAdopted).toBe(false)
    await query(first.url, 'create table kept as select 42 as answer')
    const pid = await readServerPid(first.dataDirectory)
    await first.stop()
    await first.stop()
    expect(await isAlive(pid)).toBe(false)

    const second = await startEmbeddedDatabase({ homeDirectory, logger })
    expect(second.url).toBe(first.url)
    expect(await query(second.url, 'select answer from kept')).toEqual([{ answer: 42 }])
    const other = await startEmbeddedDatabase({ homeDirectory, logger, databaseName: 'My "own"' })
    const name = 'select current_database() as name'
    expect(await query(second.url, name)).toEqual([{ name: 'tracking' }])
    expect(await query(other.url, name)).toEqual([{ name: 'My "own"' }])
    await Promise.all([second.stop(), other.stop()])
  })

  it('is reached although the environment names other servers', { tags: ['JB12'] }, async () => {
    const hostile = { ...HOSTILE_ENVIRONMENT, PGUSER: 'nobody', PGPASSWORD: 'none' }
    for (const [name, value] of Object.entries(hostile)) vi.stubEnv(name, value)
    const homeDirectory = await makePreparedHome()
    const database = await startEmbeddedDatabase({ homeDirectory, logger })
    const url = `${database.url}?${REQUIRE_SCRAM}`
    const [row] = await withWarehouse({ url }, (warehouse) =>
      warehouse.query(
        'look at the session',
        sql`select
    current_database() as base, session_user as login,
    current_setting('application_name') as name,
    current_setting('default_transaction_read_only') as "isReadOnly"`,
      ),
    ).finally(() => {
      vi.unstubAllEnvs()
    })
    const own = { base: 'tracking', login: 'tracking', name: 'tracking-sync', isReadOnly: 'off' }
    expect(row).toEqual(own)
    await database.stop()
  })

  it('stops its server when it is asked to end by a signal', { tags: ['release'] }, async () => {
    const child = await startChild({ homeDirectory: await makePreparedHome() })
    const pid = await readServerPid((await child.ready).dataDirectory)
    await child.kill('SIGTERM')
    expect(child.process.exitCode).toBe(0)
    expect(await isAlive(pid)).toBe(false)
  })
})

describe('a server whose command was killed', { tags: ['release'] }, () => {
  it('is adopted with its data by the next command, and stopped at its end', async () => {
    const homeDirectory = await makePreparedHome()
    const killed = await startChild({ homeDirectory })
    const { url, dataDirectory } = await killed.ready
    await query(url, 'create table survivor as select 1 as one')
    const pid = await readServerPid(dataDirectory)
    await killed.kill('SIGKILL', 'with_children')
    expect(await isAlive(pid)).toBe(true)

    const next = await startEmbeddedDatabase({ homeDirectory, logger })
    expect(next).toMatchObject({ isAdopted: true, url })
    expect(await query(next.url, 'select one from survivor')).toEqual([{ one: 1 }])
    expect(await readServerPid(dataDirectory)).toBe(pid)
    await next.stop()
    expect(await isAlive(pid)).toBe(false)
  })
})

describe('several commands on one home', { tags: ['release'] }, () => {
  it('share one server when they start at once, and the last one stops it', async () => {
    const homeDirectory = await makePreparedHome()
    const children = await Promise.all([1, 2, 3].map(() => startChild({ homeDirectory })))
    const databases = await Promise.all(children.map((child) => child.ready))
    expect(new Set(databases.map(({ url }) => url)).size).toBe(1)
    expect(databases.filter(({ isAdopted }) => !isAdopted)).toHaveLength(1)
    const { url, dataDirectory } = databases[0]!
    const pid = await readServerPid(dataDirectory)

    // The starter leaves first: it must not take the server with it.
    const starter = children[databases.findIndex(({ isAdopted }) => !isAdopted)]!
    const [second, third] = children.filter((child) => child !== starter)
    await starter.stop()
    expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }])
    await second!.kill('SIGKILL')
    expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }])
    await third!.stop()
    expect(await isAlive(pid)).toBe(false)
  })

  it('does not stop the server under a command that starts while another one stops', async () => {
    const homeDirectory = await makePreparedHome()
    let current = await startEmbeddedDatabase({ homeDirectory, logger })
    for (let round = 0; round < 2; round += 1) {
      const [next] = await Promise.all([
        startEmbeddedDatabase({ homeDirectory, logger }),
        current.stop(),
      ])
      expect(await query(next.url, 'select 1 as one')).toEqual([{ one: 1 }])
      current = next
    }
    await current.stop()
  })
})

describe('a server that is to stay', { tags: ['release'] }, () => {
  it('outlives its starter and its users until it is stopped, and tells its state', async () => {
    const homeDirectory = await makeHome()
    const options = { homeDirectory, logger }
    expect(await embeddedDatabaseStatus(options)).toEqual({ isRunning: false })
    expect(await stopEmbeddedDatabase(options)).toBe('not_running')
    // Started by a command that would have stopped it.
    const starter = await startEmbeddedDatabase(options)
    const { url, port, dataDirectory } = starter
    expect(await embeddedDatabaseStatus(options)).toEqual({
      isRunning: true,
      url,
      port,
      dataDirectory,
      version: expect.stringMatching(/^18\.\d+$/) as string,
    })
    const pid = await readServerPid(dataDirectory)
    const keeper = await startChild({ homeDirectory, keepRunning: true })
    expect(await keeper.ready).toMatchObject({ isAdopted: true, url })
    await keeper.stop()
    await starter.stop()
    const user = await startEmbeddedDatabase(options)
    expect(user).toMatchObject({ isAdopted: true, url })
    await user.stop()
    expect(await isAlive(pid)).toBe(true)
    expect(await stopEmbeddedDatabase(options)).toBe('stopped')
    expect(await isAlive(pid)).toBe(false)
    expect(await stopEmbeddedDatabase(options)).toBe('not_running')
    expect(await embeddedDatabaseStatus(options)).toEqual({
      isRunning: false,
      dataDirectory,
      version: '18',
    })
  })
})
