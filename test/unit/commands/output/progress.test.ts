import { describe, expect, it } from 'vitest'
import { createProgressReporter } from '../../../../src/commands/output/progress.js'
import type { Progress } from '../../../../src/ingest/run.js'
import { createRateMeter } from '../../../../src/commands/output/progress.js'
import { createSink } from '../../../support/sink.js'

const progress = (change: Partial<Progress> = {}): Progress => ({
  stream: 'shipments',
  page: 1,
  records: 100,
  total: 300,
  requests: 4,
  ...change,
})

/** A reporter whose time the test moves. */
function report({ isTerminal = false, isJson = false, columns = 80 } = {}) {
  const sink = createSink(isTerminal)
  Object.assign(sink.stream, { columns })
  let nowMs = 1_000_000
  const reporter = createProgressReporter({
    stream: sink.stream,
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
      expect(lines()).toEqual([
        '{"progress":{"stream":"shipments","page":1,"records":100,"total":300,"requests":4,"seconds":0}}',
        '{"progress":{"stream":"shipments","page":2,"records":200,"total":300,"requests":4,"recordsPerSecond":40,"secondsLeft":3,"seconds":5}}',
        '{"progress":{"stream":"shipments","page":3,"records":210,"requests":4,"recordsPerSecond":17.5,"seconds":12}}',
      ])
    }
  })

  it('is a bar on a terminal, which is taken off at the end, twice without harm', () => {
    const { reporter, text, wait } = report({ isTerminal: true })
    wait(1_000)
    reporter.onProgress(progress())
    wait(1_000)
    reporter.onProgress(progress({ stream: 'containers', records: 700, total: 600 }))
    reporter.stop()
    reporter.stop()
    expect(text()).toContain('100/300 · 4 requests · 100/s · 2 s left')
    // More records came than announced: the bar stays full.
    expect(text()).toContain('700/700 · 4 requests · 700/s · 0 s left')
    expect(text()).toMatch(/shipments {2,}/)
  })

  it.each([40, 80, 100, 140])('fits a terminal of %d columns', { tags: ['FD4'] }, (columns) => {
    const { reporter, text, wait } = report({ isTerminal: true, columns })
    for (let page = 1; page < 5; page += 1) {
      wait(60_000)
      const many = { records: page * 100_000, total: 1_234_567, requests: page * 1_000 }
      reporter.onProgress(progress({ ...many, page, stream: 'webhook_event_categories' }))
      reporter.onWait(34_000)
    }
    reporter.stop()
    const lines = text().split(/\r\u001b\[K|\n/)
    expect(lines.length).toBeGreaterThan(8)
    expect(lines.filter((line) => line.length >= columns)).toEqual([])
  })

  it('shows a wait for the request budget with its end, once', { tags: ['FD6'] }, () => {
    const bar = report({ isTerminal: true, columns: 120 })
    bar.reporter.onProgress(progress())
    bar.reporter.onWait(34_000)
    expect(bar.text()).toMatch(/100\/300 · waiting for the request budget until \d\d:\d\d:\d\d$/)
    const { reporter, lines, wait } = report()
    reporter.onProgress(progress())
    for (const ms of [300, 34_000, 33_900, 33_000]) reporter.onWait(ms)
    wait(35_000)
    reporter.onWait(20_000)
    expect(lines().slice(1)).toEqual([
      expect.stringMatching(/^shipments: waiting 34 s for the request budget, until 2\S+Z$/),
      expect.stringMatching(/^shipments: waiting 20 s for the request budget, until 2\S+Z$/),
    ])
    const json = report({ isJson: true })
    json.reporter.onWait(34_000)
    expect(JSON.parse(json.lines()[0]!)).toMatchObject({
      waiting: { for: 'request budget', waitSeconds: 34 },
    })
  })

  it('has a rate without what an earlier run had read, and nothing left of a list that grew', () => {
    let nowMs = 0
    const measure = createRateMeter(() => nowMs)
    nowMs = 1_000
    const nothing = { recordsPerSecond: undefined, secondsLeft: undefined }
    expect(measure(progress({ page: 8, records: 800, total: 900 }))).toEqual(nothing)
    nowMs = 6_000
    expect(measure(progress({ page: 9, records: 850, total: 900 }))).toEqual({
      recordsPerSecond: 8.3,
      secondsLeft: 6,
    })
    expect(measure(progress({ page: 10, records: 950, total: 900 })).secondsLeft).toBe(0)
  })

  it('estimates no less than the request budget allows', { tags: ['FD6'] }, () => {
    let nowMs = 0
    const measure = createRateMeter(() => nowMs, 90)
    nowMs = 2_000
    // 80 requests in two seconds for 800 of 8,000 records: 720 more take eight minutes.
    const rate = measure(progress({ records: 800, total: 8_000, requests: 80 }))
    expect(rate).toEqual({ recordsPerSecond: 400, secondsLeft: 480 })
  })
})
