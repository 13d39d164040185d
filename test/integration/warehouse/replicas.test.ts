import { readFileSync } from 'node:fs'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findAlerts } from '../../../src/status/describe-status.js'
import { readVitals } from '../../../src/status/read-vitals.js'
import { startSimulator, type Simulator } from '../../../src/extensions/simulator/server.js'
import { silentLogger } from '../../../src/base/logger.js'
import { createWarehouse, type Warehouse } from '../../../src/warehouse/connection/warehouse.js'
import { USERS_TABLES } from '../../../src/warehouse/connection/schema-names.js'
import { prepareSchemas } from '../../../src/warehouse/schema/prepare-schemas.js'
import { callCli, type CliCall } from '../../support/call-cli.js'
import { holdOldest } from '../../support/small-world.js'
import { openOwnServer, type OwnServer } from '../../support/own-server.js'
import { waitUntil } from '../../support/run-cli.js'
import { runTestSync } from '../../support/run-test-sync.js'
import { HOUR, START } from '../sync/sync-scene.js'

const PUBLISHING = {
  wal_level: 'logical',
  max_wal_senders: '10',
  // The least that PostgreSQL takes: a slot is behind after a few segments.
  max_wal_size: '32MB',
}
/** A worker that failed is started again after this time; by default five seconds. */
const SUBSCRIBING = { wal_retrieve_retry_interval: '100ms' }

const NO_PAUSE = { sleep: () => Promise.resolve() }

const closers: (() => Promise<void>)[] = []
let simulator: Simulator
let publisher: OwnServer
let subscriber: OwnServer
let source: Place
let target: Place

/** One of the two databases. */
interface Place {
  readonly url: string
  readonly adminUrl: string
  readonly warehouse: Warehouse
  /** A connection of the administrator. */
  readonly admin: pg.Client
}

beforeAll(async () => {
  simulator = await startSimulator({
    seed: 9,
    shipments: 6,
    startAt: START,
    speed: 0,
    rateLimitPerMinute: null,
  })
  closers.push(() => simulator.close())
  holdOldest(simulator)
  publisher = await openOwnServer({ settings: PUBLISHING })
  closers.push(() => publisher.remove())
  source = await openPlace(publisher)
  closers.push(() => closePlace(source))
  await prepareSchemas(source.warehouse, NO_PAUSE)
})

afterAll(async () => {
  for (const close of closers.reverse()) await close()
})

async function openPlace(server: OwnServer): Promise<Place> {
  const { url, adminUrl } = await server.start()
  const admin = await connect(adminUrl)
  const warehouse = createWarehouse({ url, schema: 'tracking', logger: silentLogger })
  return { url, adminUrl, warehouse, admin }
}

async function closePlace({ admin, warehouse }: Place): Promise<void> {
  await admin.end()
  await warehouse.close()
}

async function connect(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString })
  // Its server is killed.
  client.on('error', () => undefined)
  await client.connect()
  await client.query(`set timezone = 'UTC'`)
  return client
}

async function rowsOf<Row>({ admin }: Place, sqlText: string, values?: unknown[]): Promise<Row[]> {
  return (await admin.query(sqlText, values)).rows as Row[]
}

function run({ url }: Place, ...args: readonly string[]): Promise<CliCall> {
  return callCli(args, {
    DATABASE_URL: url,
    TRACKING_API_URL: simulator.url,
    TRACKING_API_KEY: simulator.apiKey,
    TRACKING_LOG_LEVEL: 'silent',
  })
}

const sync = (command: 'backfill' | 'sync' = 'sync') =>
  runTestSync({ warehouse: source.warehouse, source: simulator, command, areChecksDue: true })

async function publishedTables(): Promise<string[]> {
  const rows = await rowsOf<{ name: string }>(
    source,
    `select format('%I.%I', schemaname, tablename) as name
    from pg_publication_tables where pubname = 'tracking' order by 1`,
  )
  return rows.map(({ name }) => name)
}

/** Every row of every table that is published, as JSON in an order of its own. */
async function readRows(place: Place): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {}
  for (const table of await publishedTables()) {
    const rows = await rowsOf<{ row: string }>(
      place,
      `select to_jsonb(one)::text as row from ${table} as one order by 1`,
    )
    found[table] = rows.map(({ row }) => row)
  }
  return found
}

