import { sql } from 'kysely'
import type { ApiClientOptions } from '../../src/source/client/client.js'
import type { TrackingService } from '../../src/source/client/endpoints.js'
import { silentLogger } from '../../src/base/logger.js'
import { runSync, type RunReport, type SyncDependencies } from '../../src/sync/run-sync.js'
import { createDatabaseClock } from '../../src/warehouse/connection/database-clock.js'
import type { Warehouse } from '../../src/warehouse/connection/warehouse.js'
import { relationRef } from '../../src/warehouse/connection/typed-database.js'
import { TEST_SETTINGS, withTestService, type TestSource } from './test-service.js'

export interface TestSyncOptions {
  readonly warehouse: Warehouse
  readonly source: TestSource
  readonly command?: 'backfill' | 'sync'
  readonly settings?: Partial<SyncDependencies['settings']>
  /** As if a week had passed since places and vessels were read. */
  readonly areChecksDue?: boolean
  readonly signal?: AbortSignal
  readonly logger?: SyncDependencies['logger']
  readonly onProgress?: SyncDependencies['onProgress']
  readonly reachFailpoint?: SyncDependencies['reachFailpoint']
  /** Comes between the run and the service. */
  readonly watch?: (service: TrackingService) => TrackingService
  /** Between tries on the warehouse; no time unless told. */
  readonly sleep?: SyncDependencies['sleep']
  readonly client?: Partial<ApiClientOptions>
}

/**
 * One run over a real socket, with the client the product uses; waits between retries take no time.
 */
export async function runTestSync(options: TestSyncOptions): Promise<RunReport> {
  if (options.areChecksDue === true) {
    const checks = relationRef('sync.reference_checks')
    await options.warehouse.query('age checks', sql`update ${checks} set due_at = now()`)
  }
  return withTestService(
    options.source,
    (service) =>
      runSync(options.command ?? 'backfill', {
        service: (options.watch ?? ((one) => one))(service),
        warehouse: options.warehouse,
        logger: options.logger ?? silentLogger,
        settings: { ...TEST_SETTINGS, ...options.settings },
        sleep: options.sleep ?? (() => Promise.resolve()),
        programVersion: 'test',
        signal: options.signal ?? new AbortController().signal,
        ...(options.onProgress === undefined ? {} : { onProgress: options.onProgress }),
        ...(options.reachFailpoint === undefined ? {} : { reachFailpoint: options.reachFailpoint }),
      }),
    { databaseNow: createDatabaseClock(options.warehouse), ...options.client },
  )
}
