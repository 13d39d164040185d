import { ApiRequestError } from '../base/errors.js'
import { loadCapability, saveCapability } from '../warehouse/bookkeeping/schema-drift.js'
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
import type { Session, Warehouse } from '../warehouse/connection/warehouse.js'
import { queueRefetches } from '../warehouse/bookkeeping/refetch-queue.js'
import { mostMoving, readPage, type ListPass } from './list-pass.js'
import type { Reading, Run } from '../ingest/run.js'
import type { Sink } from '../ingest/sink.js'

/**
 * Filters for records that can still change. The list of containers lacks one: it is always read
 * whole.
 */
const TRACKING_STOPPED = 'filter[tracking_stopped]'
const UPDATED_FROM = 'filter[updated_at][start]'

/** The service's clock and ours may differ, and a change may show late. */
const OVERLAP_MS = 3_600_000

/**
 * Chooses the part of a list that a pass reads, undefined for the whole: in a sync, while the last
 * complete pass over the whole list began less than `RunSettings.fullSyncHours` ago and the service
 * is not known to ignore or refuse the filter.
 */
export async function chooseChanging(
  run: Run,
  stream: string,
  { wholeHoursAgo, lastStartedAt }: PassHistory,
): Promise<PassList | undefined> {
  const { fullSyncHours = 0, acceptShrink } = run.source.settings
  if (run.sink.mode === 'backfill' || acceptShrink === true) return undefined
  const isRecent = wholeHoursAgo !== null && wholeHoursAgo < fullSyncHours
  if (!isRecent || lastStartedAt === null || !isChangingStream(stream)) return undefined
  const isUseless = await run.sink.retry((warehouse) => isFilterUseless(warehouse, stream))
  return isUseless ? undefined : changingList(stream, lastStartedAt)
}

/**
 * How many records of a list the next sync reads by its filter; undefined if it reads the whole
 * list. At most one request. Before the first run, those of a sync right after it.
 */
export async function countChanging(
  reading: Reading,
  warehouse: Warehouse,
  stream: string,
): Promise<number | undefined> {
  if ((reading.source.settings.fullSyncHours ?? 0) === 0 || !isChangingStream(stream))
    return undefined
  if (await isFilterUseless(warehouse, stream)) return undefined
  const { lastStartedAt } = await loadPassHistory(warehouse, stream)
  if (stream === 'tracking_requests' && lastStartedAt === null) return 0
  const { query } = changingList(stream, lastStartedAt ?? new Date(0))
  try {
    const { total, isLast, rowsSoFar } = await readPage(reading, stream, { query })
    return isLast ? rowsSoFar : total
  } catch (thrown) {
    if (thrown instanceof ApiRequestError) return undefined
    throw thrown
  }
}

/** The filter was ignored or refused within the last day. */
async function isFilterUseless(session: Session, stream: ChangingStream): Promise<boolean> {
  const filter = await loadCapability(session, capabilityName(stream))
  return filter?.isSupported === false && !filter.isStale
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

/** The service ignores the filter, or answers it with other records. */
export class FilterUselessError extends Error {}

/** Throws `FilterUselessError` if a stored page shows records that its filter excludes. */
export async function checkFilter(
  sink: Sink,
  { list }: ListPass,
  page: { readonly keys: readonly string[]; readonly observedAt: Date },
): Promise<void> {
  const { stream, scope, query } = list
  if (scope === 'whole' || !isChangingStream(stream) || page.keys.length === 0) return
  const { observedAt } = page
  const updatedFrom = query[UPDATED_FROM] ?? null
  const unwanted = await sink.retry((warehouse) =>
    findUnwanted(warehouse, stream, page.keys, { observedAt, updatedFrom }),
  )
  if (unwanted.length === 0) return
  throw new FilterUselessError(
    `the service ignores ${Object.keys(query).join()}: ` +
      `the list of ${stream} shows ${unwanted.length} records on one page that it excludes`,
  )
}

/** Remembers for a day that the filter of a stream is useless, and logs it the first time. */
export async function recordUselessFilter(
  run: Run,
  { list }: ListPass,
  why: string,
): Promise<void> {
  const { stream } = list
  if (!isChangingStream(stream)) return
  const capability = capabilityName(stream)
  const before = await run.sink.transact('remember a filter', async (session) => {
    const earlier = await loadCapability(session, capability)
    await saveCapability(session, { capability, isSupported: false, detail: { why } })
    return earlier
  })
  const level = before?.isSupported === false ? 'debug' : 'warn'
  const message = 'the filter is not used; each sync reads the whole list'
  run.notes.logger[level](message, { stream, why })
}

/**
 * Queues shipments that were tracked and are missing on the complete list of tracked ones: tracking
 * stopped, or they are gone, which only a pass over the whole list confirms. Throws
 * `FilterUselessError` if more are missing than ever stop at once.
 */
export async function refetchThoseThatLeft(sink: Sink, pass: ListPass): Promise<void> {
  const { startedAt, stream } = pass
  if (stream !== 'shipments' || startedAt === undefined) return
  const tracked = await sink.retry((warehouse) => findTrackedShipments(warehouse, startedAt))
  const seen = pass.seen.get(stream)
  const left = tracked.filter((key) => seen?.has(key) !== true)
  if (left.length === 0) return
  if (left.length > mostMoving(tracked.length)) {
    throw new FilterUselessError(
      `the list of shipments with ${TRACKING_STOPPED}=false lacks ` +
        `${left.length} of ${tracked.length} that were still tracked`,
    )
  }
  const records = left.map((id) => ({ type: 'shipment', id }))
  await sink.transact('queue shipments that are no longer tracked', (session) =>
    queueRefetches(session, records, 'not on the list of those still tracked'),
  )
}
