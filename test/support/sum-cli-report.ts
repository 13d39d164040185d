import type { RunReport } from '../../src/sync/run-sync.js'
import type { StreamCounts } from '../../src/warehouse/bookkeeping/sync-runs.js'

/** One count over all streams of a report. */
export function sum(report: RunReport, name: keyof StreamCounts): number {
  return report.streams.reduce((total, { counts }) => total + counts[name], 0)
}
