import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'

export interface TestDatabase {
  readonly url: string
  readonly name: string
  /** Cuts open connections. Idempotent. */
  drop(): Promise<void>
}

export interface TestDatabaseOptions {
  /** Cloned instead of an empty database; nobody may be connected to it meanwhile. */
  readonly template?: string
  /** Defaults to the server of this test run; named where `inject` is not at hand (global setup). */
  readonly serverUrl?: string
}

/** A database of its own for one test file, UTF8 and empty unless a template is named. The caller drops it. */
export async function createTestDatabase(options: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const serverUrl = options.serverUrl ?? inject('databaseServerUrl')
  const name = `test_${randomUUID().replaceAll('-', '')}`
  const source =
    options.template === undefined
      ? `encoding 'UTF8' template template0`
      : `template ${pg.escapeIdentifier(options.template)}`
  await runOnServer(serverUrl, `create database ${name} ${source}`)
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return {
    url: url.href,
    name,
    drop: () => runOnServer(serverUrl, `drop database if exists ${name} with (force)`),
  }
}

async function runOnServer(serverUrl: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl, connectionTimeoutMillis: 10_000 })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}
