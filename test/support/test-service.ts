import { ApiClient, type ApiClientOptions } from '../../src/source/client/client.js'
import { createTrackingService, type TrackingService } from '../../src/source/client/endpoints.js'
import { unlimitedBudget } from './unlimited-budget.js'
import { silentLogger } from '../../src/base/logger.js'
import { estimatePlan, observePlan, type Plan } from '../../src/extensions/doctor/make-plan.js'
import type { SyncDependencies } from '../../src/sync/run-sync.js'
import type { Warehouse } from '../../src/warehouse/connection/warehouse.js'

export interface TestSource {
  readonly url: string
  readonly apiKey: string
  /**
   * Our own clock then: stamps are exactly the service's instants, even while it is stopped.
   */
  readonly clock?: { readonly now: () => Date }
}

/** The client the product uses, for the length of `work`; waits between retries take no time. */
export async function withTestService<Result>(
  source: TestSource,
  work: (service: TrackingService) => Promise<Result>,
  options: Partial<ApiClientOptions> = {},
): Promise<Result> {
  const client = new ApiClient({
    baseUrl: source.url,
    apiKey: source.apiKey,
    logger: silentLogger,
    clock: () => source.clock?.now() ?? new Date(),
    sleep: () => Promise.resolve(),
    random: () => 0.5,
    budget: unlimitedBudget,
    ...options,
  })
  try {
    return await work(createTrackingService(client))
  } finally {
    await client.close()
  }
}

export const TEST_SETTINGS: SyncDependencies['settings'] = {
  pageSize: 100,
  vesselPositions: false,
}

/** Dependencies of every kind of run. */
export async function withRunDependencies<Result>(
  { simulator, warehouse }: { readonly simulator: TestSource; readonly warehouse: Warehouse },
  work: (dependencies: SyncDependencies) => Promise<Result>,
): Promise<Result> {
  return withTestService(simulator, (service) =>
    work({
      service,
      warehouse,
      logger: silentLogger,
      settings: TEST_SETTINGS,
      programVersion: 'test',
      signal: new AbortController().signal,
    }),
  )
}

/** The plan of the next runs, with a budget of 90 requests a minute. */
export function planOf(
  scene: { readonly simulator: TestSource; readonly warehouse: Warehouse },
  settings: Partial<SyncDependencies['settings']> = {},
): Promise<Plan> {
  return withRunDependencies(scene, async (dependencies) =>
    estimatePlan(
      await observePlan({
        ...dependencies,
        settings: { ...TEST_SETTINGS, ...settings },
        ratePerMinute: 90,
      }),
    ),
  )
}
