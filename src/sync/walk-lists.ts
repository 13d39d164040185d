import type { ListOptions, Page } from '../api/list-pages.js'
import { IncompleteRunError } from '../errors.js'
import { settleAbsences } from './settle-absences.js'
import {
  chooseIncludes,
  rememberIncludes,
  type IncludeChoice,
  type IncludingList,
} from './includes.js'
import { takeIn, type Intake } from './intake.js'
import { closePass, openPass, Pass } from './pass.js'
import { readAhead } from './read-ahead.js'
import type { Run } from './run.js'
import { storeIntake } from './store-intake.js'

/** Included containers and their events are whole; other included records may be a subset of their attributes. */
export const COMPLETE_WHEN_INCLUDED: ReadonlySet<string> = new Set(['container', 'transport_event'])

/**
 * Walks the shipments. Resolves to whether every container that they list came included in full; if not, the list of containers
 * must be walked too.
 */
export async function walkShipments(
  run: Run,
): Promise<{ readonly areContainersIncluded: boolean }> {
  const findings = await walk(run, 'shipments')
  return { areContainersIncluded: findings.areContainersIncluded === true }
}

export async function walkContainers(run: Run): Promise<void> {
  await walk(run, 'containers')
}

export async function walkTrackingRequests(run: Run): Promise<void> {
  await walk(run, 'tracking_requests')
}

/** Whatever a tracking request became is a shipment of the list of shipments. */
const NO_INCLUDES: IncludeChoice = { includes: [], isTrial: false }

type ListStream = IncludingList | 'tracking_requests'

/** Walks a list to its end, from where it was left. Resolves to what the pass found out. */
async function walk(run: Run, stream: ListStream): Promise<Readonly<Record<string, unknown>>> {
  const opened = await openPass(run, stream)
  if (!(opened instanceof Pass)) return opened.findings
  const walked = (await walkPass(run, stream, opened)) ?? (await restart(run, stream))
  await closePass(run, walked.pass, walked.lastPage)
  if (!walked.pass.isResumed) await settleAbsences(run, walked.pass)
  return walked.pass.findings
}

interface WalkedPass {
  readonly pass: Pass
  readonly lastPage: Page
}

async function restart(run: Run, stream: ListStream): Promise<WalkedPass> {
  run.logger.info('the list has moved since the run was cut off; starting over', { stream })
  const walked = await walkPass(run, stream, Pass.start(stream, run.settings.pageSize))
  if (walked === undefined) throw new Error('a pass from the first page cannot be discontiguous')
  return walked
}

/** Reads and stores page after page. Undefined when a resumed pass does not fit what it is to continue. */
async function walkPass(run: Run, stream: ListStream, pass: Pass): Promise<WalkedPass | undefined> {
  const { includes, isTrial } =
    stream === 'tracking_requests' ? NO_INCLUDES : await chooseIncludes(run, stream)
  const options = {
    includes,
    pageSize: run.settings.pageSize,
    startPage: pass.startPage,
    signal: run.signal,
    counter: run.ledger.counter(stream),
  }
  let isJudged = !isTrial
  let lastPage: Page | undefined
  for await (const page of readAhead(listOf(run, stream)(options))) {
    run.reachFailpoint('response_received')
    if (!pass.isContiguous(page)) return undefined
    if (!isJudged && stream !== 'tracking_requests') {
      await rememberIncludes(run, stream, page, includes)
    }
    isJudged = true
    await storePage(run, stream, pass, page)
    checkShortness(stream, page)
    run.signal.throwIfAborted()
    lastPage = page
  }
  return lastPage === undefined ? undefined : { pass, lastPage }
}

async function storePage(run: Run, stream: ListStream, pass: Pass, page: Page): Promise<void> {
  const intake = takeIn(page.document, {
    stream,
    source: `/${stream}`,
    observedAt: page.observedAt,
    completeTypes: COMPLETE_WHEN_INCLUDED,
  })
  if (stream === 'shipments') {
    const isSoFar = pass.findings.areContainersIncluded !== false
    pass.findings.areContainersIncluded = isSoFar && hasAllContainers(page, intake)
  }
  await storeIntake(run, intake, { checkpoint: pass.checkpointAfter(page) })
  see(pass, intake)
  run.ledger.add(new Map([[stream, { pages: 1 }]]))
  run.onProgress({
    stream,
    page: page.number,
    records: page.rowsSoFar,
    total: page.total,
    requests: run.ledger.requests(),
  })
}

/** What an answer holds exists, also where it is only included with something else. */
function see(pass: Pass, intake: Intake): void {
  for (const stream of ['shipments', 'containers', 'tracking_requests']) {
    for (const { record } of intake.sightings.get(stream) ?? []) pass.see(stream, record.key)
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

/** True when every shipment of the page lists its containers and all of them came included. */
export function hasAllContainers(page: Page, intake: Intake): boolean {
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
