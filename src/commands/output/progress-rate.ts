import type { Progress } from '../../ingest/run.js'

/** How fast a stream comes, and how long the rest of it takes at that speed. */
export interface ProgressRate {
  /**
   * Records a second, over all of the stream so far; undefined before there is anything to go by.
   */
  readonly recordsPerSecond: number | undefined
  /**
   * Seconds until the end of the stream; undefined when the service does not say how many records
   * there are.
   */
  readonly secondsLeft: number | undefined
}

/**
 * Measures the rate of one stream after the other. Takes the present time in milliseconds, and the
 * request budget: the first minute's requests go out at once, and the rest as slowly as it allows.
 */
export function createRateMeter(
  now: () => number,
  requestsPerMinute = Infinity,
): (progress: Progress) => ProgressRate {
  let stream: string | undefined
  let from = { ms: now(), records: 0, requests: 0 }
  let lastMs = from.ms
  let lastRequests = 0
  return (progress) => {
    if (progress.stream !== stream) {
      stream = progress.stream
      // It began when the one before it ended; where an earlier run was cut off, with the records
      // of that run.
      const records = progress.page === 1 ? 0 : progress.records
      from = { ms: lastMs, records, requests: lastRequests }
    }
    lastMs = now()
    lastRequests = progress.requests
    const seconds = (lastMs - from.ms) / 1000
    const records = progress.records - from.records
    if (seconds <= 0 || records <= 0) return { recordsPerSecond: undefined, secondsLeft: undefined }
    const left =
      progress.total === undefined ? undefined : Math.max(0, progress.total - progress.records)
    const secondsEach = Math.max(
      seconds / records,
      ((progress.requests - from.requests) / records / requestsPerMinute) * 60,
    )
    return {
      recordsPerSecond: Math.round((records / seconds) * 10) / 10,
      secondsLeft: left === undefined ? undefined : Math.round(left * secondsEach),
    }
  }
}
