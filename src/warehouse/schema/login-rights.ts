import { WarehouseSchemaError } from '../../base/errors.js'
import { readShippedTables } from './compare-schema.js'
import { OWNERS_TABLES, roleNames } from './roles.js'
import type { Session, Warehouse } from '../connection/warehouse.js'

type CatalogAccess = Pick<Session, 'query'> & Pick<Warehouse, 'names'>

/** Shown at most; the role that `migrate --roles` makes has all of them. */
const MOST_STATEMENTS = 5

/**
 * The statements that grant this login what writing rows needs and it lacks, one for each schema or
 * table; empty where nothing is missing. What is not there yet is not missing, but for the right to
 * make it. Reads the catalogs only, in one statement, and one file.
 */
export async function findMissingGrants({ names, query }: CatalogAccess): Promise<string[]> {
  const rows = await query<{ statement: string }>(
    'look for missing rights',
    `with ours as (
        select oid, nspname from pg_namespace where nspname in ($1, $2)
    )

    select
        format('grant create on database %I to %I', current_database(), current_user) as statement
    where not exists (select from ours)
        and not has_database_privilege(current_database(), 'create')
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
    where ours.nspname || '.' || pg_class.relname = any($3)
        and (needed.place = 1 or ours.nspname != $2 or pg_class.relname != all($4))
        and not has_table_privilege(pg_class.oid, needed.privilege)
    group by ours.nspname, pg_class.relname
    order by 1`,
    [names.data, names.sync, await readShippedTables(names), OWNERS_TABLES],
  )
  return rows.map(({ statement }) => statement)
}

/**
 * Throws WarehouseSchemaError that holds the statements where this login lacks a right to write
 * rows: before the service is asked for what cannot be stored.
 */
export async function refuseMissingRights(warehouse: CatalogAccess): Promise<void> {
  const statements = await findMissingGrants(warehouse)
  if (statements.length === 0) return
  const shown = statements.slice(0, MOST_STATEMENTS).join('; ')
  const rest = statements.length - MOST_STATEMENTS
  const more =
    rest > 0
      ? `; and ${rest} more: \`tracking-sync migrate --roles\` makes a role that has them`
      : ''
  throw new WarehouseSchemaError(`this login lacks rights; the owner grants them: ${shown}${more}`)
}

interface RoleRights {
  readonly role: string
  readonly isSuperuser: boolean
  /** Owns one of the schemas or something in them, or may become who does. */
  readonly isOwner: boolean
}

/**
 * What this login may do beyond writing rows, as a sentence with the way out; undefined where it
 * may do nothing more: then neither a bug of ours nor a stolen password can drop or change a table.
 * Reads the catalogs only.
 */
export async function describeExcessRights(warehouse: CatalogAccess): Promise<string | undefined> {
  const { role, isSuperuser, isOwner } = await readRights(warehouse)
  if (!isSuperuser && !isOwner) return undefined
  const { writer } = roleNames(warehouse.names)
  const excess = isSuperuser ? 'is a superuser' : 'owns the schemas'
  return (
    `${role} ${excess}; daily runs need only ${writer}: run \`tracking-sync migrate --roles\`, ` +
    'use a login with that role, and set TRACKING_STRICT=true'
  )
}

/** Throws WarehouseSchemaError when this login may do more than write rows. */
export async function refuseExcessRights(warehouse: CatalogAccess): Promise<void> {
  const excess = await describeExcessRights(warehouse)
  if (excess !== undefined)
    throw new WarehouseSchemaError(`refused, for TRACKING_STRICT: ${excess}`)
}

async function readRights({ names, query }: CatalogAccess): Promise<RoleRights> {
  const [rights] = await query<RoleRights>(
    'look at the rights of this user',
    `select
        rolname::text as role,
        rolsuper as "isSuperuser",
        exists (
            select from pg_namespace
            where nspname = any($1::text[]) and pg_has_role(nspowner, 'member')
        ) or exists (
            select from pg_class
            inner join pg_namespace
                on pg_namespace.oid = relnamespace
            where nspname = any($1::text[]) and pg_has_role(relowner, 'member')
        ) as "isOwner"
    from pg_roles
    where rolname = current_user`,
    [Object.values(names)],
  )
  if (rights === undefined) throw new Error('the session has no role')
  return rights
}
