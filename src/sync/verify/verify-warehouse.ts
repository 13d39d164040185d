import { hash } from 'node:crypto'
import type { ListStream, TrackingService } from '../../api/endpoints.js'
import { isAboutOneRecord, toError } from '../../base/errors.js'
import { takeIn } from '../../ingest/intake.js'
import { RunLedger } from '../../ingest/run-ledger.js'
import type { RunSettings } from '../../ingest/run.js'
import { pageOptions } from '../../ingest/take-pages.js'
import {
  containers,
  resourceOfType,
  shipments,
  trackingRequests,
  webhookEventCategories,
} from '../../resources/index.js'
import { REFERENCE_TYPES, type Resource, type Sighting } from '../../resources/resource.js'
import { vesselPositions } from '../../resources/vessel.js'
import { loadPassHistory } from '../../warehouse/bookkeeping/complete-passes.js'
import { countLiveRows } from '../../warehouse/bookkeeping/schema-drift.js'
import type { Warehouse } from '../../warehouse/connection/warehouse.js'
import {
  compareHistories,
  compareRow,
  countRows,
  findDanglingReferences,
  sampleLiveKeys,
  type HistoryComparison,
} from '../../warehouse/rows/compare-rows.js'
import { findDifferingKeys, loadLiveKeys } from '../../warehouse/rows/stored-rows.js'
import { countUnlistedEvents } from '../../warehouse/rows/unlisted-events.js'
import { chooseIncludes } from '../choose-includes.js'
import { readPage } from '../list-pass.js'
import { askForCatalogue } from '../read-unlisted.js'
import {
  countValues,
  examineContainer,
  examineRecord,
  examineShown,
  NO_ROW,
  type Examination,
  type Reader,
} from './examine-records.js'
import type { CountComparison, StreamVerdict, VerifyReport } from './verify-report.js'

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

interface Verifier extends VerifyDependencies, Reader {
  /** Why records could not be read, by stream. */
  readonly unread: Map<string, string[]>
}

const LISTED = [
  { stream: 'shipments', resource: shipments },
  { stream: 'containers', resource: containers },
  { stream: 'tracking_requests', resource: trackingRequests },
] as const
const PLACES = REFERENCE_TYPES.map(resourceOfType)
const COMPARED = [
  ...LISTED.map(({ stream }) => stream),
  'transport_events',
  ...PLACES.map(({ stream }) => stream),
  vesselPositions.table,
  webhookEventCategories.stream,
] as const

/**
 * Compares the warehouse with the service: the totals of the lists; every record of some of their
 * pages; and a random sample of shipments, containers with their transport events, tracking
 * requests, places and vessels, column by column; the catalogue of events; places and vessels that
 * rows point to and that have no row; and the histories, which are the warehouse's own, with its
 * rows. What differs is read once more, to know a fault from a change under way. Writes nothing.
 */
