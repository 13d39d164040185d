/**
 * Where the processor time of a backfill goes: the connector's by phase, from a CPU profile; the
 * database's by statement, as PostgreSQL counts it, and by index, from the same rows inserted into
 * copies of the tables with and without it.
 *
 *   node bench/attribute.js [shipments, 6000 unless told]
 */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { formatTable } from '../dist/commands/output/print-table.js'
import {
  atEnd,
  CONNECTOR,
  connect,
  countRows,
  openDatabase,
  runBench,
  runMeasured,
  START,
  startService,
} from './bench-world.js'
import { readServerCpuMs } from './processor-time.js'

const SHIPMENTS = process.argv[2] ?? '6000'
const SAMPLE_US = 250
const MOST_LINES = 25

/**
 * The phase of a file of ours; what Node and the libraries do counts for the innermost of our
 * phases that asked for it, and for their own where nobody did.
 */
const PHASES = [
  ['collect garbage', /^\(garbage collector\)/],
  ['idle', /^\(idle\)/],
  ['unpack', /zlib|\/dist\/source\/jsonapi\/decode-utf8/],
  ['scan', /\/dist\/source\/jsonapi\/raw-record/],
  ['flatten and fingerprint', /\/dist\/source\/records\//],
  ['parse', /\/dist\/source\/jsonapi\//],
  ['decide', /\/dist\/ingest\/(decide|known|recognize|fingerprint-memory|drift)/],
  ['encode', /\/node_modules\/(pg|pg-protocol)\/.*(utils|serializer|buffer-writer)|array-literal/],
  ['send and receive', /\/node_modules\/(pg|pg-protocol|pg-types|pg-pool)\//],
  ['compare and write', /\/dist\/warehouse\//],
  ['fetch', /\/node_modules\/undici\/|\/dist\/source\/client\//],
  ['ingest', /\/dist\/ingest\//],
  ['lead', /\/dist\/sync\//],
]

await runBench(async () => {
  const service = await startService('--speed', '0', '--shipments', SHIPMENTS)
  const url = await openDatabase({
    autovacuum: 'off',
    shared_preload_libraries: 'pg_stat_statements',
    'pg_stat_statements.max': '1000',
  })
  const client = await connect(url)
  await client.query('create extension pg_stat_statements')
  const run = (command, flags) =>
    runMeasured(
      [CONNECTOR],
      {
        API_URL: service.apiUrl,
        API_KEY: service.apiKey,
        DATABASE_URL: url,
        COMMAND: command,
        NOW: START,
      },
      flags,
    )
  await run('migrate')
  await client.query('select pg_stat_statements_reset()')
  const directory = await mkdtemp(join(tmpdir(), 'tracking-sync-profile-'))
  atEnd(() => rm(directory, { recursive: true, force: true }))
  const profiling = ['--cpu-prof', `--cpu-prof-dir=${directory}`]
  const before = await readServerCpuMs(client)
  const { text } = await run('backfill', [...profiling, `--cpu-prof-interval=${SAMPLE_US}`])
  const databaseMs = (await readServerCpuMs(client)) - before
  const { runCpuMs } = JSON.parse(text)
  const statements = await readStatements(client)
  const rows = await countRows(client)
  const records = rows.shipments + rows.containers + rows.transport_events
  const [profile] = await readdir(directory)
  const phases = attribute(JSON.parse(await readFile(join(directory, profile), 'utf8')))
  const indexes = await measureIndexes(client)
  const micro = (ms) => ((ms * 1000) / records).toFixed(1)
  const connector = phases.map(([phase, ms]) => [phase, micro(ms)])
  const database = statements.map(({ statement, calls, ms }) => [statement, `${calls}`, micro(ms)])
  const perIndex = indexes.map(({ table, index, mb, us }) => [
    table,
    index,
    mb.toFixed(1),
    us.toFixed(1),
  ])
  const perRecord = 'µs a record'
  process.stderr.write(
    [
      `${records} records: connector ${micro(runCpuMs)}, database ${micro(databaseMs)} µs each`,
      formatTable(['connector', perRecord], connector),
      formatTable(['statement', 'calls', perRecord], database.slice(0, MOST_LINES)),
      formatTable(['table', 'index', 'MB', 'µs a row'], perIndex),
      '',
    ].join('\n\n'),
  )
  return { records, runCpuMs, databaseMs, phases, statements, indexes }
})

/** Time in PostgreSQL's statements, which are named by their verb and their first table. */
async function readStatements(client) {
  const { rows } = await client.query(`select query, calls::int, total_exec_time as ms
    from pg_stat_statements
    where query not like '%pg_stat_statements%'
    order by total_exec_time desc`)
  const named = new Map()
  for (const { query, calls, ms } of rows) {
    const statement = nameStatement(query)
    const sum = named.get(statement) ?? { statement, calls: 0, ms: 0 }
    named.set(statement, { statement, calls: sum.calls + calls, ms: sum.ms + ms })
  }
  return [...named.values()].sort((one, two) => two.ms - one.ms)
}

function nameStatement(query) {
  const written = /\b(insert into|update|delete from) ("?[a-z_]+"?\.)?"?([a-z_]+)"?/.exec(query)
  if (written !== null) return `${written[1]} ${written[3]}`
  const read = /\bfrom ("?[a-z_]+"?\.)"?([a-z_]+)"?/.exec(query)
  return read === null ? query.replace(/\s+/g, ' ').slice(0, 40) : `select from ${read[2]}`
}

function attribute({ nodes, samples, timeDeltas }) {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const parents = new Map(
    nodes.flatMap(({ id, children = [] }) => children.map((one) => [one, id])),
  )
  const phaseOf = (id) => {
    for (let at = id; at !== undefined; at = parents.get(at)) {
      const { functionName, url } = byId.get(at).callFrame
      const place = url === '' ? functionName : url
      const found = PHASES.find(([, pattern]) => pattern.test(place))
      if (found !== undefined) return found[0]
    }
    const { functionName, url } = byId.get(id).callFrame
    return url.startsWith('node:') ? 'Node’s sockets and timers' : functionName || 'other'
  }
  const phases = new Map()
  for (const [at, id] of samples.entries()) {
    const phase = phaseOf(id)
    phases.set(phase, (phases.get(phase) ?? 0) + timeDeltas[at] / 1000)
  }
  phases.delete('idle')
  return [...phases].sort(([, one], [, two]) => two - one).filter(([, ms]) => ms >= 1)
}

/** What each index of a large table adds to an insert, by itself, beside the bare table. */
async function measureIndexes(client) {
  const { rows: indexes } = await client.query(`select tablename as table, indexname as index,
      indexdef, pg_relation_size(format('%I.%I', schemaname, indexname)::regclass) / 1e6::float8 as mb
    from pg_indexes
    where schemaname = 'tracking'
        and tablename in ('transport_events', 'containers', 'shipments', 'container_history')
    order by 1, 2`)
  const bare = new Map()
  const found = []
  for (const { table, index, indexdef, mb } of indexes) {
    if (!bare.has(table)) bare.set(table, await measureInsert(client, table))
    const us = (await measureInsert(client, table, indexdef)) - bare.get(table)
    found.push({ table, index, mb, us })
  }
  return found
}

async function measureInsert(client, table, indexdef) {
  await client.query('drop schema if exists attribute cascade')
  await client.query('create schema attribute')
  await client.query(`create table attribute.${table} (like tracking.${table})`)
  if (indexdef !== undefined) {
    await client.query(indexdef.replace(/ ON tracking\./, ' ON attribute.'))
  }
  const before = await readServerCpuMs(client)
  const { rowCount } = await client.query(
    `insert into attribute.${table} select * from tracking.${table}`,
  )
  return (((await readServerCpuMs(client)) - before) * 1000) / rowCount
}
