import { sql } from 'kysely'
import {
  quoteIdentifier,
  roleNames,
  type SchemaNames,
} from '../../warehouse/connection/schema-names.js'

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