export async function verifySource(dependencies: VerifyDependencies): Promise<VerifyReport> {
  const verifier: Verifier = { ...dependencies, ledger: new RunLedger(), unread: new Map() }
  const { warehouse, sample, seed, unread } = verifier
  const looks: FirstLook[] = []
  const notCompared: string[] = []
  const examinations: Examination[] = []
  for (const { stream, resource } of LISTED) {
    const pages = await readSamplePages(verifier, stream)
    const live = await countLiveRows(warehouse, stream)
    looks.push({ ...pages, stream, live })
    const beganAt = looks[0]?.observedAt ?? pages.observedAt
    examinations.push(...(await examineSightings(verifier, resource, pages.sightings, beganAt)))
  }
  for (const id of await sampleLiveKeys(warehouse, shipments, sample, seed)) {
    const look = () => examineRecord(verifier, { type: shipments.type, id })
    examinations.push(...(await lookAt(verifier, shipments, id, look)))
  }
  for (const id of await sampleLiveKeys(warehouse, containers, sample, seed)) {
    const look = () => examineContainer(verifier, id)
    examinations.push(...(await lookAt(verifier, containers, id, look)))
  }
  const beganAt = looks[0]?.observedAt ?? new Date()
  for (const resource of [trackingRequests, ...PLACES]) {
    examinations.push(...(await examineById(verifier, resource, examinations, beganAt)))
  }
  const lookAtCatalogue = () => examineCatalogue(verifier)
  examinations.push(
    ...(await lookAt(verifier, webhookEventCategories, 'their list', lookAtCatalogue)),
  )
  for (const [stream, [first = '', ...others]] of unread) {
    const more = others.length === 0 ? '' : `; and so ${others.length} more`
    notCompared.push(`${stream}: ${first}${more}`)
  }
  const streams: StreamVerdict[] = []
  for (const stream of COMPARED) {
    const rows =
      stream === vesselPositions.table
        ? await countRows(warehouse, stream)
        : await countLiveRows(warehouse, stream)
    streams.push(summarize(stream, rows, examinations))
  }
  const histories = await compareHistories(warehouse)
  streams.push(...histories.map(summarizeHistory))
  const counts: CountComparison[] = []
  for (const look of looks) {
    const changing = streams.find(({ stream }) => stream === look.stream)?.changing ?? 0
    counts.push(await compareCount(verifier, look, changing))
  }
  for (const { stream, rows, compared } of streams) {
    const isNamed = notCompared.some((name) => name.startsWith(`${stream}:`))
    const isOff = stream === vesselPositions.table && !verifier.settings.vesselPositions
    const why = isOff ? 'TRACKING_VESSEL_POSITIONS is off' : 'none was in the sample'
    if (rows > 0 && compared === 0 && !isNamed) notCompared.push(`${stream}: ${why}`)
  }
  if (streams.some(({ stream, rows }) => stream === webhookEventCategories.stream && rows === 0)) {
    notCompared.push(`${webhookEventCategories.stream}: a backfill reads it`)
  }
  notCompared.push('custom_fields, their definitions and options: a backfill compares them')
  notCompared.push('other_resources: the service has no list of them')
  const unlistedEvents = await countUnlistedEvents(warehouse)
  const { wholeHoursAgo } = await loadPassHistory(warehouse, shipments.stream)
  const isAnything = streams.some(({ compared }) => compared > 0)
  const isEmpty = counts.every(({ service, warehouse: live }) => service === 0 && live === 0)
  const isEqual =
    (isAnything || isEmpty) &&
    unlistedEvents === 0 &&
    counts.every(({ isWithin }) => isWithin) &&
    streams.every((one) => one.differing + one.missingAtSource === 0)
  return {
    isEqual,
    counts,
    streams,
    differences: [
      ...latest(examinations).flatMap(({ stream, key, differences }) =>
        differences.map((difference) => ({ stream, record: key, ...difference })),
      ),
      ...histories.flatMap(({ table, differing }) =>
        differing.map((record) => ({
          stream: table,
          record,
          column: '(open version)',
          warehouse: 'differs from the live row',
          service: null,
        })),
      ),
    ],
    notCompared,
    advice: isEqual ? [] : await advise(verifier, streams, counts, examinations),
    unlistedEvents,
    wholeHoursAgo,
    sample,
    seed,
    requests: verifier.ledger.requests(),
  }
}

