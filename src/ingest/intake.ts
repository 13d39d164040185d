import { ApiContractError } from '../base/errors.js'
import { JsonNestingError, stringifyExactJson } from '../source/jsonapi/exact-json.js'
import { isObject, membersOf } from '../source/jsonapi/document.js'
import { RawRecord } from '../source/jsonapi/raw-record.js'
import { linkedIds } from '../source/records/flatten.js'
import { mayBeWithheld } from '../source/records/custom-field.js'
import { customFields, flattenAnyRecord, resourceOfType } from '../source/records/index.js'
import { withoutSecrets } from '../source/records/other-resource.js'
import type { FieldDefinitions, Sighting } from '../source/records/resource.js'
import type { QuarantinedRecord } from '../warehouse/bookkeeping/quarantined-records.js'

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
  /** The container whose transport events were requested. */
  readonly containerId?: string
  /** See `SeenIn`. */
  readonly definitionId?: string
  readonly fieldDefinitions?: FieldDefinitions | undefined
  /** See `Intake`. */
  readonly isDoubtful?: boolean | undefined
}

/** Records of an answer, parsed or raw. */
interface Records {
  readonly data: readonly unknown[]
  readonly included: readonly unknown[]
}

/** Pages of a list include whole containers and events; other included records may be partial. */
export const COMPLETE_WHEN_INCLUDED: ReadonlySet<string> = new Set(['container', 'transport_event'])

/**
 * Flattens primary and included records. One bad record costs only itself: it goes to the
 * quarantine with its reason, a JSON pointer and its payload.
 */
export function takeIn(records: Records, options: IntakeOptions): Intake {
  const taking = new Taking(options)
  // Included first: of two equal sightings in one answer the primary one wins.
  for (const record of records.included) taking.take(record, false)
  for (const record of records.data) taking.take(record, true)
  return taking
}

/** In place of a record that may hold a sensitive value. */
const WITHHELD = 'withheld: a custom field that is set aside may be a sensitive one'

/** A few milliseconds of work. */
const TAKEN_AT_ONCE = 100

/**
 * The same for a page of raw records: those in `recognized`, with their keys, are not parsed. Lets
 * other work run in between.
 */
export async function takeInRaw(
  records: { readonly data: readonly RawRecord[]; readonly included: readonly RawRecord[] },
  options: IntakeOptions,
  recognized: ReadonlyMap<RawRecord, string>,
): Promise<Intake> {
  const taking = new Taking(options)
  let count = 0
  for (const [list, isPrimary] of [
    [records.included, false],
    [records.data, true],
  ] as const) {
    for (const record of list) {
      const key = recognized.get(record)
      if (key === undefined) {
        taking.take(record, isPrimary)
        count += 1
        if (count % TAKEN_AT_ONCE === 0) await letOthersRun()
      } else taking.recognize(record, key)
    }
  }
  const isRead = hasRead(taking)
  const isAlone = ([record, key]: [RawRecord, string]): boolean => !isRead(streamOf(record), key)
  const alone = [...recognized].filter(isAlone)
  // The order of several sightings of one row decides, so all of them are read.
  return alone.length === recognized.size ? taking : takeInRaw(records, options, new Map(alone))
}

/** A receiver in the same process answers from the same thread. */
export function letOthersRun(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

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

/** Several answers as one, in order. */
export function mergeIntakes(intakes: readonly Intake[]): Intake {
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
class Taking implements Intake {
  readonly sightings = new Map<string, Sighting[]>()
  readonly recognized = new Map<string, string[]>()
  readonly quarantined: QuarantinedRecord[] = []
  readonly transportEventIds = new Map<string, readonly string[]>()
  readonly containerIds = new Map<string, readonly string[]>()
  readonly isDoubtful: boolean
  readonly #options: IntakeOptions

  constructor(options: IntakeOptions) {
    this.#options = options
    this.isDoubtful = options.isDoubtful === true
  }

  take(entry: unknown, isPrimary: boolean): void {
    const { completeTypes, ...seen } = this.#options
    let record = entry
    try {
      if (entry instanceof RawRecord) record = entry.parse()
      const { type, relationships } = membersOf(record)
      const isComplete = isPrimary || completeTypes?.has(String(type)) === true
      const sighting = flattenAnyRecord(record, { ...seen, isComplete })
      const { stream } = sighting.resource
      // Nothing says here whether its value may be stored; the list of values shows it.
      if (stream === customFields.stream && seen.fieldDefinitions === undefined) return
      append(this.sightings, stream, sighting)
      this.#link(stream, sighting.key, (name) => membersOf(membersOf(relationships)[name]).data)
    } catch (thrown) {
      this.#quarantine(record, thrown)
    }
  }

  recognize(record: RawRecord, key: string): void {
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

  #quarantine(record: unknown, thrown: unknown): void {
    const { stream, source, fieldDefinitions } = this.#options
    const isRaw = record instanceof RawRecord
    const isNoJson = thrown instanceof SyntaxError || thrown instanceof JsonNestingError
    if (!(thrown instanceof ApiContractError) && !(isRaw && isNoJson)) throw thrown
    const { type, id } = membersOf(record)
    const isWithheld =
      fieldDefinitions !== undefined && mayBeWithheld(isRaw ? undefined : record, fieldDefinitions)
    const kept = isObject(record) ? withoutSecrets(record) : record
    this.quarantined.push({
      stream,
      resourceType: typeof type === 'string' ? type : null,
      recordId: typeof id === 'string' ? id : null,
      reason: thrown instanceof SyntaxError ? 'the record is no JSON' : thrown.message,
      pointer: thrown instanceof ApiContractError ? thrown.pointer : '',
      payload: stringifyExactJson(isWithheld ? WITHHELD : isRaw ? record.text : kept),
      source,
    })
  }
}

function streamOf({ type = '' }: RawRecord): string {
  return resourceOfType(type).stream
}

function append<Value>(lists: Map<string, Value[]>, name: string, value: Value): void {
  const list = lists.get(name)
  if (list === undefined) lists.set(name, [value])
  else list.push(value)
}
