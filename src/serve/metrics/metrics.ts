import { collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import type { Route } from '../../http/http-server.js'
import { METRIC_PREFIX } from './metric-prefix.js'
import { addProcessMetrics, type ProcessSources } from './process-metrics.js'
import { addWarehouseMetrics, type WarehouseMeasurements } from './warehouse-metrics.js'
import { within } from '../within.js'

export interface MetricSources extends ProcessSources {
  /** What the warehouse says. */
  readonly measure: () => Promise<WarehouseMeasurements>
}

const MEASURE_PATIENCE_MS = 5_000

/** Who asks more often gets the same text. */
const KEPT_MS = 1_000

/** Gauges with the name of a counter; the same without `_total` says more. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
]

/**
 * The route `/metrics`, in the text format of Prometheus. Names and labels never hold data of
 * shipments. While the database is away, what it would say is left out: an old number looks like
 * good news.
 */
export function createMetricsRoute(sources: MetricSources): Route {
  const ofProcess = new Registry()
  collectDefaultMetrics({ register: ofProcess })
  for (const name of MISNAMED) ofProcess.removeSingleMetric(name)
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

  const render = async (): Promise<string> => {
    const measured = await within(MEASURE_PATIENCE_MS, ask())
    isUp.set(measured === undefined ? 0 : 1)
    const text = await ofProcess.metrics()
    if (measured === undefined) return text
    takeIn(measured)
    return text + (await ofWarehouse.metrics())
  }
  let kept: { readonly text: Promise<string>; readonly until: number } | undefined

  return {
    methods: ['GET', 'HEAD'],
    handle: async (_request, response) => {
      if (kept === undefined || performance.now() > kept.until) {
        kept = { text: render(), until: performance.now() + KEPT_MS }
      }
      const text = await kept.text
      response.writeHead(200, {
        'content-type': ofProcess.contentType,
        'content-length': Buffer.byteLength(text),
        'cache-control': 'no-store',
      })
      response.end(text)
    },
  }
}
