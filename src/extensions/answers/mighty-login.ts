import { sql } from 'kysely'
import {
  quoteIdentifier,
  roleNames,
  type SchemaNames,
} from '../../warehouse/connection/schema-names.js'
import type { Warehouse } from '../../warehouse/connection/warehouse.js'

/**
 * A role that lets a login read or write files of the server or run programs there: the login
 * itself, or a role that it may become. Null if there is none.
 */
export const MIGHTY_ROLE = sql<string | null>`(
        select rolname::text
        from pg_catalog.pg_roles
        where (
            rolsuper
            or rolname in ('pg_execute_server_program', 'pg_read_server_files', 'pg_write_server_files')
        ) and pg_has_role(session_user, oid, 'member')
        order by rolname <> session_user, not rolsuper, rolname
        limit 1
    )`

/** Completes a sentence that begins with the login. */
export function describeMight(login: string, role: string): string {
  const is = role === login ? 'is a superuser' : `may become ${role}`
  return `${is}, and your own SQL would reach the files of the server`
}

/** Advice: two ways to give own SQL a login of its own. */
export function adviseReaderLogin(names: SchemaNames, place: string): string {
  const { reader, login } = roleNames(names)
  return (
    `give your own SQL a login: set TRACKING_READER_URL=postgres://${login}:<password>@${place} ` +
    'and run `tracking-sync migrate --roles`, which makes it, or run ' +
    `\`create role ${quoteIdentifier(login)} login password '<password>' in role ` +
    `${quoteIdentifier(reader)}\``
  )
}

export interface LoginRights {
  readonly login: string
  /** See `MIGHTY_ROLE`. */
  readonly mightyRole: string | null
  readonly mayRead: boolean
  readonly mayWrite: boolean
  /** Of all passwords, as members of pg_read_all_data do. */
  readonly seesVerifiers: boolean
}

/** The rights of the login of this connection on the warehouse and its server. */
export async function readLoginRights({
  names,
  query,
}: Pick<Warehouse, 'names' | 'query'>): Promise<LoginRights> {
  const [rights] = await query(
    'look at the rights of the login of own SQL',
    sql<LoginRights>`select
    session_user::text as login,
    ${MIGHTY_ROLE} as "mightyRole",
    coalesce(has_schema_privilege(to_regnamespace(${names.data}), 'usage'), true) as "mayRead",
    exists (
        select
        from pg_class
        inner join pg_namespace
            on pg_namespace.oid = relnamespace
        where nspname = any (${Object.values(names)}::text[])
            and relkind in ('r', 'p')
            and has_table_privilege(pg_class.oid, 'insert, update, delete, truncate')
    ) as "mayWrite",
    has_table_privilege('pg_authid', 'select') as "seesVerifiers"`,
  )
  if (rights === undefined) throw new Error('the session has no login')
  return rights
}
