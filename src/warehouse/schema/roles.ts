import { sql } from 'kysely'
import pg from 'pg'
import {
  ConnectorError,
  WarehouseSchemaError,
  WarehouseUnavailableError,
} from '../../base/errors.js'
import { scramVerifier } from '../connection/scram-client.js'
import {
  quoteIdentifier,
  roleNames,
  viewSchemas,
  USERS_TABLES,
  type RoleNames,
  type SchemaNames,
} from '../connection/schema-names.js'
import type { Session, Warehouse } from '../connection/warehouse.js'
import {
  fromMigrations,
  readShippedTables,
  refuseUnknownTables,
  type CatalogReader,
} from './shipped-tables.js'
import { rawStatement } from '../connection/typed-database.js'

/** Tables that only the owner writes: they steer the next `migrate`, or what a customer sees. */
export const OWNERS_TABLES = ['migrations', 'installed_views', 'customer_roles'] as const

/** The columns that readers see of tables with payloads or secrets. */
export const SHOWN_TO_READERS: Readonly<Record<string, readonly string[]>> = {
  access_tokens: [
    'token_id',
    'name',
    'questions',
    'customer_names',
    'created_at',
    'expires_at',
    'revoked_at',
    'uses',
    'last_used_at',
  ],
  quarantine: [
    'quarantine_id',
    'stream',
    'resource_type',
    'record_id',
    'reason',
    'pointer',
    'payload_hash',
    'source',
    'sync_run_id',
    'sightings',
    'first_seen_at',
    'last_seen_at',
  ],
  source_account: ['is_only', 'address', 'accepted_at'],
  webhook_notifications: [
    'notification_id',
    'event',
    'webhook_id',
    'created_at',
    'received_at',
    'state',
    'attempts',
    'next_attempt_at',
    'processed_at',
    'error',
    'observed_at',
    'reference_type',
    'reference_id',
  ],
}

/** insufficient_privilege */
export const NOT_ALLOWED = '42501'

export interface RolesReport {
  /** False if this user may not create roles or grant; another login must run the statements. */
  readonly isDone: boolean
  readonly roles: RoleNames
  /** Every statement in order, without the creation of existing roles and without passwords. */
  readonly statements: readonly string[]
}

/** A login that is created if it is missing, as a member of the readers. */
export interface ReaderLogin {
  readonly user: string
  readonly password: string
}

/** Replaces a password in a shown statement. */
const HIDDEN = "'…'"

/**
 * Creates the roles, which cannot log in, and grants them their rights, also on future tables and
 * views: all or nothing. Idempotent. People and programs get a login of their own and `grant
 * tracking_reader to …`; so does `login`, for own SQL.
 */
export async function createRoles(warehouse: Warehouse, login?: ReaderLogin): Promise<RolesReport> {
  const roles = roleNames(warehouse.names)
  const wanted = [roles.reader, roles.writer, ...(login === undefined ? [] : [login.user])]
  const statements = [
    ...(await missingRoles(warehouse, wanted)).map((role) =>
      role === login?.user
        ? `create role ${quoteIdentifier(role)} login password ${HIDDEN}`
        : `create role ${quoteIdentifier(role)} nologin`,
    ),
    ...(await grantStatements(warehouse, roles)),
    ...(login === undefined
      ? []
      : [`grant ${quoteIdentifier(roles.reader)} to ${quoteIdentifier(login.user)}`]),
  ]
  const verifier = pg.escapeLiteral(scramVerifier(login?.password ?? ''))
  try {
    await warehouse.transaction('create the roles', async (session) => {
      for (const statement of statements) {
        await session.query(
          'create the roles',
          rawStatement(statement.replace(HIDDEN, () => verifier)),
        )
      }
    })
    // A login that is not the owner grants nothing and only gets a warning.
    return { isDone: await canRead(warehouse, roles.reader), roles, statements }
  } catch (thrown) {
    if (!(thrown instanceof ConnectorError) || thrown.context.code !== NOT_ALLOWED) throw thrown
    return { isDone: false, roles, statements }
  }
}

/** After an upgrade, grants existing roles the new objects. */
export async function renewGrants(session: Session, names: SchemaNames): Promise<void> {
  const roles = roleNames(names)
  if ((await missingRoles(session, [roles.reader, roles.writer])).length > 0) return
  for (const statement of await grantStatements(session, roles)) {
    await session.query('renew the rights of the roles', rawStatement(statement))
  }
}

async function missingRoles(session: Session, wanted: readonly string[]): Promise<string[]> {
  const found = await session.query(
    'look for the roles',
    sql<{ rolname: string }>`select rolname from pg_roles where rolname = any(${wanted})`,
  )
  return wanted.filter((role) => !found.some(({ rolname }) => rolname === role))
}

