import type pg from 'pg'
import { silentLogger } from '../../src/base/logger.js'
import { createWarehouse } from '../../src/warehouse/connection/warehouse.js'
import { carryOut } from '../../src/extensions/accounts/distribute/distribute-warehouse.js'
import { planDistribution } from '../../src/extensions/accounts/distribute/plan-distribution.js'
import { prepareSchemas } from '../../src/warehouse/schema/prepare-schemas.js'
import { withClient } from './with-client.js'

/**
 * With `TEST_CITUS_URL`, the coordinator of a cluster of Citus as a superuser, in a database that
 * knows its nodes: what takes the place of the template there. Every test that asks for a migrated
 * warehouse gets a distributed one.
 */
export const DISTRIBUTED = 'distributed'

/**
 * Of a test that needs what Citus refuses for a distributed table: a trigger, or a view that is
 * stored. It is left out there, and nowhere else.
 */
export const isOnCitus = (process.env.TEST_CITUS_URL ?? '') !== ''

/** Of an advisory lock: nodes that make two databases at once tell one of them a deadlock. */
const ONE_AT_A_TIME = 7_120_614

/** Owns the warehouses: a superuser may not ask questions on nodes. */
const OWNER = 'tracking_test'

interface Address {
  readonly host: string
  readonly port: number
  readonly isCoordinator: boolean
}

async function listNodes(serverUrl: string): Promise<readonly Address[]> {
  const { rows } = await runOn(
    new URL(serverUrl),
    `select nodename as host, nodeport as port, groupid = 0 as "isCoordinator"
    from pg_dist_node order by groupid`,
  )
  return rows as Address[]
}

async function runOn(url: URL, ...statements: readonly string[]): Promise<pg.QueryResult> {
  return withClient(url.href, async (client) => {
    let last: pg.QueryResult | undefined
    for (const statement of statements) last = await client.query(statement)
    return last!
  })
}

function at(serverUrl: string, { host, port }: Address, database?: string): URL {
  const url = new URL(serverUrl)
  url.hostname = host
  url.port = String(port)
  if (database !== undefined) url.pathname = `/${database}`
  return url
}

/** A migrated and distributed warehouse in a database of this name on every node. */
export async function createDistributedDatabase(serverUrl: string, name: string): Promise<URL> {
  return alone(serverUrl, () => createAlone(serverUrl, name))
}

/** Runs it while no other test makes or drops a database on the nodes. */
async function alone<Made>(serverUrl: string, make: () => Promise<Made>): Promise<Made> {
  return withClient(serverUrl, async (client) => {
    await client.query('select pg_advisory_lock($1)', [ONE_AT_A_TIME])
    return make()
  })
}

async function createAlone(serverUrl: string, name: string): Promise<URL> {
  const nodes = await listNodes(serverUrl)
  for (const node of nodes) {
    await runOn(
      at(serverUrl, node),
      `set citus.enable_metadata_sync = off`,
      `set citus.enable_create_database_propagation = off`,
      `do $$ begin create role ${OWNER} login createdb createrole;
      exception when duplicate_object then null; end $$`,
      `create database ${name} owner ${OWNER} encoding 'UTF8' template template0`,
    )
    await runOn(at(serverUrl, node, name), 'create extension citus')
  }
  const [coordinator, ...workers] = nodes
  const url = at(serverUrl, coordinator!, name)
  await runOn(
    url,
    `select citus_set_coordinator_host('${coordinator!.host}', ${coordinator!.port})`,
    ...workers.map(({ host, port }) => `select citus_add_node('${host}', ${port})`),
    // Makes the owner known to the nodes, which only a superuser may do.
    `create schema first authorization ${OWNER}`,
    'create table first.first (at integer primary key)',
    `alter table first.first owner to ${OWNER}`,
    `select create_reference_table('first.first')`,
    'drop schema first cascade',
  )
  url.username = OWNER
  const warehouse = createWarehouse({ url: url.href, schema: 'tracking', logger: silentLogger })
  try {
    await prepareSchemas(warehouse, { sleep: () => Promise.resolve() })
    const { signal } = new AbortController()
    await carryOut(warehouse, await planDistribution(warehouse), { signal })
  } finally {
    await warehouse.close()
  }
  return url
}

export async function dropDistributedDatabase(serverUrl: string, name: string): Promise<void> {
  await alone(serverUrl, async () => {
    for (const node of await listNodes(serverUrl)) {
      await runOn(
        at(serverUrl, node),
        `set citus.enable_create_database_propagation = off`,
        `drop database if exists ${name} with (force)`,
      )
    }
  })
}

/** Drops the databases of a run on the nodes; the server's own are dropped with all others. */
export async function dropOnNodes(testRun: string, serverUrl: string): Promise<void> {
  for (const node of await listNodes(serverUrl)) {
    const { rows } = await runOn(
      at(serverUrl, node),
      `select datname as name from pg_database where starts_with(datname, 'test_${testRun}_')`,
    )
    for (const { name } of rows as { name: string }[]) {
      await runOn(
        at(serverUrl, node),
        `set citus.enable_create_database_propagation = off`,
        `drop database if exists ${name} with (force)`,
      )
    }
  }
}
