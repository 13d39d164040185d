import { hash } from 'node:crypto'
import type { TrackingService } from '../../api/endpoints.js'
import type { Page } from '../../api/list-pages.js'
import type { RunLedger } from '../../ingest/run-ledger.js'
import type { RunSettings } from '../../ingest/run.js'
import type { Warehouse } from '../../warehouse/connection/warehouse.js'

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

/** What a list of the service showed. */
export interface SamplePages {
  /** How many records it says there are; null when it does not. */
  readonly total: number | null
  /** Ids of the records of some pages. */
  readonly keys: readonly string[]
  /** Of the first page. */
  readonly observedAt: Date
}

/** A page shows a hundred records at the price of one. */
const RECORDS_PER_PAGE = 10

/**
 * Reads the first page of a list and others that only the seed decides, in all at most one for
 * every ten records of the sample. One request a page.
 */
export async function readSamplePages(verifier: Verifier, stream: string): Promise<SamplePages> {
  const first = await readPage(verifier, stream, 1)
  const size = first.document.data.length
  const pages = size === 0 || first.isLast ? 1 : Math.ceil((first.total ?? size) / size)
  const others = new Set<number>()
  for (let at = 1; at < Math.min(pages, verifier.sample / RECORDS_PER_PAGE); at += 1) {
    others.add(2 + (drawNumber(`${verifier.seed} ${at}`) % (pages - 1)))
  }
  const keys = verifier.sample === 0 ? [] : keysOf(first)
  for (const page of others) {
    verifier.signal.throwIfAborted()
    for (const key of keysOf(await readPage(verifier, stream, page))) keys.push(key)
  }
  return { total: first.total ?? null, keys: [...new Set(keys)], observedAt: first.observedAt }
}

/** Below 2^32. */
function drawNumber(text: string): number {
  return Number.parseInt(hash('sha1', text, 'hex').slice(0, 8), 16)
}

async function readPage(
  { service, settings, signal, ledger }: Verifier,
  stream: string,
  startPage: number,
): Promise<Page> {
  const { pageSize } = settings
  const options = { pageSize, startPage, signal, counter: ledger.counter(stream) }
  for await (const page of listOf(service, stream)(options)) return page
  throw new Error('a list has at least one page, or throws')
}

function listOf(service: TrackingService, stream: string): TrackingService['listShipments'] {
  if (stream === 'shipments') return (options) => service.listShipments(options)
  if (stream === 'containers') return (options) => service.listContainers(options)
  return (options) => service.listTrackingRequests(options)
}

function keysOf({ document }: Page): string[] {
  return document.data
    .map((record) => (record as { readonly id?: unknown } | null)?.id)
    .filter((id) => typeof id === 'string')
}
