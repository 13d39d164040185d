import type { Extension } from '../../extension.js'
import { DASHBOARD_TIMEOUT_MS } from './commands/dashboard.js'

/** The page of pictures. `serve` shows it too. */
export const dashboardExtension: Extension = {
  name: 'dashboard',
  pages: {
    // For its questions beside the panels.
    poolSize: 2,
    statementTimeoutMs: DASHBOARD_TIMEOUT_MS,
    open: async (warehouse) => {
      const { createDashboardRoutes } = await import('./dashboard-routes.js')
      const { formatCsv } = await import('../answers/output/print-answer.js')
      return (sources) => createDashboardRoutes({ ...sources, warehouse, formatCsv })
    },
  },
}
