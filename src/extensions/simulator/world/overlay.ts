import type { ResourceObject } from '../../../source/jsonapi/document.js'

export interface InsertedShipment {
  readonly serial: number
  readonly createdAt: number
}

/** The answers that the world needs from the edits on top of it. */
export interface Overlay {
  isGone(type: string, id: string): boolean
  /** Ids of one type that were deleted themselves, not with the record they belong to. */
  goneIds(type: string): Iterable<string>
  isWithdrawn(containerId: string, eventId: string): boolean
  /** The record with its changed attributes; the same object when nothing changed. */
  revise(record: ResourceObject): ResourceObject
  /** Latest first. */
  readonly inserted: readonly InsertedShipment[]
  /** Undefined when no value was set by hand; `value` is undefined when one was taken away. */
  customValue(entityId: string, slug: string): { readonly value: unknown } | undefined
  /** Entities of which a custom field was set by hand, and its slug. */
  customValues(): Iterable<readonly [entityId: string, slug: string]>
  /** The number of edits so far. */
  readonly version: number
}

export const NO_EDITS: Overlay = {
  isGone: () => false,
  goneIds: () => [],
  isWithdrawn: () => false,
  revise: (record) => record,
  inserted: [],
  customValue: () => undefined,
  customValues: () => [],
  version: 0,
}
