/**
 * Writes sql/schema.sql: what a freshly migrated database holds. `npm run db:dump` builds the program first.
 */
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startEmbeddedDatabase } from '../dist/database/embedded-database.js'
import { silentLogger } from '../dist/logger.js'
import { describeSchema } from '../dist/warehouse/describe-schema.js'
import { migrate, readMigrations } from '../dist/warehouse/migrate.js'
import { createWarehouse } from '../dist/warehouse/warehouse.js'

const target = fileURLToPath(new URL('../sql/schema.sql', import.meta.url))
const homeDirectory = await mkdtemp(join(tmpdir(), 'tracking-sync-schema-'))
await chmod(homeDirectory, 0o755)
const server = await startEmbeddedDatabase({
  homeDirectory,
  logger: silentLogger,
  extraSettings: { fsync: 'off' },
})
const warehouse = createWarehouse({ url: server.url, schema: 'tracking', logger: silentLogger })
try {
  await migrate(warehouse, await readMigrations(), { sleep: () => Promise.resolve() })
  await writeFile(target, await describeSchema(warehouse))
} finally {
  await warehouse.close()
  await server.stop()
  await rm(dirname(server.dataDirectory), { recursive: true, force: true })
  await rm(homeDirectory, { recursive: true, force: true })
}
