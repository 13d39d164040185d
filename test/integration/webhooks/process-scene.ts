import { randomUUID } from 'node:crypto'
import { ApiClient } from '../../../src/source/client/client.js'
import { createTrackingService } from '../../../src/source/client/endpoints.js'
import { unlimitedBudget } from '../../support/unlimited-budget.js'
import { noFailpoints } from '../../../src/base/failpoint.js'
import type { ResourceIdentifier } from '../../../src/source/jsonapi/document.js'
import { silentLogger } from '../../../src/base/logger.js'
import { readDelivery } from '../../../src/webhooks/receive/delivery.js'
import { storeDeliveries } from '../../../src/webhooks/receive/inbox.js'
import {
  NotificationProcessor,
  type ProcessDependencies,
} from '../../../src/webhooks/process/process-notifications.js'
import { RefetchWorker } from '../../../src/webhooks/process/refetch-worker.js'
import { createDatabaseClock } from '../../../src/warehouse/connection/database-clock.js'
import type { Warehouse } from '../../../src/warehouse/connection/warehouse.js'
import { rowReader } from '../../support/row-reader.js'
import { TEST_SETTINGS, type TestSource } from '../../support/test-service.js'

export const OWN_WEBHOOK = 'webhook-of-ours'

export interface NotificationOptions {
  readonly id?: string
  readonly event?: string
  readonly createdAt?: Date | string
  readonly webhookId?: string | null
  readonly about?: ResourceIdentifier | null
  readonly included?: readonly unknown[]
}

/** The body of a delivery. */
export function notification(options: NotificationOptions): Record<string, unknown> {
  const { id = randomUUID(), event = 'container.updated', createdAt, about = null } = options
  const { webhookId = OWN_WEBHOOK, included = [] } = options
  const created = createdAt instanceof Date ? createdAt.toISOString() : createdAt
  return {
    data: {
      id,
      type: 'webhook_notification',
      attributes: {
        id,
        event,
        delivery_status: 'pending',
        ...(created === undefined ? {} : { created_at: created }),
      },
      relationships: {
        reference_object: { data: about === null ? null : { type: about.type, id: about.id } },
        ...(webhookId === null ? {} : { webhook: { data: { id: webhookId, type: 'webhook' } } }),
      },
    },
    included,
  }
}

/** Stores deliveries as the receiver does. */
export async function store(warehouse: Warehouse, ...bodies: readonly unknown[]): Promise<void> {
  await storeDeliveries(
    warehouse,
    bodies.map((body) => readDelivery(Buffer.from(JSON.stringify(body)), {})),
  )
}

export type ProcessBench = ReturnType<typeof openBench>

export interface BenchOptions {
  readonly own?: ProcessDependencies['settings']['own']
  readonly reachFailpoint?: ProcessDependencies['reachFailpoint']
  readonly refetchDelayMs?: number
  readonly logger?: ProcessDependencies['logger']
  readonly signal?: AbortSignal
}

/**
 * A processor and a refetcher as `serve` has them, over a real socket; waits between retries take
 * no time.
 */
export function openBench(warehouse: Warehouse, source: TestSource, options: BenchOptions = {}) {
  const client: ApiClient = new ApiClient({
    baseUrl: source.url,
    apiKey: source.apiKey,
    logger: silentLogger,
    clock: () => source.clock?.now() ?? new Date(),
    sleep: () => Promise.resolve(),
    random: () => 0.5,
    budget: unlimitedBudget,
    databaseNow: createDatabaseClock(warehouse),
  })
  const service = createTrackingService(client)
  const { own = { url: undefined, ids: [OWN_WEBHOOK] }, refetchDelayMs = 0 } = options
  const parts = {
    service,
    warehouse,
    logger: options.logger ?? silentLogger,
    sleep: () => Promise.resolve(),
    signal: options.signal ?? new AbortController().signal,
    reachFailpoint: options.reachFailpoint ?? noFailpoints,
  }
  const processor = new NotificationProcessor({ ...parts, settings: { own, refetchDelayMs } })
  const reader = new RefetchWorker({
    ...parts,
    settings: TEST_SETTINGS,
    refetchDelayMs,
  })
  return {
    service,
    processor,
    reader,
    /** Applies and reads again until nothing is left to do. */
    settle: async (): Promise<void> => {
      for (;;) {
        const { taken } = await processor.processAll()
        const read = await reader.readDue()
        if (taken === 0 && read === 0) return
      }
    },
    close: () => client.close(),
  }
}

/** States of the inbox, by notification. */
export async function statesOf(warehouse: Warehouse): Promise<Record<string, string>> {
  const rows = await rowReader(warehouse).rows<{ id: string; state: string }>`
    select notification_id as id, state from tracking_sync.webhook_notifications order by 1`
  return Object.fromEntries(rows.map(({ id, state }) => [id, state]))
}

/** `type id` of the records in the refetch queue. */
export function queued(warehouse: Warehouse): Promise<string[]> {
  return rowReader(warehouse).column`
    select resource_type || ' ' || resource_id as entry from tracking_sync.refetch_queue order by 1`
}
