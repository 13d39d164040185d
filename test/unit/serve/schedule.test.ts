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
      { name: 'sync', isRunning: false, lastFailureAt: clock(), failures: 1 },
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

const MINUTE = 60_000
const at = (time: string): Date => new Date(`2026-03-08T${time}Z`)

describe('slots by the wall clock, each quarter of an hour', { tags: ['X6', 'Z11'] }, () => {
  afterEach(() => {
    vi.useRealTimers()
  })

  it.each<[string, string, [clock: string | undefined, minutes: number, runs: number][]]>([
    [
      // Timers pause while the machine sleeps; only its clock goes on.
      'are made up for once after eight hours of sleep',
      '10:01:00',
      [
        ['18:02:00', 1, 1],
        [undefined, 12, 2],
      ],
    ],
    [
      'go on at a slot of the new time, put back an hour',
      '10:01:00',
      [
        ['09:01:00', 13, 0],
        [undefined, 2, 1],
        [undefined, 14, 2],
      ],
    ],
    [
      'do not come twice when the clock is corrected by a second',
      '10:14:59',
      [
        [undefined, 0.025, 1],
        ['10:14:59', 10, 1],
      ],
    ],
  ])('%s', async (_, startAt, steps) => {
    vi.useFakeTimers({ now: at(startAt) })
    const run = vi.fn(() => Promise.resolve())
    const schedule = startSchedule([{ name: 'sync', cron: '*/15 * * * *', run }], {
      logger: silentLogger,
      timeZone: 'UTC',
      clock: () => new Date(),
    })
    for (const [clock, minutes, runs] of steps) {
      if (clock !== undefined) vi.setSystemTime(at(clock))
      await vi.advanceTimersByTimeAsync(minutes * MINUTE)
      expect(run).toHaveBeenCalledTimes(runs)
    }
    await schedule.stop()
  })
})
