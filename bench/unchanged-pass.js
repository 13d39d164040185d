/**
 * What a sync of an account costs in which nothing changed: requests, WAL, rows written, time and
 * memory. Every byte of WAL between its start and its end counts, whoever wrote it.
 *
 *   node bench/unchanged-pass.js [shipments, 30000 unless told]
 */
import {
  CONNECTOR,
  connect,
  countRows,
  openDatabase,
  print,
  runBench,
  runMeasured,
  START,
  startService,
} from './bench-world.js'
import { figure } from './figures.js'

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
  const empty = await readMarks(client)
  const backfill = await run('backfill')
  const backfillBytes = (await readMarks(client)).bytes - empty.bytes
  const rows = await countRows(client)
  print({ backfill })
  await client.query('create extension if not exists pg_walinspect')
  // The server's own tidying up after a load is no cost of the next sync.
  await client.query('vacuum analyze')
  await client.query('vacuum')
  await client.query('checkpoint')
  const before = await readMarks(client)
  const sync = await run('sync')
  const after = await readMarks(client)
  // The options of each custom field are a list of their own, read whole and not counted by page.
  const listPages = sync.streams.reduce(
    (sum, { stream, pages, requests }) =>
      sum + (stream === 'custom_field_options' ? requests : pages),
    0,
  )
  const { streams, ...totals } = sync
  const walBytes = after.bytes - before.bytes
  const rowsWritten = await countRowsSince(client, before.transaction)
  const size = `${rows.containers} containers, ${rows.transport_events} transport events`
  return {
    figures: [
      figure('B1 requests', {
        value: sync.requests - listPages,
        beside: { what: 'list pages', value: listPages },
        ratio: sync.requests / listPages,
        note: size,
      }),
      figure('B6 WAL', {
        value: walBytes / 1000,
        beside: { what: 'KB written by the backfill', value: backfillBytes / 1000 },
        note: `${size}; ${rowsWritten} rows of data tables written`,
      }),
    ],
    rows,
    backfill: { seconds: backfill.seconds, peakMiB: backfill.peakMiB },
    sync: { ...totals, unchanged: streams.reduce((sum, stream) => sum + stream.unchanged, 0) },
    listPages,
    requestsBeyondListPages: sync.requests - listPages,
    walBytes,
    walHolds: await readWal(client, before.position, after.position),
    rowsWritten,
  }
})

async function readMarks(client) {
  const { rows } = await client.query(
    `select pg_current_xact_id()::text as transaction,
        pg_current_wal_insert_lsn()::text as position,
        (pg_current_wal_insert_lsn() - '0/0')::float8 as bytes`,
  )
  return rows[0]
}

/**
 * What the WAL holds, by kind of record and relation. Page images are whole pages: of those first
 * written to since the server's checkpoint.
 */
async function readWal(client, from, to) {
  const { rows } = await client.query(
    `select
        concat_ws(' ', log.resource_manager || '/' || log.record_type, relation.relname) as what,
        count(*)::int as records,
        sum(log.record_length)::int as bytes,
        sum(log.fpi_length)::int as "imageBytes"
    from pg_get_wal_records_info($1::pg_lsn, $2::pg_lsn) as log
    left join pg_class as relation
        on relation.relfilenode::text = substring(log.block_ref from 'rel \\d+/\\d+/(\\d+)')
    group by 1
    order by bytes desc
    limit 12`,
    [from, to],
  )
  return Object.fromEntries(
    rows.map(({ what, records, bytes, imageBytes }) => [
      what,
      `${records} records, ${bytes} bytes, ${imageBytes} of them page images`,
    ]),
  )
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
