import { Registry, collectDefaultMetrics } from 'prom-client'
import type { PageSources } from '../../extension.js'
import { answerText } from '../../http/answer.js'
import type { Route } from '../../http/http-server.js'
import { keepFor, within } from '../../base/in-time.js'
import {
  PROCESS_METRICS,
  WAREHOUSE_METRICS,
  type WarehouseFacts,
  addMetrics,
  createAckSeconds,
} from './metrics.js'

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
export function createMetricsRoute({
  serving,
  readVitals,
  freeDiskBytes,
  onAccepted,
}: PageSources): Route {
  const processMetrics = new Registry()
  collectDefaultMetrics({ register: processMetrics })
  for (const name of MISNAMED) processMetrics.removeSingleMetric(name)
  let isWarehouseUp = false
  addMetrics(processMetrics, PROCESS_METRICS, () => ({ ...serving(), isWarehouseUp }))
  if (serving().receiver !== undefined) {
    const ackSeconds = createAckSeconds()
    processMetrics.registerMetric(ackSeconds)
    onAccepted((elapsedMs) => {
      ackSeconds.observe(elapsedMs / 1000)
    })
  }
  const warehouseMetrics = new Registry()
  let facts: WarehouseFacts
  addMetrics(warehouseMetrics, WAREHOUSE_METRICS, () => facts)
  let asking: Promise<WarehouseFacts> | undefined
  const ask = (): Promise<WarehouseFacts> =>
    (asking ??= readFacts().finally(() => {
      asking = undefined
    }))
  const readFacts = async (): Promise<WarehouseFacts> => {
    const { requestLimit, slots } = serving()
    return { ...(await readVitals()), requestLimit, slots, freeDiskBytes: await freeDiskBytes() }
  }

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
