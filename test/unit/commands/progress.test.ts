import { describe, expect, it } from 'vitest'
import { createProgressReporter } from '../../../src/commands/progress.js'
import type { Progress } from '../../../src/sync/run.js'
import { createSink } from './fake-process.js'

const progress = (change: Partial<Progress> = {}): Progress => ({
  stream: 'shipments',
  page: 1,
  records: 100,
  total: 300,
  requests: 4,
  ...change,
})

/** A reporter whose time the test moves. */
function report(options: { readonly isTerminal?: boolean; readonly isJson?: boolean } = {}) {
  const { isTerminal = false, isJson = false } = options
  const sink = createSink(isTerminal)
  let nowMs = 1_000_000
  const reporter = createProgressReporter({
    stream: sink.stream,
    isTerminal,
    isJson,
    now: () => nowMs,
  })
  return {
    reporter,
    text: sink.text,
    lines: () => sink.text().split('\n').slice(0, -1),
    wait: (ms: number) => (nowMs += ms),
  }
}

describe('progress', () => {
  it('is a plain line off a terminal: stream, page, records, requests, seconds, rate and what is left', () => {
    const { reporter, lines, wait } = report()
    wait(1_400)
    reporter.onProgress(progress())
    expect(lines()).toEqual([
      'shipments: page 1, 100 of 300 records, 4 requests, 1 s, 71.4 records/s, 3 s left',
    ])
  })

  it('names no total where the service gives none', () => {
    const { reporter, lines } = report()
    reporter.onProgress(progress({ total: undefined }))
    expect(lines()).toEqual(['shipments: page 1, 100 records, 4 requests, 0 s'])
  })

  it('is at most one line in five seconds for a stream, and one at once for the next stream', () => {
    const { reporter, lines, wait } = report()
    for (let page = 1; page <= 30; page += 1) {
      reporter.onProgress(progress({ page, records: page * 10 }))
      wait(500)
    }
    reporter.onProgress(progress({ stream: 'containers' }))
    expect(lines()).toEqual([
      'shipments: page 1, 10 of 300 records, 4 requests, 0 s',
      'shipments: page 11, 110 of 300 records, 4 requests, 5 s, 22 records/s, 9 s left',
      'shipments: page 21, 210 of 300 records, 4 requests, 10 s, 21 records/s, 4 s left',
      'containers: page 1, 100 of 300 records, 4 requests, 15 s, 200 records/s, 1 s left',
    ])
  })

  it('is one JSON object a line where a program reads it, also on a terminal', () => {
    for (const isTerminal of [false, true]) {
      const { reporter, lines, wait } = report({ isTerminal, isJson: true })
      reporter.onProgress(progress())
      wait(5_000)
      reporter.onProgress(progress({ page: 2, records: 200 }))
      wait(7_000)
      reporter.onProgress(progress({ page: 3, records: 210, total: undefined }))
      reporter.stop()
      expect(lines().map((line) => JSON.parse(line) as unknown)).toEqual([
        { progress: { ...progress(), seconds: 0 } },
        {
          progress: {
            ...progress({ page: 2, records: 200 }),
            recordsPerSecond: 40,
            secondsLeft: 3,
            seconds: 5,
          },
        },
        {
          progress: {
            stream: 'shipments',
            page: 3,
            records: 210,
            requests: 4,
            recordsPerSecond: 17.5,
            seconds: 12,
          },
        },
      ])
    }
  })

  it('carries no colour codes off a terminal', () => {
    const { reporter, text } = report()
    reporter.onProgress(progress())
    reporter.stop()
    expect(text()).not.toContain('\u001b')
  })

  it('is a bar on a terminal, which is taken off at the end, twice without harm', () => {
    const { reporter, text, wait } = report({ isTerminal: true })
    wait(1_000)
    reporter.onProgress(progress())
    wait(1_000)
    reporter.onProgress(progress({ stream: 'containers', records: 700, total: 600 }))
    reporter.stop()
    reporter.stop()
    expect(text()).toContain('100/300 records · 4 requests · 100 records/s · 2 s left')
    // More came than was announced: the bar is full and no more.
    expect(text()).toContain('700/700 records · 4 requests · 700 records/s · 0 s left')
    expect(text()).toMatch(/shipments {2,}/)
  })
})
