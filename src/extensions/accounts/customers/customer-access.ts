import { sql, type RawBuilder } from 'kysely'
import { ConnectorError, WarehouseSchemaError } from '../../../base/errors.js'
import {
  quoteIdentifier,
  type DataTable,
  type SchemaNames,
} from '../../../warehouse/connection/schema-names.js'
import { isDistributed } from '../distribute/citus.js'
import type { Session, Warehouse } from '../../../warehouse/connection/warehouse.js'
import { NOT_ALLOWED } from '../../../warehouse/schema/roles.js'
import { withMigrationLock, type MigrateOptions } from '../../../warehouse/schema/run-migrations.js'
import { readAsInvoker } from '../../../warehouse/schema/install-views.js'
import { readViews, type ShippedView } from '../../../warehouse/schema/shipped-views.js'
import {
  allTrue,
  type Database,
  relationRef,
  tableRef,
} from '../../../warehouse/connection/typed-database.js'

/** The objects that are open to customers. */
export interface CustomerReport {
  /** Grant it to the login of a customer. */
  readonly role: string
  readonly tables: readonly string[]
  readonly views: readonly string[]
}

/** The first server whose views can read with the reader's rights (`security_invoker`). */
const OLDEST_SERVER = 150_000

/** The policies of every table below: for others, and for customers. */
const [FOR_ALL, FOR_CUSTOMERS] = ['all_rows', 'own_rows']

/** How rows of a table belong to a customer. */
type Belongs =
  | 'by name'
  | 'by shipment'
  | 'by tracked shipment'
  | 'by container'
  | 'to nobody'
  | 'to the forwarder'

/**
 * The tables that customers read. All others are closed to them: bookkeeping, invoices, and unknown
 * record types. Custom fields can say anything, so customers see none of that table;
 * views that show them beside other columns are open.
 */
const OPEN_TABLES: Readonly<Partial<Record<DataTable, readonly Belongs[]>>> = {
  shipments: ['by name'],
  // A version from when the shipment was another customer's stays that customer's.
  shipment_history: ['by name', 'by shipment'],
  containers: ['by shipment'],
  container_history: ['by container', 'by shipment'],
  container_import_deadlines: ['by container'],
  container_import_deadline_history: ['by container'],
  container_holds: ['by container'],
  container_hold_history: ['by container'],
  container_fees: ['by container'],
  container_fee_history: ['by container'],
  container_changes: ['by container'],
  transport_events: ['by container'],
  tracking_requests: ['by tracked shipment'],
  custom_fields: ['to the forwarder'],
  ports: ['to nobody'],
  metro_areas: ['to nobody'],
  terminals: ['to nobody'],
  rail_terminals: ['to nobody'],
  vessels: ['to nobody'],
  vessel_positions: ['to nobody'],
}

const openTables = Object.entries(OPEN_TABLES) as [DataTable, readonly Belongs[]][]

/**
 * Customers see no row of them: the contracts are the forwarder's. Stays and costs read the rules,
 * so they must be readable; for a customer only reported days bind, and only listed fees cost.
 */
const RULES = ['analytics.free_time_rules', 'analytics.free_time_tiers'] as const

/** Tables beside the data that open views read. */
const OPEN_BESIDE = [
  'analytics.time_zones',
  'analytics.holidays',
  'analytics.working_calendars',
  ...RULES,
] as const

/** Other objects that open views may read. */
const HARMLESS = [
  '{{analytics}}.as_of',
  '{{asOf}}.as_of',
  '{{analytics}}.is_other_voyage',
  '{{analytics}}.charge_for',
  ...OPEN_BESIDE.map((table) => table.replace('analytics', '{{analytics}}')),
]

/**
 * Opens the warehouse to customers: each sees the rows of the shipments whose `customer_name` the
 * table `customer_roles` assigns to a role of theirs, and their dependent rows, in tables and
 * views. Others see the same as before. All or nothing; idempotent. Throws WarehouseSchemaError
 * before PostgreSQL 15, and if this login may not do it.
 */
