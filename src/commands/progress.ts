import { Presets, SingleBar } from 'cli-progress'
import type { Progress } from '../sync/run.js'

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

function createBar({ stream }: ProgressOptions): ProgressReporter {
  let bar: SingleBar | undefined
  let current: string | undefined
  const stop = (): void => {
    bar?.stop()
    bar = undefined
  }
  return {
    stop,
    onProgress: ({ stream: name, records, total, requests }) => {
      if (name !== current) {
        stop()
        current = name
        bar = new SingleBar(
          {
            stream,
            format:
              '{name} {bar} {value}/{total} records · {requests} requests · {eta_formatted} left',
            hideCursor: true,
            clearOnComplete: false,
          },
          Presets.shades_classic,
        )
        bar.start(total ?? records, records, { name: name.padEnd(17), requests })
      }
      bar?.setTotal(Math.max(total ?? 0, records))
      bar?.update(records, { name: name.padEnd(17), requests })
    },
  }
}

function createLines({ stream, isJson, now }: ProgressOptions): ProgressReporter {
  const startedAt = now()
  let lastLineAt = -Infinity
  let lastStream = ''
  return {
    stop: () => undefined,
    onProgress: (progress) => {
      const isDue = now() - lastLineAt >= LINE_EVERY_MS || progress.stream !== lastStream
      if (!isDue) return
      lastLineAt = now()
      lastStream = progress.stream
      const seconds = Math.round((now() - startedAt) / 1000)
      const { stream: name, page, records, total, requests } = progress
      const of = total === undefined ? '' : ` of ${total}`
      const line = isJson
        ? JSON.stringify({ progress: { ...progress, seconds } })
        : `${name}: page ${page}, ${records}${of} records, ${requests} requests, ${seconds} s`
      stream.write(`${line}\n`)
    },
  }
}
