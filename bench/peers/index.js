import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runMeasured } from '../bench-world.js'
import { endedChildrenMs } from '../copied-rows.js'
import { COLUMNS, jqProgram, mergeSql, tablesSql } from './jq-and-psql.js'

/**
 * Other ways to do a backfill that run beside ours in one command. Each loads shipments, containers and transport events of the same service into empty tables
 * of its own, can be run again without doubling a row, and does nothing else: no histories, no deadlines, holds and fees, no quarantine, no checkpoints.
 * `load` resolves to the processor time of all its processes but the server's. One that `isSlow` is measured in the first round only.
 */
export const PEERS = [
  {
    name: 'curl, jq and psql by hand',
    prepare: (client) => client.query(tablesSql()),
    load: loadByHand,
    countRows,
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
    countRows,
  },
]

const NAIVE_TABLES = ['shipments', 'containers', 'transport_events']
  .map((name) => `create table public.${name} (id text primary key, attributes jsonb not null);`)
  .join('\n')

async function loadByHand({ apiUrl, apiKey, databaseUrl }) {
  const directory = await mkdtemp(join(tmpdir(), 'tracking-sync-by-hand-'))
  const url = new URL(databaseUrl)
  const before = endedChildrenMs()
  const script = fileURLToPath(new URL('jq-and-psql.sh', import.meta.url))
  const child = spawn('bash', [script, directory], {
    env: {
      PATH: process.env.PATH,
      API_URL: apiUrl,
      API_KEY: apiKey,
      DATABASE_URL: databaseUrl,
      PGPASSWORD: decodeURIComponent(url.password),
      JQ_PROGRAM: jqProgram(),
      MERGE_SQL: mergeSql(directory),
      TABLES: Object.keys(COLUMNS).join(' '),
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const [exitCode] = await once(child, 'close')
  await rm(directory, { recursive: true, force: true })
  if (exitCode !== 0) throw new Error(`jq-and-psql.sh ended with ${exitCode}`)
  return endedChildrenMs() - before
}

async function countRows(client) {
  const { rows } = await client.query(`select
    (select count(*)::int from public.shipments) as shipments,
    (select count(*)::int from public.containers) as containers,
    (select count(*)::int from public.transport_events) as transport_events`)
  return rows[0]
}
