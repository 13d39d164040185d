import { ConnectorError } from '../../base/errors.js'
import { quoteIdentifier, USERS_TABLES, type SchemaNames } from '../connection/schema-names.js'
import type { Session, Warehouse } from '../connection/warehouse.js'

export interface RoleNames {
  /**
   * May read data, views and the bookkeeping, but no raw payload: what `query`, `status` and
   * `check` need.
   */
  readonly reader: string
  /**
   * May write rows, but none that the owner acts on; changes no schema. What `sync` and `serve`
   * need with TRACKING_MIGRATE=false.
   */
  readonly writer: string
}

/**
 * The roles of one account's schemas: `tracking_reader` and `tracking_writer` unless
 * TRACKING_SCHEMA says otherwise.
 */
export function roleNames(names: SchemaNames): RoleNames {
  return { reader: `${names.data}_reader`, writer: `${names.data}_writer` }
}

/** Tables whose rows decide what the owner's next `migrate` runs: only the owner writes them. */
export const OWNERS_TABLES = ['migrations', 'installed_views'] as const

/**
 * What the reader may see of the tables that hold payloads or come from a secret: all columns but
 * those.
 */
export const SHOWN_TO_READERS: Readonly<Record<string, readonly string[]>> = {
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

/** What PostgreSQL answers to whom may not do something: insufficient_privilege. */
export const NOT_ALLOWED = '42501'

export interface RolesReport {
  /** False: this user may not create roles or grant; the statements are for one who may. */
  readonly isDone: boolean
  readonly roles: RoleNames
  /** Every statement in order, the creation of roles that exist already left out. */
  readonly statements: readonly string[]
}

/**
 * Creates the roles, neither of which can log in, and grants them their rights, also on tables and
 * views to come: all or nothing. Idempotent. People and programs get a login of their own and
 * `grant tracking_reader to …`.
 */
export async function createRoles(warehouse: Warehouse): Promise<RolesReport> {
  const roles = roleNames(warehouse.names)
  const statements = [
    ...(await missingRoles(warehouse, roles)).map(
      (role) => `create role ${quoteIdentifier(role)} nologin`,
    ),
    ...grantStatements(warehouse.names, roles),
  ]
  try {
    await warehouse.transaction('create the roles', async (session) => {
      for (const statement of statements) await session.query('create the roles', statement)
    })
    // A login that is not the owner grants nothing and only gets a warning.
    return { isDone: await canRead(warehouse, roles.reader), roles, statements }
  } catch (thrown) {
    if (!(thrown instanceof ConnectorError) || thrown.context.code !== NOT_ALLOWED) throw thrown
    return { isDone: false, roles, statements }
  }
}

/** After an upgrade, where the roles are there: what is new is theirs as well. */
export async function renewGrants(session: Session, names: SchemaNames): Promise<void> {
  const roles = roleNames(names)
  if ((await missingRoles(session, roles)).length > 0) return
  for (const statement of grantStatements(names, roles)) {
    await session.query('renew the rights of the roles', statement)
  }
}

async function missingRoles(session: Session, roles: RoleNames): Promise<string[]> {
  const wanted = [roles.reader, roles.writer]
  const found = await session.query<{ rolname: string }>(
    'look for the roles',
    'select rolname from pg_roles where rolname = any($1)',
    [wanted],
  )
  return wanted.filter((role) => !found.some(({ rolname }) => rolname === role))
}

/** Whether the role may read every table and view that it should. */
async function canRead({ names, ...session }: Warehouse, role: string): Promise<boolean> {
  const [row] = await session.query<{ hidden: number }>(
    'check the rights of the roles',
    `select count(*) as hidden
    from pg_class
    where relnamespace in (select oid from pg_namespace where nspname = any($1))
        and relkind in ('r', 'p', 'v', 'm')
        and not has_any_column_privilege($2, oid, 'select')`,
    [Object.values(names), role],
  )
  return row?.hidden === 0
}

function grantStatements(names: SchemaNames, roles: RoleNames): string[] {
  const data = quoteIdentifier(names.data)
  const sync = quoteIdentifier(names.sync)
  const views = [names.analytics, names.asOf, names.datasync, names.stored]
  const reader = quoteIdentifier(roles.reader)
  const writer = quoteIdentifier(roles.writer)
  const readable = `${data}, ${views.map(quoteIdentifier).join(', ')}`
  const rows = 'select, insert, update, delete'
  const shown = Object.entries(SHOWN_TO_READERS).flatMap(([table, columns]) => [
    `revoke select on ${names.in('sync', table)} from ${reader}`,
    `grant select (${columns.map(quoteIdentifier).join(', ')}) on ${names.in('sync', table)} to ${reader}`,
  ])
  return [
    // The owner may have opened the schemas to all; then the roles would mean nothing.
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
  ]
}
