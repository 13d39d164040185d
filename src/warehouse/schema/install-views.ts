import { sql } from 'kysely'
import { ConnectorError, MigrationError } from '../../base/errors.js'
import { createSleep } from '../../base/retry.js'
import { renewGrants } from './roles.js'
import { NOT_UPGRADED, withMigrationLock, type MigrateOptions } from './run-migrations.js'
import { readViews, type ShippedView, storedTable } from './shipped-views.js'
import { refuseReadOnly } from '../connection/read-only.js'
import { commentsSql } from './view-descriptions.js'
import { fillTimeZones } from '../rows/time-zones.js'
import { viewSchemas, withSchemaNames, type SchemaNames } from '../connection/schema-names.js'
import type { SyncTables } from '../connection/tables.js'
import type { Session, Warehouse } from '../connection/warehouse.js'
import { relationRef, tableRef, rawStatement } from '../connection/typed-database.js'

type InstalledView = Pick<
  SyncTables['installed_views'],
  'schema_name' | 'view_name' | 'position' | 'checksum'
>

/** An installed view in the database. */
interface StandingView extends InstalledView {
  /** It reads with the rights of the reader, not of its owner (`security_invoker`). */
  readonly isOfInvoker: boolean
}

/** A shipped view and its row among the installed ones. */
interface WantedView extends InstalledView {
  readonly view: ShippedView
}

export interface InstallOptions extends MigrateOptions {
  /** The views of an extension that store the rows of these. Others of their schema go. */
  readonly storedViews?: (views: readonly ShippedView[]) => Promise<readonly ShippedView[]>
}

/**
 * Installs the shipped views, after `migrate`. Does nothing if they are current. Replaces changed
 * views in place, so that views of others on them stay. If columns changed their order or type it
 * drops all and creates them again; views of others prevent that: MigrationError names them. Drops
 * outdated stored views. One transaction under the lock of the migrations: readers see the old set
 * or the new. Returns the names of created and replaced views.
 */
export async function installViews(
  warehouse: Warehouse,
  views: readonly ShippedView[],
  options: InstallOptions,
): Promise<string[]> {
  const { names } = warehouse
  const wanted = views.map((view, position) => toWanted(view, position, names))
  const stored = ((await options.storedViews?.(views)) ?? []).map((view) =>
    toWanted(view, AFTER_ALL, names),
  )
  if (isSame(await loadInstalled(warehouse, names), wanted, stored)) return []
  await refuseReadOnly(warehouse, NOT_UPGRADED)
  return withMigrationLock(warehouse, options, 'install the views', async (session) => {
    const installed = await loadInstalled(session, names)
    if (isSame(installed, wanted, stored)) return []
    await healSchemas(session, names)
    await fillTimeZones(session, names)
    const isStale = (one: InstalledView): boolean =>
      one.schema_name === names.stored && !isInstalled(one, stored)
    await dropAll(session, names, installed.filter(isStale))
    const others = installed.filter((one) => !isStale(one))
    return install(session, names, others, wanted)
  })
}

/**
 * Creates missing views that store rows. Only the owner of the schemas may: false if another login
 * lacks one.
 */
export async function makeStoredViews(
  warehouse: Warehouse,
  views: readonly ShippedView[],
): Promise<boolean> {
  const { names } = warehouse
  const stored = views.map((view) => toWanted(view, AFTER_ALL, names))
  const isThere = (installed: readonly InstalledView[]): boolean =>
    stored.every((one) => isInstalled(one, installed))
  if (isThere(await loadInstalled(warehouse, names))) return true
  const options = { sleep: createSleep() }
  return withMigrationLock(warehouse, options, 'make the stored views', async (session) => {
    const [login] = await session.query(
      'look who owns the stored views',
      sql<{ isOwner: boolean }>`select pg_has_role(nspowner, 'usage') as "isOwner"
from pg_namespace where nspname = ${names.stored}`,
    )
    if (login?.isOwner !== true) return false
    const installed = await loadInstalled(session, names)
    for (const one of stored.filter((wanted) => !isInstalled(wanted, installed))) {
      await create(session, names, one.view, 'create', 'of the owner')
      await recordInstalled(session, [one])
    }
    await renewGrants(session, names)
    return true
  })
}

