import { ApiNotFoundError } from '../../base/errors.js'
import type { ResourceIdentifier } from '../../jsonapi/document.js'
import { membersOf } from '../../jsonapi/members.js'
import { resourceOfType } from '../../resources/index.js'
import { compareDerived } from '../../warehouse/rows/compare-derived.js'
import {
  compareRow,
  loadLiveEventIds,
  type ColumnDifference,
} from '../../warehouse/rows/compare-rows.js'
import type { Sighting } from '../../warehouse/rows/sighting.js'
import { fetchTransportEvents } from '../../ingest/fetch-transport-events.js'
import { mergeIntakes, takeIn } from '../../ingest/intake.js'
import { readById } from '../../ingest/read-by-id.js'
import type { Verifier } from './verify-pages.js'

/** What one record was found to be. */
export interface Examination {
  readonly stream: string
  readonly key: string
  readonly verdict: 'equal' | 'differing' | 'missingAtSource' | 'changing'
  /** Faults; empty unless differing. */
  readonly differences: readonly ColumnDifference[]
  readonly volatileColumns: readonly string[]
}

/** Compares one shipment with its row: one request, two when they differ. */
export async function examineShipment(verifier: Verifier, id: string): Promise<Examination> {
  return examine('shipments', id, () => readSighting(verifier, { type: 'shipment', id }), verifier)
}

/**
 * Looks again at a record that a page of the service showed and that has no live row: one request,
 * two when there is still none. Undefined when it is gone there, too; of one that was created after
 * the comparison began the warehouse could not know.
 */
export async function examineShown(
  verifier: Verifier,
  { type, id }: ResourceIdentifier,
  beganAt: Date,
): Promise<Examination | undefined> {
  const { stream } = resourceOfType(type)
  let createdAt: number | undefined
  const read = async (): Promise<Sighting | undefined> => {
    const sighting = await readSighting(verifier, { type, id })
    createdAt = createdAtOf(sighting)
    return sighting
  }
  const examination = await examine(stream, id, read, verifier)
  if (examination.verdict === 'missingAtSource') return undefined
  const isNew = createdAt !== undefined && createdAt >= beganAt.getTime()
  return isNew ? { ...examination, verdict: 'changing', differences: [] } : examination
}

function createdAtOf(sighting: Sighting | undefined): number | undefined {
  const place = sighting?.record.resource.columnIndex.get('created_at')
  const value = place === undefined ? undefined : sighting?.record.values[place]
  return typeof value === 'string' ? Date.parse(value) : undefined
}

/**
 * Compares one container and its transport events with their rows: two requests, up to four when
 * something differs.
 */
export async function examineContainer(verifier: Verifier, id: string): Promise<Examination[]> {
  let listed: readonly string[] = []
  const container = await examine(
    'containers',
    id,
    () =>
      readSighting(verifier, { type: 'container', id }, (ids) => {
        listed = ids
      }),
    verifier,
  )
  if (container.verdict === 'missingAtSource') return [container]
  const derived = await examineDerived(verifier, container)
  return [derived, ...(await examineEvents(verifier, id, listed))]
}

/**
 * Deadlines, holds and fees are made of the stored row: where that is equal and they are not, it is
 * our fault all the same.
 */
async function examineDerived(
  { warehouse }: Verifier,
  container: Examination,
): Promise<Examination> {
  const found = await compareDerived(warehouse, container.key)
  if (found.length === 0) return container
  return {
    ...container,
    verdict: 'differing',
    differences: [...container.differences, ...found],
  }
}

/**
 * The live record, or undefined when the service does not have it or has something that is no
 * record.
 */
async function readSighting(
  verifier: Verifier,
  identifier: ResourceIdentifier,
  onEventIds: (ids: readonly string[]) => void = () => undefined,
): Promise<Sighting | undefined> {
  const { stream } = resourceOfType(identifier.type)
  try {
    const { document, observedAt } = await readById(verifier, identifier)
    const options = { stream, source: `/${stream}`, observedAt, completeTypes: new Set<string>() }
    const intake = takeIn(document, options)
    onEventIds(intake.transportEventIds.get(identifier.id) ?? [])
    const sightings = intake.sightings.get(stream) ?? []
    return sightings.find(({ record }) => record.key === identifier.id)
  } catch (thrown) {
    if (thrown instanceof ApiNotFoundError) return undefined
    throw thrown
  }
}

