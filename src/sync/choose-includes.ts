import type { ListStream } from '../source/client/endpoints.js'
import type { RawPage } from '../source/client/list-pages.js'
import { ConnectorError } from '../base/errors.js'
import { carriedBy, carryAll } from '../ingest/drift-watch.js'
import { containerOf } from '../ingest/decide.js'
import { fetchEventsOf } from '../ingest/fetch-transport-events.js'
import { pageOptions, readRawRecords, type Intake } from '../ingest/intake.js'
import type { Reading, Run } from '../ingest/run.js'
import { membersOf } from '../source/jsonapi/document.js'
import type { RawRecord, RawRecords, RecordIdentity } from '../source/jsonapi/raw-record.js'
import { containers, transportEvents } from '../source/records/index.js'
import type { Sighting } from '../source/records/resource.js'
import { loadCapability, saveCapability } from '../warehouse/bookkeeping/schema-drift.js'
import type { Warehouse } from '../warehouse/connection/warehouse.js'
import { readPage } from './list-pass.js'

/**
 * Wanted includes, most wanted first. The interface does not specify which of them the service
 * accepts: a refused, missing or thin one is dropped, and tried again after a day. Everything works
 * without them, at the cost of requests.
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

/** The includes to request of a list. */
export interface IncludeChoice {
  readonly includes: readonly string[]
  /** True with untried ones among them; the first page decides about these. */
  readonly isTrial: boolean
}

/**
 * Chooses all wanted includes at first; then the accepted ones, and once a day also one of the
 * refused, in turn: a new ability of the service is noticed within days, for a request a day.
 */
export async function chooseIncludes(
  warehouse: Warehouse,
  list: ListStream,
): Promise<IncludeChoice> {
  const wanted = WANTED_INCLUDES[list] ?? []
  if (wanted.length === 0) return { includes: [], isTrial: false }
  const memory = await loadCapability(warehouse, capabilityName(list))
  if (memory === undefined) return { includes: wanted, isTrial: true }
  const accepted = wanted.filter((name) => listOf(memory.detail.accepted).includes(name))
  const [next] = listOf(memory.detail.refused).filter((name) => wanted.includes(name))
  if (!memory.isStale || next === undefined) return { includes: accepted, isTrial: false }
  return {
    includes: wanted.filter((name) => name === next || accepted.includes(name)),
    isTrial: true,
  }
}

function listOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? (value as readonly string[]) : []
}

/**
 * Remembers the includes of `asked` that the service accepted, sent, and sent whole, by a first
 * page. False if some came thin: then read the page again, without them.
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
  // The ones just tried come last next time.
  const rest = (WANTED_INCLUDES[list] ?? []).filter((name) => !accepted.includes(name))
  const untried = rest.filter((name) => !asked.includes(name))
  const refused = [...untried, ...rest.filter((name) => asked.includes(name))]
  const capability = capabilityName(list)
  const detail = { accepted, refused }
  await warehouse.transaction('remember includes', (session) =>
    saveCapability(session, { capability, isSupported: accepted.length > 0, detail }),
  )
  if (refused.length > 0) {
    const message = 'the service does not include everything we asked for'
    run.notes.logger.info(message, { list, refused, thin })
  }
  return thin.length === 0
}

function isWithin(name: string, relation: string): boolean {
  return name === relation || name.startsWith(`${relation}.`)
}

/**
 * Finds sent relations whose records are thinner than in their own list: the rest would never be
 * read. At most two requests, and none if every attribute of the interface was seen. Places come
 * thin too, and are read by id.
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

/** The records that a run would read without the include; none if the service refuses the list. */
async function readOwnList(run: Reading, included: Sighting): Promise<readonly Sighting[]> {
  const { resource } = included
  try {
    if (resource === transportEvents) {
      const { intake } = await fetchEventsOf(run, containerOf(included))
      return intake.sightings.get(resource.stream) ?? []
    }
    if (resource !== containers) return []
    const page = await readPage(run, 'containers')
    const intake = readRawRecords(page.document, pageOptions('containers', page))
    return intake.sightings.get(resource.stream) ?? []
  } catch (thrown) {
    if (run.source.signal.aborted || !(thrown instanceof ConnectorError)) throw thrown
    return []
  }
}

function capabilityName(list: ListStream): string {
  return `include on ${list}`
}

/**
 * True if records link to resources of a relation and none of them was included. Follows nested
 * names (`containers.transport_events`) through `included`. A page without such links proves
 * nothing. Reads the links without parsing a record.
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
    // Other code sets such a record aside, with its reason.
    return undefined
  }
}

function keyOf({ type, id }: Partial<RecordIdentity>): string | undefined {
  return typeof type === 'string' && typeof id === 'string' ? `${type}:${id}` : undefined
}