/** Until the subscriber has everything that is committed now. The error tells how far it came. */
async function untilCaughtUp(): Promise<void> {
  const [now] = await rowsOf<{ lsn: string }>(source, 'select pg_current_wal_lsn() as lsn')
  let state = {}
  const hasCaughtUp = async (): Promise<boolean> => {
    const slots = await rowsOf<{ name: string; hasAll: boolean }>(
      source,
      `select slot_name as name, active_pid, confirmed_flush_lsn,
          confirmed_flush_lsn >= $1::pg_lsn as "hasAll"
      from pg_replication_slots`,
      [now!.lsn],
    )
    const copying = await rowsOf(
      target,
      `select srrelid::regclass::text as name, srsubstate from pg_subscription_rel
      where srsubstate != 'r'`,
    )
    state = { now, slots, copying }
    return copying.length === 0 && slots.some(({ name, hasAll }) => name === 'reports' && hasAll)
  }
  await waitUntil('the subscriber has caught up', hasCaughtUp, 60_000).catch((cause: unknown) => {
    throw new Error(`the subscriber came so far: ${JSON.stringify(state)}`, { cause })
  })
}

/** Kills the subscriber while one of its workers waits for a table, and starts it again. */
async function killSubscriberAt(table: string, work: () => Promise<unknown>): Promise<void> {
  const holder = await connect(target.adminUrl)
  await holder.query(`begin`)
  await holder.query(`lock table ${table} in share mode`)
  await work()
  await waitUntil(`a worker waits for ${table}`, async () => {
    const waiting = await rowsOf(
      target,
      `select from pg_locks inner join pg_stat_activity using (pid)
      where relation = $1::regclass and not granted and backend_type like 'logical replication%'`,
      [table],
    )
    return waiting.length > 0
  })
  await subscriber.end('SIGKILL')
  // Its connections are gone already.
  void closePlace(target).catch(() => undefined)
  target = await openPlace(subscriber)
}

/** Changes of our tables since the slot was made: what a subscriber would be sent. */
async function changesSent(): Promise<number> {
  // I, U, D and T: rows inserted, updated and deleted, tables truncated.
  const [row] = await rowsOf<{ changes: number }>(
    source,
    `select count(*)::int as changes
    from pg_logical_slot_peek_binary_changes(
        'watcher', null, null, 'proto_version', '1', 'publication_names', 'tracking'
    )
    where get_byte(data, 0) in (73, 85, 68, 84)`,
  )
  return row!.changes
}

const page = readFileSync(new URL('../../../docs/replicas.md', import.meta.url), 'utf8')
const [, query = ''] = /^## Publish\n.*?^```sql\n(.*?)^```$/ms.exec(page) ?? []

/** Executes what the query prints, with the login that owns the tables and nothing else. */
async function publish(): Promise<string[]> {
  const owner = await connect(source.url)
  const printed = (await owner.query<{ statement: string }>(query)).rows
  for (const { statement } of printed) await owner.query(statement)
  await owner.end()
  return printed.map(({ statement }) => statement)
}

/** A loaded publisher and a subscriber that was killed while it copied. */
async function subscribe(): Promise<void> {
  subscriber = await openOwnServer({ settings: SUBSCRIBING })
  closers.push(() => subscriber.remove())
  target = await openPlace(subscriber)
  closers.push(() => closePlace(target))
  await publish()
  await sync('backfill')
  await prepareSchemas(target.warehouse, NO_PAUSE)
  // As docs/replicas.md says: it reads as the role of readers.
  await source.admin.query(
    `create role tracking_reader; create role tracking_writer;
    create role replica login replication password 'replica' in role tracking_reader`,
  )
  expect((await run(source, 'migrate', '--roles')).exitCode).toBe(0)
  const { hostname, port, pathname } = new URL(source.url)
  const address = `host=${hostname} port=${port} dbname=${pathname.slice(1)}`
  await killSubscriberAt('tracking.vessels', () =>
    target.admin.query(
      `create subscription reports
      connection '${address} user=replica password=replica' publication tracking
      with (synchronous_commit = on)`,
    ),
  )
  await untilCaughtUp()
}

describe('the query of docs/replicas.md', () => {
  it('publishes the tables of data and what users import, and no bookkeeping', async () => {
    expect(await publish()).toEqual([expect.stringMatching(/^create publication tracking for /)])
    const wanted = await rowsOf<{ name: string }>(
      source,
      `select format('%I.%I', schemaname, tablename) as name from pg_tables
      where schemaname = 'tracking' or schemaname = 'tracking_analytics' and tablename = any($1)
      order by 1`,
      [USERS_TABLES],
    )
    expect(wanted.length).toBeGreaterThan(20)
    expect(await publishedTables()).toEqual(wanted.map(({ name }) => name))
    // An update of a table without a key fails once it is published, an unlogged one cannot be, and
    // generated and identity columns have values of their own at each place.
    const unfit = await rowsOf(
      source,
      `select class.relname from pg_publication_rel
      inner join pg_class as class on class.oid = prrelid
      where class.relpersistence != 'p' or class.relreplident != 'd'
          or not exists (select from pg_index where indrelid = class.oid and indisprimary)
          or exists (
              select from pg_attribute
              where attrelid = class.oid and (attgenerated != '' or attidentity != '')
          )`,
    )
    expect(unfit).toEqual([])
  })

  it('adds what the publication lacks, and prints nothing where it lacks nothing', async () => {
    expect(await publish()).toEqual([])
    await source.admin.query('alter publication tracking drop table tracking.ports')
    expect(await publish()).toEqual(['alter publication tracking add table tracking.ports'])
    expect(await publishedTables()).toContain('tracking.ports')
  })
})

