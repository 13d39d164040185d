import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'
import {
  createDistributedDatabase,
  DISTRIBUTED,
  dropDistributedDatabase,
} from './distributed-database.js'
import { withClient } from './with-client.js'

export interface TestDatabase {
  readonly url: string
  readonly name: string
  /** Cuts open connections. Idempotent. */
  drop(): Promise<void>
}

export interface TestDatabaseOptions {
  /** Cloned instead of an empty database; nobody may be connected to it meanwhile. */
  readonly template?: string
  /**
   * Defaults to the server of this test run; named where `inject` is not at hand (global setup).
   */
  readonly serverUrl?: string
  /** Names the run whose end drops what its tests left; defaults to this one. */
  readonly testRun?: string
}

/**
 * A database that nobody else uses, UTF8 and empty unless a template is named. The caller drops it.
 */
export async function createTestDatabase(options: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const serverUrl = options.serverUrl ?? inject('databaseServerUrl')
  const testRun = options.testRun ?? inject('testRun')
  const name = `test_${testRun}_${randomUUID().replaceAll('-', '')}`
  if (options.template === DISTRIBUTED) {
    const { href } = await createDistributedDatabase(serverUrl, name)
    return { url: href, name, drop: () => dropDistributedDatabase(serverUrl, name) }
  }
  const source =
    options.template === undefined
      ? `encoding 'UTF8' template template0`
      : `template ${pg.escapeIdentifier(options.template)}`
  await runOnServer(
    serverUrl,
    (version) => `create database ${name} ${source} ${strategy(version)}`,
  )
  const url = new URL(options.serverUrl ?? inject('warehouseServerUrl'))
  url.pathname = `/${name}`
  return {
    url: url.href,
    name,
    drop: () => runOnServer(serverUrl, () => `drop database if exists ${name} with (force)`),
  }
}

/** A login of every run that reads all and is nothing else. */
export function readerName(testRun: string): string {
  return `reader_${testRun}`
}

export function readerPassword(testRun: string): string {
  return `${testRun}-asks`
}

/**
 * The setting that your own SQL needs if `DATABASE_URL` is a superuser's, as in the tests; empty on
 * Citus, where it is not.
 */
export function readerSettings(url: string): { TRACKING_READER_URL?: string } {
  if (inject('migratedDatabase') === DISTRIBUTED) return {}
  const address = new URL(url)
  address.username = readerName(inject('testRun'))
  address.password = readerPassword(inject('testRun'))
  return { TRACKING_READER_URL: address.href }
}

/** Drops every database of a run, for servers that outlive it. */
export async function dropDatabasesOf(testRun: string, serverUrl: string): Promise<void> {
  await withClient(serverUrl, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      'select datname as name from pg_database where starts_with(datname, $1)',
      [`test_${testRun}_`],
    )
    for (const { name } of rows) {
      await client.query(`drop database if exists ${pg.escapeIdentifier(name)} with (force)`)
    }
    await client.query(`drop role if exists ${readerName(testRun)}`)
  })
}

/**
 * Files are copied in half the time or less that the default of PostgreSQL 15 and later takes,
 * which logs every page; before 15 it is the only way.
 */
function strategy(serverVersion: number): string {
  return serverVersion >= 150_000 ? 'strategy file_copy' : ''
}

async function runOnServer(
  serverUrl: string,
  sqlFor: (serverVersion: number) => string,
): Promise<void> {
  await withClient(serverUrl, async (client) => {
    const { rows } = await client.query<{ version: number }>(
      `select current_setting('server_version_num')::int as version`,
    )
    await client.query(sqlFor(rows[0]!.version))
  })
}
