import { ApiContractError } from '../base/errors.js'
import { JsonNestingError, stringifyExactJson } from '../source/jsonapi/exact-json.js'
import { isObject, membersOf, type Document } from '../source/jsonapi/document.js'
import type { RawPage } from '../source/client/list-pages.js'
import type { RawRecord, RawRecords, RecordIdentity } from '../source/jsonapi/raw-record.js'
import { linkedIds } from '../source/records/flatten.js'
import { mayBeWithheld } from '../source/records/custom-field.js'
import {
  customFields,
  flattenAnyRecord,
  otherResources,
  resourceOfType,
} from '../source/records/index.js'
import { withoutSecrets } from '../source/records/other-resource.js'
import type { FieldDefinitions, SeenIn, Sighting } from '../source/records/resource.js'
import type { QuarantinedRecord } from '../warehouse/bookkeeping/quarantined-records.js'
import { append } from '../warehouse/rows/incoming-rows.js'

type IdsByKey = ReadonlyMap<string, readonly string[]>

/** The content of one answer or notification, flattened, by stream. */
export interface Intake {
  readonly sightings: ReadonlyMap<string, readonly Sighting[]>
  /**
   * Keys of records recognized by their bytes: each equals its row, or a record that this run has
   * met.
   */
  readonly recognized: IdsByKey
  /** Records that could not be flattened. */
  readonly quarantined: readonly QuarantinedRecord[]
  /** The sorted ids of the transport events of each container that came with a list. */
  readonly transportEventIds: IdsByKey
  /** The sorted ids of the containers of each shipment that came with a list. */
  readonly containerIds: IdsByKey
  /** Its stamp says nothing about order: a read must confirm everything in it. */
  readonly isDoubtful: boolean
}

export interface IntakeOptions {
  /** Stream of the primary data; a record without a type counts there. */
  readonly stream: string
  /** Path of the request, for the quarantine. */
  readonly source: string
  readonly observedAt: Date
  /** Types whose included records are complete, and not a subset of their attributes. */
  readonly completeTypes?: ReadonlySet<string>
  /** The type of primary records to which the service gives a type of its own. */
  readonly ownType?: string
  /** The container whose transport events were requested. */
  readonly containerId?: string
  /** See `SeenIn`. */
  readonly definitionId?: string
  readonly fieldDefinitions?: FieldDefinitions | undefined
  /** See `Intake`. */
  readonly isDoubtful?: boolean | undefined
}

/** Parsed records of an answer. */
type Records = Pick<Document, 'data' | 'included'>

/**
 * Flattens primary and included records. One bad record costs only itself: it goes to the
 * quarantine with its reason, a JSON pointer and its payload.
 */
export function readRecords(records: Records, options: IntakeOptions): Intake {
  const intake = new IntakeBuilder(options)
  // Included first: of two equal sightings in one answer the primary one wins.
  for (const record of records.included) intake.add(record, false)
  for (const record of records.data) intake.add(record, true)
  return intake
}

/** The same for records that are not parsed yet. */
export function readRawRecords(records: RawRecords, options: IntakeOptions): Intake {
  const intake = new IntakeBuilder(options)
  for (const record of records.included) intake.addRaw(record, false)
  for (const record of records.primary) intake.addRaw(record, true)
  return intake
}

/** Pages of a list include whole containers and events; other included records may be partial. */
export const COMPLETE_WHEN_INCLUDED: ReadonlySet<string> = new Set(['container', 'transport_event'])

/** Facts about the records of a page that they do not say themselves. */
export function pageOptions(
  stream: string,
  { observedAt }: Pick<RawPage, 'observedAt'>,
): IntakeOptions {
  return { stream, source: `/${stream}`, observedAt, completeTypes: COMPLETE_WHEN_INCLUDED }
}

/** A few milliseconds of work. */
const PARSED_AT_ONCE = 100

/**
 * Parses and flattens the records of a page, without those in `recognized`, whose keys are known.
 * Pure. Lets other work run in between.
 */
