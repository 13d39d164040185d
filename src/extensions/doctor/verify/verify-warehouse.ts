import type { ListStream } from '../../../source/client/endpoints.js'
import { RunLedger } from '../../../ingest/run-ledger.js'
import {
  containers,
  customFieldDefinitions,
  customFieldOptions,
  customFields,
  resourceOfType,
  shipments,
  trackingRequests,
  webhookEventCategories,
} from '../../../source/records/index.js'
import { REFERENCE_TYPES } from '../../../source/records/resource.js'
import { vesselPositions } from '../../../source/records/vessel.js'
import { loadPassHistory } from '../../../warehouse/bookkeeping/checkpoints.js'
import { countLiveRows } from '../../../warehouse/bookkeeping/schema-drift.js'
import {
  compareHistories,
  countRows,
  sampleLiveKeys,
  type HistoryComparison,
} from './compare-rows.js'
import { countUnlistedEvents } from '../../../warehouse/rows/unlisted-events.js'
import { chooseIncludes } from '../../../sync/choose-includes.js'
import { OPTIONAL_LISTS } from '../../../sync/read-custom-fields.js'
import { readPage } from '../../../sync/list-pass.js'
import { examineContainer, examineRecord, type Examination } from './examine-records.js'
import {
  examineById,
  examineCatalogue,
  examineOptions,
  examineSightings,
  lookAt,
  readSamplePages,
  type SamplePages,
  type Verifier,
  type VerifyDependencies,
} from './examine-streams.js'
import type { CountComparison, StreamVerdict, VerifyReport } from './verify-report.js'

const LISTED = [
  { stream: 'shipments', resource: shipments },
  { stream: 'containers', resource: containers },
  { stream: 'tracking_requests', resource: trackingRequests },
  { stream: 'custom_field_definitions', resource: customFieldDefinitions },
  { stream: 'custom_fields', resource: customFields },
] as const
const PLACES = REFERENCE_TYPES.map(resourceOfType)
/** Compared by a sample of rows, each read by id. */
const BY_ID = [trackingRequests, customFieldDefinitions, customFields, ...PLACES]
const COMPARED = [
  ...LISTED.map(({ stream }) => stream),
  customFieldOptions.stream,
  'transport_events',
  ...PLACES.map(({ stream }) => stream),
  vesselPositions.table,
  webhookEventCategories.stream,
] as const

/** Used in place of an id if a whole list could not be read. */
const THEIR_LIST = 'their list'

/**
 * Compares the warehouse with the service: the totals of the lists; every record of some of their
 * pages; a random sample of shipments, containers with their transport events, tracking requests,
 * custom fields, places and vessels, column by column; the options of custom fields; the catalogue
 * of events; dangling references to places and vessels; and the histories, which are the
 * warehouse's own, with its rows. Reads differing records once more, to tell a fault from a change
 * under way. Writes nothing.
 */
export async function verifySource(dependencies: VerifyDependencies): Promise<VerifyReport> {
  const { warehouse, sample, seed, service, settings, signal } = dependencies
  const verifier: Verifier = {
    warehouse,
    sample,
    seed,
    source: { service, settings, signal },
    notes: { ledger: new RunLedger() },
    unread: new Map(),
    listed: new Map(),
    onlyAlone: new Map(),
  }
  const { unread, onlyAlone } = verifier
  const looks: FirstLook[] = []
  const notCompared: string[] = []
  const examinations: Examination[] = []
  for (const { stream, resource } of LISTED) {
    const look = async (): Promise<Examination[]> => {
      const pages = await readSamplePages(verifier, stream)
      const live = await countLiveRows(warehouse, stream)
      looks.push({ ...pages, stream, live })
      const beganAt = looks[0]?.observedAt ?? pages.observedAt
      return examineSightings(verifier, resource, pages.sightings, beganAt)
    }
    const isOptional = OPTIONAL_LISTS.includes(stream)
    examinations.push(
      ...(isOptional ? await lookAt(verifier, resource, THEIR_LIST, look) : await look()),
    )
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
  for (const resource of BY_ID) {
    // A refused list means that each of its records is refused too.
    if (unread.has(resource.stream)) continue
    examinations.push(...(await examineById(verifier, resource, examinations, beganAt)))
  }
  examinations.push(...(await examineOptions(verifier)))
  const lookAtCatalogue = () => examineCatalogue(verifier)
  examinations.push(
    ...(await lookAt(verifier, webhookEventCategories, THEIR_LIST, lookAtCatalogue)),
  )
  for (const [stream, [first = '', ...others]] of unread) {
    const more = others.length === 0 ? '' : `; and so ${others.length} more`
    notCompared.push(`${stream}: ${first}${more}`)
  }
  for (const [stream, names] of onlyAlone) {
    notCompared.push(
      `${stream}: ${[...names].join(', ')}: only reads of one record show this, and no list, so ` +
        'rows have it as of such a read',
    )
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
    const isOff = stream === vesselPositions.table && !settings.vesselPositions
    const why = isOff ? 'TRACKING_VESSEL_POSITIONS is off' : 'none was in the sample'
    if (rows > 0 && compared === 0 && !isNamed) notCompared.push(`${stream}: ${why}`)
  }
  if (streams.some(({ stream, rows }) => stream === webhookEventCategories.stream && rows === 0)) {
    notCompared.push(`${webhookEventCategories.stream}: a backfill reads it`)
  }
  notCompared.push(
    settings.rawEvents === true
      ? 'raw_events: they are read after a change of their container, and once a day while it is tracked'
      : 'raw_events: TRACKING_RAW_EVENTS is off',
  )
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
    requests: verifier.notes.ledger.requests(),
  }
}

/**
 * The commands that mend the differences. A backfill compares every record by value; two of them
 * mark a row that the service no longer has. If containers do not include their transport events, a
 * backfill reads those of a container again only if it is named.
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
    chooseIncludes(warehouse, 'shipments'),
    chooseIncludes(warehouse, 'containers'),
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

interface FirstLook extends SamplePages {
  readonly stream: ListStream
  readonly live: number
}

/** Counts a second time if the first counts differ, to see whether they move. */
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

/** The last examination of each record, which is the most exact. */
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
