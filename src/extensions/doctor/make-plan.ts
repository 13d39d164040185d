import type { ListStream, TrackingService } from '../../source/client/endpoints.js'
import type { RawPage } from '../../source/client/list-pages.js'
import type { Logger } from '../../base/logger.js'
import { decide, type Decision } from '../../ingest/decide.js'
import {
  hasAllContainers,
  hasAllTransportEvents,
  pageOptions,
  readRawRecords,
  type Intake,
} from '../../ingest/intake.js'
import { loadKnown } from '../../ingest/known-rows.js'
import { openNotes, type Run, type RunSettings } from '../../ingest/run.js'
import { membersOf } from '../../source/jsonapi/document.js'
import { hasOptions } from '../../source/records/custom-field.js'
import { containers, resourceOfType, shipments, vessels } from '../../source/records/index.js'
import type { Sighting } from '../../source/records/resource.js'
import { findMissingReferences } from './find-missing-references.js'
import { loadReferenceRows } from '../../warehouse/bookkeeping/reference-checks.js'
import { readDueRefetches } from '../../warehouse/bookkeeping/refetch-queue.js'
import { countLiveRows } from '../../warehouse/bookkeeping/schema-drift.js'
import type { Warehouse } from '../../warehouse/connection/warehouse.js'
import { loadLiveKeys } from '../../warehouse/rows/stored-rows.js'
import { countChanging } from '../../sync/changing-list.js'
import { chooseIncludes, settleIncludes } from '../../sync/choose-includes.js'
import { readPage } from '../../sync/list-pass.js'
import { countRawEventReads } from '../../sync/read-raw-events.js'
import { MOST_PAGES_IN_A_SYNC } from '../../sync/read-custom-fields.js'
import { isNotOurs } from '../../sync/read-own-list.js'

/** Facts about a whole list from its first page. */
export interface ListObservation {
  readonly stream: string
  /** Undefined if the service names neither a total nor a last page. */
  readonly pages: number | undefined
  readonly total: number | undefined
  /** Records on the first page: the page size, if more pages follow. */
  readonly pageSize: number
  /** Pages of records that can still change; undefined if a sync reads the whole list. */
  readonly changingPages?: number | undefined
  /** Only complete passes read all of it, because it or its companion list is long. */
  readonly isLong?: boolean
}

/** Observations before a run. Each count is a number of requests. */
export interface PlanObservations {
  readonly lists: readonly ListObservation[]
  readonly areContainersIncluded: boolean
  /** Custom fields with options; undefined if the account may not read them. */
  readonly fieldsWithOptions: number | undefined
  /** Containers whose transport events are read one by one. */
  readonly eventReads: number
  /** Containers whose transport events a sync reads again as a check. */
  readonly eventChecks: number
  /** Ports, terminals and vessels on the first pages that lack a row. */
  readonly references: number
  /** Entries of the refetch queue that are due. */
  readonly dueRefetches: number
  /**
   * Places and vessels that lists do not include and that are read again: by a backfill, by a sync.
   */
  readonly rereads: { readonly backfill: number; readonly sync: number }
  /** Vessels whose positions are read; undefined if the setting is off. */
  readonly vesselsWithPositions: number | undefined
  /** Containers whose raw events are read; undefined if the setting is off. */
  readonly rawEventReads?: number | undefined
  /** Hours between two syncs that read the whole lists. */
  readonly fullSyncHours: number
  readonly isWarehouseEmpty: boolean
  readonly ratePerMinute: number
  readonly requestsMade: number
}

/** Requests of one step, with their reason. */
export interface PlanStep {
  readonly step: string
  readonly backfill: number
  readonly sync: number
  readonly why: string
}

export interface PlanTotal {
  readonly requests: number
  /** At the configured rate. A run within one minute's allowance takes less. */
  readonly minutes: number
}

export interface Plan {
  readonly steps: readonly PlanStep[]
  readonly backfill: PlanTotal
  readonly sync: PlanTotal
  readonly ratePerMinute: number
  /** Requests that planning itself made. */
  readonly requestsMade: number
  /** Facts that are unknown before the run. */
  readonly unknowns: readonly string[]
}

