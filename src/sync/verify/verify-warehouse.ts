import { containers, shipments, trackingRequests } from '../../resources/index.js'
import type { Resource } from '../../resources/resource.js'
import { loadPassHistory } from '../../warehouse/bookkeeping/checkpoints.js'
import { findKeysWithoutRow, sampleLiveKeys } from '../../warehouse/rows/compare-rows.js'
import { countLiveRows } from '../../warehouse/bookkeeping/schema-drift.js'
import { countUnlistedEvents } from '../../warehouse/rows/transport-event-lists.js'
import { RunLedger } from '../../ingest/run-ledger.js'
import {
  readSamplePages,
  type SamplePages,
  type Verifier,
  type VerifyDependencies,
} from './verify-pages.js'
import {
  examineContainer,
  examineShipment,
  examineShown,
  type Examination,
} from './verify-record.js'

/** How many records a list says there are, against live rows. */
export interface CountComparison {
  readonly stream: string
  /** Null when the service does not say. */
  readonly service: number | null
  readonly warehouse: number
  readonly difference: number
  /** How far both moved while they were compared: no more than that may they differ. */
  readonly tolerance: number
  readonly isWithin: boolean
}

export interface VerifyDifference {
  readonly stream: string
  readonly record: string
  readonly column: string
  readonly warehouse: string | null
  readonly service: string | null
}

export interface StreamVerdict {
  readonly stream: string
  readonly compared: number
  readonly equal: number
  readonly differing: number
  /** Live in the warehouse, and the service does not have it. */
  readonly missingAtSource: number
  /** Differed, and gave another answer when it was read again: the service is changing it. */
  readonly changing: number
}

export interface VerifyReport {
  readonly isEqual: boolean
  readonly counts: readonly CountComparison[]
  readonly streams: readonly StreamVerdict[]
  readonly differences: readonly VerifyDifference[]
  /** Live transport events that no container lists; a sync asks for them. */
  readonly unlistedEvents: number
  /**
   * When the last complete pass over the whole list of shipments began, in hours before now; null
   * when there was none.
   */
  readonly wholeHoursAgo: number | null
  /**
   * Columns that change whenever the service looks, by `stream.column`: how many rows are behind.
   * No fault.
   */
  readonly volatile: Readonly<Record<string, number>>
  readonly sample: number
  readonly seed: number
  readonly requests: number
}

/** The lists of the service, by their streams. */
const LISTED: readonly Resource[] = [shipments, containers, trackingRequests]

/**
 * Compares the warehouse with the service. How many records each list has; whether records of some
 * of its pages have rows; and a random sample of live shipments and containers with their transport
 * events, column by column, through the same flattening as a run. What differs is read once more,
 * to tell a fault from a change under way. Writes nothing.
 */
export async function verifySource(dependencies: VerifyDependencies): Promise<VerifyReport> {
  const verifier: Verifier = { ...dependencies, ledger: new RunLedger() }
  const { warehouse, sample, seed, signal } = verifier
  const looks: CountLook[] = []
  const examinations: Examination[] = []
  let beganAt: Date | undefined
  for (const resource of LISTED) {
    const pages = await readSamplePages(verifier, resource.stream)
    beganAt ??= pages.observedAt
    looks.push({
      stream: resource.stream,
      pages,
      live: await countLiveRows(warehouse, resource.stream),
    })
    examinations.push(...(await examinePages(verifier, resource, pages, beganAt)))
  }
  for (const id of await sampleLiveKeys(warehouse, shipments, sample, seed)) {
    signal.throwIfAborted()
    examinations.push(await examineShipment(verifier, id))
  }
  for (const id of await sampleLiveKeys(warehouse, containers, sample, seed)) {
    signal.throwIfAborted()
    examinations.push(...(await examineContainer(verifier, id)))
  }
  const counts: CountComparison[] = []
  const compared = ['shipments', 'containers', 'transport_events', 'tracking_requests']
  const streams = compared.map((stream) => summarize(stream, examinations))
  for (const look of looks) {
    const changing = streams.find(({ stream }) => stream === look.stream)?.changing ?? 0
    counts.push(await compareCount(verifier, look, changing))
  }
  const isFaultless = streams.every(
    ({ differing, missingAtSource }) => differing === 0 && missingAtSource === 0,
  )
  const unlistedEvents = await countUnlistedEvents(warehouse, warehouse.names)
  const { wholeHoursAgo } = await loadPassHistory(warehouse, warehouse.names, shipments.stream)
  return {
    isEqual: isFaultless && unlistedEvents === 0 && counts.every(({ isWithin }) => isWithin),
    counts,
    streams,
    differences: examinations.flatMap(({ stream, key, differences }) =>
      differences.map((difference) => ({ stream, record: key, ...difference })),
    ),
    unlistedEvents,
    wholeHoursAgo,
    volatile: countVolatile(examinations),
    sample,
    seed,
    requests: verifier.ledger.requests(),
  }
}

/**
 * Looks again at records of the pages that have no live row, at no more than are sampled of a
 * stream.
 */
async function examinePages(
  verifier: Verifier,
  resource: Resource,
  { keys }: SamplePages,
  beganAt: Date,
): Promise<Examination[]> {
  const { warehouse, sample, signal } = verifier
  const missing = await findKeysWithoutRow(warehouse, resource, keys)
  const examinations: Examination[] = []
  for (const id of missing.slice(0, sample)) {
    signal.throwIfAborted()
    const examination = await examineShown(verifier, { type: resource.type, id }, beganAt)
    if (examination !== undefined) examinations.push(examination)
  }
  return examinations
}

/** What was counted at first. */
interface CountLook {
  readonly stream: string
  readonly pages: SamplePages
  readonly live: number
}

/** Counts once more where the first counts differ, to see what moves. */
async function compareCount(
  verifier: Verifier,
  { stream, pages, live }: CountLook,
  changing: number,
): Promise<CountComparison> {
  const first = pages.total
  if (first === null || first === live) {
    return { stream, service: first, warehouse: live, difference: 0, tolerance: 0, isWithin: true }
  }
  const { total } = await readSamplePages({ ...verifier, sample: 0 }, stream)
  const service = total ?? first
  const warehouse = await countLiveRows(verifier.warehouse, stream)
  const difference = warehouse - service
  const tolerance = Math.abs(service - first) + Math.abs(warehouse - live) + changing
  const isWithin = Math.abs(difference) <= tolerance
  return { stream, service, warehouse, difference, tolerance, isWithin }
}

function summarize(stream: string, examinations: readonly Examination[]): StreamVerdict {
  const verdict = { compared: 0, equal: 0, differing: 0, missingAtSource: 0, changing: 0 }
  for (const examination of examinations) {
    if (examination.stream !== stream) continue
    verdict.compared += 1
    verdict[examination.verdict] += 1
  }
  return { stream, ...verdict }
}

function countVolatile(examinations: readonly Examination[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { stream, volatileColumns } of examinations) {
    for (const column of volatileColumns) {
      const name = `${stream}.${column}`
      counts[name] = (counts[name] ?? 0) + 1
    }
  }
  return counts
}
