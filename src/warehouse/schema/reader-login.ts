import { sql } from 'kysely'
import { ConnectorError, WarehouseUnavailableError } from '../../base/errors.js'
import type { Warehouse } from '../connection/warehouse.js'
import { createRoles, type ReaderLogin } from './roles.js'

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