/** Whether the role may read all its tables and views. */
async function canRead({ names, ...session }: Warehouse, role: string): Promise<boolean> {
  const [row] = await session.query(
    'check the rights of the roles',
    sql<{ hidden: number }>`select count(*) as hidden
    from pg_class
    where relnamespace in (select oid from pg_namespace where nspname = any(${Object.values(names)}))
        and relkind in ('r', 'p', 'v', 'm')
        and not has_any_column_privilege(${role}, oid, 'select')`,
  )
  return row?.hidden === 0
}

/**
 * Our tables with row-level security but without a policy that lets a row pass, as an event trigger
 * of the server makes them: only the owner sees rows, or no login if it is forced. The list of
 * migrations never has a policy of ours.
 */
export async function findSealedTables({ names, query }: CatalogReader): Promise<string[]> {
  const sealed = await query(
    'look for row-level security',
    sql<{ name: string }>`select format('%I.%I', nspname, relname) as name
from pg_class
inner join pg_namespace
    on pg_namespace.oid = relnamespace
where (nspname || '.' || relname = any(${await readShippedTables(names)}::text[]) or nspname = ${names.sync} and relname ~ '^rows_of_')
    and relrowsecurity
    and exists (select ${fromMigrations(names)})
    and (relname = 'migrations' or not exists (select from pg_policy where polrelid = pg_class.oid))
order by 1`,
  )
  return sealed.map(({ name }) => name)
}

/** Switches foreign row-level security off, and returns the statements; none for a non-owner. */
export async function unsealTables(warehouse: Warehouse): Promise<string[]> {
  const statements = (await findSealedTables(warehouse)).map(unseal)
  try {
    await warehouse.transaction('switch row-level security off', async (session) => {
      for (const statement of statements)
        await session.query('switch it off', rawStatement(statement))
    })
    return statements
  } catch (thrown) {
    if (!(thrown instanceof ConnectorError) || thrown.context.code !== NOT_ALLOWED) throw thrown
    return []
  }
}

function unseal(table: string): string {
  return `alter table ${table} disable row level security`
}

async function grantStatements(session: CatalogReader, roles: RoleNames): Promise<string[]> {
  const { names } = session
  const data = quoteIdentifier(names.data)
  const sync = quoteIdentifier(names.sync)
  const views = viewSchemas(names)
  const reader = quoteIdentifier(roles.reader)
  const writer = quoteIdentifier(roles.writer)
  const readable = `${data}, ${views.map(quoteIdentifier).join(', ')}`
  const rows = 'select, insert, update, delete'
  const shown = Object.entries(SHOWN_TO_READERS).flatMap(([table, columns]) => [
    `revoke select on ${names.in('sync', table)} from ${reader}`,
    `grant select (${columns.map(quoteIdentifier).join(', ')}) on ${names.in('sync', table)} to ${reader}`,
  ])
  return [
    // The owner may have opened the schemas to all; the roles would then mean nothing.
    `revoke all on schema ${readable}, ${sync} from public`,
    `grant usage on schema ${readable}, ${sync} to ${reader}, ${writer}`,
    `grant select on all tables in schema ${readable} to ${reader}, ${writer}`,
    `alter default privileges in schema ${readable} grant select on tables to ${reader}, ${writer}`,
    `grant ${rows} on all tables in schema ${data}, ${sync} to ${writer}`,
    `alter default privileges in schema ${data}, ${sync} grant ${rows} on tables to ${writer}`,
    ...USERS_TABLES.map((table) => `grant ${rows} on ${names.table(table)} to ${writer}`),
    ...OWNERS_TABLES.map(
      (table) =>
        `revoke insert, update, delete, truncate on ${names.in('sync', table)} from ${writer}`,
    ),
    `grant select on all tables in schema ${sync} to ${reader}`,
    ...shown,
    ...(await findSealedTables(session)).map(unseal),
  ]
}

/** With more missing rights, the message names the role of `migrate --roles` instead. */
const MOST_STATEMENTS = 5

/**
 * The statements that grant this login its missing rights for writing rows, one for each schema or
 * table; empty if none is missing. Objects that do not exist yet do not count, except the right to
 * create them. Reads only the catalogs, in one statement, and one file.
 */
export async function findMissingGrants({ names, query }: CatalogReader): Promise<string[]> {
  const grants = await query(
    'look for missing rights',
    sql<{ statement: string }>`with ours as (
        select oid, nspname from pg_namespace where nspname in (${names.sync}, ${names.data})
    )

    select
        format('grant create on database %I to %I', current_database(), current_user) as statement
    where not exists (select ${fromMigrations(names)}) and not has_database_privilege(current_database(), 'create')
    union all
    select format('grant create on schema %I to %I', nspname, current_user)
    from ours
    where not has_schema_privilege(oid, 'create') and not exists (select ${fromMigrations(names)})
    union all
    select format('grant usage on schema %I to %I', nspname, current_user)
    from ours
    where not has_schema_privilege(oid, 'usage')
    union all
    select format(
        'grant %s on %I.%I to %I',
        string_agg(needed.privilege, ', ' order by needed.place),
        ours.nspname,
        pg_class.relname,
        current_user
    )
    from pg_class
    inner join ours
        on pg_class.relnamespace = ours.oid
    cross join (
        values (1, 'select'), (2, 'insert'), (3, 'update'), (4, 'delete')
    ) as needed (place, privilege)
    where ours.nspname || '.' || pg_class.relname = any(${await readShippedTables(names)})
        and (needed.place = 1 or ours.nspname != ${names.sync} or pg_class.relname != all(${OWNERS_TABLES}))
        and not has_table_privilege(pg_class.oid, needed.privilege)
    group by ours.nspname, pg_class.relname
    order by 1`,
  )
  return grants.map(({ statement }) => statement)
}