/** The position of stored views, which are dropped before the views that they read. */
const AFTER_ALL = 10_000

function toWanted(view: ShippedView, position: number, names: SchemaNames): WantedView {
  const { schema, name, checksum } = view
  return { view, schema_name: names[schema], view_name: name, position, checksum }
}

/** Leaves out views that were dropped by hand. */
async function loadInstalled(session: Session, names: SchemaNames): Promise<StandingView[]> {
  return session.query(
    'look at the installed views',
    sql<StandingView>`select
    schema_name, view_name, position, checksum,
    coalesce('security_invoker=true' = any(reloptions), false) as "isOfInvoker"
from ${tableRef('sync.installed_views')}
inner join pg_namespace
    on nspname = schema_name
inner join pg_class
    on relnamespace = pg_namespace.oid and relname = view_name
where schema_name = any(${viewSchemas(names)}::text[]) and relkind = 'v'
order by position`,
  )
}

/** All wanted views are installed, and only this program's stored views. */
function isSame(
  installed: readonly InstalledView[],
  wanted: readonly WantedView[],
  stored: readonly WantedView[],
): boolean {
  const all = [...wanted, ...stored]
  return (
    wanted.every((one) => isInstalled(one, installed)) &&
    installed.every((one) => isInstalled(one, all))
  )
}

function isInstalled(wanted: InstalledView, installed: readonly InstalledView[]): boolean {
  return installed.some((one) => isSameName(one, wanted) && one.checksum === wanted.checksum)
}

function isSameName(one: InstalledView, two: InstalledView): boolean {
  return one.schema_name === two.schema_name && one.view_name === two.view_name
}

/** Creates dropped schemas of views again. */
async function healSchemas(session: Session, names: SchemaNames): Promise<void> {
  const found = await session.query(
    'look for the schemas of views',
    sql<{ nspname: string }>`select nspname from pg_namespace
where nspname = any(${viewSchemas(names)}::text[])`,
  )
  const isGone = (schema: string): boolean => !found.some(({ nspname }) => nspname === schema)
  for (const schema of viewSchemas(names).filter(isGone)) {
    await session.query('make a schema of views again', sql`create schema ${sql.id(schema)}`)
  }
  if (!isGone(names.asOf)) return
  await session.query(
    'make the clock of views again',
    sql`create function ${relationRef('asOf.as_of')}() returns timestamptz
language sql stable parallel safe
return coalesce(
    nullif(pg_catalog.current_setting('tracking_sync.as_of', true), '')::timestamptz,
    pg_catalog.now()
)`,
  )
}

/**
 * Nodes do not need the views, and creating a hundred nested ones there takes minutes. Without
 * Citus the setting has no effect.
 */
const HERE_ALONE = sql`set local citus.enable_ddl_propagation = 'off'`

/** Drops our views in this transaction; `makeViews` creates them in the same one. */
export async function dropViews(session: Session, names: SchemaNames): Promise<void> {
  await dropAll(session, names, await loadInstalled(session, names))
}

/** Creates every view in this transaction, after `dropViews`. */
export async function makeViews(session: Session, names: SchemaNames): Promise<void> {
  await session.query('keep the views here', HERE_ALONE)
  for (const view of await readViews()) await create(session, names, view, 'create', 'of the owner')
  await session.query('let changes reach the nodes', sql`reset citus.enable_ddl_propagation`)
}

