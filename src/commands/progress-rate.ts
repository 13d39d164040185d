import type { Progress } from '../sync/run.js'

/** How fast a stream comes, and how long the rest of it takes at that speed. */
export interface ProgressRate {
  /** Records a second, over all of the stream so far; undefined before there is anything to go by. */
  readonly recordsPerSecond: number | undefined
  /** Seconds until the end of the stream; undefined when the service does not say how many records there are. */
  readonly secondsLeft: number | undefined
}

/** Measures the rate of one stream after the other. Takes the present time in milliseconds. */
export function createRateMeter(now: () => number): (progress: Progress) => ProgressRate {
  let stream: string | undefined
  let from = { ms: now(), records: 0 }
  let lastMs = from.ms
  return (progress) => {
    if (progress.stream !== stream) {
      stream = progress.stream
      // It began when the one before it ended; where an earlier run was cut off, with the records of that run.
      from = { ms: lastMs, records: progress.page === 1 ? 0 : progress.records }
    }
    lastMs = now()
    const seconds = (lastMs - from.ms) / 1000
    const records = progress.records - from.records
    if (seconds <= 0 || records <= 0) return { recordsPerSecond: undefined, secondsLeft: undefined }
    const left = progress.total === undefined ? undefined : progress.total - progress.records
    return {
      recordsPerSecond: Math.round((records / seconds) * 10) / 10,
      secondsLeft:
        left === undefined ? undefined : Math.round((Math.max(0, left) * seconds) / records),
    }
  }
}
