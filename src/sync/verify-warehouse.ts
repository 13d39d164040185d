import { hash } from 'node:crypto'
import type { ListStream, TrackingService } from '../api/endpoints.js'
import { RunLedger } from '../ingest/run-ledger.js'
import type { RunSettings } from '../ingest/run.js'
import { containers, shipments, trackingRequests } from '../resources/index.js'
import type { Resource } from '../resources/resource.js'
import { loadPassHistory } from '../warehouse/bookkeeping/complete-passes.js'
import { countLiveRows } from '../warehouse/bookkeeping/schema-drift.js'
import type { Warehouse } from '../warehouse/connection/warehouse.js'
import { findKeysWithoutRow, sampleLiveKeys } from '../warehouse/rows/compare-rows.js'
import { countUnlistedEvents } from '../warehouse/rows/unlisted-events.js'
import { readPage } from './list-pass.js'
import {
  examineContainer,
  examineShipment,
  examineShown,
  type Examination,
  type Reader,
} from './examine-records.js'

export interface VerifyDependencies {
  readonly service: TrackingService
  /** Only read. */
  readonly warehouse: Warehouse
  readonly settings: RunSettings
  readonly signal: AbortSignal
  /** Shipments, and as many containers, to compare: about three requests for each pair. */
  readonly sample: number
  /** The same seed and the same rows give the same sample. */
  readonly seed: number
}

type Verifier = VerifyDependencies & Reader

/** How many records a list says there are, against live rows. */
export interface CountComparison {
  readonly stream: string
  /** Null when the service does not say. */
  readonly service: number | null
  readonly warehouse: number
  readonly difference: number
  /** How far both moved while they were compared; the difference may be as large. */
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
  /** Differed, and gave another answer when read again: the service is changing it. */
  readonly changing: number
}

export interface VerifyReport {
  readonly isEqual: boolean
  readonly counts: readonly CountComparison[]
  readonly streams: readonly StreamVerdict[]
  readonly differences: readonly VerifyDifference[]
  /** Live transport events that no container lists; a sync asks for them. */
  readonly unlistedEvents: number
  /** Since the last complete pass over the whole list of shipments began; null without one. */
  readonly wholeHoursAgo: number | null
  readonly sample: number
  readonly seed: number
  readonly requests: number
}

const LISTED = [
  { stream: 'shipments', resource: shipments },
  { stream: 'containers', resource: containers },
  { stream: 'tracking_requests', resource: trackingRequests },
] as const
const COMPARED = ['shipments', 'containers', 'transport_events', 'tracking_requests']

/**
 * Compares the warehouse with the service: the totals of the lists; whether records of some of
 * their pages have rows; and a random sample of shipments and containers with their transport
 * events, column by column. What differs is read once more, to know a fault from a change under
 * way. Writes nothing.
 */
export async function verifySource(dependencies: VerifyDependencies): Promise<VerifyReport> {
  const verifier: Verifier = { ...dependencies, ledger: new RunLedger() }
  const { warehouse, sample, seed, signal } = verifier
  const looks: FirstLook[] = []
  const examinations: Examination[] = []
  for (const { stream, resource } of LISTED) {
    const pages = await readSamplePages(verifier, stream)
    const live = await countLiveRows(warehouse, stream)
    looks.push({ ...pages, stream, live })
    const beganAt = looks[0]?.observedAt ?? pages.observedAt
    examinations.push(...(await examinePages(verifier, resource, pages.keys, beganAt)))
  }
  for (const id of await sampleLiveKeys(warehouse, shipments, sample, seed)) {
    signal.throwIfAborted()
    examinations.push(...(await examineShipment(verifier, id)))
  }
  for (const id of await sampleLiveKeys(warehouse, containers, sample, seed)) {
    signal.throwIfAborted()
    examinations.push(...(await examineContainer(verifier, id)))
  }
  const streams = COMPARED.map((stream) => summarize(stream, examinations))
  const counts: CountComparison[] = []
  for (const look of looks) {
    const changing = streams.find(({ stream }) => stream === look.stream)?.changing ?? 0
    counts.push(await compareCount(verifier, look, changing))
  }
  const unlistedEvents = await countUnlistedEvents(warehouse)
  const { wholeHoursAgo } = await loadPassHistory(warehouse, shipments.stream)
  return {
    isEqual:
      unlistedEvents === 0 &&
      counts.every(({ isWithin }) => isWithin) &&
      streams.every((one) => one.differing + one.missingAtSource === 0),
    counts,
    streams,
    differences: examinations.flatMap(({ stream, key, differences }) =>
      differences.map((difference) => ({ stream, record: key, ...difference })),
    ),
    unlistedEvents,
    wholeHoursAgo,
    sample,
    seed,
    requests: verifier.ledger.requests(),
  }
}

interface SamplePages {
  /** Null when the service does not say. */
  readonly total: number | null
  /** Ids of the records of the pages. */
  readonly keys: readonly string[]
  /** Of the first page. */
  readonly observedAt: Date
}

/** One page for so many records of the sample. */
const RECORDS_PER_PAGE = 10

/** Reads the first page of a list and others that the seed decides. One request a page. */
async function readSamplePages(verifier: Verifier, stream: ListStream): Promise<SamplePages> {
  const { sample, seed, signal } = verifier
  const first = await readPage(verifier, stream)
  const size = first.document.data.length
  const pages = size === 0 || first.isLast ? 1 : Math.ceil((first.total ?? size) / size)
  const others = new Set<number>()
  for (let at = 1; at < Math.min(pages, sample / RECORDS_PER_PAGE); at += 1) {
    const draw = Number.parseInt(hash('sha1', `${seed} ${at}`, 'hex').slice(0, 8), 16)
    others.add(2 + (draw % (pages - 1)))
  }
  const records = [...first.document.data]
  for (const startPage of others) {
    signal.throwIfAborted()
    records.push(...(await readPage(verifier, stream, { startPage })).document.data)
  }
  const keys = records
    .map((record) => (record as { readonly id?: unknown } | null)?.id)
    .filter((id) => typeof id === 'string')
  return { total: first.total ?? null, keys: [...new Set(keys)], observedAt: first.observedAt }
}

/** Looks again at records of the pages without a live row, at no more than `sample`. */
async function examinePages(
  verifier: Verifier,
  resource: Resource,
  keys: readonly string[],
  beganAt: Date,
): Promise<Examination[]> {
  const { warehouse, sample, signal } = verifier
  const missing = await findKeysWithoutRow(warehouse, resource, keys)
  const examinations: Examination[] = []
  for (const id of missing.slice(0, sample)) {
    signal.throwIfAborted()
    examinations.push(...(await examineShown(verifier, { type: resource.type, id }, beganAt)))
  }
  return examinations
}

interface FirstLook extends SamplePages {
  readonly stream: ListStream
  readonly live: number
}

/** Counts once more where the first counts differ, to see what moves. */
async function compareCount(
  verifier: Verifier,
  { stream, total: first, live }: FirstLook,
  changing: number,
): Promise<CountComparison> {
  if (first === null || first === live) {
    return { stream, service: first, warehouse: live, difference: 0, tolerance: 0, isWithin: true }
  }
  const service = (await readPage(verifier, stream)).total ?? first
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
