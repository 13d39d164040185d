import { describe, expect, it } from 'vitest'
import { createRateMeter } from '../../../../src/commands/output/progress.js'
import type { Progress } from '../../../../src/ingest/run.js'

const shipments: Progress = { stream: 'shipments', page: 1, records: 0, total: 900, requests: 1 }

describe('the rate of a stream', () => {
  it('is taken over all of the stream, from the end of the one before', () => {
    let ms = 0
    const measure = createRateMeter(() => ms)
    ms = 10_000
    expect(measure({ ...shipments, records: 100 })).toEqual({
      recordsPerSecond: 10,
      secondsLeft: 80,
    })
    ms = 20_000
    expect(measure({ ...shipments, page: 2, records: 300 })).toEqual({
      recordsPerSecond: 15,
      secondsLeft: 40,
    })
    ms = 21_000
    const containers = { ...shipments, stream: 'containers', records: 50, total: undefined }
    expect(measure(containers)).toEqual({ recordsPerSecond: 50, secondsLeft: undefined })
  })

  it('does not count what an earlier run had read when it was cut off', () => {
    let ms = 0
    const measure = createRateMeter(() => ms)
    ms = 1_000
    const nothing = { recordsPerSecond: undefined, secondsLeft: undefined }
    expect(measure({ ...shipments, page: 8, records: 800 })).toEqual(nothing)
    ms = 6_000
    expect(measure({ ...shipments, page: 9, records: 850 })).toEqual({
      recordsPerSecond: 8.3,
      secondsLeft: 6,
    })
  })

  it('is unknown before there is anything to go by, and nothing is left of a list that grew', () => {
    let ms = 0
    const measure = createRateMeter(() => ms)
    expect(measure({ ...shipments, records: 100 }).recordsPerSecond).toBeUndefined()
    ms = 1_000
    expect(measure({ ...shipments, page: 2, records: 950 }).secondsLeft).toBe(0)
  })
})
