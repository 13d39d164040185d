/**
 * A matter that the service reports to its subscribers: event name, instant, and the record
 * concerned.
 */
export interface Occurrence {
  /** A name of the catalogue, such as `container.updated`. */
  readonly event: string
  /**
   * Epoch milliseconds, a whole second: the service writes no fractions, and reports nothing before
   * it can be seen.
   */
  readonly at: number
  readonly reference: Reference
}

/** `[before, after]` for each attribute that changed. */
export type Changeset = Readonly<Record<string, readonly [unknown, unknown]>>

/**
 * The record a notification points to. Those without an id exist in notifications only, which
 * number them.
 */
export type Reference =
  | {
      readonly type: 'transport_event'
      readonly id: string
      readonly containerId: string
      readonly shipmentId: string
    }
  | {
      readonly type: 'tracking_request'
      readonly id: string
      /** Undefined for a request without a shipment. */
      readonly shipmentId: string | undefined
    }
  | { readonly type: 'estimated_event'; readonly shipmentId: string }
  | {
      readonly type: 'container_created_event'
      readonly containerId: string
      readonly shipmentId: string
    }
  | {
      readonly type: 'container_updated_event'
      readonly containerId: string
      readonly shipmentId: string
      readonly changeset: Changeset
    }

const RANKS: Record<Reference['type'], number> = {
  tracking_request: 0,
  container_created_event: 1,
  estimated_event: 2,
  transport_event: 3,
  container_updated_event: 4,
}

/**
 * By instant; within one, in the order of a container's life. A total order, so that the same world
 * always tells the same story.
 */
export function compareOccurrences(one: Occurrence, other: Occurrence): number {
  return (
    one.at - other.at ||
    RANKS[one.reference.type] - RANKS[other.reference.type] ||
    compareTexts(one.event, other.event) ||
    compareTexts(subjectOf(one), subjectOf(other))
  )
}

function subjectOf({ reference }: Occurrence): string {
  if ('id' in reference) return reference.id
  return 'containerId' in reference ? reference.containerId : reference.shipmentId
}

function compareTexts(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}