async function install(
  session: Session,
  names: SchemaNames,
  installed: readonly StandingView[],
  wanted: readonly WantedView[],
): Promise<string[]> {
  const changed = wanted.filter((one) => !isInstalled(one, installed))
  const rights = installed.some(({ isOfInvoker }) => isOfInvoker)
    ? 'of the invoker'
    : 'of the owner'
  const stored = installed.filter(({ schema_name: schema }) => schema === names.stored)
  const isNoneGone = installed.every(
    (one) => stored.includes(one) || wanted.some((two) => isSameName(one, two)),
  )
  await session.query('keep the views here', HERE_ALONE)
  const isReplaced = isNoneGone && (await replace(session, names, changed, rights))
  if (!isReplaced) {
    await dropAll(session, names, installed)
    for (const { view } of wanted) await create(session, names, view, 'create', rights)
  }
  await session.db.deleteFrom('sync.installed_views').execute()
  await recordInstalled(session, isReplaced ? [...wanted, ...stored] : wanted)
  return (isReplaced ? changed : wanted).map(({ view_name: name }) => name)
}

async function recordInstalled(session: Session, views: readonly InstalledView[]): Promise<void> {
  await session.query(
    'record the installed views',
    sql`insert into ${tableRef('sync.installed_views')} (schema_name, view_name, position, checksum)
select * from unnest(${views.map((one) => one.schema_name)}::text[],
    ${views.map((one) => one.view_name)}::text[], ${views.map((one) => one.position)}::integer[],
    ${views.map((one) => one.checksum)}::text[])
on conflict (schema_name, view_name) do update
set position = excluded.position, checksum = excluded.checksum`,
  )
}

/** The rights that a view reads with. New views follow the installed ones. */
type ViewRights = 'of the owner' | 'of the invoker'

/** `create or replace view` cannot change existing columns. */
const INVALID_TABLE_DEFINITION = '42P16'

/** Returns false and changes nothing if the views cannot be replaced one by one. */
async function replace(
  session: Session,
  names: SchemaNames,
  changed: readonly WantedView[],
  rights: ViewRights,
): Promise<boolean> {
  await sql`savepoint replace_views`.execute(session.db)
  try {
    for (const { view } of changed) await create(session, names, view, 'create or replace', rights)
    return true
  } catch (thrown) {
    if (!(thrown instanceof ConnectorError) || thrown.context.code !== INVALID_TABLE_DEFINITION) {
      throw thrown
    }
    await sql`rollback to savepoint replace_views`.execute(session.db)
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
  const description = await view.describe?.()
  const target = `{{${view.schema}}}.${view.name}`
  const comments = description === undefined ? '' : commentsSql(target, description)
  const sqlText = view.sqlText.replace(/^create view/m, `${verb} view`)
  await session.query(
    `install the view ${view.schema}.${view.name}`,
    rawStatement(withSchemaNames(`${sqlText}\n${comments}`, names)),
  )
  // Replacing a view loses its options.
  if (rights === 'of the invoker') await readAsInvoker(session, view)
}

/** Makes a view read with the rights of its reader, in the transaction that makes it. */
export async function readAsInvoker(
  session: Session,
  { schema, name }: ShippedView,
): Promise<void> {
  await session.query(
    `set the rights of ${name}`,
    sql`alter view ${relationRef(`${schema}.${name}`)} set (security_invoker = true)`,
  )
}

/** Last first, each by itself: a cascade would drop views of others. */
async function dropAll(
  session: Session,
  names: SchemaNames,
  installed: readonly InstalledView[],
): Promise<void> {
  for (const { schema_name: schema, view_name: view } of [...installed].reverse()) {
    try {
      await session.query(
        `drop the view ${schema}.${view}`,
        sql`drop view if exists ${sql.id(schema, view)}`,
      )
    } catch (thrown) {
      throw isInUse(thrown) ? inUse(`${schema}.${view}`, thrown) : thrown
    }
    if (schema !== names.stored) continue
    const table = sql.id(names.sync, storedTable(view))
    await session.query(`drop the stored ${view}`, sql`drop table if exists ${table}`)
    await session.db.deleteFrom('sync.stored_views').where('view_name', '=', view).execute()
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
    `the columns of ${view} change with this version, or it goes, and something of yours reads from ` +
      `it: ` +
      `${detail.replaceAll('\n', '; ')}. Drop that, run \`tracking-sync migrate\`, ` +
      'and create it again',
    { cause: thrown },
  )
}
