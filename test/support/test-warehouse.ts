import { inject } from 'vitest'
import { silentLogger } from '../../src/base/logger.js'
import { prepareSchemas } from '../../src/warehouse/schema/prepare-schemas.js'
import { createWarehouse, type Warehouse } from '../../src/warehouse/connection/warehouse.js'
import { rowReader, type RowReader } from './row-reader.js'
import { createTestDatabase, type TestDatabaseOptions } from './test-database.js'

export interface TestWarehouse extends RowReader {
  readonly warehouse: Warehouse
  readonly url: string
  /** Closes the pool and drops the database. */
  readonly drop: () => Promise<void>
}

export interface TestWarehouseOptions extends TestDatabaseOptions {
  readonly schema?: string
  /** False leaves the database empty. */
  readonly isMigrated?: boolean
}

/** A migrated warehouse in a database of its own, one per test file. */
export async function createTestWarehouse(
  options: TestWarehouseOptions = {},
): Promise<TestWarehouse> {
  const { schema = 'tracking', isMigrated = true, ...databaseOptions } = options
  const isCloned = isMigrated && schema === 'tracking' && Object.keys(databaseOptions).length === 0
  const database = await createTestDatabase(
    isCloned ? { template: inject('migratedDatabase') } : databaseOptions,
  )
  const warehouse = createWarehouse({ url: database.url, schema, logger: silentLogger })
  if (isMigrated && !isCloned) {
    await prepareSchemas(warehouse, { sleep: () => Promise.resolve() })
  }
  return {
    ...rowReader(warehouse),
    warehouse,
    url: database.url,
    drop: async () => {
      await warehouse.close()
      await database.drop()
    },
  }
}

/** Runs `work` with a warehouse, closed afterwards, of a database that is there. */
export async function withWarehouse<Result>(
  options: Partial<Parameters<typeof createWarehouse>[0]>,
  work: (warehouse: Warehouse) => Promise<Result>,
): Promise<Result> {
  const warehouse = createWarehouse({
    url: '',
    schema: 'tracking',
    logger: silentLogger,
    ...options,
  })
  return work(warehouse).finally(() => warehouse.close())
}
