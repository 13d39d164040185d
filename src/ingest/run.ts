import type { TrackingService } from '../source/client/endpoints.js'
import type { RequestPurpose } from '../source/client/request-budget.js'
import type { Logger } from '../base/logger.js'
import { DriftWatch } from './drift-watch.js'
import type { Recognize } from './recognize-records.js'
import { RunLedger } from './run-ledger.js'
import type { Sink } from './sink.js'

/** The position of a walk; `pages` and `total` are hints of the service. */
export interface Progress {
  readonly stream: string
  readonly page: number
  readonly records: number
  /** The service's count of records; undefined without one. */
  readonly total: number | undefined
  readonly requests: number
}

/**
 * Requests for transport events, places and vessels at a time: enough for 90 requests a minute
 * while an answer takes less than 2.6 seconds.
 */
export const REQUESTS_AT_ONCE = 4

export interface RunSettings {
  readonly pageSize: number
  readonly vesselPositions: boolean
  /** A run that sets aside more of a stream than this does not end well; 5 unless given. */
  readonly quarantineLimitPercent?: number
  /**
   * Containers whose transport events a sync reads again without any sign of a change; none unless
   * given.
   */
  readonly transportEventChecksPerSync?: number
  /**
   * A sync reads the whole lists when the last whole read is so many hours old, and else the
   * records that can still change; always the whole unless given.
   */
  readonly fullSyncHours?: number
  /**
   * The time that refetches may take; five minutes in a sync and an hour in a backfill unless
   * given.
   */
  readonly refetchSeconds?: number
  /** Slugs of sensitive custom fields whose values are stored all the same, separated by commas. */
  readonly sensitiveFields?: string | undefined
  /** Also reads the raw events of containers that are new or have changed. */
  readonly rawEvents?: boolean
  /** Believe the source when many rows are missing: mark them as gone after all. */
  readonly acceptShrink?: boolean
}

/** The service as a run reads it. */
export interface Source {
  readonly service: TrackingService
  readonly settings: RunSettings
  /** Aborting it ends the run after the batch under way. */
  readonly signal: AbortSignal
  /** The share of the request budget that pays for the reads; `sync` by default. */
  readonly purpose?: RequestPurpose
  /** Absent: every record of a page is parsed. */
  readonly recognize?: Recognize
}

/** Counts, findings and messages about the records that were read and written. */
export interface Notes {
  readonly ledger: RunLedger
  readonly drift: DriftWatch
  readonly logger: Logger
  readonly onProgress: (progress: Progress) => void
}

/** Empty notes. */
export function openNotes(
  logger: Logger,
  onProgress: Notes['onProgress'] = () => undefined,
): Notes {
  return { ledger: new RunLedger(), drift: new DriftWatch(), logger, onProgress }
}

/** Enough to read from the service and count the requests. */
export interface Reading {
  readonly source: Source
  readonly notes: Pick<Notes, 'ledger'>
}

/** Enough to store answers: of a run, or of a worker beside the runs. */
export interface Ingest {
  readonly source: Source
  readonly sink: Sink
  readonly notes: Notes
}

/** A run of `sync` or `backfill`: it has a row in `sync_runs`. */
export interface Run extends Ingest {
  readonly sink: Sink<number>
}
