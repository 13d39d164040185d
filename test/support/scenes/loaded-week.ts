import pg from 'pg'
import { inject } from 'vitest'
import { silentLogger } from '../../../src/base/logger.js'
import { startSimulator, type Simulator } from '../../../src/extensions/simulator/server.js'
import { rawStatement } from '../../../src/warehouse/connection/typed-database.js'
import { createWarehouse, type Warehouse } from '../../../src/warehouse/connection/warehouse.js'
import { isOnCitus } from '../distributed-database.js'
import { runTestSync } from '../run-test-sync.js'
import { holdOldest } from '../small-world.js'
import { createTestDatabase, type TestDatabase } from '../test-database.js'

const DAY = 86_400_000
/** Until now: questions count days from now. */
const WEEK_DAYS = 7

/** A service with sixty shipments after a week, and a warehouse that has followed it. */
export interface LoadedWeek {
  readonly simulator: Simulator
  readonly warehouse: Warehouse
  readonly url: string
  /** Of the syncs, by the clock of the service, the last one at its present. */
  readonly instants: readonly string[]
  sync(): Promise<void>
  query<Result = Record<string, unknown>>(
    sqlText: string,
    ...parameters: unknown[]
  ): Promise<Result[]>
  close(): Promise<void>
}

/**
 * Opens the week in a database of the caller's own. The first file of a run to ask for it loads it;
 * the others clone the database.
 */
export async function openLoadedWeek(): Promise<LoadedWeek> {
  const { database, startAt } = await openDatabase()
  const { simulator, instants } = await playWeek(startAt, () => Promise.resolve())
  const warehouse = createWarehouse({
    url: database.url,
    schema: 'tracking',
    logger: silentLogger,
  })
  return {
    simulator,
    warehouse,
    url: database.url,
    instants,
    sync: async () => {
      await runTestSync({ warehouse, source: simulator, command: 'sync' })
    },
    query: (sqlText, ...parameters) =>
      warehouse.query('look at the rows', rawStatement(sqlText, [...parameters])),
    close: async () => {
      await simulator.close()
      await warehouse.close()
      await database.drop()
    },
  }
}

async function openDatabase(): Promise<{ database: TestDatabase; startAt: Date }> {
  const begun = new Date(Date.now() - WEEK_DAYS * DAY)
  // A distributed database cannot be cloned.
  if (isOnCitus) return { database: await loadWeek(begun), startAt: begun }
  const name = `test_${inject('testRun')}_week`
  const client = new pg.Client({ connectionString: inject('databaseServerUrl') })
  await client.connect()
  try {
    // Files run side by side: one loads, and the others wait here.
    await client.query('select pg_advisory_lock(hashtext($1))', [name])
    const { rows } = await client.query<{ startAt: string }>(
      `select shobj_description(oid, 'pg_database') as "startAt" from pg_database
      where datname = $1`,
      [name],
    )
    let startAt = rows[0]?.startAt
    if (startAt === undefined) {
      startAt = begun.toISOString()
      const loaded = await loadWeek(begun)
      await client.query(`alter database ${loaded.name} rename to ${name}`)
      await client.query(`comment on database ${name} is '${startAt}'`)
    }
    const database = await createTestDatabase({ template: name })
    return { database, startAt: new Date(startAt) }
  } finally {
    await client.end()
  }
}

async function loadWeek(startAt: Date): Promise<TestDatabase> {
  const database = await createTestDatabase({ template: inject('migratedDatabase') })
  const warehouse = createWarehouse({
    url: database.url,
    schema: 'tracking',
    logger: silentLogger,
  })
  const { simulator } = await playWeek(startAt, async (source) => {
    await runTestSync({ warehouse, source, command: 'sync' })
  })
  await simulator.close()
  // As the server does by itself, sooner or later: without it some answers take ten times as long.
  await warehouse.query('analyze', rawStatement('analyze'))
  await warehouse.close()
  return database
}

/** The same week each time: holds come, a fee grows, and at its end a last free day has passed. */
async function playWeek(
  startAt: Date,
  look: (simulator: Simulator) => Promise<void>,
): Promise<{ simulator: Simulator; instants: string[] }> {
  const simulator = await startSimulator({
    seed: 7,
    shipments: 60,
    startAt,
    speed: 0,
    rateLimitPerMinute: null,
  })
  const { clock, edits, world } = simulator
  holdOldest(simulator)
  await look(simulator)
  const instants = [clock.now().toISOString()]
  for (let day = 0; day < WEEK_DAYS; day += 1) {
    clock.advance(DAY)
    const [one, other] = world.page('container', day, 2, clock.now())
    edits.addHold(one!.id, { name: 'customs', status: 'hold', description: null })
    edits.change('container', other!.id, {
      fees_at_pod_terminal: [{ type: 'demurrage', amount: 150 * (day + 1), currency_code: 'USD' }],
    })
    if (day === WEEK_DAYS - 1) overdueOne(simulator)
    await look(simulator)
    instants.push(clock.now().toISOString())
  }
  return { simulator, instants }
}

/** A container that waits at its port for longer than it may: some weeks have none by themselves. */
function overdueOne({ clock, edits, world }: Simulator): void {
  const now = clock.now()
  const waiting = [...world.records('container', now)].find(
    ({ attributes: a }) =>
      a!.pod_discharged_at !== null &&
      a!.pod_full_out_at === null &&
      a!.pod_rail_loaded_at === null,
  )
  const day = new Date(now.getTime() - 2 * DAY).toISOString()
  edits.change('container', waiting!.id, { import_deadlines: { pickup_lfd_line: day } })
}
