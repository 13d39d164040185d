import type { TrackingService } from '../../api/endpoints.js'
import type { Logger } from '../../base/logger.js'
import type { RunLedger } from '../../ingest/run-ledger.js'
import type { RunSettings } from '../../ingest/run.js'
import type { Warehouse } from '../../warehouse/connection/warehouse.js'
import { fetchTransportEvents } from '../../ingest/fetch-transport-events.js'
import { mergeIntakes, takeIn } from '../../ingest/intake.js'
import type { ContainerSample, EventObservation } from './make-plan.js'
import { judgeSample, type SampledContainer, type SampledPage } from './plan-sample.js'

export interface PlanDependencies {
  readonly service: TrackingService
  readonly warehouse: Warehouse
  readonly logger: Logger
  readonly settings: RunSettings
  readonly ratePerMinute: number
  readonly signal: AbortSignal
}

/** What the steps of an observation share; the ledger counts its requests. */
export interface Observer extends PlanDependencies {
  readonly ledger: RunLedger
}

/** Where in the list of containers a few are looked at: its ends hold the newest and the oldest, which are not typical. */
const PLACES = [1 / 8, 3 / 8, 5 / 8, 7 / 8] as const
const CONTAINERS_PER_PLACE = 5

const NOTHING_COMPLETE: ReadonlySet<string> = new Set()

/**
 * What reading transport events container by container would take. Where the first pages need no such read, nothing is asked; else containers from four
 * places of the list are judged, and the events of those that need it are read, because only events name vessels and ports of
 * transshipment.
 */
export async function sampleEvents(
  observer: Observer,
  firstPages: readonly SampledPage[],
  live: number,
): Promise<{ readonly events: EventObservation; readonly pages: readonly SampledPage[] }> {
  const first = firstPages.flatMap(({ containers }) => containers)
  if (!first.some(({ needsFetch }) => needsFetch)) {
    const events = { total: live, live, firstPages: count(first), spread: count([]) }
    return { events: { ...events, requestsPerFetch: 1 }, pages: [] }
  }
  const { total, pages } = await readSpread(observer)
  const ids = pages.flatMap(({ containers }) =>
    containers
      .filter(({ needsFetch }) => needsFetch)
      .slice(0, CONTAINERS_PER_PLACE)
      .map(({ key }) => key),
  )
  const counter = observer.ledger.counter('transport_events')
  const before = counter.requests
  const fetched = await fetchTransportEvents(observer, [...new Set(ids)])
  const intake = mergeIntakes(fetched.flatMap((events) => events.intake ?? []))
  const seen = new Set(first.map(({ key }) => key))
  const others = pages.flatMap(({ containers }) => containers.filter(({ key }) => !seen.has(key)))
  return {
    events: {
      total,
      live,
      firstPages: count(first),
      spread: count(others),
      requestsPerFetch: fetched.length === 0 ? 1 : (counter.requests - before) / fetched.length,
    },
    pages: [...pages, await judgeSample(observer.warehouse, intake)],
  }
}

function count(sampled: readonly SampledContainer[]): ContainerSample {
  const unique = [...new Map(sampled.map((container) => [container.key, container])).values()]
  const added = unique.filter(({ isNew }) => isNew)
  const known = unique.filter(({ isNew }) => !isNew)
  const toFetch = (containers: readonly SampledContainer[]): number =>
    containers.filter(({ needsFetch }) => needsFetch).length
  return {
    added: added.length,
    addedToFetch: toFetch(added),
    known: known.length,
    knownToFetch: toFetch(known),
  }
}

async function readSpread(
  observer: Observer,
): Promise<{ readonly total: number; readonly pages: readonly SampledPage[] }> {
  const first = await readPlace(observer, 1)
  const places = Math.ceil((first.total ?? 0) / Math.max(1, first.size))
  const numbers = new Set(PLACES.map((place) => Math.max(1, Math.ceil(place * places))))
  const pages: SampledPage[] = []
  for (const number of numbers) {
    const { page } = number === 1 ? first : await readPlace(observer, number)
    pages.push(page)
  }
  return { total: first.total ?? 0, pages }
}

interface Place {
  readonly total: number | undefined
  /** Records that came, which may be more than were asked for. */
  readonly size: number
  readonly page: SampledPage
}

async function readPlace(
  { service, signal, ledger, warehouse }: Observer,
  startPage: number,
): Promise<Place> {
  const pages = service.listContainers({
    pageSize: CONTAINERS_PER_PLACE,
    startPage,
    signal,
    counter: ledger.counter('containers'),
  })
  for await (const { document, observedAt, total } of pages) {
    const intake = takeIn(document, {
      stream: 'containers',
      source: '/containers',
      observedAt,
      completeTypes: NOTHING_COMPLETE,
    })
    return { total, size: document.data.length, page: await judgeSample(warehouse, intake) }
  }
  throw new Error('a list has at least one page, or throws')
}
