import { sql } from 'kysely'
import { tableRef } from '../../../warehouse/connection/typed-database.js'
import type { Session } from '../../../warehouse/connection/warehouse.js'
import { customerRole, isOpenToCustomers } from './customer-access.js'

type Asked = Pick<Session, 'names' | 'query'>

/** A role by which the rows of one customer are read. */
export interface FoundRole {
  readonly role: string
  /** Whether the login of this session may take it. */
  readonly isOurs: boolean
}

/**
 * The role that reads the rows of exactly these names of a customer, in a warehouse that is open to
 * customers. Undefined without one: also if each role with these names reads others too.
 */
export async function findCustomerRole(
  { names, query }: Asked,
  customers: readonly string[],
): Promise<FoundRole | undefined> {
  if (!(await isOpenToCustomers({ names, query }))) return undefined
  const [found] = await query(
    'look for the role of a customer',
    sql<FoundRole>`select
    role.rolname::text as role,
    pg_has_role(
        session_user,
        role.oid,
        case when current_setting('server_version_num')::int >= 160000 then 'SET' else 'MEMBER' end
    ) as "isOurs"
from pg_catalog.pg_roles as role
where not role.rolsuper
    and not role.rolbypassrls
    and pg_has_role(role.oid, ${customerRole(names)}, 'usage')
    and array(
        select distinct allowed.customer_name collate "C"
        from ${tableRef('sync.customer_roles')} as allowed
        inner join pg_catalog.pg_roles as held on held.rolname = allowed.role_name
        where pg_has_role(role.oid, held.oid, 'usage')
        order by 1
    ) = array(
        select distinct given collate "C" from unnest(${customers}::text[]) as given order by 1
    )
order by "isOurs" desc, role
limit 1`,
  )
  return found
}

/** The questions of these names whose views the role may not read. */
export async function findClosedQuestions(
  { names, query }: Asked,
  role: string,
  questions: readonly string[],
): Promise<string[]> {
  const closed = await query(
    'look for closed views',
    sql<{ name: string }>`select name
from unnest(${questions}::text[]) as name
where not coalesce(
    has_table_privilege(${role}, to_regclass(format('%I.%I', ${names.analytics}::text, name)), 'select'),
    false
)`,
  )
  return closed.map(({ name }) => name)
}
