import type { TrackingService } from '../api/endpoints.js'
import type { ListOptions, Page } from '../api/list-pages.js'
import { containers, shipments } from '../resources/index.js'
import { sampleLiveKeys } from '../warehouse/compare-rows.js'
import { countLiveRows } from '../warehouse/schema-drift.js'
import type { Warehouse } from '../warehouse/warehouse.js'
import { RunLedger } from './run-ledger.js'
import type { RunSettings } from './run.js'
import { examineContainer, examineShipment, type Examination } from './verify-record.js'

export interface VerifyDependencies {
  readonly service: TrackingService
  /** Only read. */
  readonly warehouse: Warehouse
  readonly settings: RunSettings
  readonly signal: AbortSignal
  /** Shipments, and as many containers, to compare: about three requests for each pair. */
  readonly sample: number
  /** Decides which; the same seed, the same rows. */
  readonly seed: number
}

/** What reading for a comparison needs. */
export interface Verifier extends VerifyDependencies {
  readonly ledger: RunLedger
}

/** How many records a list says there are, against live rows. */
export interface CountComparison {
  readonly stream: string
  /** Null when the service does not say. */
  readonly service: number | null
  readonly warehouse: number
  readonly difference: number
  /** Records may come and go between two runs; no more than so many. */
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
  /** Columns that change whenever the service looks, by `stream.column`: how many rows are behind. No fault. */
  readonly volatile: Readonly<Record<string, number>>
  readonly sample: number
  readonly seed: number
  readonly requests: number
}

/**
 * Compares the warehouse with the service: how many records each list has, and a random sample of shipments and containers with
 * their transport events, column by column, through the same flattening as a run. A record that differs is read once more, to tell a
 * fault from a change under way. Writes nothing.
 */
export async function verifySource(dependencies: VerifyDependencies): Promise<VerifyReport> {
  const verifier: Verifier = { ...dependencies, ledger: new RunLedger() }
  const { warehouse, sample, seed, signal } = verifier
  const counts = await compareCounts(verifier)
  const examinations: Examination[] = []
  for (const id of await sampleLiveKeys(warehouse, shipments, sample, seed)) {
    signal.throwIfAborted()
    examinations.push(await examineShipment(verifier, id))
  }
  for (const id of await sampleLiveKeys(warehouse, containers, sample, seed)) {
    signal.throwIfAborted()
    examinations.push(...(await examineContainer(verifier, id)))
  }
  const streams = ['shipments', 'containers', 'transport_events'].map((stream) =>
    summarize(stream, examinations),
  )
  const isFaultless = streams.every(
    ({ differing, missingAtSource }) => differing === 0 && missingAtSource === 0,
  )
  return {
    isEqual: isFaultless && counts.every(({ isWithin }) => isWithin),
    counts,
    streams,
    differences: examinations.flatMap(({ stream, key, differences }) =>
      differences.map((difference) => ({ stream, record: key, ...difference })),
    ),
    volatile: countVolatile(examinations),
    sample,
    seed,
    requests: verifier.ledger.requests(),
  }
}

const TOLERATED = 10
const TOLERATED_SHARE = 0.02

async function compareCounts(verifier: Verifier): Promise<CountComparison[]> {
  const { service } = verifier
  const lists: readonly [string, (options: ListOptions) => AsyncIterable<Page>][] = [
    ['shipments', (options) => service.listShipments(options)],
    ['containers', (options) => service.listContainers(options)],
    ['tracking_requests', (options) => service.listTrackingRequests(options)],
  ]
  const counts: CountComparison[] = []
  for (const [stream, list] of lists) {
    const total = await readTotal(verifier, stream, list)
    const live = await countLiveRows(verifier.warehouse, stream)
    const difference = total === null ? 0 : live - total
    const tolerance = Math.max(TOLERATED, Math.floor((total ?? live) * TOLERATED_SHARE))
    const isWithin = Math.abs(difference) <= tolerance
    counts.push({ stream, service: total, warehouse: live, difference, tolerance, isWithin })
  }
  return counts
}

async function readTotal(
  { signal, ledger }: Verifier,
  stream: string,
  list: (options: ListOptions) => AsyncIterable<Page>,
): Promise<number | null> {
  for await (const page of list({ pageSize: 1, signal, counter: ledger.counter(stream) })) {
    return page.total ?? null
  }
  return null
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
