import { ApiContractError } from '../errors.js'
import type { Document } from '../jsonapi/document.js'
import { stringifyExactJson } from '../jsonapi/exact-json.js'
import { linkedTransportEventIds } from '../resources/container.js'
import type { FlattenContext } from '../resources/flatten.js'
import { flattenAnyRecord } from '../resources/index.js'
import { withoutSecrets } from '../resources/other-resource.js'
import type { FlatRecord } from '../resources/resource.js'
import type { QuarantinedRecord } from '../warehouse/quarantine.js'
import type { Sighting } from '../warehouse/sighting.js'

/** What one answer holds, flattened: sightings by stream, and what could not be flattened. */
export interface Intake {
  readonly sightings: ReadonlyMap<string, readonly Sighting[]>
  readonly quarantined: readonly QuarantinedRecord[]
  /** Ids of transport events each container record lists; containers without a list are absent. */
  readonly transportEventIds: ReadonlyMap<string, readonly string[]>
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
 * Flattens primary and included records of an answer. One bad record costs only itself: it goes to the quarantine with its reason,
 * a JSON pointer and its payload.
 */
export function takeIn(document: Document, options: IntakeOptions): Intake {
  const sightings = new Map<string, Sighting[]>()
  const quarantined: QuarantinedRecord[] = []
  const transportEventIds = new Map<string, readonly string[]>()
  const take = (record: unknown, isPrimary: boolean): void => {
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
  return { sightings, quarantined, transportEventIds }
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
    const { type, id } = (typeof record === 'object' && record !== null ? record : {}) as {
      type?: unknown
      id?: unknown
    }
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

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Several answers as one, in order. */
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
