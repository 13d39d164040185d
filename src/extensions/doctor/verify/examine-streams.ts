import { hash } from 'node:crypto'
import type { ListStream, TrackingService } from '../../../source/client/endpoints.js'
import { isAboutOneRecord, toError } from '../../../base/errors.js'
import { carriedBy } from '../../../ingest/drift-watch.js'
import { pageOptions, readRawRecords, type Intake } from '../../../ingest/intake.js'
import type { RunSettings } from '../../../ingest/run.js'
import {
  customFieldOptions,
  customFields,
  webhookEventCategories,
} from '../../../source/records/index.js'
import type { Resource, Sighting } from '../../../source/records/resource.js'
import type { Warehouse } from '../../../warehouse/connection/warehouse.js'
import { findDanglingReferences, sampleLiveKeys } from './compare-rows.js'
import { findDifferingKeys, loadLiveKeys } from '../../../warehouse/rows/stored-rows.js'
import {
  entityOf,
  loadFieldDefinitions,
  loadOptionOwners,
  optionsOf,
} from '../../../sync/read-custom-fields.js'
import { readPage } from '../../../sync/list-pass.js'
import { askForOwnList, loadOwnKeys } from '../../../sync/read-own-list.js'
import { askForCatalogue } from '../../../sync/read-unlisted.js'
import {
  countValues,
  examineList,
  examineRecord,
  examineShown,
  type Examination,
  type Reader,
} from './examine-records.js'

export interface VerifyDependencies {
  readonly service: TrackingService
  /** Read only. */
  readonly warehouse: Warehouse
  readonly settings: RunSettings
  readonly signal: AbortSignal
  /** Number of shipments, and of containers, to compare: about three requests for each pair. */
  readonly sample: number
  /** The same seed and the same rows give the same sample. */
  readonly seed: number
}

export interface Verifier extends Reader, Pick<VerifyDependencies, 'sample' | 'seed'> {
  readonly listed: Map<string, ReadonlySet<string>>
  /** Reasons for unreadable records, by stream. */
  readonly unread: Map<string, string[]>
}

/** Examines one record. A record that the service does not show is named, and costs only itself. */
export async function lookAt(
  { source: { signal }, notes: { ledger }, unread }: Verifier,
  { stream }: Resource,
  id: string,
  look: () => Promise<Examination[]>,
): Promise<Examination[]> {
  signal.throwIfAborted()
  try {
    const examinations = await look()
    ledger.noteRead()
    return examinations
  } catch (thrown) {
    if (signal.aborted || !isAboutOneRecord(thrown)) throw thrown
    ledger.noteRead(thrown)
    if (ledger.isServiceFailing) throw thrown
    unread.set(stream, [...(unread.get(stream) ?? []), `${id}: ${toError(thrown).message}`])
    return []
  }
}

export interface SamplePages {
  /** Null if the service does not say. */
  readonly total: number | null
  /** The records of the pages, each once. */
  readonly sightings: readonly Sighting[]
  /** When the first page was read. */
  readonly observedAt: Date
}

/** Records of the sample per page to read. */
const RECORDS_PER_PAGE = 10

/** Reads the first page of a list and others that the seed selects. One request a page. */
export async function readSamplePages(
  verifier: Verifier,
  stream: ListStream,
): Promise<SamplePages> {
  const { sample, seed } = verifier
  const first = await readPage(verifier, stream)
  const size = first.document.primary.length
  const pages = size === 0 || first.isLast ? 1 : Math.ceil((first.total ?? size) / size)
  const others = new Set<number>()
  for (let at = 1; at < Math.min(pages, sample / RECORDS_PER_PAGE); at += 1) {
    const draw = Number.parseInt(hash('sha1', `${seed} ${at}`, 'hex').slice(0, 8), 16)
    others.add(2 + (draw % (pages - 1)))
  }
  const read = [first]
  for (const startPage of others) {
    verifier.source.signal.throwIfAborted()
    read.push(await readPage(verifier, stream, { startPage }))
  }
  const fieldDefinitions =
    stream === customFields.stream
      ? await loadFieldDefinitions(verifier.warehouse, verifier.source.settings)
      : undefined
  const sightings = read.flatMap(
    (page) =>
      readRawRecords(page.document, {
        ...pageOptions(stream, page),
        fieldDefinitions,
      }).sightings.get(stream) ?? [],
  )
  if (sightings.length > 0) verifier.listed.set(stream, new Set(sightings.flatMap(carriedBy)))
  const unique = new Map(sightings.map((one) => [one.key, one]))
  return {
    total: first.total ?? null,
    sightings: [...unique.values()],
    observedAt: first.observedAt,
  }
}