/** Looks at one record. One that the service does not show is named, and costs only itself. */
async function lookAt(
  { ledger, signal, unread }: Verifier,
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

/**
 * The command that mends it. A backfill compares every record by value; a row that the service no
 * longer has is marked after two. Where transport events do not come included, a backfill reads
 * those of a container again only when it is named.
 */
async function advise(
  { warehouse }: Verifier,
  streams: readonly StreamVerdict[],
  counts: readonly CountComparison[],
  examinations: readonly Examination[],
): Promise<string[]> {
  const isListed = (stream: string): boolean => LISTED.some((one) => one.stream === stream)
  const isTwice =
    streams.some(({ stream, missingAtSource }) => isListed(stream) && missingAtSource > 0) ||
    counts.some(({ difference, isWithin }) => !isWithin && difference > 0)
  const advice = isTwice
    ? ['tracking-sync backfill', 'tracking-sync backfill']
    : ['tracking-sync backfill']
  const choices = await Promise.all([
    chooseIncludes({ warehouse }, 'shipments'),
    chooseIncludes({ warehouse }, 'containers'),
  ])
  const areIncluded = choices.some(({ includes }) =>
    includes.some((name) => name.endsWith('transport_events')),
  )
  const events = latest(examinations).filter(
    ({ stream, verdict }) => stream === 'transport_events' && verdict === 'differing',
  )
  const owners = new Set(events.map(({ key }) => key.slice(0, key.indexOf(' '))))
  if (!areIncluded && owners.size > 0) {
    advice.push(`tracking-sync backfill ${[...owners].map((id) => `--container ${id}`).join(' ')}`)
  }
  return advice
}

interface SamplePages {
  /** Null when the service does not say. */
  readonly total: number | null
  /** The records of the pages, each once. */
  readonly sightings: readonly Sighting[]
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
  const read = [first]
  for (const startPage of others) {
    signal.throwIfAborted()
    read.push(await readPage(verifier, stream, { startPage }))
  }
  const sightings = read.flatMap(
    (page) => takeIn(page.document, pageOptions(stream, page)).sightings.get(stream) ?? [],
  )
  const unique = new Map(sightings.map((one) => [one.key, one]))
  return {
    total: first.total ?? null,
    sightings: [...unique.values()],
    observedAt: first.observedAt,
  }
}

/**
 * Compares records that an answer showed with their rows, and looks again at those that differ, at
 * at most `sample`. Columns that each look of the service changes are not compared.
 */
async function examineSightings(
  verifier: Verifier,
  resource: Resource,
  sightings: readonly Sighting[],
  beganAt: Date,
): Promise<Examination[]> {
  const { warehouse, sample } = verifier
  const { stream, type } = resource
  const { names } = warehouse
  const differing = await findDifferingKeys(warehouse, names, resource, sightings)
  const examinations = sightings
    .filter(({ key }) => !differing.has(key))
    .map((one): Examination => equalTo(one))
  for (const id of [...differing].slice(0, sample)) {
    const look = () => examineShown(verifier, { type, id }, beganAt)
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

/** A sample of rows that no page showed, then what rows point to and what has none. */
async function examineById(
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

/** One request shows all of it. Nothing before a backfill has read it. */
async function examineCatalogue(verifier: Verifier): Promise<Examination[]> {
  const { warehouse } = verifier
  const resource = webhookEventCategories
  const { stream } = resource
  const live = await loadLiveKeys(warehouse, resource)
  if (live.length === 0) return []
  const { intake } = await askForCatalogue(verifier)
  const sightings = intake.sightings.get(stream) ?? []
  const shown = new Set(sightings.map(({ key }) => key))
  const examinations: Examination[] = []
  for (const sighting of sightings) {
    const differences = (await compareRow(warehouse, sighting)) ?? [NO_ROW]
    const verdict = differences.length === 0 ? 'equal' : 'differing'
    examinations.push({ ...equalTo(sighting), verdict, differences })
  }
  for (const key of live) {
    if (shown.has(key)) continue
    examinations.push({ stream, key, verdict: 'missingAtSource', differences: [], values: 0 })
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

/** Of each record the last look, which is the closest. */
function latest(examinations: readonly Examination[]): Examination[] {
  return [...new Map(examinations.map((one) => [`${one.stream} ${one.key}`, one])).values()]
}

function summarize(
  stream: string,
  rows: number,
  examinations: readonly Examination[],
): StreamVerdict {
  const verdict = {
    compared: 0,
    values: 0,
    equal: 0,
    differing: 0,
    missingAtSource: 0,
    changing: 0,
  }
  for (const examination of latest(examinations)) {
    if (examination.stream !== stream) continue
    verdict.compared += 1
    verdict.values += examination.values
    verdict[examination.verdict] += 1
  }
  return { stream, rows, ...verdict }
}

function summarizeHistory({
  table,
  compared,
  values,
  differing,
}: HistoryComparison): StreamVerdict {
  const faults = { differing: differing.length, missingAtSource: 0, changing: 0 }
  const equal = Math.max(0, compared - differing.length)
  return { stream: table, rows: compared, compared, values, equal, ...faults }
}
