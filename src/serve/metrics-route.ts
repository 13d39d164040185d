import { type Histogram, Registry, collectDefaultMetrics } from 'prom-client'
import { answerText } from '../http/answer.js'
import type { Route } from '../http/http-server.js'
import { keepFor, within } from '../base/in-time.js'
import {
  PROCESS_METRICS,
  type ProcessFacts,
  WAREHOUSE_METRICS,
  type WarehouseFacts,
  addMetrics,
} from './metrics.js'

export interface MetricSources {
  readonly ofProcess: () => Omit<ProcessFacts, 'isWarehouseUp'>
  readonly ofWarehouse: () => Promise<WarehouseFacts>
  /** Undefined: this process receives no webhooks. */
  readonly ackSeconds: Histogram | undefined
}

const WAREHOUSE_PATIENCE_MS = 5_000

/** Clients that ask more often get the same text. */
const KEPT_MS = 1_000

/** Gauges of the library with the name of a counter; it has each of them without `_total` too. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
]

/**
 * The route `/metrics`, in the text format of Prometheus. Names and labels never hold data of
 * shipments. While the database is down its metrics are left out, because old numbers would look
 * like good news.
 */
export function createMetricsRoute({ ofProcess, ofWarehouse, ackSeconds }: MetricSources): Route {
  const processMetrics = new Registry()
  collectDefaultMetrics({ register: processMetrics })
  for (const name of MISNAMED) processMetrics.removeSingleMetric(name)
  let isWarehouseUp = false
  addMetrics(processMetrics, PROCESS_METRICS, () => ({ ...ofProcess(), isWarehouseUp }))
  if (ackSeconds !== undefined) processMetrics.registerMetric(ackSeconds)
  const warehouseMetrics = new Registry()
  let facts: WarehouseFacts
  addMetrics(warehouseMetrics, WAREHOUSE_METRICS, () => facts)
  let asking: Promise<WarehouseFacts> | undefined
  const ask = (): Promise<WarehouseFacts> =>
    (asking ??= ofWarehouse().finally(() => {
      asking = undefined
    }))

  const render = async (): Promise<string> => {
    const answer = await within(WAREHOUSE_PATIENCE_MS, ask())
    isWarehouseUp = answer !== undefined
    const text = await processMetrics.metrics()
    if (answer === undefined) return text
    facts = answer
    return text + (await warehouseMetrics.metrics())
  }
  const text = keepFor(KEPT_MS, render)

  return {
    methods: ['GET', 'HEAD'],
    handle: async (_request, response) => {
      answerText(response, { text: await text(), type: processMetrics.contentType })
    },
  }
}
