import { ApiContractError } from '../base/errors.js'
import type { Document } from '../jsonapi/document.js'
import { stringifyExactJson } from '../jsonapi/exact-json.js'
import { isObject, membersOf } from '../jsonapi/members.js'
import { linkedTransportEventIds } from '../resources/container.js'
import { linkedIds, type FlattenContext } from '../resources/flatten.js'
import { flattenAnyRecord } from '../resources/index.js'
import { withoutSecrets } from '../resources/other-resource.js'
import type { FlatRecord } from '../resources/resource.js'
import type { QuarantinedRecord } from '../warehouse/bookkeeping/quarantined-records.js'
import type { Sighting } from '../warehouse/rows/sighting.js'
import { RecognizedRecord } from './recognized-record.js'

/** What one answer holds, flattened: sightings by stream, and what could not be flattened. */
export interface Intake {
  readonly sightings: ReadonlyMap<string, readonly Sighting[]>
  readonly quarantined: readonly QuarantinedRecord[]
  /**
   * By stream, records that were known by their bytes and not read: each equals its row, or what
   * this run has met. Absent where nothing was asked to.
   */
  readonly recognized?: ReadonlyMap<string, readonly RecognizedRecord[]>
  /** Ids of transport events each container record lists; containers without a list are absent. */
  readonly transportEventIds: ReadonlyMap<string, readonly string[]>
  /** Its stamp tells nothing of the order: what it says is confirmed by reading it. */
  readonly isDoubtful?: boolean
}

export interface IntakeOptions {
  /** Stream of the primary data: where a record that says no type is counted. */
  readonly stream: string
  /** Path of the request, for the quarantine. */
  readonly source: string
  readonly observedAt: Date
  /** Types whose included records are complete representations and not a subset. */
  readonly completeTypes: ReadonlySet<string>
  readonly context?: FlattenContext
}

/**
 * Flattens primary and included records of an answer. One bad record costs only itself: it goes to
 * the quarantine with its reason, a JSON pointer and its payload.
 */
export function takeIn(document: Document, options: IntakeOptions): Intake {
  const sightings = new Map<string, Sighting[]>()
  const quarantined: QuarantinedRecord[] = []
  const transportEventIds = new Map<string, readonly string[]>()
  const recognized = new Map<string, RecognizedRecord[]>()
  const take = (record: unknown, isPrimary: boolean): void => {
    if (record instanceof RecognizedRecord) {
      takeRecognized(record, recognized, transportEventIds)
      return
    }
    const flat = flattenOrSetAside(record, options, quarantined)
    if (flat === undefined) return
    const isComplete = isPrimary || options.completeTypes.has(flat.resource.type)
    const list = sightings.get(flat.resource.stream)
    const sighting = { record: flat, observedAt: options.observedAt, isComplete }
    if (list === undefined) sightings.set(flat.resource.stream, [sighting])
    else list.push(sighting)
    if (flat.resource.type !== 'container') return
    const ids = linkedTransportEventIds(record)
    if (ids !== undefined) transportEventIds.set(flat.key, ids)
  }
  // Included first: of two equal sightings in one answer the primary one stands.
  for (const record of document.included) take(record, false)
  for (const record of document.data) take(record, true)
  const intake = { sightings, quarantined, transportEventIds, recognized }
  const doubtful = new Set(findRecognized(intake, hasRead(intake)))
  if (doubtful.size === 0) return intake
  // From the beginning and in their places: of sightings that are equally late the order decides.
  const read = (record: unknown): unknown =>
    record instanceof RecognizedRecord && doubtful.has(record) ? record.raw.parse() : record
  const { data, included } = document
  return takeIn({ ...document, data: data.map(read), included: included.map(read) }, options)
}

