import { randomUUID } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { TestProject } from 'vitest/node'
import {
  startEmbeddedDatabase,
  type EmbeddedDatabase,
} from '../../src/extensions/embedded-postgres/embedded-database.js'
import { silentLogger } from '../../src/base/logger.js'
import { prepareSchemas } from '../../src/warehouse/schema/prepare-schemas.js'
import { HOSTILE_OBJECTS, startPooler } from './pgbouncer.js'
import { DISTRIBUTED, dropOnNodes } from './distributed-database.js'
import { copyDatabase } from './prepared-home.js'
import { createTestDatabase, dropDatabasesOf, readerName, readerPassword } from './test-database.js'
import { rawStatement } from '../../src/warehouse/connection/typed-database.js'
import { withWarehouse } from './test-warehouse.js'
import { withClient } from './with-client.js'

declare module 'vitest' {
  export interface ProvidedContext {
    /**
     * A superuser's URL to the server of this test run. Tests make their own database there:
     * `createTestDatabase`.
     */
    databaseServerUrl: string
    /** The same server as programs reach it: through a pooler under `npm run test:pgbouncer`. */
    warehouseServerUrl: string
    /** Part of the name of every database of this test run. */
    testRun: string
    /** The instant at which this test run began. */
    startedAt: string
    /**
     * A migrated and empty database that nobody connects to, to be cloned: a fifth of the time that
     * migrating takes.
     */
    migratedDatabase: string
    /** A home with a stopped embedded database for `prepareHome`, or empty. */
    preparedHome: string
  }
}

/** PgBouncer's program, of `npm run test:pgbouncer`. */
const POOLER = process.env.TEST_PGBOUNCER ?? ''

/** A power cut may ruin this server: it lives for one test run. */
const DISPOSABLE = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }

/**
 * The global setup of the tests that need PostgreSQL: one server for the whole run, which is either
 * the one named by `TEST_DATABASE_URL` (or `TEST_CITUS_URL`, where every migrated warehouse is also
 * distributed) or an embedded one in a temporary directory, of
 * `TEST_POSTGRES_PACKAGE` where `npm run test:matrix` asks for another version. Without a server
 * nothing runs, and the reason is told.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const testRun = randomUUID().slice(0, 8)
  project.provide('testRun', testRun)
  project.provide('startedAt', new Date().toISOString())
  const provide = (serverUrl: string, migrated: string, preparedHome = '', pooled = serverUrl) => {
    project.provide('databaseServerUrl', serverUrl)
    project.provide('warehouseServerUrl', pooled)
    project.provide('migratedDatabase', migrated)
    project.provide('preparedHome', preparedHome)
  }
  const { TEST_CITUS_URL: coordinator = '', TEST_DATABASE_URL: given = '' } = process.env
  if (coordinator !== '') {
    await checkGivenServer(coordinator)
    provide(coordinator, DISTRIBUTED)
    return () => dropOnNodes(testRun, coordinator)
  }
  if (given !== '') {
    await checkGivenServer(given)
    await createReader(given, testRun)
    provide(given, await createTemplate(given, testRun))
    return () => dropDatabasesOf(testRun, given)
  }
  const homeDirectory = await mkdtemp(join(tmpdir(), 'tracking-sync-tests-'))
  // For root: open to the account the server runs under, so that everything stays in this one
  // directory.
  await chmod(homeDirectory, 0o755)
  try {
    const packageName = process.env.TEST_POSTGRES_PACKAGE
    const preparedHome = join(homeDirectory, 'prepared')
    const options = { packageName, logger: silentLogger, extraSettings: DISPOSABLE }
    const prepared = await startEmbeddedDatabase({ ...options, homeDirectory: preparedHome })
    await prepared.stop()
    // Not where root has a temporary directory that nobody else can enter, and not of another
    // version.
    const isCopied = prepared.dataDirectory.startsWith(preparedHome) && process.platform !== 'win32'
    if (isCopied) await copyDatabase(preparedHome, homeDirectory)
    const server = await startEmbeddedDatabase({ ...options, homeDirectory })
    await createReader(server.adminUrl, testRun)
    const template = await createTemplate(server.adminUrl, testRun)
    const pooler = POOLER === '' ? undefined : await startPooler(POOLER, server.adminUrl)
    const toCopy = isCopied && packageName === undefined ? preparedHome : ''
    provide(server.adminUrl, template, toCopy, pooler?.url)
    const endAtOnce = (): void => {
      endWithoutWaiting(server, homeDirectory)
    }
    process.once('exit', endAtOnce)
    return async () => {
      process.off('exit', endAtOnce)
      await pooler?.stop()
      await tearDown(server, homeDirectory)
    }
  } catch (error) {
    await rm(homeDirectory, { recursive: true, force: true })
    throw new Error(
      'No PostgreSQL for the tests. Run "npm ci" (with optional packages) for the embedded one, or set TEST_DATABASE_URL to a server where databases may be created.',
      { cause: error },
    )
  }
}

/** The login of `readerSettings`. */
async function createReader(serverUrl: string, testRun: string): Promise<void> {
  const login = `${readerName(testRun)} login password '${readerPassword(testRun)}'`
  await withClient(serverUrl, (client) =>
    client.query(`create role ${login} in role pg_read_all_data`),
  )
}

/** Resolves to its name. */
async function createTemplate(serverUrl: string, testRun: string): Promise<string> {
  const database = await createTestDatabase({ serverUrl, testRun })
  await withWarehouse({ url: database.url }, async (warehouse) => {
    await prepareSchemas(warehouse, { sleep: () => Promise.resolve() })
    if (POOLER !== '') await warehouse.query('make it hostile', rawStatement(HOSTILE_OBJECTS))
  })
  return database.name
}

async function tearDown(server: EmbeddedDatabase, homeDirectory: string): Promise<void> {
  await server.stop()
  // Elsewhere only when root has a temporary directory that nobody else can enter.
  await rm(dirname(server.dataDirectory), { recursive: true, force: true })
  await rm(homeDirectory, { recursive: true, force: true })
}

/** A signal ends vitest without its teardown, and nothing can be awaited then. */
function endWithoutWaiting({ dataDirectory }: EmbeddedDatabase, homeDirectory: string): void {
  const [pid] = readFileSync(join(dataDirectory, 'postmaster.pid'), 'utf8').split('\n')
  process.kill(Number(pid), 'SIGQUIT')
  // Its processes may write for another moment.
  const options = { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }
  rmSync(dirname(dataDirectory), options)
  rmSync(homeDirectory, options)
}

async function checkGivenServer(url: string): Promise<void> {
  try {
    const { rows } = await withClient(url, (client) =>
      client.query<{ may_create: boolean }>(
        'select rolcreatedb or rolsuper as may_create from pg_roles where rolname = current_user',
      ),
    )
    if (rows[0]?.may_create !== true) throw new Error('its user may not create databases')
  } catch (error) {
    throw new Error(
      'The server in TEST_DATABASE_URL cannot be used for tests; start it and name a user with CREATEDB, or unset the variable to use the embedded PostgreSQL.',
      { cause: error },
    )
  }
}
