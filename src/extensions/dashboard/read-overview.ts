import { sql } from 'kysely'
import { ConnectorError } from '../../base/errors.js'
import type { Logger } from '../../base/logger.js'
import {
  findAlerts,
  sentencesOf,
  type AlertFacts,
  type StatusSection,
} from '../../status/describe-status.js'
import type { WarehouseStatus } from '../../status/read-status.js'
import { readVitals } from '../../status/read-vitals.js'
import { tableRef } from '../../warehouse/connection/typed-database.js'
import type { Warehouse } from '../../warehouse/connection/warehouse.js'
import { lightOf, UNREAD, type Light } from './light.js'
import { explain } from './read-panels.js'

export interface OverviewOptions {
  readonly warehouse: Warehouse
  readonly logger: Logger
  readonly facts: () => Promise<AlertFacts>
}

export interface Overview {
  readonly light: Light
  /** The alerts, a sentence each. */
  readonly alerts: readonly string[]
  readonly hasRuns: boolean
}

export async function areTablesThere(warehouse: Warehouse): Promise<boolean> {
  const [row] = await warehouse.query(
    'look for the tables',
    sql<{
      is_there: boolean
    }>`select to_regclass(${warehouse.names.table('sync_runs')}) is not null as is_there`,
  )
  return row?.is_there === true
}

/** Takes milliseconds. A failure costs only its own part of the page. */
export async function readOverview({
  warehouse,
  facts,
  logger,
}: OverviewOptions): Promise<Overview> {
  try {
    const vitals = await readVitals(warehouse)
    const own = await facts()
    const alerts = sentencesOf(findAlerts(vitals, own))
    const light = lightOf(vitals, own, alerts, new Date())
    return { light, alerts, hasRuns: await hasRuns(warehouse) }
  } catch (thrown) {
    if (!(thrown instanceof ConnectorError)) throw thrown
    logger.warn('the dashboard could not read the state of the warehouse', { error: thrown })
    return { light: UNREAD, alerts: [explain(thrown)], hasRuns: true }
  }
}

async function hasRuns(warehouse: Warehouse): Promise<boolean> {
  const [row] = await warehouse.query(
    'look for a run',
    sql<{
      is_there: boolean
    }>`select exists (select from ${tableRef('sync.sync_runs')}) as is_there`,
  )
  return row?.is_there === true
}

export interface SectionOptions {
  readonly readStatus: () => Promise<WarehouseStatus>
  readonly describe: (status: WarehouseStatus) => readonly StatusSection[]
  readonly logger: Logger
}

/** Counts every row, and so may take longer than a panel. */
export async function readSections({
  readStatus,
  describe,
  logger,
}: SectionOptions): Promise<readonly StatusSection[]> {
  try {
    return describe(await readStatus())
  } catch (thrown) {
    if (!(thrown instanceof ConnectorError)) throw thrown
    logger.warn('the dashboard could not count the rows', { error: thrown })
    return [noSections(explain(thrown))]
  }
}

export function noSections(why: string): StatusSection {
  return { title: 'Streams', columns: [], rows: [], empty: why }
}
