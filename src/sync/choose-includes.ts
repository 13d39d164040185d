import type { ListStream } from '../source/client/endpoints.js'
import type { RawPage } from '../source/client/list-pages.js'
import { ConnectorError } from '../base/errors.js'
import { carriedBy, carryAll } from '../ingest/drift-watch.js'
import { containerOf } from '../ingest/decide.js'
import { fetchTransportEvents } from '../ingest/fetch-transport-events.js'
import { mergeIntakes, readRawRecords, type Intake } from '../ingest/intake.js'
import type { Reading, Run } from '../ingest/run.js'
import { pageOptions } from '../ingest/read-page.js'
import { membersOf } from '../source/jsonapi/document.js'
import type { RawRecord, RawRecords, RecordIdentity } from '../source/jsonapi/raw-record.js'
import { containers, transportEvents } from '../source/records/index.js'
import type { Sighting } from '../source/records/resource.js'
import { loadCapability, saveCapability } from '../warehouse/bookkeeping/schema-drift.js'
import type { Warehouse } from '../warehouse/connection/warehouse.js'
import { readPage } from './list-pass.js'

/**
 * Relations we would like to have included, most wanted first. Which of them the service takes is
 * not specified: what it refuses, does not send or sends thin is dropped, and tried again after a
 * day. Everything works with none of them, at the cost of requests.
 */
const WANTED_INCLUDES: Readonly<Partial<Record<ListStream, readonly string[]>>> = {
  shipments: [
    'containers',
    'containers.transport_events',
    'port_of_lading',
    'port_of_discharge',
    'pod_terminal',
    'destination',
    'destination_terminal',
    'containers.pickup_facility',
    'containers.transport_events.vessel',
  ],
  containers: ['transport_events', 'pod_terminal', 'pickup_facility'],
}

/** What to ask a list for. */
export interface IncludeChoice {
  readonly includes: readonly string[]
  /** True when something untried is among them, which the first page decides. */
  readonly isTrial: boolean
}

/**
 * Everything wanted at first; then what the service was found to take; once a day also one of the
 * refused, in turn. So what it learns is noticed within days, at the cost of a request a day.
 */
export async function chooseIncludes(
  warehouse: Warehouse,
  list: ListStream,
): Promise<IncludeChoice> {
  const wanted = WANTED_INCLUDES[list] ?? []
  if (wanted.length === 0) return { includes: [], isTrial: false }
  const found = await loadCapability(warehouse, capabilityName(list))
  if (found === undefined) return { includes: wanted, isTrial: true }
  const accepted = wanted.filter((name) => listOf(found.detail.accepted).includes(name))
  const refused = listOf(found.detail.refused).filter((name) => wanted.includes(name))
  const [next] = refused
  if (!found.isStale || next === undefined) return { includes: accepted, isTrial: false }
  return {
    includes: wanted.filter((name) => name === next || accepted.includes(name)),
    isTrial: true,
  }
}

function listOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? (value as readonly string[]) : []
}

/**
 * Remembers which of `asked` the service took, sent, and sent whole, by a first page. False when
 * some came thin: then the page is to be read again, without them.
 */
export async function settleIncludes(
  run: Pick<Run, 'source' | 'notes'>,
  warehouse: Warehouse,
  list: ListStream,
  page: RawPage,
  intake: Intake,
  { includes: asked, isTrial }: IncludeChoice,
): Promise<boolean> {
  // An empty list proves nothing.
  if (page.document.primary.length === 0) return true
  const isAsAsked = !isTrial && page.includes.length === asked.length
  const sent = page.includes.filter((name) => isAsAsked || !isWithheld(page.document, name))
  const thin = await findThin(run, intake, sent)
  const accepted = sent.filter((name) => !thin.some((one) => isWithin(name, one)))
  if (!isTrial && accepted.length === asked.length) return true
  // Those just tried are tried again last.
  const rest = (WANTED_INCLUDES[list] ?? []).filter((name) => !accepted.includes(name))
  const isAsked = (name: string): boolean => asked.includes(name)
  const refused = [...rest.filter((name) => !isAsked(name)), ...rest.filter(isAsked)]
  const found = {
    capability: capabilityName(list),
    isSupported: accepted.length > 0,
    detail: { accepted, refused },
  }
  await warehouse.transaction('remember includes', (session) => saveCapability(session, found))
  if (refused.length > 0) {
    run.notes.logger.info('the service does not include everything we asked for', {
      list,
      refused,
      thin,
    })
  }
  return thin.length === 0
}

function isWithin(name: string, relation: string): boolean {
  return name === relation || name.startsWith(`${relation}.`)
}

/**
 * Of the relations that are sent, those whose records lack what their own list shows of each: that
 * would never be read. At most two requests, and none where each attribute that the interface names
 * was met. Places come thin too, and are read by id.
 */
async function findThin(run: Reading, intake: Intake, sent: readonly string[]): Promise<string[]> {
  const thin: string[] = []
  for (const name of sent) {
    const stream = name.split('.').at(-1) ?? ''
    const included = intake.sightings.get(stream) ?? []
    const [one] = included
    if (one === undefined || carryAll(included) || thin.some((other) => isWithin(name, other))) {
      continue
    }
    const carried = new Set(included.flatMap(carriedBy))
    const [first = [], ...others] = (await readOwnList(run, one)).map(carriedBy)
    const isOfEach = (column: string): boolean => others.every((names) => names.includes(column))
    if (first.some((column) => !carried.has(column) && isOfEach(column))) thin.push(name)
  }
  return thin
}

/** What a run would read in place of included records; nothing where the service refuses it. */
async function readOwnList(run: Reading, included: Sighting): Promise<Sighting[]> {
  const { resource } = included
  try {
    if (resource === transportEvents) {
      const containerId = containerOf(included)
      const [fetched] = await fetchTransportEvents(run, [containerId])
      return [...(mergeIntakes(fetched?.intake ?? []).sightings.get(resource.stream) ?? [])]
    }
    if (resource !== containers) return []
    const page = await readPage(run, 'containers')
    const intake = readRawRecords(page.document, pageOptions('containers', page))
    return [...(intake.sightings.get(resource.stream) ?? [])]
  } catch (thrown) {
    if (run.source.signal.aborted || !(thrown instanceof ConnectorError)) throw thrown
    return []
  }
}

function capabilityName(list: ListStream): string {
  return `include on ${list}`
}

/**
 * True when records link to resources of a relation and none of them came included. Follows nested
 * names (`containers.transport_events`) through `included`. A page without any such link proves
 * nothing. The links are read off: no record is parsed for it.
 */
export function isWithheld({ primary, included }: RawRecords, name: string): boolean {
  const byKey = new Map(included.map((record) => [keyOf(record.identity), record]))
  let holders = primary
  for (const relation of name.split('.')) {
    const keys = holders.flatMap((holder) => linkedKeys(holder, relation))
    if (keys.length === 0) return false
    holders = keys.map((key) => byKey.get(key)).filter((record) => record !== undefined)
    if (holders.length === 0) return true
  }
  return false
}

function linkedKeys(record: RawRecord, relation: string): string[] {
  return [linkageOf(record, relation)]
    .flat()
    .map((linked) => keyOf(membersOf(linked)))
    .filter((key) => key !== undefined)
}

function linkageOf(record: RawRecord, relation: string): unknown {
  try {
    return record.linkage(relation)
  } catch {
    // Such a record is set aside with its reason elsewhere.
    return undefined
  }
}

function keyOf({ type, id }: Partial<RecordIdentity>): string | undefined {
  return typeof type === 'string' && typeof id === 'string' ? `${type}:${id}` : undefined
}