async function examine(
  stream: string,
  key: string,
  read: () => Promise<Sighting | undefined>,
  { warehouse }: Verifier,
): Promise<Examination> {
  const judge = async (sighting: Sighting | undefined): Promise<Examination> =>
    sighting === undefined
      ? { stream, key, verdict: 'missingAtSource', differences: [], volatileColumns: [] }
      : judgeColumns(stream, key, sighting, await compareRow(warehouse, sighting))
  const first = await read()
  const verdict = await judge(first)
  if (verdict.verdict === 'equal') return verdict
  const second = await read()
  const again = await judge(second)
  if (again.verdict === 'equal' || isSame(first, second)) return again
  return { ...again, verdict: 'changing', differences: [] }
}

/**
 * The same material content in two reads: what the service says stands, and the difference is the
 * warehouse's.
 */
function isSame(one: Sighting | undefined, other: Sighting | undefined): boolean {
  if (one === undefined || other === undefined) return one === other
  const { resource } = one.record
  return resource.columns.every(
    ({ name }, index) =>
      isVolatile(one, name) || one.record.values[index] === other.record.values[index],
  )
}

function judgeColumns(
  stream: string,
  key: string,
  sighting: Sighting,
  found: readonly ColumnDifference[] | undefined,
): Examination {
  if (found === undefined) {
    const missing = { column: '(row)', warehouse: null, service: 'exists' }
    return { stream, key, verdict: 'differing', differences: [missing], volatileColumns: [] }
  }
  const isOfTheMoment = (difference: ColumnDifference): boolean =>
    isVolatile(sighting, difference.column) || isVolatileUnmapped(difference)
  const volatileColumns = found.filter(isOfTheMoment)
  const differences = found.filter((difference) => !isOfTheMoment(difference))
  return {
    stream,
    key,
    verdict: differences.length === 0 ? 'equal' : 'differing',
    differences,
    volatileColumns: volatileColumns.map(({ column }) => column),
  }
}

/** Lists of ids are immaterial too, but they change only when something does. */
function isVolatile({ record }: Sighting, column: string): boolean {
  return record.resource.attributes.get(column)?.isMaterial === false
}

/** Attributes without a column that tell when the service looked last. */
const LOOKED_AT = /_(?:last_tracking_request|checked)_at$/

/** Nothing but such attributes differs in what has no column. */
function isVolatileUnmapped({ column, warehouse, service }: ColumnDifference): boolean {
  if (column !== '_unmapped' || service === null) return false
  const stored = unmappedAttributes(warehouse)
  const sent = unmappedAttributes(service)
  const differing = Object.keys(sent).filter(
    (name) => JSON.stringify(stored[name]) !== JSON.stringify(sent[name]),
  )
  return differing.length > 0 && differing.every((name) => LOOKED_AT.test(name))
}

function unmappedAttributes(text: string | null): Readonly<Record<string, unknown>> {
  return membersOf(JSON.parse(text ?? '{}'))
}

/**
 * `listed`: ids the container record names. Estimated events are among them and not in the list of
 * its events, and yet not missing.
 */
async function examineEvents(
  verifier: Verifier,
  containerId: string,
  listed: readonly string[],
): Promise<Examination[]> {
  const first = await readEvents(verifier, containerId)
  const found = await judgeEvents(verifier, containerId, first, listed)
  if (found.every(({ verdict }) => verdict === 'equal')) return found
  const second = await readEvents(verifier, containerId)
  const again = await judgeEvents(verifier, containerId, second, listed)
  return again.map((examination) => {
    const [one, other] = [first, second].map(({ sightings }) => sightings.get(examination.key))
    if (examination.verdict === 'equal' || isSame(one, other)) return examination
    return { ...examination, verdict: 'changing', differences: [] }
  })
}

interface EventReading {
  readonly sightings: ReadonlyMap<string, Sighting>
  /** True when the answer proves that there are no others. */
  readonly isWhole: boolean
}

async function readEvents(verifier: Verifier, containerId: string): Promise<EventReading> {
  const [fetched] = await fetchTransportEvents(verifier, [containerId])
  const { sightings } = mergeIntakes(fetched?.intake ?? [])
  const events = sightings.get('transport_events') ?? []
  return {
    sightings: new Map(events.map((sighting) => [sighting.record.key, sighting])),
    isWhole: fetched?.list !== undefined,
  }
}

async function judgeEvents(
  { warehouse }: Verifier,
  containerId: string,
  { sightings, isWhole }: EventReading,
  listed: readonly string[],
): Promise<Examination[]> {
  const stream = 'transport_events'
  const found: Examination[] = []
  for (const [key, sighting] of sightings) {
    found.push(judgeColumns(stream, key, sighting, await compareRow(warehouse, sighting)))
  }
  if (!isWhole) return found
  for (const id of await loadLiveEventIds(warehouse, containerId)) {
    const key = `${containerId} ${id}`
    if (sightings.has(key) || listed.includes(id)) continue
    found.push({ stream, key, verdict: 'missingAtSource', differences: [], volatileColumns: [] })
  }
  return found
}
