import type { Extension } from '../../extension.js'

/** The route `/metrics` of `serve`, for Prometheus. */
export const metricsExtension: Extension = {
  name: 'metrics',
  pages: async () => {
    const { createMetricsRoute } = await import('./metrics-route.js')
    return (sources) => ({ '/metrics': createMetricsRoute(sources) })
  },
}
