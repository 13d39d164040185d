import { sql } from 'kysely'
import { ApiClient, type ApiClientOptions } from '../../src/source/client/client.js'
import { createTrackingService, type TrackingService } from '../../src/source/client/endpoints.js'
import { unlimitedBudget } from './unlimited-budget.js'
import { silentLogger } from '../../src/base/logger.js'
import { runSync, type RunReport, type SyncDependencies } from '../../src/sync/run-sync.js'
import { createDatabaseClock } from '../../src/warehouse/connection/database-clock.js'
import type { Warehouse } from '../../src/warehouse/connection/warehouse.js'
import { relationRef } from '../../src/warehouse/connection/typed-database.js'

export interface TestSyncOptions {
  readonly warehouse: Warehouse
  /**
   * With a clock, our own clock is the service's: stamps are then exactly its instants, even while
   * it is stopped.
   */
  readonly source: {
    readonly url: string
    readonly apiKey: string
    readonly clock?: { readonly now: () => Date }
  }
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
  readonly recognizeBy?: SyncDependencies['recognizeBy']
}

/**
 * One run over a real socket, with the client the product uses; waits between retries take no time.
 */
export async function runTestSync(options: TestSyncOptions): Promise<RunReport> {
  if (options.areChecksDue === true) {
    const checks = relationRef('sync.reference_checks')
    await options.warehouse.query('age checks', sql`update ${checks} set due_at = now()`)
  }
  const client = new ApiClient({
    baseUrl: options.source.url,
    apiKey: options.source.apiKey,
    logger: silentLogger,
    clock: () => options.source.clock?.now() ?? new Date(),
    sleep: () => Promise.resolve(),
    random: () => 0.5,
    budget: unlimitedBudget,
    databaseNow: createDatabaseClock(options.warehouse),
    ...options.client,
  })
  try {
    return await runSync(options.command ?? 'backfill', {
      service: (options.watch ?? ((service) => service))(createTrackingService(client)),
      warehouse: options.warehouse,
      logger: options.logger ?? silentLogger,
      settings: {
        pageSize: 100,
        vesselPositions: false,
        ...options.settings,
      },
      sleep: options.sleep ?? (() => Promise.resolve()),
      programVersion: 'test',
      signal: options.signal ?? new AbortController().signal,
      ...(options.onProgress === undefined ? {} : { onProgress: options.onProgress }),
      ...(options.reachFailpoint === undefined ? {} : { reachFailpoint: options.reachFailpoint }),
      ...(options.recognizeBy === undefined ? {} : { recognizeBy: options.recognizeBy }),
    })
  } finally {
    await client.close()
  }
}