/**
 * Compares records of an answer with their rows, and looks again at differing ones, at most
 * `sample`. Skips columns that change with each check of the service.
 */
export async function examineSightings(
  verifier: Verifier,
  resource: Resource,
  sightings: readonly Sighting[],
  beganAt: Date,
): Promise<Examination[]> {
  const { warehouse, sample } = verifier
  const { stream, type } = resource
  const differing = await findDifferingKeys(warehouse, resource, sightings)
  const examinations = sightings
    .filter(({ key }) => !differing.has(key))
    .map((one): Examination => equalTo(one))
  for (const id of [...differing].slice(0, sample)) {
    const sighting = sightings.find(({ key }) => key === id)
    const entity = sighting && entityOf(sighting)
    const look = () => examineShown(verifier, { type, id, entity }, beganAt)
    const looked = await lookAt(verifier, resource, id, look)
    examinations.push(...looked.filter((one) => one.stream === stream))
  }
  return examinations
}

function equalTo(sighting: Sighting): Examination {
  const { resource, key } = sighting
  const values = countValues(sighting)
  return { stream: resource.stream, key, verdict: 'equal', differences: [], values }
}

/** Compares a sample of rows that no page showed, then dangling references. */
export async function examineById(
  verifier: Verifier,
  resource: Resource,
  before: readonly Examination[],
  beganAt: Date,
): Promise<Examination[]> {
  const { warehouse, sample, seed } = verifier
  const { stream, type } = resource
  const shown = new Set(before.filter((one) => one.stream === stream).map(({ key }) => key))
  const examinations: Examination[] = []
  for (const id of await sampleLiveKeys(warehouse, resource, sample, seed)) {
    if (shown.has(id)) continue
    const look = () => examineRecord(verifier, { type, id })
    examinations.push(...(await lookAt(verifier, resource, id, look)))
  }
  for (const id of await findDanglingReferences(warehouse, resource, sample)) {
    const look = () => examineShown(verifier, { type, id }, beganAt)
    examinations.push(...(await lookAt(verifier, resource, id, look)))
  }
  return examinations
}

/** Compares all options of at most `sample` definitions: one request each. */
export async function examineOptions(verifier: Verifier): Promise<Examination[]> {
  const { warehouse, sample } = verifier
  const resource = customFieldOptions
  const examinations: Examination[] = []
  for (const owner of (await loadOptionOwners(warehouse)).slice(0, sample)) {
    const own = optionsOf(verifier.source.service, owner)
    const read = async (): Promise<Intake> => (await askForOwnList(verifier, own)).intake
    const live = () => loadOwnKeys(warehouse, resource, own.seen)
    const look = () => examineList(verifier, resource, read, live)
    examinations.push(...(await lookAt(verifier, resource, own.source, look)))
  }
  return examinations
}

/** Compares the catalogue of events, in one request. Skipped before a complete pass has read it. */
export async function examineCatalogue(verifier: Verifier): Promise<Examination[]> {
  const { warehouse } = verifier
  const resource = webhookEventCategories
  const live = await loadLiveKeys(warehouse, resource)
  if (live.length === 0) return []
  const read = async (): Promise<Intake> => (await askForCatalogue(verifier)).intake
  return examineList(verifier, resource, read, () => loadLiveKeys(warehouse, resource))
}
