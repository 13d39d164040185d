import type { TrackingService } from '../../api/endpoints.js'
import type { Page } from '../../api/list-pages.js'
import type { Logger } from '../../base/logger.js'
import { decide, type Decision } from '../../ingest/decide.js'
import { takeIn, type Intake } from '../../ingest/intake.js'
import { loadKnown } from '../../ingest/known-rows.js'
import { RunLedger } from '../../ingest/run-ledger.js'
import type { Run, RunSettings } from '../../ingest/run.js'
import { hasAllContainers, hasAllTransportEvents, pageOptions } from '../../ingest/take-pages.js'
import { containers, shipments, vessels } from '../../resources/index.js'
import type { Sighting } from '../../resources/resource.js'
import { findMissingReferences } from '../../warehouse/bookkeeping/missing-references.js'
import { readDueRefetches } from '../../warehouse/bookkeeping/refetch-queue.js'
import { countLiveRows } from '../../warehouse/bookkeeping/schema-drift.js'
import type { Warehouse } from '../../warehouse/connection/warehouse.js'
import { loadLiveKeys } from '../../warehouse/rows/stored-rows.js'
import { countChanging } from '../changing-list.js'
import { chooseIncludes, rememberIncludes } from '../choose-includes.js'
import { readPage, type ListStream } from '../read-page.js'
import type { ListObservation, PlanObservations } from './make-plan.js'

export interface PlanDependencies {
  readonly service: TrackingService
  readonly warehouse: Warehouse
  readonly logger: Logger
  readonly settings: RunSettings
  readonly ratePerMinute: number
  readonly signal: AbortSignal
}

type Observer = PlanDependencies & Pick<Run, 'ledger'>

/** The first page of a list, and what a run would write of it. */
interface FirstPage {
  readonly stream: ListStream
  readonly page: Page
  readonly intake: Intake
  readonly changed: readonly Sighting[]
  /** Containers without a row. */
  readonly added: number
  readonly fetchEvents: Decision['fetchEvents']
}

/**
 * Reads the first page of each list as a run would, and compares it with the warehouse. Some ten
 * requests. Writes nothing but which includes the service takes: the run need not find that out.
 */
export async function observePlan(dependencies: PlanDependencies): Promise<PlanObservations> {
  const observer: Observer = { ...dependencies, ledger: new RunLedger() }
  const { warehouse, settings, ledger, ratePerMinute } = observer
  const ofShipments = await readFirstPage(observer, 'shipments')
  const areContainersIncluded = hasAllContainers(ofShipments.page, ofShipments.intake)
  const isEnough = areContainersIncluded && hasAllTransportEvents(ofShipments.intake)
  // Where events are to be read, the total of this list is how many containers there are.
  const ofContainers = isEnough ? undefined : await readFirstPage(observer, 'containers')
  const ofRequests = await readFirstPage(observer, 'tracking_requests')
  const walked =
    areContainersIncluded || ofContainers === undefined
      ? [ofShipments]
      : [ofShipments, ofContainers]
  const showing = walked.at(-1) ?? ofShipments
  const live = await countLiveRows(warehouse, containers.stream)
  const total = ofContainers?.page.total ?? live
  const checks = settings.transportEventChecksPerSync ?? 0
  const lists: ListObservation[] = []
  for (const first of [...walked, ofRequests]) lists.push(await observeList(observer, first))
  return {
    lists,
    fullSyncHours: settings.fullSyncHours ?? 0,
    areContainersIncluded,
    eventReads: countEventReads(showing, total - live),
    eventChecks: hasAllTransportEvents(showing.intake) ? 0 : Math.min(checks, total),
    references: await countMissingReferences(warehouse, walked),
    dueRefetches: (await readDueRefetches(warehouse)).due,
    vesselsWithPositions: settings.vesselPositions
      ? (await loadLiveKeys(warehouse, vessels)).length
      : undefined,
    isWarehouseEmpty: live === 0 && (await countLiveRows(warehouse, shipments.stream)) === 0,
    ratePerMinute,
    requestsMade: ledger.requests(),
  }
}

async function readFirstPage(observer: Observer, stream: ListStream): Promise<FirstPage> {
  const page = await readAsRun(observer, stream)
  const intake = takeIn(page.document, pageOptions(stream, page))
  const { warehouse } = observer
  const known = await loadKnown(warehouse, warehouse.names, [intake], 'sync')
  const { rounds, fetchEvents } = decide([intake], known, 'sync')
  const changed = rounds[0]?.sightings ?? []
  const stored = known.rows.get(containers.stream)
  const isAdded = ({ resource, key }: Sighting): boolean =>
    resource === containers && stored?.has(key) !== true
  return { stream, page, intake, changed, added: changed.filter(isAdded).length, fetchEvents }
}

async function readAsRun(observer: Observer, stream: ListStream): Promise<Page> {
  if (stream === 'tracking_requests') return readPage(observer, stream)
  const { includes, isTrial } = await chooseIncludes(observer, stream)
  const page = await readPage(observer, stream, { includes })
  if (isTrial) await rememberIncludes(observer, stream, page, includes)
  return page
}

async function observeList(
  observer: Observer,
  { stream, page }: FirstPage,
): Promise<ListObservation> {
  const { total } = page
  const pageSize = page.document.data.length
  const changing = await countChanging(observer, stream)
  const changingPages =
    changing === undefined ? undefined : Math.max(1, Math.ceil(changing / Math.max(1, pageSize)))
  return { stream, total, pageSize, pages: countPages(page), changingPages }
}

function countPages({ document, isLast, total }: Page): number | undefined {
  if (isLast) return 1
  if (total !== undefined) return Math.max(1, Math.ceil(total / document.data.length))
  const last = /[?&]page(?:\[|%5B)number(?:\]|%5D)=(\d{1,9})/i.exec(String(document.links.last))
  return last === null ? undefined : Number(last[1])
}

/**
 * Containers of the first page whose events a run would read, and, unless events come included,
 * every new container that is not on it.
 */
function countEventReads({ intake, fetchEvents, added }: FirstPage, addedInAll: number): number {
  if (hasAllTransportEvents(intake)) return fetchEvents.size
  return fetchEvents.size + Math.max(0, addedInAll - added)
}

/** What the first pages point to and do not include, and the warehouse does not have either. */
async function countMissingReferences(
  warehouse: Warehouse,
  pages: readonly FirstPage[],
): Promise<number> {
  const included = new Set(
    pages
      .flatMap(({ intake }) => [...intake.sightings.values()].flat())
      .map(({ resource, key }) => `${resource.type} ${key}`),
  )
  const wanted = pages
    .flatMap(({ changed }) => changed.flatMap(({ references }) => references))
    .filter(({ type, id }) => !included.has(`${type} ${id}`))
  return (await findMissingReferences(warehouse, wanted)).length
}
