import { MigrationError } from '../../base/errors.js'
import { isDistributed } from '../connection/citus.js'
import type { Warehouse } from '../connection/warehouse.js'
import { prepareSchemas, type PrepareOptions } from './prepare-schemas.js'
import { refuseExcessRights } from './roles.js'
import { readMigrations, readSchemaVersion } from './run-migrations.js'

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
  // Throws if our statements cannot work.
  await isDistributed(warehouse)
  const { version, expected } = await readSchemaVersion(warehouse, await readMigrations())
  if (version === expected) return
  const reason = isStrict ? 'TRACKING_STRICT is true' : 'TRACKING_MIGRATE is false'
  throw new MigrationError(
    `the schemas are at version ${version} and this program needs ${expected}; ` +
      `run \`tracking-sync migrate\` (${reason})`,
  )
}
