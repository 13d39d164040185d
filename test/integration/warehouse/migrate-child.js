/**
 * A program that migrates the database named by the second argument under the schema name of the
 * third, from the built program in the first. Prints the names of the migrations it applied as
 * JSON.
 */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const [distDirectory, url, schema] = process.argv.slice(-3)
const load = (name) => import(pathToFileURL(join(distDirectory, name)).href)
const { silentLogger } = await load('base/logger.js')
const { migrate, readMigrations } = await load('warehouse/schema/run-migrations.js')
const { createWarehouse } = await load('warehouse/connection/warehouse.js')

const warehouse = createWarehouse({ url, schema, logger: silentLogger })
try {
  const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
  const { applied } = await migrate(warehouse, await readMigrations(), { sleep })
  process.stdout.write(JSON.stringify(applied))
} finally {
  await warehouse.close()
}
