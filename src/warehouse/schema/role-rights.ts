import { WarehouseSchemaError } from '../../base/errors.js'
import { roleNames } from './roles.js'
import type { Session, Warehouse } from '../connection/warehouse.js'

type CatalogAccess = Pick<Session, 'query'> & Pick<Warehouse, 'names'>

interface RoleRights {
  readonly role: string
  readonly isSuperuser: boolean
  /** Owns one of the schemas or something in them, or may become who does. */
  readonly isOwner: boolean
}

/**
 * What this login may beyond writing rows, as a sentence with the way out; undefined where it may not: then a fault of ours, or somebody who has our password,
 * can neither drop a table nor change one. Reads the catalogs only.
 */
export async function describeExcessRights(warehouse: CatalogAccess): Promise<string | undefined> {
  const { role, isSuperuser, isOwner } = await readRights(warehouse)
  if (!isSuperuser && !isOwner) return undefined
  const { writer } = roleNames(warehouse.names)
  const excess = isSuperuser ? 'is a superuser' : 'owns the schemas'
  return `${role} ${excess}; what runs day by day needs only ${writer}: \`tracking-sync migrate --roles\`, a login with that role, and TRACKING_STRICT=true`
}

/** Throws WarehouseSchemaError when this login may more than writing rows. */
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
