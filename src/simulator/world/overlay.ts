import type { ResourceObject } from '../../jsonapi/document.js'

export interface InsertedShipment {
  readonly serial: number
  readonly createdAt: number
}

/** What the world asks of the edits that lie on top of it. */
export interface Overlay {
  isGone(type: string, id: string): boolean
  /** Ids of one type that were deleted themselves, not through what they belong to. */
  goneIds(type: string): Iterable<string>
  isWithdrawn(containerId: string, eventId: string): boolean
  /** The record with its changed attributes; the same object when there are none. */
  revise(record: ResourceObject): ResourceObject
  /** Latest first. */
  readonly inserted: readonly InsertedShipment[]
  /** Undefined when no value was set by hand. */
  customValue(containerId: string, slug: string): unknown
}

export const NO_EDITS: Overlay = {
  isGone: () => false,
  goneIds: () => [],
  isWithdrawn: () => false,
  revise: (record) => record,
  inserted: [],
  customValue: () => undefined,
}