export async function openToCustomers(
  warehouse: Warehouse,
  options: MigrateOptions,
): Promise<CustomerReport> {
  await refuseUnopenable(warehouse)
  const { names } = warehouse
  const role = customerRole(names)
  const views = openViews(await readViews())
  try {
    await withMigrationLock(warehouse, options, 'open to customers', async (session) => {
      const [found] = await session.query(
        'look for the role of customers',
        sql`select from pg_roles where rolname = ${role}`,
      )
      if (found === undefined) {
        await session.query('create the role', sql`create role ${sql.id(role)} nologin`)
      }
      await apply(session, views)
    })
  } catch (thrown) {
    if (!(thrown instanceof ConnectorError) || thrown.context.code !== NOT_ALLOWED) throw thrown
    throw new WarehouseSchemaError(
      'nothing was changed: only the owner of the tables may open them to customers, and only one ' +
        `who may create roles makes the role: create role ${quoteIdentifier(role)} nologin`,
      { cause: thrown },
    )
  }
  return {
    role,
    tables: openTables.map(([table]) => table),
    views: views.map(({ schema, name }) => `${names[schema]}.${name}`),
  }
}

/** After an upgrade: opens new objects too, if the warehouse is open to customers. */
export async function renewCustomerAccess(session: Session): Promise<void> {
  if (await isOpenToCustomers(session)) await apply(session, openViews(await readViews()))
}

/** Whether the warehouse is open to customers. */
export async function isOpenToCustomers({
  names,
  query,
}: Pick<Session, 'names' | 'query'>): Promise<boolean> {
  const rows = await query(
    'look whether customers may read',
    sql`select from pg_policy where polrelid = to_regclass(${names.table('shipments')}) and polname = ${FOR_CUSTOMERS}`,
  )
  return rows.length > 0
}

/**
 * Revokes all rights of customers, and drops the policies. The role and `customer_roles` stay.
 * False if nothing was open.
 */
export async function closeToCustomers(
  warehouse: Warehouse,
  options: MigrateOptions,
): Promise<boolean> {
  const { names } = warehouse
  if (!(await isOpenToCustomers(warehouse))) return false
  const role = sql.id(customerRole(names))
  const views = (await readViews()).filter(isOfTheInvoker)
  await withMigrationLock(warehouse, options, 'close to customers', async (session) => {
    for (const schema of schemasOf(names)) {
      await session.query(
        'revoke',
        sql`revoke all on all tables in schema ${sql.id(schema)} from ${role}`,
      )
      await session.query('revoke', sql`revoke all on schema ${sql.id(schema)} from ${role}`)
    }
    await session.query(
      'revoke',
      sql`revoke all on ${tableRef('sync.customer_roles')} from ${role}`,
    )
    for (const table of RESTRICTED) {
      for (const policy of [FOR_CUSTOMERS, FOR_ALL]) {
        await session.query(
          'drop a policy',
          sql`drop policy if exists ${sql.id(policy)} on ${tableRef(table)}`,
        )
      }
      await session.query('disable', sql`alter table ${tableRef(table)} disable row level security`)
    }
    for (const { schema, name } of views) {
      const view = relationRef(`${schema}.${name}`)
      await session.query('reset a view', sql`alter view ${view} reset (security_invoker)`)
    }
  })
  return true
}

/** Stored views read tables of the bookkeeping, which are closed to customers anyway. */
function isOfTheInvoker({ schema }: ShippedView): boolean {
  return schema !== 'stored'
}

export function customerRole(names: SchemaNames): string {
  return `${names.data}_customer`
}

function schemasOf(names: SchemaNames): string[] {
  return [names.data, names.analytics, names.parts, names.asOf, names.datasync]
}

/** The tables with policies. */
const RESTRICTED: readonly (keyof Database)[] = [
  ...openTables
    .filter(([, belongs]) => !belongs.includes('to nobody'))
    .map(([table]) => `data.${table}` as const),
  'sync.customer_roles',
  ...RULES,
]

/**
 * The shipped views that read only open tables and open views, by their texts. A view that reads
 * another object, now or in a later version, is closed.
 */
export function openViews(views: readonly ShippedView[]): ShippedView[] {
  const open = new Set([...HARMLESS, ...openTables.map(([table]) => `{{data}}.${table}`)])
  return views.filter((view) => {
    const own = `{{${view.schema}}}.${view.name}`
    const read = [...view.sqlText.matchAll(/\{\{\w+\}\}\.\w+/g)].map(([target]) => target)
    const isOpen = isOfTheInvoker(view) && read.every((one) => one === own || open.has(one))
    if (isOpen) open.add(own)
    return isOpen
  })
}

/**
 * Throws WarehouseSchemaError before PostgreSQL 15, and for a distributed warehouse. Reads only:
 * call it before any change.
 */