export async function readPage(
  records: RawRecords,
  options: IntakeOptions,
  recognized: ReadonlyMap<RawRecord, string>,
): Promise<Intake> {
  const intake = new IntakeBuilder(options)
  let count = 0
  for (const [list, isPrimary] of [
    [records.included, false],
    [records.primary, true],
  ] as const) {
    for (const record of list) {
      const key = recognized.get(record)
      if (key === undefined) {
        intake.addRaw(record, isPrimary)
        count += 1
        if (count % PARSED_AT_ONCE === 0) await letOthersRun()
      } else intake.addRecognized(record, key)
    }
  }
  if (recognized.size === 0) return intake
  const isRead = hasRead(intake)
  const isAlone = ([record, key]: [RawRecord, string]): boolean => !isRead(streamOf(record), key)
  const alone = [...recognized].filter(isAlone)
  // The order of several sightings of one row decides, so all of them are read.
  return alone.length === recognized.size ? intake : readPage(records, options, new Map(alone))
}

/** In place of a record that may hold a sensitive value. */
const WITHHELD = 'withheld: a custom field that is set aside may be a sensitive one'

/** Says of a row whether an answer holds a record of it that was read, not merely recognized. */
export function hasRead({ sightings }: Intake): (stream: string, key: string) => boolean {
  const read = new Map(
    [...sightings].map(([stream, list]) => [stream, new Set(list.map(({ key }) => key))]),
  )
  return (stream, key) => read.get(stream)?.has(key) === true
}

/** Keys of all records of a stream that an answer holds, read or recognized. */
export function shownKeys({ sightings, recognized }: Intake, stream: string): string[] {
  const read = (sightings.get(stream) ?? []).map(({ key }) => key)
  return [...read, ...(recognized.get(stream) ?? [])]
}

