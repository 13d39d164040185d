import { ConnectorError } from '../errors.js'
import { quoteIdentifier, type SchemaNames } from './schema-names.js'
import type { Session, Warehouse } from './warehouse.js'

export interface RoleNames {
  /** May read data and views, and nothing of the bookkeeping, where raw payloads are. */
  readonly reader: string
  /** May write rows; changes no schema. What `sync` and `serve` need with TRACKING_MIGRATE=false. */
  readonly writer: string
}

/** The roles of one account's schemas: `tracking_reader` and `tracking_writer` unless TRACKING_SCHEMA says otherwise. */
export function roleNames(names: SchemaNames): RoleNames {
  return { reader: `${names.data}_reader`, writer: `${names.data}_writer` }
}

/** What PostgreSQL answers to whom may not do something: insufficient_privilege. */
const NOT_ALLOWED = '42501'

export interface RolesReport {
  /** False: this user may not create roles or grant; the statements are for one who may. */
  readonly isDone: boolean
  readonly roles: RoleNames
  /** Every statement in order, the creation of roles that exist already left out. */
  readonly statements: readonly string[]
}

/**
 * Creates the roles, neither of which can log in, and grants them their rights, also on tables and views to come: all or nothing. Idempotent. People and
 * programs get a login of their own and `grant tracking_reader to …`.
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
    // Whoever is not the owner grants nothing and is only warned.
    return { isDone: await canRead(warehouse, roles.reader), roles, statements }
  } catch (thrown) {
    if (!(thrown instanceof ConnectorError) || thrown.context.code !== NOT_ALLOWED) throw thrown
    return { isDone: false, roles, statements }
  }
}

async function missingRoles(session: Session, { reader, writer }: RoleNames): Promise<string[]> {
  const wanted = [reader, writer]
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
        and not has_table_privilege($2, oid, 'select')`,
    [[names.data, names.analytics, names.asOf, names.datasync, names.stored], role],
  )
  return row?.hidden === 0
}

function grantStatements(names: SchemaNames, roles: RoleNames): string[] {
  const [data, sync, analytics, asOf, datasync, stored] = [
    names.data,
    names.sync,
    names.analytics,
    names.asOf,
    names.datasync,
    names.stored,
  ].map(quoteIdentifier) as [string, string, string, string, string, string]
  const reader = quoteIdentifier(roles.reader)
  const writer = quoteIdentifier(roles.writer)
  const readable = `${data}, ${analytics}, ${asOf}, ${datasync}, ${stored}`
  const rows = 'select, insert, update, delete'
  return [
    // The owner may have opened the schemas to all; then the roles would mean nothing.
    `revoke all on schema ${readable}, ${sync} from public`,
    `grant usage on schema ${readable} to ${reader}, ${writer}`,
    `grant usage on schema ${sync} to ${writer}`,
    `grant select on all tables in schema ${readable} to ${reader}, ${writer}`,
    `alter default privileges in schema ${readable} grant select on tables to ${reader}, ${writer}`,
    `grant ${rows} on all tables in schema ${data}, ${sync} to ${writer}`,
    `alter default privileges in schema ${data}, ${sync} grant ${rows} on tables to ${writer}`,
    // The tables of stored views are emptied as a whole.
    `grant truncate on all tables in schema ${sync} to ${writer}`,
    `alter default privileges in schema ${sync} grant truncate on tables to ${writer}`,
    `grant ${rows} on ${analytics}.demurrage_tariffs to ${writer}`,
  ]
}
