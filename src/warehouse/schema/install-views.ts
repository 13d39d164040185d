import { sql } from 'kysely'
import { ConnectorError, MigrationError } from '../../base/errors.js'
import { isOpenToCustomers, readAsInvoker } from './customer-access.js'
import { NOT_UPGRADED, withMigrationLock, type MigrateOptions } from './run-migrations.js'
import { readViews, type ShippedView, storedTable } from './shipped-views.js'
import { refuseReadOnly } from '../connection/read-only.js'
import { fillTimeZones } from '../rows/zone-data.js'
import { quoteIdentifier, withSchemaNames, type SchemaNames } from '../connection/schema-names.js'
import type { InstalledViewsTable } from '../connection/tables.js'
import type { Session, Warehouse } from '../connection/warehouse.js'

type InstalledView = Pick<
  InstalledViewsTable,
  'schema_name' | 'view_name' | 'position' | 'checksum'
>

/** A shipped view and its row among the installed ones. */
interface WantedView extends InstalledView {
  readonly view: ShippedView
}

/** Schemas that hold our views; nothing else but what the migrations put there. */
function viewSchemas({ analytics, asOf, datasync, stored }: SchemaNames): string[] {
  return [analytics, asOf, datasync, stored]
}

/**
 * Brings the views to what this program ships, after `migrate`. Does nothing when they are.
 * Replaces changed views in place, so that views of others on top of them stay. Where columns
 * changed their order or type it drops all and creates them again; views of others prevent that:
 * MigrationError names them. One transaction under the lock of the migrations: readers see the old
 * set or the new. Returns the names of the views that were created or replaced.
 */
export async function installViews(
  warehouse: Warehouse,
  views: readonly ShippedView[],
  options: MigrateOptions,
): Promise<string[]> {
  const { names } = warehouse
  const wanted = views.map((view, position) => ({
    view,
    schema_name: names[view.schema],
    view_name: view.name,
    position,
    checksum: view.checksum,
  }))
  if (isSame(await loadInstalled(warehouse, names), wanted)) return []
  await refuseReadOnly(warehouse, NOT_UPGRADED)
  return withMigrationLock(warehouse, options, 'install the views', async (session) => {
    const installed = await loadInstalled(session, names)
    if (isSame(installed, wanted)) return []
    await healSchemas(session, names)
    await fillTimeZones(session, names)
    return install(session, names, installed, wanted)
  })
}

/** Only those that still stand. */
async function loadInstalled(session: Session, names: SchemaNames): Promise<InstalledView[]> {
  return session.query<InstalledView>(
    'look at the installed views',
    `select schema_name, view_name, position, checksum
from ${names.table('installed_views')}
where schema_name = any($1::text[])
    and exists (
        select from pg_class
        inner join pg_namespace
            on pg_namespace.oid = relnamespace
        where nspname = schema_name and relname = view_name and relkind = 'v'
    )
order by position`,
    [viewSchemas(names)],
  )
}

function isSame(installed: readonly InstalledView[], wanted: readonly WantedView[]): boolean {
  return installed.length === wanted.length && wanted.every((one) => isInstalled(one, installed))
}

function isInstalled(wanted: WantedView, installed: readonly InstalledView[]): boolean {
  return installed.some((one) => isSameName(one, wanted) && one.checksum === wanted.checksum)
}

function isSameName(one: InstalledView, two: InstalledView): boolean {
  return one.schema_name === two.schema_name && one.view_name === two.view_name
}

/** Makes the schemas again that hold only views, where they were dropped. */
async function healSchemas(session: Session, names: SchemaNames): Promise<void> {
  const found = await session.query<{ nspname: string }>(
    'look for the schemas of views',
    'select nspname from pg_namespace where nspname = any($1::text[])',
    [viewSchemas(names)],
  )
  const isGone = (schema: string): boolean => !found.some(({ nspname }) => nspname === schema)
  for (const schema of [names.asOf, names.datasync, names.stored].filter(isGone)) {
    await session.query('make a schema of views again', `create schema ${quoteIdentifier(schema)}`)
  }
  if (!isGone(names.asOf)) return
  await session.query(
    'make the clock of views again',
    `create function ${names.in('asOf', 'as_of')}() returns timestamptz
language sql stable parallel safe
return coalesce(
    nullif(pg_catalog.current_setting('tracking_sync.as_of', true), '')::timestamptz,
    pg_catalog.now()
)`,
  )
}

/**
 * Of a distributed warehouse the nodes do not need the views, and to make a hundred that stand on
 * each other there takes minutes. Without Citus it means nothing.
 */
const HERE_ALONE = `set local citus.enable_ddl_propagation = 'off'`

/** Drops our views in this transaction, for `makeViews` to make them again in the same one. */
export async function dropViews(session: Session, names: SchemaNames): Promise<void> {
  await dropAll(session, names, await loadInstalled(session, names))
}

