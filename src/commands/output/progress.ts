import type { Progress } from '../../ingest/run.js'
import { countOf, formatSeconds } from '../../base/phrases.js'
import { cutText, widthOf } from './terminal.js'

export interface ProgressReporter {
  readonly onProgress: (progress: Progress) => void
  /** Called before each wait for the request budget, with its milliseconds. */
  readonly onWait: (ms: number) => void
  /** Ends the line on the screen. Idempotent. */
  stop(): void
}

export interface ProgressOptions {
  readonly stream: NodeJS.WritableStream & { readonly columns?: number }
  readonly isTerminal: boolean
  /** One JSON object a line instead of words. */
  readonly isJson: boolean
  /** The present time in milliseconds. */
  readonly now: () => number
  /** The request budget, which limits how fast the rest can come. */
  readonly requestsPerMinute?: number
}

/** Where there is no terminal: a line at most this often. */
const LINE_EVERY_MS = 5_000
/** Shorter waits are not worth a word. */
const LONG_WAIT_MS = 5_000

/**
 * Shows how far a run is: records, requests, rate, what is left of the stream, and waits for the
 * request budget.
 */
export function createProgressReporter(options: ProgressOptions): ProgressReporter {
  return options.isTerminal && !options.isJson ? createBar(options) : createLines(options)
}

const BAR_WIDTH = 24
const FEWEST_CELLS = 4
const USUAL_WIDTH = 80
const CLEAR_LINE = '\r\u001b[K'

/** One line that is drawn again and again; a stream that is done keeps its own. */
function createBar({ stream, now, requestsPerMinute }: ProgressOptions): ProgressReporter {
  const measure = createRateMeter(now, requestsPerMinute)
  let current: string | undefined
  let facts: BarFacts | undefined
  const draw = (): void => {
    if (facts === undefined) return
    // One column less: in the last one some terminals go to the next line.
    stream.write(`${CLEAR_LINE}${formatBar(facts, (stream.columns ?? USUAL_WIDTH) - 1)}`)
  }
  const stop = (): void => {
    if (facts !== undefined) stream.write('\n')
    facts = undefined
  }
  return {
    stop,
    onWait: (ms) => {
      if (facts === undefined || ms < LONG_WAIT_MS) return
      facts = { ...facts, end: describeWait(ms) }
      draw()
    },
    onProgress: (progress) => {
      const { stream: name, records, total, requests } = progress
      const { recordsPerSecond, secondsLeft } = measure(progress)
      if (name !== current) stop()
      current = name
      const rate = recordsPerSecond === undefined ? '' : ` · ${recordsPerSecond}/s`
      facts = {
        name,
        records,
        total: Math.max(total ?? 0, records),
        requests: `${countOf(requests, 'request')}${rate}`,
        end: secondsLeft === undefined ? '' : `${formatSeconds(secondsLeft)} left`,
      }
      draw()
    },
  }
}

interface BarFacts {
  readonly name: string
  readonly records: number
  readonly total: number
  readonly requests: string
  readonly end: string
}

/** The bar takes what the words leave. */
function formatBar({ name, records, total, requests, end }: BarFacts, width: number): string {
  const words = [`${records}/${total}`, requests, end].filter((part) => part !== '').join(' · ')
  const start = name.padEnd(17)
  const room = Math.min(BAR_WIDTH, width - widthOf(start) - widthOf(words) - 2)
  if (room < FEWEST_CELLS) return cutText(`${name} ${words}`, width)
  const full = total === 0 ? room : Math.floor((room * records) / total)
  return `${start} ${'█'.repeat(full)}${'░'.repeat(room - full)} ${words}`
}

function describeWait(ms: number): string {
  const end = new Date(Date.now() + ms).toTimeString().slice(0, 8)
  return `waiting for the request budget until ${end}`
}

function createLines({
  stream,
  isJson,
  now,
  requestsPerMinute,
}: ProgressOptions): ProgressReporter {
  const measure = createRateMeter(now, requestsPerMinute)
  const startedAt = now()
  let lastLineAt = -Infinity
  let lastStream = ''
  let waitEndsAt = -Infinity
  return {
    stop: () => undefined,
    onWait: (ms) => {
      // Many requests wait for one end.
      if (ms < LONG_WAIT_MS || now() + LONG_WAIT_MS < waitEndsAt) return
      waitEndsAt = now() + ms
      const waitSeconds = Math.round(ms / 1000)
      const until = new Date(Date.now() + ms).toISOString()
      const start = lastStream === '' ? '' : `${lastStream}: `
      const line = isJson
        ? JSON.stringify({ waiting: { for: 'request budget', waitSeconds, until } })
        : `${start}waiting ${waitSeconds} s for the request budget, until ${until}`
      stream.write(`${line}\n`)
    },
    onProgress: (progress) => {
      const rate = measure(progress)
      const isDue = now() - lastLineAt >= LINE_EVERY_MS || progress.stream !== lastStream
      if (!isDue) return
      lastLineAt = now()
      lastStream = progress.stream
      const seconds = Math.round((now() - startedAt) / 1000)
      const line = isJson
        ? JSON.stringify({ progress: { ...progress, ...rate, seconds } })
        : formatLine(progress, rate, seconds)
      stream.write(`${line}\n`)
    },
  }
}

function formatLine(
  { stream, page, records, total, requests }: Progress,
  { recordsPerSecond, secondsLeft }: ProgressRate,
  seconds: number,
): string {
  const of = total === undefined ? '' : ` of ${total}`
  const rate = recordsPerSecond === undefined ? '' : `, ${recordsPerSecond} records/s`
  const left = secondsLeft === undefined ? '' : `, ${formatSeconds(secondsLeft)} left`
  const work = `${records}${of} records, ${countOf(requests, 'request')}, ${seconds} s`
  return `${stream}: page ${page}, ${work}${rate}${left}`
}

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
