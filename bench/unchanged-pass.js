/**
 * What a sync of an account costs in which nothing changed: requests, WAL, rows written, time and memory.
 *
 *   node bench/unchanged-pass.js [shipments, 30000 unless told]
 */
import { fileURLToPath } from 'node:url'
import {
  connect,
  countRows,
  openDatabase,
  print,
  runBench,
  runMeasured,
  START,
  startService,
} from './bench-world.js'

const CONNECTOR = fileURLToPath(new URL('connector.js', import.meta.url))

await runBench(async () => {
  // The clocks of both sides stand still: nothing can change between the two runs.
  const service = await startService('--speed', '0')
  const databaseUrl = await openDatabase()
  const client = await connect(databaseUrl)
  const run = async (command) => {
    const { text, ...measured } = await runMeasured([CONNECTOR], {
      API_URL: service.apiUrl,
      API_KEY: service.apiKey,
      DATABASE_URL: databaseUrl,
      COMMAND: command,
      NOW: START,
    })
    return { ...measured, ...JSON.parse(text) }
  }
  const backfill = await run('backfill')
  const rows = await countRows(client)
  print({ rows, backfill })
  // The server's own tidying up after a load is no cost of the next sync.
  await client.query('vacuum analyze')
  await client.query('vacuum')
  await client.query('checkpoint')
  const before = await readMarks(client)
  const sync = await run('sync')
  const after = await readMarks(client)
  const listPages = sync.streams.reduce((sum, { pages }) => sum + pages, 0)
  return {
    sync,
    listPages,
    requestsBeyondListPages: sync.requests - listPages,
    walBytes: after.bytes - before.bytes,
    walRecords: after.records - before.records,
    // Whole pages that the first write after a server's checkpoint puts into the WAL.
    walPageImages: after.images - before.images,
    rowsWritten: await countRowsSince(client, before.transaction),
  }
})

async function readMarks(client) {
  const { rows } = await client.query(
    `select pg_current_xact_id()::text as transaction,
        (pg_current_wal_lsn() - '0/0')::float8 as bytes,
        wal_records::float8 as records, wal_fpi::float8 as images
    from pg_stat_wal`,
  )
  return rows[0]
}

/** Rows of the data tables that a transaction wrote which began later. */
async function countRowsSince(client, transaction) {
  const { rows: tables } = await client.query(
    `select tablename from pg_tables where schemaname = 'tracking' order by 1`,
  )
  let written = 0
  for (const { tablename } of tables) {
    const { rows } = await client.query(
      `select count(*)::int as count from tracking."${tablename}" where xmin::text::bigint >= $1`,
      [transaction],
    )
    written += rows[0].count
  }
  return written
}
