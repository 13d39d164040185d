import type { Extension } from '../../extension.js'
import { DASHBOARD_TIMEOUT_MS } from './commands/dashboard.js'

/** The page of pictures. `serve` shows it too. */
export const dashboardExtension: Extension = {
  name: 'dashboard',
  settings: async () => (await import('./dashboard-settings.js')).dashboardSettings,
  pages: async (place) => {
    const closing = new AbortController()
    place.onClose(() => {
      closing.abort()
      return Promise.resolve()
    })
    // For its questions beside the panels.
    const warehouse = await place.connectReader({
      poolSize: 2,
      statementTimeoutMs: DASHBOARD_TIMEOUT_MS,
    })
    const { createDashboardRoutes } = await import('./dashboard-routes.js')
    const { numberPageOf } = await import('../answers/number-page.js')
    const { readBrand } = await import('./dashboard-settings.js')
    const { describeServing } = await import('./describe-serving.js')
    const { formatCsv } = await import('../answers/output/print-answer.js')
    const { openPageGuard } = await import('../doors/open-guard.js')
    const guard = await openPageGuard(place)
    const brand = readBrand(place.config)
    return ({ serving, freeDiskBytes, ...sources }) =>
      createDashboardRoutes({
        ...sources,
        ...brand,
        pageOf: numberPageOf(place.config),
        warehouse,
        formatCsv,
        guard,
        readsAhead: { until: closing.signal },
        facts: async () => ({ ...serving(), freeDiskBytes: await freeDiskBytes() }),
        describe: (status) => describeServing(status, serving()),
      })
  },
}
