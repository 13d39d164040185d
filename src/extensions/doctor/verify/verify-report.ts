/** How many records a list says there are, against live rows. */
export interface CountComparison {
  readonly stream: string
  /** Null when the service does not say. */
  readonly service: number | null
  readonly warehouse: number
  readonly difference: number
  /** How far both moved while they were compared; the difference may be as large. */
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
  /** Values in what was compared, nulls apart. */
  readonly values: number
  readonly equal: number
  readonly differing: number
  /** Live in the warehouse, and the service does not have it. */
  readonly missingAtSource: number
  /** Differed, and gave another answer when read again: the service is changing it. */
  readonly changing: number
}

export interface VerifyReport {
  /** Of what was compared; false when nothing was. */
  readonly isEqual: boolean
  readonly counts: readonly CountComparison[]
  readonly streams: readonly StreamVerdict[]
  readonly differences: readonly VerifyDifference[]
  /** The tables that were not compared, with the reason. */
  readonly notCompared: readonly string[]
  /** Commands that mend what was found, in order; empty when nothing was. */
  readonly advice: readonly string[]
  /** Live transport events that no container lists; a sync asks for them. */
  readonly unlistedEvents: number
  /** Since the last complete pass over the whole list of shipments began; null without one. */
  readonly wholeHoursAgo: number | null
  readonly sample: number
  readonly seed: number
  readonly requests: number
}
