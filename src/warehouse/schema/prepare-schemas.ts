import { ConfigError, ConnectorError, MigrationError } from '../../base/errors.js'
import { installViews, type InstallOptions } from './install-views.js'
import {
  migrate,
  readMigrations,
  readSchemaVersion,
  withMigrationLock,
  type MigrationReport,
} from './run-migrations.js'
import { readViews } from './shipped-views.js'
import { NOT_ALLOWED, refuseExcessRights, renewGrants } from './roles.js'
import type { Session, Warehouse } from '../connection/warehouse.js'

/** Report: migrations applied and views created or replaced, by name. */
export interface PreparationReport extends MigrationReport {
  readonly views: readonly string[]
}

export interface PrepareOptions extends InstallOptions {
  /** Throws if our statements cannot work in this database. */
  readonly refuse?: (warehouse: Warehouse) => Promise<void>
  /** After migrations were applied, before the views are installed. */
  readonly onMigrated?: (warehouse: Warehouse) => Promise<void>
  /** Called after an upgrade, in the transaction that grants the roles the new objects. */
  readonly renewAccess?: (session: Session) => Promise<void>
}

/**
 * Brings tables, views and the rights of the roles up to date. Idempotent; any number of processes
 * may do it at once. Throws MigrationError, also for work that only the owner may do.
 */
export async function prepareSchemas(
  warehouse: Warehouse,
  options: PrepareOptions,
): Promise<PreparationReport> {
  await options.refuse?.(warehouse)
  try {
    const report = await migrate(warehouse, await readMigrations(), options)
    if (report.applied.length > 0) await options.onMigrated?.(warehouse)
    const views = await installViews(warehouse, await readViews(), options)
    if (report.applied.length + views.length > 0) {
      await withMigrationLock(warehouse, options, 'renew what others may read', async (session) => {
        await renewGrants(session, warehouse.names)
        await options.renewAccess?.(session)
      })
    }
    return { ...report, views }
  } catch (thrown) {
    if (!(thrown instanceof ConnectorError)) throw thrown
    const { code } = thrown.context
    // undefined_table, undefined_column, undefined_function, invalid_schema_name: migrations had
    // made it
    if (['42P01', '42703', '42883', '3F000'].includes(String(code))) {
      const said = thrown.cause instanceof Error ? thrown.cause.message : thrown.message
      throw new MigrationError(
        `something that the migrations of ${warehouse.names.data} had made is gone: ${said}. ` +
          'Bring it back from a backup or as in sql/schema.sql (`tracking-sync check` names all), ' +
          'or drop the schemas and run `tracking-sync backfill`',
        { cause: thrown },
      )
    }
    if (code !== NOT_ALLOWED) throw thrown
    throw new MigrationError(
      `the schemas of ${warehouse.names.data} are not those of this version of the program, ` +
        'and this login may not change them; their owner runs `tracking-sync migrate`',
      { cause: thrown },
    )
  }
}

/** Throws ConfigError if the schemas were never prepared. */
export async function refuseMissingWarehouse(warehouse: Warehouse): Promise<void> {
  const { version } = await readSchemaVersion(warehouse, await readMigrations())
  if (version > 0) return
  const problem =
    `names ${warehouse.names.data}, and there is no warehouse of that name; correct it, or load ` +
    'one with `tracking-sync backfill`'
  throw new ConfigError([{ setting: 'TRACKING_SCHEMA', problem }])
}

export interface UpgradeRules {
  /** TRACKING_MIGRATE: commands may upgrade. */
  readonly isMigrating: boolean
  /** TRACKING_STRICT: refuses a login with needless rights, and upgrades. */
  readonly isStrict: boolean
}

/**
 * Upgrades the schemas if the rules allow it. Throws MigrationError if they are of another version
 * and may not be changed.
 */
export async function bringUpToDate(
  warehouse: Warehouse,
  { isMigrating, isStrict }: UpgradeRules,
  options: PrepareOptions,
): Promise<void> {
  if (isStrict) await refuseExcessRights(warehouse)
  if (isMigrating && !isStrict) {
    await prepareSchemas(warehouse, options)
    return
  }
  await options.refuse?.(warehouse)
  const { version, expected } = await readSchemaVersion(warehouse, await readMigrations())
  if (version === expected) return
  const reason = isStrict ? 'TRACKING_STRICT is true' : 'TRACKING_MIGRATE is false'
  throw new MigrationError(
    `the schemas are at version ${version} and this program needs ${expected}; ` +
      `run \`tracking-sync migrate\` (${reason})`,
  )
}