/**
 * Throws WarehouseSchemaError with the statements if this login lacks a right to write rows: before
 * the service is asked for data that cannot be stored.
 */
export async function refuseMissingRights(warehouse: CatalogReader): Promise<void> {
  const statements = await findMissingGrants(warehouse)
  if (statements.length === 0) return
  await refuseUnknownTables(warehouse)
  if (statements.length <= MOST_STATEMENTS) {
    throw new WarehouseSchemaError(
      `this login lacks rights; the owner grants them: ${statements.join('; ')}`,
    )
  }
  const { role } = await readRights(warehouse)
  const wanted = roleNames(warehouse.names).writer
  throw new WarehouseSchemaError(
    `${role} may not write the tables of ${warehouse.names.data}, as this command does; use a login ` +
      `that has the role ${wanted}, or have the owner run \`tracking-sync migrate --roles\` and ` +
      `\`grant ${quoteIdentifier(wanted)} to ${quoteIdentifier(role)}\``,
  )
}

interface RoleRights {
  readonly role: string
  readonly isSuperuser: boolean
  /** Owns one of the schemas or an object in them, or may become its owner. */
  readonly isOwner: boolean
}

/**
 * Describes the rights of this login beyond writing rows, with the way out; undefined if it has
 * none: then neither a bug of ours nor a stolen password can drop or change a table. Reads the
 * catalogs only.
 */
export async function describeExcessRights(warehouse: CatalogReader): Promise<string | undefined> {
  const { role, isSuperuser, isOwner } = await readRights(warehouse)
  if (!isSuperuser && !isOwner) return undefined
  const excess = isSuperuser ? 'is a superuser' : 'owns the schemas'
  return (
    `${role} ${excess}; daily runs need only ${roleNames(warehouse.names).writer}: ` +
    'run `tracking-sync migrate --roles`, ' +
    'use a login with that role, and set TRACKING_STRICT=true'
  )
}

/** Throws WarehouseSchemaError if this login may do more than write rows. */
export async function refuseExcessRights(warehouse: CatalogReader): Promise<void> {
  const excess = await describeExcessRights(warehouse)
  if (excess !== undefined)
    throw new WarehouseSchemaError(`refused, for TRACKING_STRICT: ${excess}`)
}

async function readRights({ names, query }: CatalogReader): Promise<RoleRights> {
  const [rights] = await query(
    'look at the rights of this user',
    sql<RoleRights>`select
        rolname::text as role,
        rolsuper as "isSuperuser",
        exists (
            select from pg_namespace
            where nspname = any(${Object.values(names)}::text[]) and pg_has_role(nspowner, 'member')
        ) or exists (
            select from pg_class
            inner join pg_namespace
                on pg_namespace.oid = relnamespace
            where nspname = any(${Object.values(names)}::text[]) and pg_has_role(relowner, 'member')
        ) as "isOwner"
    from pg_roles
    where rolname = current_user`,
  )
  if (rights === undefined) throw new Error('the session has no role')
  return rights
}

/** The name and the password of an address. */
export function loginOf(url: string): ReaderLogin {
  const { username, password } = new URL(url)
  return { user: decode(username), password: decode(password) }
}

/** Keeps a bare percent sign. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/**
 * Creates the login of own SQL if it is missing, and makes it a member of the readers if it may not
 * read. Does nothing if the session's login may not create roles. `check` reports what the server
 * refuses.
 */
export async function keepReader(warehouse: Warehouse, readerUrl: string): Promise<void> {
  const login = loginOf(readerUrl)
  const [row] = await warehouse.query(
    'look for the login of own SQL',
    sql<{ isWanted: boolean }>`select
    (rolsuper or rolcreaterole)
    and current_setting('transaction_read_only') = 'off'
    and not coalesce(
        (
            select has_schema_privilege(login.oid, to_regnamespace(${warehouse.names.data}), 'usage')
            from pg_roles as login
            where rolname = ${login.user}
        ),
        false
    ) as "isWanted"
from pg_roles
where rolname = current_user`,
  )
  if (row?.isWanted !== true) return
  try {
    await createRoles(warehouse, login)
  } catch (thrown) {
    // Another process may have created it meanwhile, and a server may have its own rules.
    if (!(thrown instanceof ConnectorError) || thrown instanceof WarehouseUnavailableError) {
      throw thrown
    }
  }
}