export async function refuseUnopenable(warehouse: Warehouse): Promise<void> {
  if (await isDistributed(warehouse)) {
    throw new WarehouseSchemaError(
      'nothing was changed: the warehouse is distributed, and nodes cannot keep customers to their ' +
        'own rows; give them answers, as by `tracking-sync query --format csv`',
    )
  }
  const [server] = await warehouse.query(
    'ask for the version of the server',
    sql<{
      number: number
      version: string
    }>`select current_setting('server_version_num')::integer as number,
    current_setting('server_version') as version`,
  )
  if (server === undefined || server.number >= OLDEST_SERVER) return
  throw new WarehouseSchemaError(
    'nothing was changed: customers need PostgreSQL 15 or later, whose views can read with the ' +
      `rights of who asks; this server is ${server.version}`,
  )
}

async function apply(session: Session, open: readonly ShippedView[]): Promise<void> {
  const { names } = session
  const role = sql.id(customerRole(names))
  await restrict(session, 'sync.customer_roles', OF_OWN_ROLES)
  for (const table of RULES) await restrict(session, table, sql`false`)
  for (const [table, belongs] of openTables) {
    if (belongs.includes('to nobody')) continue
    const conditions = belongs.map((one) => condition(table, one))
    await restrict(session, `data.${table}`, allTrue(conditions))
  }
  for (const view of (await readViews()).filter(isOfTheInvoker)) await readAsInvoker(session, view)
  // Only now, and only these: all other relations, also later ones, are closed.
  for (const schema of schemasOf(names)) {
    await session.query(
      'grant',
      sql`revoke all on all tables in schema ${sql.id(schema)} from ${role}`,
    )
    await session.query('grant', sql`grant usage on schema ${sql.id(schema)} to ${role}`)
  }
  const readable = [
    tableRef('sync.customer_roles'),
    ...OPEN_BESIDE.map((table) => tableRef(table)),
    ...openTables.map(([table]) => tableRef(`data.${table}`)),
    ...open.map(({ schema, name }) => relationRef(`${schema}.${name}`)),
  ]
  for (const one of readable) await session.query('grant', sql`grant select on ${one} to ${role}`)
}

/**
 * All other roles see every row. A member of the role of customers, also if it has other roles,
 * sees the rows that the condition lets through.
 */
async function restrict(
  session: Session,
  name: keyof Database,
  ofCustomer: RawBuilder<boolean>,
): Promise<void> {
  const role = sql.id(customerRole(session.names))
  const table = tableRef(name)
  const [forAll, forCustomers] = [sql.id(FOR_ALL), sql.id(FOR_CUSTOMERS)]
  const statements = [
    sql`alter table ${table} enable row level security`,
    sql`drop policy if exists ${forAll} on ${table}`,
    sql`create policy ${forAll} on ${table} using (true) with check (true)`,
    sql`drop policy if exists ${forCustomers} on ${table}`,
    sql`create policy ${forCustomers} on ${table} as restrictive to ${role} using (${ofCustomer})`,
  ]
  for (const statement of statements) await session.query(`restrict ${name}`, statement)
}

/** Customers see only their own rows of `customer_roles`. Rows of a dropped role are closed. */
const OF_OWN_ROLES = sql<boolean>`exists (
    select from pg_catalog.pg_roles as held
    where held.rolname = customer_roles.role_name and pg_catalog.pg_has_role(held.oid, 'usage')
)`

/**
 * The rows of a table that are a customer's own. The tables it reads have conditions too, so all of
 * them come to `customer_name` in the end. `exists` lets the planner choose between a look-up for
 * each row and one hash of all.
 */
function condition(table: DataTable, belongs: Belongs): RawBuilder<boolean> {
  const column = (name: string): RawBuilder<unknown> => sql.id(table, name)
  const ofShipment = (id: string): RawBuilder<boolean> =>
    sql`exists (select from ${tableRef('data.shipments')} as own where own.shipment_id = ${column(id)})`
  switch (belongs) {
    case 'by name':
      // Read once per statement.
      return sql`${column('customer_name')} = any (
    array(select allowed.customer_name from ${tableRef('sync.customer_roles')} as allowed)
)`
    case 'by shipment':
      return ofShipment('shipment_id')
    case 'by tracked shipment':
      return ofShipment('tracked_object_id')
    case 'by container':
      return sql`exists (
    select from ${tableRef('data.containers')} as own where own.container_id = ${column('container_id')}
)`
    case 'to nobody':
      return sql`true`
    case 'to the forwarder':
      return sql`false`
  }
}
