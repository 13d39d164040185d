/** The record count of a list against live rows. */
export interface CountComparison {
  readonly stream: string
  /** Null if the service does not say. */
  readonly service: number | null
  readonly warehouse: number
  readonly difference: number
  /** The change of both counts during the comparison; the difference may be as large. */
  readonly tolerance: number
  readonly isWithin: boolean
}

export interface VerifyDifference {
  readonly stream: string
  readonly record: string
  readonly column: string
  readonly warehouse: string | null
  readonly service: string | null
}

export interface StreamVerdict {
  /** The table. */
  readonly stream: string
  /** Live rows. */
  readonly rows: number
  readonly compared: number
  /** Values in compared rows, without nulls. */
  readonly values: number
  readonly equal: number
  readonly differing: number
  /** Live in the warehouse, but missing at the service. */
  readonly missingAtSource: number
  /** Differed, and gave another answer in a second read: the service is changing it. */
  readonly changing: number
}

export interface VerifyReport {
  /** All compared rows are equal; false if none were compared. */
  readonly isEqual: boolean
  readonly counts: readonly CountComparison[]
  readonly streams: readonly StreamVerdict[]
  readonly differences: readonly VerifyDifference[]
  /** The tables that were not compared, with the reason. */
  readonly notCompared: readonly string[]
  /** Commands that mend the differences, in order; empty without differences. */
  readonly advice: readonly string[]
  /** Live transport events that no container lists; a sync asks for them. */
  readonly unlistedEvents: number
  /**
   * Hours since the last complete pass over the whole list of shipments began; null if there was
   * none.
   */
  readonly wholeHoursAgo: number | null
  readonly sample: number
  readonly seed: number
  readonly requests: number
}
