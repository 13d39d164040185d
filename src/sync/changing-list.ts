import { ApiRequestError } from '../base/errors.js'
import { loadCapability, saveCapability } from '../warehouse/bookkeeping/capabilities.js'
import {
  findTrackedShipments,
  findUnwanted,
  type ChangingStream,
} from '../warehouse/rows/changing-rows.js'
import {
  loadPassHistory,
  type PassHistory,
  type PassList,
} from '../warehouse/bookkeeping/checkpoints.js'
import { queueRefetches } from '../warehouse/bookkeeping/refetch-queue.js'
import type { ListPass } from './list-pass.js'
import { retryWarehouse } from '../ingest/retry-warehouse.js'
import type { Run } from '../ingest/run.js'
import { mostMoving } from './list-tally.js'

/**
 * Parameters by which the service is asked for what can still change. The list of containers has
 * none: it is read whole where it is read at all.
 */
const TRACKING_STOPPED = 'filter[tracking_stopped]'
const UPDATED_FROM = 'filter[updated_at][start]'

/** Its clock and ours may differ, and a change may show late. */
const OVERLAP_MS = 3_600_000

/**
 * The part of a list that a pass is to read, where that is not all of it: in a sync, while the last
 * complete pass over the whole list began less than `RunSettings.fullSyncHours` ago and the service
 * is not known to ignore or refuse the filter. Undefined: the whole.
 */
export async function chooseChanging(
  run: Run,
  stream: string,
  { wholeHoursAgo, lastStartedAt }: PassHistory,
): Promise<PassList | undefined> {
  const { fullSyncHours = 0, acceptShrink } = run.settings
  if (run.isThorough === true || acceptShrink === true || !isChangingStream(stream))
    return undefined
  const isRecent = wholeHoursAgo !== null && wholeHoursAgo < fullSyncHours
  if (!isRecent || lastStartedAt === null) return undefined
  const found = await retryWarehouse(run, () =>
    loadCapability(run.warehouse, capabilityName(stream)),
  )
  if (found !== undefined && !found.isSupported && !found.isStale) return undefined
  return changingList(stream, lastStartedAt)
}

/**
 * How many records of a list can still change, by the filter of a sync; undefined where a sync
 * reads the whole list. One request at most. Before the first run a sync is taken to come right
 * after it.
 */
export async function countChanging(
  observer: Pick<Run, 'service' | 'warehouse' | 'settings' | 'signal' | 'ledger'>,
  stream: string,
): Promise<number | undefined> {
  const { service, warehouse, settings, signal, ledger } = observer
  if ((settings.fullSyncHours ?? 0) === 0 || !isChangingStream(stream)) return undefined
  const found = await loadCapability(warehouse, capabilityName(stream))
  if (found?.isSupported === false && !found.isStale) return undefined
  const { lastStartedAt } = await loadPassHistory(warehouse, stream)
  if (stream === 'tracking_requests' && lastStartedAt === null) return 0
  const { query } = changingList(stream, lastStartedAt ?? new Date(0))
  const options = { query, pageSize: settings.pageSize, signal, counter: ledger.counter(stream) }
  const pages =
    stream === 'shipments' ? service.listShipments(options) : service.listTrackingRequests(options)
  try {
    for await (const { total, isLast, rowsSoFar } of pages) return isLast ? rowsSoFar : total
  } catch (thrown) {
    if (!(thrown instanceof ApiRequestError)) throw thrown
  }
  return undefined
}

function changingList(stream: ChangingStream, lastStartedAt: Date): PassList {
  const updatedFrom = new Date(lastStartedAt.getTime() - OVERLAP_MS).toISOString()
  const query =
    stream === 'shipments' ? { [TRACKING_STOPPED]: 'false' } : { [UPDATED_FROM]: updatedFrom }
  return { stream, scope: 'changing', query }
}

function isChangingStream(stream: string): stream is ChangingStream {
  return stream === 'shipments' || stream === 'tracking_requests'
}

function capabilityName(stream: ChangingStream): string {
  return `filter of ${stream}`
}

/**
 * The service ignores or refuses the filter, or answers it with something else than what it stands
 * for.
 */
export class FilterUselessError extends Error {}

/**
 * Throws when a page of a filtered list, which was just stored, shows what was filtered out: then
 * the service ignores the filter.
 */
export async function checkFilter(
  run: Run,
  { list }: ListPass,
  page: { readonly keys: readonly string[]; readonly observedAt: Date },
): Promise<void> {
  const { stream, scope, query } = list
  if (scope === 'whole' || !isChangingStream(stream) || page.keys.length === 0) return
  const { observedAt } = page
  const updatedFrom = query[UPDATED_FROM] ?? null
  const unwanted = await retryWarehouse(run, () =>
    findUnwanted(run.warehouse, stream, page.keys, { observedAt, updatedFrom }),
  )
  if (unwanted.length === 0) return
  throw new FilterUselessError(
    `the service ignores ${Object.keys(query).join()}: the list of ${stream} shows ${unwanted.length} records on one page that it leaves out`,
  )
}

/** Remembers for a day that the filter of a stream is of no use, and says so if that is news. */
export async function noteUselessFilter(run: Run, { list }: ListPass, why: string): Promise<void> {
  const { stream } = list
  if (!isChangingStream(stream)) return
  const capability = capabilityName(stream)
  const { warehouse, logger } = run
  const known = await retryWarehouse(run, () => loadCapability(warehouse, capability))
  const found = { capability, isSupported: false, detail: { why } }
  await retryWarehouse(run, () =>
    warehouse.transaction('remember a filter', (session) => saveCapability(session, found)),
  )
  const isNews = known?.isSupported !== false
  logger[isNews ? 'warn' : 'debug']('the filter is not used; each sync reads the whole list', {
    stream,
    why,
  })
}

/**
 * What to do about shipments that were still tracked and are not on the complete list of those that
 * are: tracking stopped, or they are gone. They are read again by id, and only a pass over the
 * whole list may find them absent. If they are more than ever stop at once, the list is not what
 * was asked for: throws `FilterUselessError`.
 */
export async function refetchThoseThatLeft(run: Run, pass: ListPass): Promise<void> {
  const { startedAt, stream } = pass
  if (stream !== 'shipments' || startedAt === undefined) return
  const { warehouse } = run
  const tracked = await retryWarehouse(run, () => findTrackedShipments(warehouse, startedAt))
  const seen = pass.seen.get(stream)
  const left = tracked.filter((key) => seen?.has(key) !== true)
  if (left.length === 0) return
  if (left.length > mostMoving(tracked.length)) {
    throw new FilterUselessError(
      `the list of shipments with ${TRACKING_STOPPED}=false lacks ${left.length} of ${tracked.length} that were still tracked`,
    )
  }
  const records = left.map((id) => ({ type: 'shipment', id }))
  await retryWarehouse(run, () =>
    warehouse.transaction('queue shipments that are tracked no more', (session) =>
      queueRefetches(session, records, 'not on the list of those still tracked'),
    ),
  )
}
