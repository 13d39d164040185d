/**
 * Writes sql/schema.sql, docs/dictionary.md, the picture in docs/tables.md and config/dbt/: what a
 * freshly prepared database holds. `npm run db:dump` builds the program first.
 */
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startEmbeddedDatabase } from '../dist/extensions/embedded-postgres/embedded-database.js'
import { silentLogger } from '../dist/base/logger.js'
import { describeSchema, readCatalog } from '../dist/extensions/doctor/schema/describe-schema.js'
import { dbtExposures, dbtSources, keysOf } from './documents/dbt-models.js'
import { describeDictionary, describeReferences } from './documents/describe-dictionary.js'
import { grafanaDashboard } from './documents/grafana-dashboard.js'
import { readViews } from '../dist/warehouse/schema/shipped-views.js'
import { prepareSchemas } from '../dist/warehouse/schema/prepare-schemas.js'
import { createWarehouse } from '../dist/warehouse/connection/warehouse.js'

const schemaFile = fileURLToPath(new URL('../sql/schema.sql', import.meta.url))
const dictionaryFile = fileURLToPath(new URL('../docs/dictionary.md', import.meta.url))
const tablesFile = fileURLToPath(new URL('../docs/tables.md', import.meta.url))
const inDbt = (name) => fileURLToPath(new URL(`../config/dbt/${name}`, import.meta.url))
const homeDirectory = await mkdtemp(join(tmpdir(), 'tracking-sync-schema-'))
await chmod(homeDirectory, 0o755)
const server = await startEmbeddedDatabase({
  homeDirectory,
  logger: silentLogger,
  extraSettings: { fsync: 'off' },
})
const warehouse = createWarehouse({ url: server.url, schema: 'tracking', logger: silentLogger })
try {
  await prepareSchemas(warehouse, { sleep: () => Promise.resolve() })
  await writeFile(schemaFile, await describeSchema(warehouse))
  const catalog = await readCatalog(warehouse)
  await writeFile(inDbt('sources.yml'), dbtSources(catalog, await keysOf(await readViews())))
  await writeFile(inDbt('exposures.yml'), dbtExposures(catalog, grafanaDashboard()))
  await writeFile(dictionaryFile, describeDictionary(catalog, warehouse.names))
  const picture = describeReferences(catalog, warehouse.names)
  const tables = await readFile(tablesFile, 'utf8')
  await writeFile(
    tablesFile,
    tables.replace(/```mermaid[^]*?```/, () => picture),
  )
} finally {
  await warehouse.close()
  await server.stop()
  await rm(dirname(server.dataDirectory), { recursive: true, force: true })
  await rm(homeDirectory, { recursive: true, force: true })
}