/**
 * Estimates a backfill and a sync: list pages exactly, if nothing arrives or goes; the total within
 * a tenth or one minute's allowance, the larger of the two (decision 26). Over a filled warehouse a
 * backfill costs as much as a sync. Pure.
 */
export function estimatePlan(observations: PlanObservations): Plan {
  const { ratePerMinute, requestsMade } = observations
  const steps = [
    ...observations.lists.map((list) => planList(list, observations.fullSyncHours)),
    ...planReads(observations),
  ]
  const total = (command: 'backfill' | 'sync'): PlanTotal => {
    const requests = steps.reduce((sum, step) => sum + step[command], 0)
    return { requests, minutes: Math.round((requests * 10) / ratePerMinute) / 10 }
  }
  return {
    steps,
    backfill: total('backfill'),
    sync: total('sync'),
    ratePerMinute,
    requestsMade,
    unknowns: findUnknowns(observations),
  }
}

function planList(list: ListObservation, fullSyncHours: number): PlanStep {
  const { stream, pages, total, pageSize, changingPages, isLong = false } = list
  const backfill = pages ?? 1
  const isSkipped = isLong && fullSyncHours > 0
  const sync = isSkipped ? 0 : Math.min(backfill, changingPages ?? backfill)
  const size = `${pageSize} a page`
  const why =
    pages === undefined
      ? `at least: the service does not say how many there are, ${size}`
      : pages === 1
        ? 'all on one page'
        : `${total ?? 'an unknown number of'} records, ${size}`
  if (sync === backfill) return { step: stream, backfill, sync, why }
  const some = isSkipped ? 'a sync reads none of them' : 'a sync reads those that can still change'
  const rest = `${some}, all of them every ${fullSyncHours} hours`
  return { step: stream, backfill, sync, why: `${why}; ${rest}` }
}

/** The reads beside the lists; a sync that follows the backfill has none. */
function planReads(observations: PlanObservations): PlanStep[] {
  const { eventReads, eventChecks, references, dueRefetches, isWarehouseEmpty } = observations
  const vessels = observations.vesselsWithPositions
  const read = (step: string, backfill: number, why: string): PlanStep => {
    return { step, backfill, sync: isWarehouseEmpty ? 0 : backfill, why }
  }
  const steps: PlanStep[] = []
  if (observations.areContainersIncluded) {
    steps.push(read('containers', 0, 'shipments include them'))
  }
  const whyEvents =
    eventReads === 0
      ? 'containers include them, or no list of events differs on the first page'
      : 'one read for each new container, and for each on the first page whose list differs'
  steps.push(read('transport_events', eventReads, whyEvents))
  if (eventChecks > 0) {
    const why = 'known containers whose events are read again as a check'
    steps.push({ step: 'transport event checks', backfill: 0, sync: eventChecks, why })
  }
  // Complete passes read these, so each complete sync does.
  const { fieldsWithOptions, fullSyncHours } = observations
  const whole = (step: string, requests: number, why: string): PlanStep => {
    return { step, backfill: requests, sync: fullSyncHours === 0 ? requests : 0, why }
  }
  const withOptions = 'custom fields that have options: each is read by every complete pass'
  if (fieldsWithOptions !== undefined) {
    steps.push(whole('custom_field_options', fieldsWithOptions, withOptions))
  }
  const whyCatalogue = 'the catalogue of events, read by every complete pass'
  steps.push(whole('webhook_event_categories', 1, whyCatalogue))
  const whyReferences =
    references + dueRefetches === 0
      ? 'the first pages point to no port, terminal or vessel without a row'
      : `without a row on the first pages: ${references}; queued: ${dueRefetches}`
  steps.push(read('references', references + dueRefetches, whyReferences))
  const { rereads } = observations
  if (rereads.backfill > 0) {
    const why =
      'places and vessels that lists do not include: each once within a week, and all by a backfill'
    steps.push({ step: 'places and vessels', ...rereads, why })
  }
  if (observations.rawEventReads !== undefined) {
    const why = 'containers that are new or changed, one read each: TRACKING_RAW_EVENTS is on'
    steps.push(read('raw_events', observations.rawEventReads, why))
  }
  if (vessels !== undefined) {
    const why = 'positions of every known vessel: TRACKING_VESSEL_POSITIONS is on'
    steps.push({ step: 'vessel positions', backfill: vessels, sync: vessels, why })
  }
  return steps
}

