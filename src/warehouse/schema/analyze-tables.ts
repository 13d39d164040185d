import { sql } from 'kysely'
import { resources } from '../../source/records/index.js'
import { LIFT_TIME_LIMIT } from '../connection/bound-connection.js'
import { containerChildren } from '../rows/container-children.js'
import type { StreamState } from '../bookkeeping/sync-runs.js'
import { pipeline, type Warehouse } from '../connection/warehouse.js'
import { relationRef } from '../connection/typed-database.js'

/** Fewer new rows do not change a plan; autovacuum counts them later. */
const WORTH_ANALYZING = 200

/**
 * Analyzes the tables that a run wrote much to, with histories and derived tables. Autovacuum comes
 * after a minute; until then the planner takes a freshly filled table for a small one, and a
 * question takes ten times as long. Skips a table that is being analyzed; PostgreSQL skips tables
 * of another owner.
 */
export async function analyzeWritten(
  warehouse: Warehouse,
  streams: readonly StreamState[],
): Promise<readonly string[]> {
  const tables = streams.filter(wroteMuch).flatMap(({ stream }) => tablesOf(stream))
  if (tables.length === 0) return tables
  await warehouse.transaction('analyze', async (session) => {
    await pipeline([
      session.query('analyze', LIFT_TIME_LIMIT),
      ...tables.map((table) => {
        const name = relationRef(`data.${table}`)
        return session.query(`analyze ${table}`, sql`analyze (skip_locked) ${name}`)
      }),
    ])
  })
  return tables
}

function wroteMuch({ counts }: StreamState): boolean {
  return counts.inserted + counts.updated + counts.tombstoned >= WORTH_ANALYZING
}

function tablesOf(stream: string): string[] {
  const resource = resources.find((one) => one.stream === stream)
  if (resource === undefined) return []
  const children = stream === 'containers' ? containerChildren : []
  return [
    stream,
    ...(resource.historyTable === undefined ? [] : [resource.historyTable]),
    ...children.flatMap(({ table, historyTable }) => [table, historyTable]),
  ]
}
