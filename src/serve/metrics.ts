import { collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import type { Route } from '../webhooks/http-server.js'
import { METRIC_PREFIX } from './metric-prefix.js'
import { addProcessMetrics, type ProcessSources } from './process-metrics.js'
import { addWarehouseMetrics, type WarehouseMeasurements } from './warehouse-metrics.js'
import { within } from './within.js'

export interface MetricSources extends ProcessSources {
  /** What the warehouse says. */
  readonly measure: () => Promise<WarehouseMeasurements>
}

const MEASURE_PATIENCE_MS = 5_000

/**
 * The route `/metrics`, in the text format of Prometheus. Names and labels never hold data of shipments. While the database is away, what it would say is left
 * out: an old number looks like good news.
 */
export function createMetricsRoute(sources: MetricSources): Route {
  const ofProcess = new Registry()
  collectDefaultMetrics({ register: ofProcess })
  addProcessMetrics(ofProcess, sources)
  const isUp = new Gauge({
    name: `${METRIC_PREFIX}warehouse_up`,
    help: '1 when the database answered within five seconds.',
    registers: [ofProcess],
  })
  const ofWarehouse = new Registry()
  const takeIn = addWarehouseMetrics(ofWarehouse)
  let asking: Promise<WarehouseMeasurements> | undefined
  const ask = (): Promise<WarehouseMeasurements> =>
    (asking ??= sources.measure().finally(() => {
      asking = undefined
    }))

  return {
    methods: ['GET', 'HEAD'],
    handle: async (_request, response) => {
      const measured = await within(MEASURE_PATIENCE_MS, ask())
      isUp.set(measured === undefined ? 0 : 1)
      let text = await ofProcess.metrics()
      if (measured !== undefined) {
        takeIn(measured)
        text += await ofWarehouse.metrics()
      }
      response.writeHead(200, {
        'content-type': ofProcess.contentType,
        'content-length': Buffer.byteLength(text),
        'cache-control': 'no-store',
      })
      response.end(text)
    },
  }
}
