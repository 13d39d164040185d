/**
 * An export of many transport events: its rate and the most memory it has at once, beside
 * `psql \copy` of the same table to CSV, and a second export after one row in a hundred changed.
 *
 *   node bench/lake.js [transport events, 1000000 unless told]
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { atEnd, CLI, connect, openDatabase, round, runBench, runMeasured } from './bench-world.js'
import { figure } from './figures.js'

const events = Number(process.argv[2] ?? 1_000_000)

await runBench(async () => {
  const directory = await mkdtemp(join(tmpdir(), 'tracking-sync-lake-'))
  atEnd(() => rm(directory, { recursive: true, force: true }))
  const databaseUrl = await openDatabase()
  const env = { DATABASE_URL: databaseUrl, TRACKING_LOG_LEVEL: 'silent' }
  await runMeasured([CLI, 'migrate'], env)
  const client = await connect(databaseUrl)
  await fill(client)
  const csv = join(directory, 'events.csv')
  const copied = await copyByPsql(databaseUrl, csv)
  const lake = join(directory, 'lake')
  const args = [CLI, 'export', 'parquet', '--json', '--only', 'transport_events', '--out', lake]
  const exportOnce = async () => {
    const { text, exitCode, ...measured } = await runMeasured(args, env)
    if (exitCode !== 0) throw new Error(`export ended with ${exitCode}`)
    return { ...measured, ...JSON.parse(text).tables[0] }
  }
  const first = await exportOnce()
  await client.query(
    `update tracking.transport_events set voyage_number = 'changed'
    where transport_event_id like '%7_'`,
  )
  const second = await exportOnce()
  const third = await exportOnce()
  return {
    figures: [
      figure('B18 memory', {
        value: (Math.max(first.peakMiB, second.peakMiB) * 2 ** 20) / 1e6,
        note: `${events} transport events`,
      }),
      figure('B18 rate', {
        value: events / first.seconds,
        beside: { what: 'rows/s of psql \\copy to CSV', value: events / copied },
        note: `${(first.bytes / 1e6).toFixed(0)} MB in ${first.files} files; CSV ${((await stat(csv)).size / 1e6).toFixed(0)} MB`,
      }),
    ],
    first,
    changed: second,
    unchanged: third,
    psqlSeconds: round(copied),
    files: (await readdir(lake, { recursive: true })).length,
  }
})

/** Spread over three years, in the order in which they came. */
async function fill(client) {
  await client.query(
    `insert into tracking_sync.sync_runs (command, program_version, started_at)
    values ('backfill', '0', now())`,
  )
  await client.query(
    `insert into tracking.transport_events (
        container_id, transport_event_id, event, voyage_number, timestamp, timezone, location_locode,
        created_at, data_source, shipment_id, location_id, location_type, vessel_id, terminal_id,
        terminal_type, is_estimated, _observed_at, _first_seen_at, _changed_at, _fingerprint, _digest
    )
    select
        gen_random_uuid(), lpad(n::text, 12, '0'), 'container.transport.vessel_arrived', (n % 900)::text,
        now() - n * interval '1 second', 'America/Los_Angeles', 'USLAX',
        timestamptz '2023-01-01' + (n::float8 / $1) * interval '3 years', 'shipping_line',
        gen_random_uuid(), gen_random_uuid(), 'port', gen_random_uuid(), gen_random_uuid(), 'terminal',
        n % 3 = 0, now(), now(), now(), md5(n::text), md5((-n)::text)
    from generate_series(1, $1::int) as n`,
    [events],
  )
  await client.query('vacuum analyze tracking.transport_events')
}

async function copyByPsql(databaseUrl, file) {
  const startedAt = performance.now()
  const child = spawn(
    'psql',
    [
      '--no-psqlrc',
      '--quiet',
      '--command',
      `\\copy tracking.transport_events to '${file}' (format csv)`,
    ],
    { env: { PATH: process.env.PATH, ...psqlEnvironment(databaseUrl) }, stdio: 'inherit' },
  )
  const [exitCode] = await once(child, 'close')
  if (exitCode !== 0) throw new Error(`psql ended with ${exitCode}`)
  return (performance.now() - startedAt) / 1000
}

/** Its password must not stand on the command line. */
function psqlEnvironment(databaseUrl) {
  const { hostname, port, username, password, pathname } = new URL(databaseUrl)
  return {
    PGHOST: hostname,
    PGPORT: port,
    PGUSER: decodeURIComponent(username),
    PGPASSWORD: decodeURIComponent(password),
    PGDATABASE: pathname.slice(1),
  }
}