it('a subscriber is sent nothing by a sync that finds nothing new', { tags: ['C23'] }, async () => {
  await publish()
  // Time has passed, and ships have moved.
  expect((await sync('backfill')).outcome).toBe('complete')
  await source.admin.query(`select pg_create_logical_replication_slot('watcher', 'pgoutput')`)
  // Records that are seen again have a later stamp.
  simulator.clock.advance(1_000)
  expect((await sync()).outcome).toBe('complete')
  expect((await sync('backfill')).outcome).toBe('complete')
  expect(await changesSent()).toBe(0)
  simulator.clock.advance(5 * 24 * HOUR)
  await sync()
  expect(await changesSent()).toBeGreaterThan(0)
  await source.admin.query(`select pg_drop_replication_slot('watcher')`)
})

const alertsNow = async () => {
  const facts = { slots: { cron: 'off', timeZone: 'UTC' }, isServing: false }
  return findAlerts(await readVitals(source.warehouse), facts)
    .filter(({ name }) => name.startsWith('TrackingSyncSlot'))
    .map(({ key, sentence }) => `${key}: ${sentence}`)
}

describe('a replication slot', { tags: ['A6'] }, () => {
  const writeSegments = async (count: number) => {
    for (let index = 0; index < count; index += 1) {
      await source.admin.query(`select pg_logical_emit_message(false, 'test', ''), pg_switch_wal()`)
    }
  }

  it('is told when nobody reads, when it would fill the disk, and when it is lost', async () => {
    await source.admin.query(`select pg_create_logical_replication_slot('reports', 'pgoutput')`)
    expect(await alertsNow()).toEqual([
      expect.stringMatching(
        /^TrackingSyncSlotUnread:reports: nobody has read from the replication slot reports/,
      ),
    ])
    // Four segments are twice max_wal_size.
    await writeSegments(5)
    expect(await alertsNow()).toEqual([
      expect.stringMatching(
        /^TrackingSyncSlotBehind:reports: the server keeps \d+ MiB of log .* until its disk is full/,
      ),
      expect.stringContaining('TrackingSyncSlotUnread'),
    ])
    await source.admin.query(`alter system set max_slot_wal_keep_size = '128MB'`)
    await source.admin.query('select pg_reload_conf()')
    await waitUntil(
      'the limit is set',
      async () => (await alertsNow())[0]?.includes('is lost after') ?? false,
    )
    await writeSegments(10)
    await source.admin.query('checkpoint')
    expect(await alertsNow()).toEqual([
      expect.stringMatching(
        /^TrackingSyncSlotBehind:reports: the replication slot reports is lost:/,
      ),
    ])
    await source.admin.query(`select pg_drop_replication_slot('reports')`)
    expect(await alertsNow()).toEqual([])
    await source.admin.query(`alter system reset max_slot_wal_keep_size`)
    await source.admin.query('select pg_reload_conf()')
  })
})

describe('a subscriber', { tags: ['release'] }, () => {
  beforeAll(subscribe)

  it('has every row, though it is killed as it copies or follows', { tags: ['C23'] }, async () => {
    expect(await readRows(target)).toEqual(await readRows(source))

    simulator.clock.advance(10 * 24 * HOUR)
    await killSubscriberAt('tracking.container_history', () => sync())
    await untilCaughtUp()
    const rows = await readRows(source)
    expect(rows['tracking.container_history']!.length).toBeGreaterThan(
      rows['tracking.containers']!.length,
    )
    expect(await readRows(target)).toEqual(rows)
  })

  it('is not written to by the program', async () => {
    for (const command of [['sync'], ['backfill']]) {
      const refused = await run(target, ...command)
      expect({ command, exitCode: refused.exitCode }).toEqual({ command, exitCode: 5 })
      expect(refused.stderr).toContain('a subscription fills the tables of tracking here')
    }
    expect(await rowsOf(target, 'select from tracking_sync.sync_runs')).toEqual([])
  })
})
