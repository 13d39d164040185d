import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runMeasured } from '../bench-world.js'
import { endedChildrenMs, runPsql } from '../copied-rows.js'
import { COLUMNS, jqProgram, mergeSql, pgloaderCommands, tablesSql } from './by-hand.js'

/**
 * Other ways to do a backfill that run beside ours in one command. Each loads shipments, containers
 * and transport events of the same service into empty tables of its own and does nothing else: no
 * histories, no deadlines, holds and fees, no quarantine, no checkpoints. `load` resolves to the
 * processor time of all its processes but the server's. One that `canRepeat` may be run again
 * without doubling a row, and rewrites each. One that `isSlow` is measured in the first round only;
 * one that `needs` a program is left out where there is none, and the reader is told.
 */
export const PEERS = [
  {
    name: 'curl, jq and psql by hand',
    needs: 'psql',
    canRepeat: true,
    prepare: (client) => client.query(tablesSql()),
    load: (target) => loadByHand(target, storeWithPsql),
  },
  {
    name: 'curl, jq and pgloader',
    needs: 'pgloader',
    prepare: (client) => client.query(tablesSql()),
    load: (target) => loadByHand(target, storeWithPgloader),
  },
  {
    name: 'a naive connector',
    isSlow: true,
    prepare: (client) => client.query(NAIVE_TABLES),
    load: async ({ apiUrl, apiKey, databaseUrl }) => {
      const file = fileURLToPath(new URL('naive-connector.js', import.meta.url))
      const env = { API_URL: apiUrl, API_KEY: apiKey, DATABASE_URL: databaseUrl }
      return JSON.parse((await runMeasured([file], env)).text).cpuMs
    },
  },
]

const NAIVE_TABLES = ['shipments', 'containers', 'transport_events']
  .map((name) => `create table public.${name} (id text primary key, attributes jsonb not null);`)
  .join('\n')

async function loadByHand({ apiUrl, apiKey, databaseUrl }, store) {
  const directory = await mkdtemp(join(tmpdir(), 'tracking-sync-by-hand-'))
  const before = endedChildrenMs()
  const script = fileURLToPath(new URL('curl-and-jq.sh', import.meta.url))
  await runProgram('bash', [script, directory], {
    API_URL: apiUrl,
    API_KEY: apiKey,
    JQ_PROGRAM: jqProgram(),
    TABLES: Object.keys(COLUMNS).join(' '),
  })
  await store(directory, databaseUrl)
  await rm(directory, { recursive: true, force: true })
  return endedChildrenMs() - before
}

async function storeWithPsql(directory, databaseUrl) {
  const file = join(directory, 'merge.sql')
  await writeFile(file, mergeSql(directory))
  await runPsql(databaseUrl, [`\\i ${file}`])
}

async function storeWithPgloader(directory, databaseUrl) {
  const PGPASSWORD = decodeURIComponent(new URL(databaseUrl).password)
  for (const [at, command] of pgloaderCommands(directory, databaseUrl).entries()) {
    const file = join(directory, `${at}.load`)
    await writeFile(file, command)
    await runProgram('pgloader', ['--quiet', '--root-dir', directory, file], { PGPASSWORD })
  }
}

async function runProgram(program, args, env) {
  const child = spawn(program, args, {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const [exitCode] = await once(child, 'close')
  if (exitCode !== 0) throw new Error(`${program} ended with ${exitCode}`)
}
