import { Presets, SingleBar } from 'cli-progress'
import type { Progress } from '../sync/run.js'
import { formatSeconds } from './format-seconds.js'
import { createRateMeter, type ProgressRate } from './progress-rate.js'

export interface ProgressReporter {
  readonly onProgress: (progress: Progress) => void
  /** Takes the bar off the screen. Idempotent. */
  stop(): void
}

export interface ProgressOptions {
  readonly stream: NodeJS.WritableStream
  readonly isTerminal: boolean
  /** One JSON object a line instead of words. */
  readonly isJson: boolean
  /** The present time in milliseconds. */
  readonly now: () => number
}

/** On a terminal a bar; elsewhere a line, but not more often than this. */
const LINE_EVERY_MS = 5_000

/** Shows how far a run is: records, requests, rate and what is left of the stream. */
export function createProgressReporter(options: ProgressOptions): ProgressReporter {
  return options.isTerminal && !options.isJson ? createBar(options) : createLines(options)
}

const BAR =
  '{name} {bar} {value}/{total} records · {requests} requests · {rate} records/s · {left} left'

function createBar({ stream, now }: ProgressOptions): ProgressReporter {
  const measure = createRateMeter(now)
  let bar: SingleBar | undefined
  let current: string | undefined
  const stop = (): void => {
    bar?.stop()
    bar = undefined
  }
  return {
    stop,
    onProgress: (progress) => {
      const { stream: name, records, total, requests } = progress
      const { recordsPerSecond, secondsLeft } = measure(progress)
      const words = {
        name: name.padEnd(17),
        requests,
        rate: recordsPerSecond ?? '?',
        left: secondsLeft === undefined ? '?' : formatSeconds(secondsLeft),
      }
      if (name !== current) {
        stop()
        current = name
        const options = { stream, format: BAR, hideCursor: true, clearOnComplete: false }
        bar = new SingleBar(options, Presets.shades_classic)
        bar.start(total ?? records, records, words)
      }
      bar?.setTotal(Math.max(total ?? 0, records))
      bar?.update(records, words)
    },
  }
}

function createLines({ stream, isJson, now }: ProgressOptions): ProgressReporter {
  const measure = createRateMeter(now)
  const startedAt = now()
  let lastLineAt = -Infinity
  let lastStream = ''
  return {
    stop: () => undefined,
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
  return `${stream}: page ${page}, ${records}${of} records, ${requests} requests, ${seconds} s${rate}${left}`
}