function findUnknowns({ lists, isWarehouseEmpty }: PlanObservations): string[] {
  const unknowns = lists
    .filter(({ pages }) => pages === undefined)
    .map(({ stream }) => `how many ${stream} there are: the service does not say`)
  unknowns.push(
    'ports, terminals and vessels that later pages or transport events point to: ' +
      'an account knows a few hundred, each is read once',
    'how many containers change until the run: if containers do not include their events, ' +
      'each whose list of events changes costs a request',
  )
  if (isWarehouseEmpty) {
    unknowns.push(
      'what a sync finds after the backfill: its figures are for an account that has not changed',
    )
  }
  return unknowns
}

export interface PlanDependencies {
  readonly service: TrackingService
  readonly warehouse: Warehouse
  readonly logger: Logger
  readonly settings: RunSettings
  readonly ratePerMinute: number
  readonly signal: AbortSignal
}

/** A source, and the warehouse that its first pages are compared with. */
type Observer = Pick<Run, 'source' | 'notes'> & Pick<PlanDependencies, 'warehouse'>

/** The first page of a list, and what a run would write of it. */
interface FirstPage {
  readonly stream: ListStream
  readonly page: RawPage
  readonly intake: Intake
  readonly changed: readonly Sighting[]
  /** Containers without a row. */
  readonly added: number
  readonly fetchEvents: Decision['fetchEvents']
}

/**
 * Reads the first page of each list as a run would, and compares it with the warehouse. About
 * twelve requests. Writes only the includes that the service accepts, so that the run need not test
 * them.
 */
export async function observePlan(dependencies: PlanDependencies): Promise<PlanObservations> {
  const { warehouse, service, settings, signal, logger, ratePerMinute } = dependencies
  const notes = openNotes(logger)
  const observer: Observer = { warehouse, source: { service, settings, signal }, notes }
  const ofShipments = await readFirstPage(observer, 'shipments')
  const areContainersIncluded = hasAllContainers(ofShipments.page, ofShipments.intake)
  const isEnough = areContainersIncluded && hasAllTransportEvents(ofShipments.intake)
  // If events must be read, the total of this list is the number of containers.
  const ofContainers = isEnough ? undefined : await readFirstPage(observer, 'containers')
  const ofRequests = await readFirstPage(observer, 'tracking_requests')
  const walked =
    areContainersIncluded || ofContainers === undefined
      ? [ofShipments]
      : [ofShipments, ofContainers]
  const showing = walked.at(-1) ?? ofShipments
  const live = await countLiveRows(warehouse, containers.stream)
  const total = ofContainers?.page.total ?? live
  const checks = settings.transportEventChecksPerSync ?? 0
  const lists: ListObservation[] = []
  for (const first of [...walked, ofRequests]) lists.push(await observeList(observer, first))
  const ofFields = await observeCustomFields(observer)
  lists.push(...(ofFields?.lists ?? []))
  return {
    lists,
    fullSyncHours: settings.fullSyncHours ?? 0,
    areContainersIncluded,
    fieldsWithOptions: ofFields?.withOptions,
    eventReads: countEventReads(showing, total - live),
    eventChecks: hasAllTransportEvents(showing.intake) ? 0 : Math.min(checks, total),
    references: await countMissingReferences(warehouse, walked),
    dueRefetches: (await readDueRefetches(warehouse)).due,
    rereads: await countRereads(observer, walked),
    rawEventReads:
      settings.rawEvents === true
        ? (await countRawEventReads(warehouse)) + Math.max(0, total - live)
        : undefined,
    vesselsWithPositions: settings.vesselPositions
      ? (await loadLiveKeys(warehouse, vessels)).length
      : undefined,
    isWarehouseEmpty: live === 0 && (await countLiveRows(warehouse, shipments.stream)) === 0,
    ratePerMinute,
    requestsMade: notes.ledger.requests(),
  }
}

