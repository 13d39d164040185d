import type { App } from '../../../app.js'
import { ConfigError } from '../../../base/errors.js'
import { countOf } from '../../../base/phrases.js'
import { flag } from '../../../commands/declare-command.js'
import { migrateOne } from '../../../commands/migrate.js'
import type { Warehouse } from '../../../warehouse/connection/warehouse.js'
import type { CustomerReport } from './customer-access.js'

export interface CustomerFlags {
  readonly roles: boolean
  readonly customers: boolean
  readonly dropCustomers: boolean
}

/** The flags of `migrate` about customers. */
export const CUSTOMER_FLAGS = {
  customers: flag(
    '--customers',
    'Also let customers read their own rows, and only those (PostgreSQL 15 or later).',
  ),
  dropCustomers: flag('--drop-customers', 'Take that from customers again.'),
}

/** Throws ConfigError if both --customers and --drop-customers are given. */
export function refuseBoth({ customers, dropCustomers }: CustomerFlags): void {
  if (!customers || !dropCustomers) return
  const problem = 'cannot be given together with --drop-customers; give one of them'
  throw new ConfigError([{ setting: '--customers', problem }])
}

/** `migrate` of one account, and then what the flags say about customers. */
export async function migrateWithCustomers(app: App, given: CustomerFlags) {
  if (!given.customers && !given.dropCustomers) return migrateOne(app, given.roles)
  const opening = await import('./customer-access.js')
  const warehouse = await app.connect()
  const options = app.migrateOptions()
  if (given.customers) await opening.refuseUnopenable(warehouse)
  const migrated = await migrateOne(app, given.roles)
  if (given.customers) {
    const customers = await opening.openToCustomers(warehouse, options)
    const text = [...migrated.text, ...describeCustomers(customers, warehouse)]
    return { ...migrated, data: { ...migrated.data, customers }, text }
  }
  const isClosedToCustomers = await opening.closeToCustomers(warehouse, options)
  const line = isClosedToCustomers
    ? 'Customers can no longer read anything.'
    : 'Customers could not read anything.'
  return {
    ...migrated,
    data: { ...migrated.data, isClosedToCustomers },
    text: [...migrated.text, line],
  }
}

function describeCustomers(
  { role, tables, views }: CustomerReport,
  { names }: Warehouse,
): string[] {
  return [
    `${countOf(tables.length, 'table')} and ${countOf(views.length, 'view')} are open to ` +
      `members of ${role}: to each the rows of the customers that are its own in ` +
      `${names.sync}.customer_roles.`,
    `For each customer: grant ${role} to <login>; insert into ${names.sync}.customer_roles ` +
      "values ('<login>', '<customer_name>');",
  ]
}
