import { countOf, formatSeconds } from '../../base/phrases.js'
import type { Progress } from '../../ingest/run.js'
import { cutText, widthOf } from './print-table.js'

/** Shows how far a run is: records, requests, rate, time left, and waits for the request budget. */
export interface ProgressReporter {
  readonly onProgress: (progress: Progress) => void
  /** Called before each wait for the request budget, with its milliseconds. */
  readonly onWait: (ms: number) => void
  /** Ends the line on the screen. Idempotent. */
  stop(): void
}

export interface ProgressOptions {
  readonly stream: NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number }
  /** One JSON object a line instead of words. */
  readonly isJson?: boolean
  /** The request budget, which limits how fast the rest can come. */
  readonly requestsPerMinute?: number
  readonly now?: () => number
}

const sinceStart = (): number => performance.now()

/** Without a terminal: a line at most this often. */
const LINE_EVERY_MS = 5_000
/** Shorter waits are not shown. */
const LONG_WAIT_MS = 5_000

export function createProgressReporter(options: ProgressOptions): ProgressReporter {
  const isBar = options.stream.isTTY === true && options.isJson !== true
  return isBar ? createBar(options) : createLines(options)
}

const BAR_WIDTH = 24
const FEWEST_CELLS = 4
const USUAL_WIDTH = 80
const CLEAR_LINE = '\r\u001b[K'

/** One line that is redrawn; a finished stream keeps its own line. */
function createBar({ stream, requestsPerMinute, now = sinceStart }: ProgressOptions) {
  const measure = createRateMeter(now, requestsPerMinute)
  let shown: Progress | undefined
  const draw = (...facts: readonly string[]): void => {
    if (shown === undefined) return
    // One column less, because some terminals wrap after the last one.
    const bar = formatBar(shown, facts, (stream.columns ?? USUAL_WIDTH) - 1)
    stream.write(`${CLEAR_LINE}${bar}`)
  }
  const stop = (): void => {
    if (shown !== undefined) stream.write('\n')
    shown = undefined
  }
  return {
    stop,
    onWait: (ms: number) => {
      const end = new Date(Date.now() + ms).toTimeString().slice(0, 8)
      // Shown alone, so that the end of the text fits the line.
      if (ms >= LONG_WAIT_MS) draw(`waiting for the request budget until ${end}`)
    },
    onProgress: (progress: Progress) => {
      const { recordsPerSecond, secondsLeft } = measure(progress)
      if (progress.stream !== shown?.stream) stop()
      shown = progress
      const rate = recordsPerSecond === undefined ? '' : ` · ${recordsPerSecond}/s`
      const work = `${countOf(progress.requests, 'request')}${rate}`
      draw(work, secondsLeft === undefined ? '' : `${formatSeconds(secondsLeft)} left`)
    },
  }
}

/** The bar fills the space beside the words. */
function formatBar(progress: Progress, facts: readonly string[], width: number): string {
  const { stream: name, records } = progress
  const total = Math.max(progress.total ?? 0, records)
  const words = [`${records}/${total}`, ...facts].filter((part) => part !== '').join(' · ')
  const start = name.padEnd(17)
  const room = Math.min(BAR_WIDTH, width - widthOf(start) - widthOf(words) - 2)
  if (room < FEWEST_CELLS) return cutText(`${name} ${words}`, width)
  const full = total === 0 ? room : Math.floor((room * records) / total)
  return `${start} ${'█'.repeat(full)}${'░'.repeat(room - full)} ${words}`
}

function createLines({ stream, isJson, requestsPerMinute, now = sinceStart }: ProgressOptions) {
  const measure = createRateMeter(now, requestsPerMinute)
  const startedAt = now()
  let lastLineAt = -Infinity
  let lastStream = ''
  let waitEndsAt = -Infinity
  const write = (facts: object, words: string): void => {
    stream.write(`${isJson === true ? JSON.stringify(facts) : words}\n`)
  }
  return {
    stop: () => undefined,
    onWait: (ms: number) => {
      // Many requests wait for one end.
      if (ms < LONG_WAIT_MS || now() + LONG_WAIT_MS < waitEndsAt) return
      waitEndsAt = now() + ms
      const waitSeconds = Math.round(ms / 1000)
      const until = new Date(Date.now() + ms).toISOString()
      const start = lastStream === '' ? '' : `${lastStream}: `
      write(
        { waiting: { for: 'request budget', waitSeconds, until } },
        `${start}waiting ${waitSeconds} s for the request budget, until ${until}`,
      )
    },
    onProgress: (progress: Progress) => {
      const rate = measure(progress)
      if (now() - lastLineAt < LINE_EVERY_MS && progress.stream === lastStream) return
      lastLineAt = now()
      lastStream = progress.stream
      const seconds = Math.round((now() - startedAt) / 1000)
      const { stream: name, page, records, total, requests } = progress
      const { recordsPerSecond, secondsLeft } = rate
      const words = [
        `${name}: page ${page}`,
        `${records}${total === undefined ? '' : ` of ${total}`} records`,
        countOf(requests, 'request'),
        `${seconds} s`,
        recordsPerSecond === undefined ? [] : `${recordsPerSecond} records/s`,
        secondsLeft === undefined ? [] : `${formatSeconds(secondsLeft)} left`,
      ]
      write({ progress: { ...progress, ...rate, seconds } }, words.flat().join(', '))
    },
  }
}

interface ProgressRate {
  /** Rate of the whole stream so far; undefined before the first measurement. */
  readonly recordsPerSecond: number | undefined
  /** Time until the end of the stream; undefined if the service does not say its length. */
  readonly secondsLeft: number | undefined
}

/**
 * Measures the rate of one stream after the other. The request budget counts: the first minute's
 * requests go out at once, and the rest as slowly as it allows.
 */
export function createRateMeter(
  now: () => number,
  requestsPerMinute = Infinity,
): (progress: Progress) => ProgressRate {
  let stream: string | undefined
  let from = { ms: now(), records: 0, requests: 0 }
  let last = from
  return (progress) => {
    if (progress.stream !== stream) {
      stream = progress.stream
      // It began when the one before it ended; a resumed stream has the records of an earlier run.
      from = { ...last, records: progress.page === 1 ? 0 : progress.records }
    }
    last = { ms: now(), records: progress.records, requests: progress.requests }
    const seconds = (last.ms - from.ms) / 1000
    const records = progress.records - from.records
    if (seconds <= 0 || records <= 0) return { recordsPerSecond: undefined, secondsLeft: undefined }
    const { total } = progress
    const left = total === undefined ? undefined : Math.max(0, total - progress.records)
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