async function readFirstPage(observer: Observer, stream: ListStream): Promise<FirstPage> {
  const choice = await chooseIncludes(observer.warehouse, stream)
  const page = await readPage(observer, stream, choice)
  const intake = readRawRecords(page.document, pageOptions(stream, page))
  const isWhole =
    !choice.isTrial ||
    (await settleIncludes(observer, observer.warehouse, stream, page, intake, choice))
  if (!isWhole) return readFirstPage(observer, stream)
  const { warehouse } = observer
  const known = await warehouse.unfencedTransaction('load known rows', (session) =>
    loadKnown(session, [intake], { mode: 'sync' }),
  )
  const { rounds, fetchEvents } = decide([intake], known, 'sync')
  const changed = rounds[0]?.sightings ?? []
  const stored = known.rows.get(containers.stream)
  const isAdded = ({ resource, key }: Sighting): boolean =>
    resource === containers && stored?.has(key) !== true
  return { stream, page, intake, changed, added: changed.filter(isAdded).length, fetchEvents }
}

async function observeList(
  observer: Observer,
  { stream, page }: FirstPage,
): Promise<ListObservation> {
  const { total } = page
  const pageSize = page.document.primary.length
  const changing = await countChanging(observer, observer.warehouse, stream)
  const changingPages =
    changing === undefined ? undefined : Math.max(1, Math.ceil(changing / Math.max(1, pageSize)))
  return { stream, total, pageSize, pages: countPages(page), changingPages }
}

/** Two requests; undefined for an account that may not read custom fields. */
async function observeCustomFields(
  observer: Observer,
): Promise<{ readonly lists: ListObservation[]; readonly withOptions: number } | undefined> {
  try {
    const definitions = await readPage(observer, 'custom_field_definitions')
    const fields = await readPage(observer, 'custom_fields')
    // A sync reads definitions only if it reads the values.
    const isLong = (countPages(fields) ?? Infinity) > MOST_PAGES_IN_A_SYNC
    const lists = [definitions, fields].map((page, at): ListObservation => {
      const stream = at === 0 ? 'custom_field_definitions' : 'custom_fields'
      const { total } = page
      return {
        stream,
        total,
        pageSize: page.document.primary.length,
        pages: countPages(page),
        isLong,
      }
    })
    const withOptions = definitions.document.primary.filter((record) =>
      hasOptions(membersOf(membersOf(record.tryParse()).attributes).data_type),
    )
    return { lists, withOptions: withOptions.length }
  } catch (thrown) {
    if (isNotOurs(thrown)) return undefined
    throw thrown
  }
}

function countPages({ document, isLast, total }: RawPage): number | undefined {
  if (isLast) return 1
  if (total !== undefined) return Math.max(1, Math.ceil(total / document.primary.length))
  const last = /[?&]page(?:\[|%5B)number(?:\]|%5D)=(\d{1,9})/i.exec(document.links.last ?? '')
  return last === null ? undefined : Number(last[1])
}

/**
 * Containers of the first page whose events a run would read, and, unless events are included,
 * every new container on later pages.
 */
function countEventReads({ intake, fetchEvents, added }: FirstPage, addedInAll: number): number {
  if (hasAllTransportEvents(intake)) return fetchEvents.size
  return fetchEvents.size + Math.max(0, addedInAll - added)
}

/**
 * Places and vessels with a row, without included types. Vessels do not count if they are read with
 * their positions.
 */
async function countRereads(
  { warehouse, source: { settings } }: Observer,
  pages: readonly FirstPage[],
): Promise<PlanObservations['rereads']> {
  const included = new Set(pages.flatMap(({ intake }) => [...intake.sightings.keys()]))
  if (settings.vesselPositions) included.add(vessels.stream)
  const rows = (await loadReferenceRows(warehouse)).filter(
    ({ type, isDue }) => isDue !== undefined && !included.has(resourceOfType(type).stream),
  )
  return { backfill: rows.length, sync: rows.filter(({ isDue }) => isDue === true).length }
}

/** References of the first pages that are neither included nor in the warehouse. */
async function countMissingReferences(
  warehouse: Warehouse,
  pages: readonly FirstPage[],
): Promise<number> {
  const included = new Set(
    pages
      .flatMap(({ intake }) => [...intake.sightings.values()].flat())
      .map(({ resource, key }) => `${resource.type} ${key}`),
  )
  const wanted = pages
    .flatMap(({ changed }) => changed.flatMap(({ references }) => references))
    .filter(({ type, id }) => !included.has(`${type} ${id}`))
  return (await findMissingReferences(warehouse, wanted)).length
}
