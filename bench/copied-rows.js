import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { atEnd } from './bench-world.js'
import { readCpuMs } from './processor-time.js'

/**
 * The other floor: every row that a load left in the data tables, as files, to be copied by psql
 * into empty tables that have the same columns and the same primary key and nothing else. Needs
 * `psql` (Debian: postgresql-client).
 */
export async function saveRows(client, databaseUrl) {
  const directory = await mkdtemp(join(tmpdir(), 'tracking-sync-rows-'))
  atEnd(() => rm(directory, { recursive: true, force: true }))
  const tables = []
  for (const name of await listTables(client)) {
    const { rows } = await client.query(`select count(*)::int as count from tracking."${name}"`)
    if (rows[0].count === 0) continue
    const file = join(directory, `${name}.copy`)
    await runPsql(databaseUrl, [`\\copy tracking."${name}" to '${file}'`])
    const { size: bytes } = await stat(file)
    tables.push({ name, rows: rows[0].count, bytes, file, key: await readKey(client, name) })
  }
  return tables
}

/** Empty tables for `copyRows`, in the database of `client`, anew each time. */
export async function layOutFloor(client, tables) {
  await client.query('drop schema if exists floor cascade')
  await client.query('create schema floor')
  for (const { name, key } of tables) {
    await client.query(`create table floor."${name}" (like tracking."${name}")`)
    if (key !== null) await client.query(`alter table floor."${name}" add primary key (${key})`)
  }
}

/** Resolves to the processor time of psql; the server's is the caller's to read. */
export async function copyRows(databaseUrl, tables) {
  return runPsql(
    databaseUrl,
    tables.map(({ name, file }) => `\\copy floor."${name}" from '${file}'`),
  )
}

async function listTables(client) {
  const { rows } = await client.query(
    `select tablename as name from pg_tables where schemaname = 'tracking' order by 1`,
  )
  return rows.map(({ name }) => name)
}

async function readKey(client, name) {
  const { rows } = await client.query(
    `select string_agg(quote_ident(column_name), ', ' order by ordinal_position) as key
    from information_schema.table_constraints as listed
    join information_schema.key_column_usage as used using (constraint_schema, constraint_name)
    where listed.constraint_type = 'PRIMARY KEY'
        and listed.table_schema = 'tracking' and listed.table_name = $1`,
    [name],
  )
  return rows[0].key
}

/**
 * Runs commands in one session. No other child of ours may end meanwhile: what psql used is told
 * apart by the difference.
 */
export async function runPsql(databaseUrl, commands) {
  const url = new URL(databaseUrl)
  const password = decodeURIComponent(url.password)
  url.password = ''
  const before = endedChildrenMs()
  const args = ['--no-psqlrc', '--quiet', '--set', 'ON_ERROR_STOP=1', url.href]
  const child = spawn('psql', [...args, ...commands.flatMap((text) => ['--command', text])], {
    env: { PATH: process.env.PATH, PGPASSWORD: password, PGCLIENTENCODING: 'UTF8' },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const [exitCode] = await once(child, 'close')
  if (exitCode !== 0) throw new Error(`psql ended with ${exitCode}`)
  return endedChildrenMs() - before
}

/** Processor time of all children of this process that have ended. */
export function endedChildrenMs() {
  return readCpuMs(process.pid, { children: true }) - readCpuMs(process.pid)
}
