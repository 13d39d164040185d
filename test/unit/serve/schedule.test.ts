import { afterEach, describe, expect, it, vi } from 'vitest'
import { silentLogger } from '../../../src/base/logger.js'
import { startSchedule, type Cron } from '../../../src/serve/schedule.js'

const clock = (): Date => new Date('2026-03-08T10:00:00Z')

/** A cron whose slots a test fires by hand. */
function manualCron() {
  const slots = new Map<string, () => void>()
  const cron: Cron = (expression, onSlot) => {
    slots.set(expression, onSlot)
    return { stop: () => slots.delete(expression) }
  }
  return { cron, fire: (expression: string) => slots.get(expression)?.(), slots }
}

/** A job whose runs a test ends by hand. */
function manualJob(name: string, cron: string) {
  const ends: ((failure?: Error) => void)[] = []
  const run = (): Promise<void> =>
    new Promise((resolve, reject) => {
      ends.push((failure) => {
        if (failure === undefined) resolve()
        else reject(failure)
      })
    })
  return {
    job: { name, cron, run },
    runs: () => ends.length,
    end: (at: number, failure?: Error) => ends[at]?.(failure),
  }
}

function open(...jobs: ReturnType<typeof manualJob>[]) {
  const { cron, fire, slots } = manualCron()
  const schedule = startSchedule(
    jobs.map(({ job }) => job),
    { logger: silentLogger, timeZone: 'UTC', clock, cron },
  )
  return { schedule, fire, slots }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('a schedule', () => {
  it('makes up for any slots during a run with one at its end', { tags: ['X6'] }, async () => {
    const sync = manualJob('sync', 'a')
    const { schedule, fire } = open(sync)
    fire('a')
    for (let slot = 0; slot < 7; slot += 1) fire('a')
    expect(sync.runs()).toBe(1)
    sync.end(0)
    await settled()
    expect(sync.runs()).toBe(2)
    sync.end(1)
    await settled()
    expect(sync.runs()).toBe(2)
    fire('a')
    expect(sync.runs()).toBe(3)
    sync.end(2)
    await schedule.stop()
  })

  it('goes on after a failure, and says so', async () => {
    const sync = manualJob('sync', 'a')
    const { schedule, fire } = open(sync)
    fire('a')
    sync.end(0, new Error('no database'))
    await settled()
    expect(schedule.state()).toEqual([
      {
        name: 'sync',
        isRunning: false,
        lastSuccessAt: undefined,
        lastFailureAt: clock(),
        failures: 1,
      },
    ])
    fire('a')
    sync.end(1)
    await settled()
    expect(schedule.state()).toMatchObject([{ lastSuccessAt: clock(), failures: 1 }])
    await schedule.stop()
  })

  it('stops by waiting for what runs, and starts nothing more', { tags: ['X3'] }, async () => {
    const sync = manualJob('sync', 'a')
    const { schedule, fire, slots } = open(sync)
    fire('a')
    fire('a')
    let isStopped = false
    const stopping = schedule.stop().then(() => {
      isStopped = true
    })
    expect(slots.size).toBe(0)
    await settled()
    expect(isStopped).toBe(false)
    sync.end(0)
    await stopping
    expect(sync.runs()).toBe(1)
  })
})

/** A schedule by the real cron, on a clock that the test moves; counts the runs of its one job. */
function openOnClock(cron: string, startAt: string, timeZone = 'UTC') {
  vi.useFakeTimers({ now: new Date(startAt) })
  let runs = 0
  const run = (): Promise<void> => {
    runs += 1
    return Promise.resolve()
  }
  const schedule = startSchedule([{ name: 'sync', cron, run }], {
    logger: silentLogger,
    timeZone,
    clock: () => new Date(),
  })
  return { schedule, runs: () => runs }
}

const MINUTE = 60_000

describe('slots by the wall clock', () => {
  afterEach(() => {
    vi.useRealTimers()
  })

  it('are made up for once after eight hours of sleep', { tags: ['X6'] }, async () => {
    const { schedule, runs } = openOnClock('*/15 * * * *', '2026-03-08T10:01:00Z')
    // Timers pause while the machine sleeps; only its clock goes on.
    vi.setSystemTime(new Date('2026-03-08T18:02:00Z'))
    await vi.advanceTimersByTimeAsync(MINUTE)
    expect(runs()).toBe(1)
    await vi.advanceTimersByTimeAsync(12 * MINUTE)
    expect(runs()).toBe(2)
    await schedule.stop()
  })

  it('go on at a slot of the new time, put back an hour', { tags: ['X6', 'Z11'] }, async () => {
    const { schedule, runs } = openOnClock('*/15 * * * *', '2026-03-08T10:01:00Z')
    vi.setSystemTime(new Date('2026-03-08T09:01:00Z'))
    await vi.advanceTimersByTimeAsync(13 * MINUTE)
    expect(runs()).toBe(0)
    await vi.advanceTimersByTimeAsync(2 * MINUTE)
    expect(runs()).toBe(1)
    await vi.advanceTimersByTimeAsync(14 * MINUTE)
    expect(runs()).toBe(2)
    await schedule.stop()
  })

  it('do not come twice when the clock is corrected by a second', { tags: ['Z11'] }, async () => {
    const { schedule, runs } = openOnClock('*/15 * * * *', '2026-03-08T10:14:59Z')
    await vi.advanceTimersByTimeAsync(1_500)
    expect(runs()).toBe(1)
    vi.setSystemTime(new Date('2026-03-08T10:14:59Z'))
    await vi.advanceTimersByTimeAsync(10 * MINUTE)
    expect(runs()).toBe(1)
    await schedule.stop()
  })
})