/** Makes every view in this transaction, after `dropViews`. */
export async function makeViews(session: Session, names: SchemaNames): Promise<void> {
  await session.query('keep the views here', HERE_ALONE)
  const rights = (await isOpenToCustomers(session)) ? 'of the invoker' : 'of the owner'
  for (const view of await readViews()) await create(session, names, view, 'create', rights)
  await session.query('let changes reach the nodes', 'reset citus.enable_ddl_propagation')
}

async function install(
  session: Session,
  names: SchemaNames,
  installed: readonly InstalledView[],
  wanted: readonly WantedView[],
): Promise<string[]> {
  const changed = wanted.filter((one) => !isInstalled(one, installed))
  const rights = (await isOpenToCustomers(session)) ? 'of the invoker' : 'of the owner'
  const isNoneGone = installed.every((one) => wanted.some((two) => isSameName(one, two)))
  await session.query('keep the views here', HERE_ALONE)
  const isReplaced = isNoneGone && (await replace(session, names, changed, rights))
  if (!isReplaced) {
    await dropAll(session, names, installed)
    for (const { view } of wanted) await create(session, names, view, 'create', rights)
  }
  await session.sync.deleteFrom('installed_views').execute()
  await session.query(
    'record the installed views',
    `insert into ${names.table('installed_views')} (schema_name, view_name, position, checksum)
select * from unnest($1::text[], $2::text[], $3::integer[], $4::text[])`,
    [
      wanted.map((one) => one.schema_name),
      wanted.map((one) => one.view_name),
      wanted.map((one) => one.position),
      wanted.map((one) => one.checksum),
    ],
  )
  return (isReplaced ? changed : wanted).map(({ view_name: name }) => name)
}

/** Whose rights a view reads with. */
type ViewRights = 'of the owner' | 'of the invoker'

/**
 * PostgreSQL's answers where columns that exist would change: invalid_table_definition from `create
 * or replace view`; syntax_error and datatype_mismatch from a stored view, whose table still has
 * the columns of before.
 */
const COLUMNS_DIFFER: ReadonlySet<unknown> = new Set(['42P16', '42601', '42804'])

/** False, with nothing changed, when the views cannot be replaced one by one. */
async function replace(
  session: Session,
  names: SchemaNames,
  changed: readonly WantedView[],
  rights: ViewRights,
): Promise<boolean> {
  await sql`savepoint replace_views`.execute(session.sync)
  try {
    for (const { view } of changed) await create(session, names, view, 'create or replace', rights)
    return true
  } catch (thrown) {
    if (!(thrown instanceof ConnectorError) || !COLUMNS_DIFFER.has(thrown.context.code)) {
      throw thrown
    }
    await sql`rollback to savepoint replace_views`.execute(session.sync)
    return false
  }
}

async function create(
  session: Session,
  names: SchemaNames,
  view: ShippedView,
  verb: 'create' | 'create or replace',
  rights: ViewRights,
): Promise<void> {
  const sqlText = withSchemaNames(view.sqlText, names)
  await session.query(
    `install the view ${view.schema}.${view.name}`,
    sqlText.replace(/^create view/m, `${verb} view`),
  )
  // A view that is replaced loses what was set.
  if (rights === 'of the invoker') await readAsInvoker(session, view)
}

/** Last first, each alone: no cascade, which would take views of others along. */
async function dropAll(
  session: Session,
  names: SchemaNames,
  installed: readonly InstalledView[],
): Promise<void> {
  for (const { schema_name: schema, view_name: view } of [...installed].reverse()) {
    const dropped = `${quoteIdentifier(schema)}.${quoteIdentifier(view)}`
    try {
      await session.query(`drop the view ${schema}.${view}`, `drop view if exists ${dropped}`)
    } catch (thrown) {
      throw isInUse(thrown) ? inUse(`${schema}.${view}`, thrown) : thrown
    }
    if (schema !== names.stored) continue
    const table = names.in('sync', storedTable(view))
    await session.query(`drop ${table}`, `drop table if exists ${table}`)
  }
}

/** dependent_objects_still_exist */
function isInUse(thrown: unknown): thrown is ConnectorError {
  return thrown instanceof ConnectorError && thrown.context.code === '2BP01'
}

function inUse(view: string, thrown: ConnectorError): MigrationError {
  const { cause } = thrown
  const detail = cause instanceof Error && 'detail' in cause ? String(cause.detail) : ''
  return new MigrationError(
    `the columns of ${view} change with this version, and something of yours reads from it: ` +
      `${detail.replaceAll('\n', '; ')}. Drop that, run \`tracking-sync migrate\`, ` +
      'and create it again',
    { cause: thrown },
  )
}
