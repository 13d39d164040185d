import type { App } from '../../app.js'
import {
  createPool,
  type ConnectionPool,
  type PoolOptions,
} from '../../warehouse/connection/connection-pool.js'
import { SchemaNames, type Schemas } from '../../warehouse/connection/schema-names.js'
import type { Warehouse } from '../../warehouse/connection/warehouse.js'

/** The one schema that the accounts of a configuration share: `<TRACKING_SCHEMA>_accounts`. */
export class AccountsNames extends SchemaNames {
  constructor(base: string) {
    super(base)
    const schema = `${base}_accounts`
    const all: Record<keyof Schemas, string> = {
      data: schema,
      sync: schema,
      analytics: schema,
      parts: schema,
      asOf: schema,
      datasync: schema,
      stored: schema,
    }
    Object.assign(this, all)
  }
}

/** Connections to the database of the settings, for the warehouses of many accounts. */
export async function openPool(
  app: App,
  poolSize: number,
  choice: Pick<PoolOptions, 'isKeptOpen'> = {},
): Promise<ConnectionPool> {
  const { url } = await app.openDatabase()
  const pool = createPool({ url, logger: app.logger, poolSize, ...choice })
  app.onClose(() => pool.close())
  return pool
}

/** The schema that the accounts share, for the table of jobs. */
export function openAccounts(app: App, pool?: ConnectionPool): Promise<Warehouse> {
  const names = new AccountsNames(app.config.schema)
  return app.connect({ names, ...(pool === undefined ? { poolSize: 2 } : { pool }) })
}
