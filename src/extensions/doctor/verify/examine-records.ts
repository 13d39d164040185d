import { ApiContractError, ApiNotFoundError } from '../../../base/errors.js'
import { fetchEventsOf } from '../../../ingest/fetch-transport-events.js'
import { mergeIntakes, shownKeys, type Intake } from '../../../ingest/intake.js'
import { readById } from '../../../ingest/read-by-id.js'
import type { Reading } from '../../../ingest/run.js'
import { membersOf, type ResourceIdentifier } from '../../../source/jsonapi/document.js'
import { customFields, resourceOfType } from '../../../source/records/index.js'
import {
  compareDerived,
  comparePositions,
  compareRow,
  loadLiveEventIds,
  type ColumnDifference,
} from './compare-rows.js'
import type { Resource, Sighting } from '../../../source/records/resource.js'
import type { Warehouse } from '../../../warehouse/connection/warehouse.js'
import {
  findCustomField,
  loadEntity,
  loadFieldDefinitions,
} from '../../../sync/read-custom-fields.js'

export interface Reader extends Reading {
  readonly warehouse: Warehouse
  /** By stream, the columns and unmapped names that records of its list carry. */
  readonly listed: ReadonlyMap<string, ReadonlySet<string>>
  /** By stream, the differing columns that only reads of one record carry. */
  readonly onlyAlone: Map<string, ReadonlySet<string>>
}

interface RowKey {
  readonly stream: string
  readonly key: string
}

/** Comparison of one record with its row. */
export interface Examination extends RowKey {
  readonly verdict: 'equal' | 'differing' | 'missingAtSource' | 'changing'
  /** Faults; empty unless the verdict is `differing`. */
  readonly differences: readonly ColumnDifference[]
  /** Compared values, without nulls. */
  readonly values: number
}

/** Records as the service shows them, and live rows that it lacks. */
interface Shown {
  readonly sightings: readonly Sighting[]
  readonly gone: readonly RowKey[]
}

/** A record; for a custom field with its entity, whose fields are read together. */
export interface Wanted extends ResourceIdentifier {
  readonly entity?: ResourceIdentifier | undefined
}

/** Compares a record with its row: one request, two if they differ. */
export function examineRecord(reader: Reader, wanted: Wanted): Promise<Examination[]> {
  return examine(reader, () => readRecord(reader, wanted))
}

/**
 * Compares a whole list with its rows, and looks for live rows that it lacks: one request, two if
 * something differs.
 */
export function examineList(
  reader: Reader,
  { stream }: Resource,
  read: () => Promise<Intake>,
  live: () => Promise<readonly string[]>,
): Promise<Examination[]> {
  return examine(reader, async () => {
    const intake = await read()
    const shown = new Set(shownKeys(intake, stream))
    // An unreadable record may be any of them.
    const keys = intake.quarantined.length > 0 ? [] : await live()
    const gone = keys.filter((key) => !shown.has(key)).map((key) => ({ stream, key }))
    return { sightings: intake.sightings.get(stream) ?? [], gone }
  })
}

/**
 * Compares a container, its transport events and its derived rows: two requests, four if something
 * differs.
 */
export async function examineContainer(reader: Reader, id: string): Promise<Examination[]> {
  const examinations = await examine(reader, () => readContainer(reader, id))
  // These come from the stored row: a difference is ours, even if the service is changing the
  // record.
  const derived = await compareDerived(reader.warehouse, id)
  if (derived.length === 0) return examinations
  return examinations.map((one) =>
    one.stream === 'containers' && one.verdict !== 'missingAtSource'
      ? { ...one, verdict: 'differing', differences: [...one.differences, ...derived] }
      : one,
  )
}

/**
 * Looks again at a record that a page showed and that lacks a live row: one request, two if the row
 * is still missing. Returns nothing if the service no longer has it, and no fault if it was created
 * after the comparison began. A custom field does not tell its creation: its entity does.
 */
