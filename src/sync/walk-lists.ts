import type { ListOptions, Page } from '../api/list-pages.js'
import { IncompleteRunError } from '../errors.js'
import { takeIn, type Intake } from './intake.js'
import {
  chooseIncludes,
  rememberIncludes,
  type IncludeChoice,
  type IncludingList,
} from './includes.js'
import { readAhead } from './read-ahead.js'
import type { Run } from './run.js'
import { storeIntake } from './store-intake.js'

/** Included containers and their events are whole; other included records may be a subset of their attributes. */
const COMPLETE_WHEN_INCLUDED: ReadonlySet<string> = new Set(['container', 'transport_event'])

/**
 * Walks the shipments. Resolves to whether every container that they list came included in full; if not, the list of containers
 * must be walked too.
 */
export async function walkShipments(
  run: Run,
): Promise<{ readonly areContainersIncluded: boolean }> {
  let areContainersIncluded = true
  await walk(run, 'shipments', (page, intake) => {
    areContainersIncluded &&= hasAllContainers(page, intake)
  })
  return { areContainersIncluded }
}

export async function walkContainers(run: Run): Promise<void> {
  await walk(run, 'containers', () => undefined)
}

export async function walkTrackingRequests(run: Run): Promise<void> {
  await walk(run, 'tracking_requests', () => undefined)
}

/** Whatever a tracking request became is a shipment of the list of shipments. */
const NO_INCLUDES: IncludeChoice = { includes: [], isTrial: false }

type ListStream = IncludingList | 'tracking_requests'

async function walk(
  run: Run,
  stream: ListStream,
  onPage: (page: Page, intake: Intake) => void,
): Promise<void> {
  const { includes, isTrial } =
    stream === 'tracking_requests' ? NO_INCLUDES : await chooseIncludes(run, stream)
  const counter = run.ledger.counter(stream)
  const options = { includes, pageSize: run.settings.pageSize, signal: run.signal, counter }
  let isJudged = !isTrial
  for await (const page of readAhead(listOf(run, stream)(options))) {
    if (!isJudged && stream !== 'tracking_requests') await rememberIncludes(run, stream, page)
    isJudged = true
    const intake = takeIn(page.document, {
      stream,
      source: `/${stream}`,
      observedAt: page.observedAt,
      completeTypes: COMPLETE_WHEN_INCLUDED,
    })
    onPage(page, intake)
    await storeIntake(run, intake)
    run.ledger.add(new Map([[stream, { pages: 1 }]]))
    run.onProgress({
      stream,
      page: page.number,
      records: page.rowsSoFar,
      total: page.total,
      requests: run.ledger.requests(),
    })
    checkShortness(stream, page)
    run.signal.throwIfAborted()
  }
}

function listOf(run: Run, stream: ListStream) {
  switch (stream) {
    case 'shipments':
      return (options: ListOptions) => run.service.listShipments(options)
    case 'containers':
      return (options: ListOptions) => run.service.listContainers(options)
    case 'tracking_requests':
      return (options: ListOptions) => run.service.listTrackingRequests(options)
    default:
      return stream satisfies never
  }
}

/** Rows may come and go while we page; more than that many missing is a list that was cut short. */
const TOLERATED_MISSING = 10
const TOLERATED_MISSING_SHARE = 0.02

function checkShortness(stream: string, page: Page): void {
  if (!page.isShort || page.total === undefined) return
  const missing = page.total - page.rowsSoFar
  if (missing <= Math.max(TOLERATED_MISSING, page.total * TOLERATED_MISSING_SHARE)) return
  throw new IncompleteRunError(
    `the list of ${stream} ended after ${page.rowsSoFar} of ${page.total} records; run the command again, and ask the service if it happens again`,
  )
}

function hasAllContainers(page: Page, intake: Intake): boolean {
  const included = new Set(
    (intake.sightings.get('containers') ?? []).map(({ record }) => record.key),
  )
  return page.document.data.every((shipment) => {
    const linkage = (shipment as { relationships?: { containers?: { data?: unknown } } } | null)
      ?.relationships?.containers?.data
    if (!Array.isArray(linkage)) return false
    return (linkage as readonly { id?: unknown }[]).every(
      ({ id }) => typeof id === 'string' && included.has(id),
    )
  })
}