/** A receiver in the same process answers from the same thread. */
function letOthersRun(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

/** True when every shipment of the page lists its containers and all of them came included. */
export function hasAllContainers({ rows }: RawPage, intake: Intake): boolean {
  const included = new Set(shownKeys(intake, 'containers'))
  return rows.every(
    ({ id }) => intake.containerIds.get(String(id))?.every((key) => included.has(key)) === true,
  )
}

/** True when every container lists its transport events and all of them came included. */
export function hasAllTransportEvents(intake: Intake): boolean {
  const included = new Set(shownKeys(intake, 'transport_events'))
  return shownKeys(intake, 'containers').every((key) => {
    const listed = intake.transportEventIds.get(key)
    return listed?.every((id) => included.has(`${key} ${id}`)) === true
  })
}

/** Several answers as one, in order. */
export function mergeIntakes(intakes: readonly Intake[]): Intake {
  const [first] = intakes
  if (first !== undefined && intakes.length === 1) return first
  const merge = <Value>(maps: readonly ReadonlyMap<string, readonly Value[]>[]) => {
    const merged = new Map<string, Value[]>()
    for (const [stream, list] of maps.flatMap((map) => [...map])) {
      for (const value of list) append(merged, stream, value)
    }
    return merged
  }
  return {
    sightings: merge(intakes.map(({ sightings }) => sightings)),
    recognized: merge(intakes.map(({ recognized }) => recognized)),
    quarantined: intakes.flatMap(({ quarantined }) => quarantined),
    transportEventIds: new Map(intakes.flatMap(({ transportEventIds }) => [...transportEventIds])),
    containerIds: new Map(intakes.flatMap(({ containerIds }) => [...containerIds])),
    isDoubtful: intakes.some(({ isDoubtful }) => isDoubtful),
  }
}

/**
 * The quarantined records of an answer that lacks the requested record. Its other records are not
 * believed.
 */
export function setAsideOf({ quarantined }: Intake): Intake {
  return { ...mergeIntakes([]), quarantined }
}

/** An intake in the making. */
class IntakeBuilder implements Intake {
  readonly sightings = new Map<string, Sighting[]>()
  readonly recognized = new Map<string, string[]>()
  readonly quarantined: QuarantinedRecord[] = []
  readonly transportEventIds = new Map<string, readonly string[]>()
  readonly containerIds = new Map<string, readonly string[]>()
  readonly isDoubtful: boolean
  readonly #options: IntakeOptions
  /** Made once: a page holds thousands of records. */
  readonly #seenWhole: SeenIn
  readonly #seenInPart: SeenIn

  constructor(options: IntakeOptions) {
    this.#options = options
    this.#seenWhole = { ...options, isComplete: true }
    this.#seenInPart = { ...options, isComplete: false }
    this.isDoubtful = options.isDoubtful === true
  }

  add(record: unknown, isPrimary: boolean): void {
    const { completeTypes, ownType, fieldDefinitions } = this.#options
    try {
      const { type, relationships } = membersOf(record)
      const isComplete = isPrimary || completeTypes?.has(String(type)) === true
      const isRetyped = isPrimary && ownType !== undefined && isOfNoTable(record)
      const shown = isRetyped ? { ...membersOf(record), type: ownType } : record
      const sighting = flattenAnyRecord(shown, isComplete ? this.#seenWhole : this.#seenInPart)
      const { stream } = sighting.resource
      // Nothing says here whether its value may be stored; the list of values shows it.
      if (stream === customFields.stream && fieldDefinitions === undefined) return
      append(this.sightings, stream, sighting)
      this.#link(stream, sighting.key, (name) => membersOf(membersOf(relationships)[name]).data)
    } catch (thrown) {
      if (!(thrown instanceof ApiContractError)) throw thrown
      const { type, id } = membersOf(record)
      const payload = isObject(record) ? withoutSecrets(record) : record
      this.#quarantine({ type, id }, record, payload, thrown)
    }
  }

  addRaw(raw: RawRecord, isPrimary: boolean): void {
    let record: unknown
    try {
      record = raw.parse()
    } catch (thrown) {
      const isNoJson = thrown instanceof SyntaxError || thrown instanceof JsonNestingError
      if (!isNoJson) throw thrown
      this.#quarantine(raw, undefined, raw.text, thrown)
      return
    }
    this.add(record, isPrimary)
  }

  /** Adds a record that is known by its bytes and not parsed. */
  addRecognized(record: RawRecord, key: string): void {
    const stream = streamOf(record)
    append(this.recognized, stream, key)
    this.#link(stream, key, (name) => record.linkage(name))
  }

  #link(stream: string, key: string, linkage: (relationship: string) => unknown): void {
    if (stream === 'containers') {
      const ids = linkedIds(linkage('transport_events'))
      if (ids !== undefined) this.transportEventIds.set(key, ids)
    } else if (stream === 'shipments') {
      const ids = linkedIds(linkage('containers'))
      if (ids !== undefined) this.containerIds.set(key, ids)
    }
  }

  #quarantine(
    { type, id }: RecordIdentity,
    record: unknown,
    payload: unknown,
    thrown: ApiContractError | SyntaxError | JsonNestingError,
  ): void {
    const { stream, source, fieldDefinitions } = this.#options
    const isWithheld = fieldDefinitions !== undefined && mayBeWithheld(record, fieldDefinitions)
    this.quarantined.push({
      stream,
      resourceType: typeof type === 'string' ? type : null,
      recordId: typeof id === 'string' ? id : null,
      reason: thrown instanceof SyntaxError ? 'the record is no JSON' : thrown.message,
      pointer: thrown instanceof ApiContractError ? thrown.pointer : '',
      payload: stringifyExactJson(isWithheld ? WITHHELD : payload),
      source,
    })
  }
}

/** The stream of a record that is not parsed. */
export function streamOf({ type = '' }: RawRecord): string {
  return resourceOfType(type).stream
}

function isOfNoTable(record: unknown): boolean {
  return isObject(record) && resourceOfType(String(record.type)) === otherResources
}