export async function examineShown(
  reader: Reader,
  wanted: Wanted,
  beganAt: Date,
): Promise<Examination[]> {
  let createdAt = 0
  const examinations = await examine(reader, async () => {
    const reading = await readRecord(reader, wanted)
    createdAt = createdAtOf(reading)
    return reading
  })
  if (
    wanted.entity !== undefined &&
    examinations.some(({ differences: [one] }) => one === NO_ROW)
  ) {
    createdAt = createdAtOf(await readRecord(reader, wanted.entity))
  }
  const isNew = createdAt >= beganAt.getTime()
  return examinations
    .filter(({ verdict }) => verdict !== 'missingAtSource')
    .map((one) => (isNew ? { ...one, verdict: 'changing', differences: [] } : one))
}

function createdAtOf({ sightings: [sighting] }: Shown): number {
  const place = sighting?.resource.columnIndex.get('created_at')
  const value = place === undefined ? undefined : sighting?.values[place]
  return typeof value === 'string' ? Date.parse(value) : 0
}

async function readRecord(
  reader: Reader,
  { type, id, entity }: Wanted,
): Promise<Shown & { readonly eventIds: readonly string[] }> {
  const { stream } = resourceOfType(type)
  const gone = { sightings: [], gone: [{ stream, key: id }], eventIds: [] }
  try {
    const intake =
      type === customFields.type
        ? await readCustomField(reader, id, entity)
        : (await readById(reader, { type, id })).intake
    // It cannot be read without its entity.
    if (intake === undefined) return { sightings: [], gone: [], eventIds: [] }
    const sighting = intake.sightings.get(stream)?.find(({ key }) => key === id)
    const eventIds = intake.transportEventIds.get(id) ?? []
    if (sighting !== undefined) return { sightings: [sighting], gone: [], eventIds }
  } catch (thrown) {
    if (!(thrown instanceof ApiNotFoundError)) throw thrown
    return gone
  }
  // The list of its entity was read, and lacks it.
  if (type === customFields.type) return gone
  throw new ApiContractError('the answer does not hold the record', { pointer: '/data' })
}

/**
 * The list of the entity's fields, without the field if it is gone; undefined if the service did
 * not say.
 */
async function readCustomField(
  reader: Reader,
  id: string,
  shownOf?: ResourceIdentifier,
): Promise<Intake | undefined> {
  const { warehouse } = reader
  const entity = shownOf ?? (await loadEntity(warehouse, id))
  if (entity === undefined) return undefined
  const found = await findCustomField(
    reader,
    id,
    entity,
    await loadFieldDefinitions(reader.warehouse, reader.source.settings),
  )
  if (found instanceof Date) return mergeIntakes([])
  return found && shownKeys(found, customFields.stream).includes(id) ? found : undefined
}

async function readContainer(reader: Reader, id: string): Promise<Shown> {
  const container = await readRecord(reader, { type: 'container', id })
  if (container.gone.length > 0) return container
  const { intake, list } = await fetchEventsOf(reader, id)
  const events = intake.sightings.get('transport_events') ?? []
  const shown = new Set(events.map(({ key }) => key))
  // The container also names expected events, which the list of its events lacks.
  for (const eventId of container.eventIds) shown.add(`${id} ${eventId}`)
  // A list that may be incomplete proves nothing.
  const live = list === undefined ? [] : await loadLiveEventIds(reader.warehouse, id)
  const keys = live.map((eventId) => `${id} ${eventId}`).filter((key) => !shown.has(key))
  return {
    sightings: [...container.sightings, ...events],
    gone: keys.map((key) => ({ stream: 'transport_events', key })),
  }
}

/** Compares twice if something differs: a record that differs between the two reads is changing. */
async function examine(reader: Reader, read: () => Promise<Shown>): Promise<Examination[]> {
  const first = await read()
  const found = await compare(reader, first)
  if (found.every(({ verdict }) => verdict === 'equal')) return found
  const second = await read()
  return (await compare(reader, second)).map((one) => {
    if (one.verdict === 'equal' || isSame(find(first, one), find(second, one))) return one
    return { ...one, verdict: 'changing', differences: [] }
  })
}

