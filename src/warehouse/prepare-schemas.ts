import { installViews } from './install-views.js'
import { migrate, readMigrations, type MigrateOptions, type MigrationReport } from './migrate.js'
import { readViews } from './read-views.js'
import type { Warehouse } from './warehouse.js'

/** What was done: migrations applied and views created or replaced, by name. */
export interface PreparationReport extends MigrationReport {
  readonly views: readonly string[]
}

/** Brings tables and views to what this program ships. Idempotent; any number of processes may do it at once. Throws MigrationError. */
export async function prepareSchemas(
  warehouse: Warehouse,
  options: MigrateOptions,
): Promise<PreparationReport> {
  const report = await migrate(warehouse, await readMigrations(), options)
  return { ...report, views: await installViews(warehouse, await readViews(), options) }
}
