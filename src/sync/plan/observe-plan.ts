import type { Page } from '../../api/list-pages.js'
import { containers, vessels } from '../../resources/index.js'
import { loadLiveKeys } from '../../warehouse/rows/live-keys.js'
import { readDueRefetches } from '../../warehouse/bookkeeping/refetch-queue.js'
import { countLiveRows } from '../../warehouse/bookkeeping/schema-drift.js'
import { countChanging } from '../changing-list.js'
import { chooseIncludes, rememberIncludes, type IncludingList } from '../choose-includes.js'
import { takeIn, type Intake } from '../../ingest/intake.js'
import type { ListObservation, PlanObservations } from './make-plan.js'
import { judgeSample, sampleReferences, type SampledPage } from './plan-sample.js'
import { sampleEvents, type Observer, type PlanDependencies } from './sample-events.js'
import { RunLedger } from '../../ingest/run-ledger.js'
import { COMPLETE_WHEN_INCLUDED, hasAllContainers, hasAllTransportEvents } from '../take-pages.js'

interface FirstPage extends ListObservation {
  readonly page: Page
  readonly intake: Intake
}

/**
 * Looks at the service and the warehouse as far as a plan needs: the first page of each list, asked
 * for as a run would ask, and, where transport events do not come included, those of a few
 * containers spread over the account. Some forty requests at most. Writes nothing but what it found
 * out about includes, which spares the run from finding it out.
 */
export async function observePlan(dependencies: PlanDependencies): Promise<PlanObservations> {
  const observer: Observer = { ...dependencies, ledger: new RunLedger() }
  const { warehouse, settings } = observer
  const shipmentPage = await readFirstPage(observer, 'shipments')
  const areContainersIncluded = hasAllContainers(shipmentPage.page, shipmentPage.intake)
  const containerPage = areContainersIncluded
    ? undefined
    : await readFirstPage(observer, 'containers')
  const requestPage = await readFirstPage(observer, 'tracking_requests')
  const firstPages = [shipmentPage, ...(containerPage === undefined ? [] : [containerPage])]
  const judged: SampledPage[] = []
  for (const { intake } of firstPages) judged.push(await judgeSample(warehouse, intake))
  const live = await countLiveRows(warehouse, containers.stream)
  const sampled = await sampleEvents(observer, judged, live)
  const shipmentTotal = shipmentPage.total ?? shipmentPage.pageSize * (shipmentPage.pages ?? 1)
  const further = await readFurtherPages(observer, shipmentPage, judged)
  const referenceSamples = [
    await sampleReferences(warehouse, [...judged, ...further], shipmentTotal),
    ...(sampled.pages.length === 0
      ? []
      : [await sampleReferences(warehouse, sampled.pages, shipmentTotal)]),
  ]
  return {
    lists: await withChangingPages(observer, [...firstPages, requestPage]),
    fullSyncHours: settings.fullSyncHours ?? 0,
    areContainersIncluded,
    events: sampled.events,
    transportEventChecks: hasAllTransportEvents((containerPage ?? shipmentPage).intake)
      ? 0
      : (settings.transportEventChecksPerSync ?? 0),
    referenceSamples,
    dueRefetches: (await readDueRefetches(warehouse, warehouse.names)).due,
    vesselsWithPositions: settings.vesselPositions
      ? (await loadLiveKeys(warehouse, vessels)).length
      : undefined,
    isWarehouseEmpty: live === 0 && (await countLiveRows(warehouse, 'shipments')) === 0,
    ratePerMinute: observer.ratePerMinute,
    requestsMade: observer.ledger.requests(),
  }
}

async function withChangingPages(
  observer: Observer,
  lists: readonly FirstPage[],
): Promise<ListObservation[]> {
  const observed: ListObservation[] = []
  for (const { stream, pages, total, pageSize } of lists) {
    const changing = await countChanging(observer, stream)
    const changingPages =
      changing === undefined ? undefined : Math.max(1, Math.ceil(changing / Math.max(1, pageSize)))
    observed.push({ stream, pages, total, pageSize, changingPages })
  }
  return observed
}

/**
 * The newest shipments are not typical of where an account's shipments go. When the first page
 * points to things without a row, the middle and the last page are asked for as well.
 */
async function readFurtherPages(
  observer: Observer,
  first: FirstPage,
  judged: readonly SampledPage[],
): Promise<SampledPage[]> {
  const { warehouse, service, settings, signal, ledger } = observer
  const pages = first.pages ?? 1
  const { units } = await sampleReferences(warehouse, judged, 0)
  if (!units.some((unit) => unit.size > 0)) return []
  const further: SampledPage[] = []
  for (const startPage of new Set([Math.ceil(pages / 2), pages])) {
    if (startPage === 1) continue
    const { includes } = first.page
    const options = { includes, pageSize: settings.pageSize, startPage, signal }
    const list = service.listShipments({ ...options, counter: ledger.counter('shipments') })
    for await (const page of list) {
      further.push(await judgeSample(warehouse, takeInPage('shipments', page)))
      break
    }
  }
  return further
}

async function readFirstPage(
  observer: Observer,
  stream: IncludingList | 'tracking_requests',
): Promise<FirstPage> {
  const { service, settings, signal } = observer
  const isIncluding = stream !== 'tracking_requests'
  const choice = isIncluding
    ? await chooseIncludes(observer, stream)
    : { includes: [], isTrial: false }
  const options = {
    includes: choice.includes,
    pageSize: settings.pageSize,
    signal,
    counter: observer.ledger.counter(stream),
  }
  const lists = {
    shipments: () => service.listShipments(options),
    containers: () => service.listContainers(options),
    tracking_requests: () => service.listTrackingRequests(options),
  }
  for await (const page of lists[stream]()) {
    if (choice.isTrial && isIncluding) {
      await rememberIncludes(observer, stream, page, choice.includes)
    }
    return { ...describeList(stream, page), page, intake: takeInPage(stream, page) }
  }
  throw new Error('a list has at least one page, or throws')
}

function takeInPage(stream: string, { document, observedAt }: Page): Intake {
  const source = `/${stream}`
  return takeIn(document, {
    stream,
    source,
    observedAt,
    completeTypes: COMPLETE_WHEN_INCLUDED,
  })
}

function describeList(stream: string, page: Page): ListObservation {
  const pageSize = page.document.data.length
  return { stream, total: page.total, pageSize, pages: countPages(page) }
}

function countPages({ document, isLast, total }: Page): number | undefined {
  if (isLast) return 1
  if (total !== undefined) return Math.max(1, Math.ceil(total / document.data.length))
  const last = /[?&]page(?:\[|%5B)number(?:\]|%5D)=(\d{1,9})/i.exec(String(document.links.last))
  return last === null ? undefined : Number(last[1])
}