function find({ sightings }: Shown, { stream, key }: RowKey): Sighting | undefined {
  return sightings.find((one) => one.key === key && one.resource.stream === stream)
}

/** The two reads agree: the difference is the warehouse's. */
function isSame(one: Sighting | undefined, other: Sighting | undefined): boolean {
  if (one === undefined || other === undefined) return one === other
  return one.resource.columns.every(
    ({ name }, index) => isVolatile(one, name) || one.values[index] === other.values[index],
  )
}

async function compare(reader: Reader, reading: Shown): Promise<Examination[]> {
  const { warehouse } = reader
  const examinations = reading.gone.map((row): Examination => ({
    ...row,
    verdict: 'missingAtSource',
    differences: [],
    values: 0,
  }))
  const unique = new Map(reading.sightings.map((one) => [one.key, one]))
  for (const sighting of unique.values()) {
    const compared = await compareRow(warehouse, sighting)
    const found = compared && withoutOnlyAlone(reader, sighting, compared)
    examinations.push(compareColumns(sighting, found))
    if (sighting.positions === undefined) continue
    const differences = await comparePositions(warehouse, sighting)
    const { key, positions } = sighting
    const verdict = differences.length === 0 ? 'equal' : 'differing'
    const values = 4 * positions.length
    examinations.push({ stream: 'vessel_positions', key, verdict, differences, values })
  }
  return examinations
}

/**
 * Separates columns that the list of a stream lacks: no run can keep them equal, so they are named
 * but are not faults.
 */
function withoutOnlyAlone(
  { listed, onlyAlone }: Reader,
  { resource: { stream } }: Sighting,
  differences: readonly ColumnDifference[],
): ColumnDifference[] {
  const carried = listed.get(stream)
  if (carried === undefined) return [...differences]
  return differences.filter((difference) => {
    const names = differingNames(difference).filter((name) => !carried.has(name))
    if (names.length > 0)
      onlyAlone.set(stream, new Set([...(onlyAlone.get(stream) ?? []), ...names]))
    return names.length < differingNames(difference).length
  })
}

/** The column, or the differing unmapped names. */
function differingNames({ column, warehouse, service }: ColumnDifference): string[] {
  if (column !== '_unmapped') return [column]
  const stored = membersOf(JSON.parse(warehouse ?? '{}'))
  const sent = membersOf(JSON.parse(service ?? '{}'))
  return Object.keys(sent).filter(
    (name) => JSON.stringify(stored[name]) !== JSON.stringify(sent[name]),
  )
}

/** Number of values of a sighting, without nulls. */
export function countValues({ values }: Sighting): number {
  return values.filter((value) => value !== undefined && value !== null).length
}

/** The difference of a record without a live row. */
const NO_ROW: ColumnDifference = { column: '(row)', warehouse: null, service: 'exists' }

function compareColumns(
  sighting: Sighting,
  found: readonly ColumnDifference[] = [NO_ROW],
): Examination {
  const isOfTheMoment = (difference: ColumnDifference): boolean =>
    isVolatile(sighting, difference.column) || isVolatileUnmapped(difference)
  const differences = found.filter((difference) => !isOfTheMoment(difference))
  const { resource, key } = sighting
  return {
    stream: resource.stream,
    key,
    verdict: differences.length === 0 ? 'equal' : 'differing',
    differences,
    values: countValues(sighting),
  }
}

/** Lists of ids are immaterial too, but they change only with other values. */
function isVolatile({ resource }: Sighting, column: string): boolean {
  return resource.attributes.get(column)?.isMaterial === false
}

/** Unmapped attributes with the time of the service's last check. */
const LOOKED_AT = /_(?:last_tracking_request|checked)_at$/

/** True if only such attributes differ. */
function isVolatileUnmapped(difference: ColumnDifference): boolean {
  if (difference.column !== '_unmapped') return false
  const differing = differingNames(difference)
  return differing.length > 0 && differing.every((name) => LOOKED_AT.test(name))
}
