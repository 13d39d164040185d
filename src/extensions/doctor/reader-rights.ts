import { sql } from 'kysely'
import { randomBytes } from 'node:crypto'
import { scramVerifier } from '../../warehouse/connection/scram-client.js'
import { adviseReaderLogin, describeMight, readLoginRights } from '../answers/mighty-login.js'
import { roleNames } from '../../warehouse/connection/schema-names.js'
import type { Warehouse } from '../../warehouse/connection/warehouse.js'

/**
 * Creates a login for own SQL with a random password in the database of an address, and returns its
 * address; undefined if this login may not. `keepReader` grants its role once the schemas exist.
 */
export async function createReaderLogin(
  warehouse: Warehouse,
  address: string,
): Promise<string | undefined> {
  const { login } = roleNames(warehouse.names)
  const [row] = await warehouse.query(
    'look for the login of own SQL',
    sql<{ mayCreate: boolean; isTaken: boolean }>`select
    (rolsuper or rolcreaterole)
        and current_setting('transaction_read_only') = 'off' as "mayCreate",
    exists (select from pg_roles where rolname = ${login}) as "isTaken"
from pg_roles
where rolname = current_user`,
  )
  const url = new URL(address)
  if (row?.mayCreate !== true || url.host === '') return undefined
  // Another warehouse on this server may have it, with an unknown password.
  url.username = row.isTaken ? `${login}_${randomBytes(3).toString('hex')}` : login
  url.password = randomBytes(24).toString('hex')
  for (const name of ['user', 'password']) url.searchParams.delete(name)
  await warehouse.query(
    'make the login of own SQL',
    sql`create role ${sql.id(url.username)} login password ${sql.lit(scramVerifier(url.password))}`,
  )
  return url.href
}

/**
 * Describes the login of own SQL and its needless rights, in a line. `reader` is connected like own
 * SQL; `isOwn`: by a login of its own. `url` is the address of the program.
 */
export async function describeReader(
  reader: Warehouse,
  { url, isOwn }: { readonly url: string; readonly isOwn: boolean },
): Promise<string> {
  const { names } = reader
  const roles = roleNames(names)
  const { login, mightyRole, mayRead, mayWrite, seesVerifiers } = await readLoginRights(reader)
  // The address that the program uses: a server behind a pooler has another one.
  const { host, pathname } = new URL(url)
  const advice = adviseReaderLogin(names, `${host === '' ? 'localhost' : host}${pathname}`)
  if (mightyRole !== null) {
    return `warning: own SQL is refused, for ${login} ${describeMight(login, mightyRole)}; ${advice}`
  }
  const as = `own SQL is asked as ${login}`
  if (!mayRead) {
    return `${as}; warning: it is not a member of ${roles.reader}: run \`tracking-sync migrate --roles\``
  }
  if (seesVerifiers && !mayWrite) {
    return (
      `${as}; warning: it reads all tables of the database, and the verifiers of all passwords, as ` +
      `members of pg_read_all_data do; ${advice}`
    )
  }
  if (isOwn && !mayWrite) return `${as}, which may read and nothing else`
  if (!mayWrite) return `${as}, the login of DATABASE_URL, which may read and nothing else`
  return (
    `${as}, in read-only transactions; warning: this login may write, and a role that is only ` +
    `set is not a wall; ${advice}`
  )
}