function takeRecognized(
  record: RecognizedRecord,
  recognized: Map<string, RecognizedRecord[]>,
  transportEventIds: Map<string, readonly string[]>,
): void {
  const { resource, key, raw } = record
  const list = recognized.get(resource.stream)
  if (list === undefined) recognized.set(resource.stream, [record])
  else list.push(record)
  if (resource.type !== 'container') return
  const ids = linkedIds(raw.linkage('transport_events'))
  if (ids !== undefined) transportEventIds.set(key, ids)
}

/** Tells whether an answer holds a record of a row that was read, and not merely recognized. */
export function hasRead(intake: Intake): (stream: string, key: string) => boolean {
  const keys = new Map<string, ReadonlySet<string>>()
  return (stream, key) => {
    let read = keys.get(stream)
    if (read === undefined) {
      read = new Set(intake.sightings.get(stream)?.map(({ record }) => record.key))
      keys.set(stream, read)
    }
    return read.has(key)
  }
}

function findRecognized(
  intake: Intake,
  isWanted: (stream: string, key: string) => boolean,
): RecognizedRecord[] {
  return [...(intake.recognized ?? [])].flatMap(([stream, list]) =>
    list.filter(({ key }) => isWanted(stream, key)),
  )
}

/**
 * Reads those recognized records after all for which `isDoubtful`: their row was written since they
 * were recognized. Which of the two stands is then decided as ever. Of a row that they are about
 * `intake` holds recognized records only.
 */
export function readAgain(
  intake: Intake,
  isDoubtful: (stream: string, key: string) => boolean,
  options: IntakeOptions,
): Intake {
  const doubtful = findRecognized(intake, isDoubtful)
  if (doubtful.length === 0) return intake
  const isDone = new Set(doubtful)
  const isIncluded = ({ raw }: RecognizedRecord): boolean => raw.place === 'included'
  const data = doubtful.filter((record) => !isIncluded(record)).map(({ raw }) => raw.parse())
  const included = doubtful.filter(isIncluded).map(({ raw }) => raw.parse())
  const again = takeIn({ data, isList: true, included, links: {}, meta: {} }, options)
  const rest = [...(intake.recognized ?? [])].map(
    ([stream, list]) => [stream, list.filter((record) => !isDone.has(record))] as const,
  )
  return { ...mergeIntakes([intake, again]), recognized: new Map(rest) }
}

function flattenOrSetAside(
  record: unknown,
  options: IntakeOptions,
  quarantined: QuarantinedRecord[],
): FlatRecord | undefined {
  try {
    return flattenAnyRecord(record, options.context)
  } catch (thrown) {
    if (!(thrown instanceof ApiContractError)) throw thrown
    const { type, id } = membersOf(record)
    quarantined.push({
      stream: options.stream,
      resourceType: typeof type === 'string' ? type : null,
      recordId: typeof id === 'string' ? id : null,
      reason: thrown.message,
      pointer: thrown.pointer,
      payload: stringifyExactJson(isObject(record) ? withoutSecrets(record) : record),
      source: options.source,
    })
    return undefined
  }
}

/**
 * Several answers as one, in order; of recognized records nothing, for only the pages of a walk
 * have them.
 */
export function mergeIntakes(intakes: readonly Intake[]): Intake {
  const sightings = new Map<string, Sighting[]>()
  for (const intake of intakes) {
    for (const [stream, list] of intake.sightings) {
      sightings.set(stream, [...(sightings.get(stream) ?? []), ...list])
    }
  }
  return {
    sightings,
    quarantined: intakes.flatMap(({ quarantined }) => quarantined),
    transportEventIds: new Map(intakes.flatMap(({ transportEventIds }) => [...transportEventIds])),
  }
}

/** Keys of all records of a stream that an answer holds, read or recognized. */
export function shownKeys(intake: Intake, stream: string): string[] {
  const read = (intake.sightings.get(stream) ?? []).map(({ record }) => record.key)
  const recognized = (intake.recognized?.get(stream) ?? []).map(({ key }) => key)
  return [...read, ...recognized]
}
