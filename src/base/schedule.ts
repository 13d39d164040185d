import { createTask } from 'node-cron'
import { toError } from './errors.js'
import type { Logger } from './logger.js'

/** A piece of work that is done at the slots of a cron expression. */
export interface Job {
  readonly name: string
  /** Five fields, or six with seconds in front. */
  readonly cron: string
  /** Its failure is logged and leaves the schedule in force. */
  readonly run: () => Promise<void>
}

export interface JobState {
  readonly name: string
  readonly isRunning: boolean
  /** End of the last run that did not fail; undefined before there was one. */
  readonly lastSuccessAt: Date | undefined
  /** End of the last run that failed; undefined before there was one. */
  readonly lastFailureAt: Date | undefined
  readonly failures: number
}

export interface Schedule {
  state(): readonly JobState[]
  /** Runs a job now, as if a slot had come. Ignores the name of a job that is switched off. */
  fire(name: string): void
  /** Lets no slot fire any more and waits for what runs. Idempotent. */
  stop(): Promise<void>
}

/** Calls `onSlot` at every slot of an expression, and once after slots that were missed. */
export type Cron = (expression: string, onSlot: () => void) => { readonly stop: () => void }

export interface ScheduleOptions {
  readonly logger: Logger
  /** IANA time zone that expressions are read in. */
  readonly timeZone: string
  readonly clock: () => Date
  /** Replaced in tests, which have no time to wait. */
  readonly cron?: Cron
}

/**
 * Runs jobs at their slots. A job never overlaps itself: one run at its end makes up for all slots
 * that came meanwhile, or that a sleeping machine missed. Different jobs run side by side, and the
 * same job on several hosts: the lease lets only one write.
 */
export function startSchedule(jobs: readonly Job[], options: ScheduleOptions): Schedule {
  const runners = jobs.map((job) => createRunner(job, options))
  const cron = options.cron ?? createCron(options.timeZone)
  const tasks = runners.map((runner) => cron(runner.job.cron, runner.fire))
  let stopping: Promise<void> | undefined
  return {
    state: () => runners.map((runner) => runner.state()),
    fire: (name) => {
      runners.find(({ job }) => job.name === name)?.fire()
    },
    stop: () =>
      (stopping ??= (async () => {
        for (const task of tasks) task.stop()
        await Promise.all(runners.map((runner) => runner.end()))
      })()),
  }
}

interface Runner {
  readonly job: Job
  readonly fire: () => void
  readonly state: () => JobState
  readonly end: () => Promise<void>
}

function createRunner(job: Job, { logger, clock }: ScheduleOptions): Runner {
  let running: Promise<void> | undefined
  const due = { isAgain: false, isEnded: false }
  const state = {
    lastSuccessAt: undefined as Date | undefined,
    lastFailureAt: undefined as Date | undefined,
    failures: 0,
  }

  async function runOnce(): Promise<void> {
    try {
      await job.run()
      state.lastSuccessAt = clock()
    } catch (thrown) {
      state.lastFailureAt = clock()
      state.failures += 1
      logger.error(`the scheduled ${job.name} failed`, { error: toError(thrown) })
    }
  }

  async function runWhileDue(): Promise<void> {
    do await runOnce()
    while (takeDue())
    running = undefined
  }

  /** Whether a slot came meanwhile. */
  function takeDue(): boolean {
    const isDue = due.isAgain && !due.isEnded
    due.isAgain = false
    return isDue
  }

  return {
    job,
    fire: () => {
      if (due.isEnded) return
      if (running === undefined) running = runWhileDue()
      else due.isAgain = true
    },
    state: () => ({ name: job.name, isRunning: running !== undefined, ...state }),
    end: async () => {
      due.isEnded = true
      await running
    },
  }
}

/** How soon a clock that was put forward, or a machine that slept, is noticed. */
const LONGEST_LOOK_MS = 30_000
/** After a smaller correction of the clock no slot comes twice. */
const PUT_BACK_MS = 60_000

/**
 * Slots by the wall clock. The timer is ours, because the library's runs once for every missed slot
 * and is silent for an hour after the clock was put back by one.
 */
function createCron(timeZone: string): Cron {
  return (expression, onSlot) => {
    const slots = readSlots(expression, timeZone)
    let lookedAt = Date.now()
    let [slot] = slots.next(1)
    let timer: NodeJS.Timeout
    const look = (): void => {
      const now = Date.now()
      const isDue = slot !== undefined && now >= slot
      if (isDue || now < lookedAt - PUT_BACK_MS) [slot] = slots.next(1)
      lookedAt = now
      if (isDue) onSlot()
      arm()
    }
    const arm = (): void => {
      const waitMs = (slot ?? Number.POSITIVE_INFINITY) - Date.now()
      timer = setTimeout(look, Math.min(LONGEST_LOOK_MS, Math.max(0, waitMs)))
    }
    arm()
    return {
      stop: () => {
        clearTimeout(timer)
        slots.forget()
      },
    }
  }
}

interface Slots {
  /** The next ones from now on. */
  readonly next: (count: number) => number[]
  /** The library keeps a list of what it was asked for. */
  readonly forget: () => void
}

function readSlots(expression: string, timezone: string): Slots {
  const task = createTask(expression, () => undefined, { timezone })
  return {
    next: (count) => task.getNextRuns(count).map((slot) => slot.getTime()),
    forget: () => void task.destroy(),
  }
}

const SLOTS_LOOKED_AT = 10

/** The shortest and the longest time between the next slots of an expression. */
export function slotGaps(
  expression: string,
  timeZone: string,
): { readonly shortestMs: number; readonly longestMs: number } {
  const slots = readSlots(expression, timeZone)
  const instants = slots.next(SLOTS_LOOKED_AT)
  slots.forget()
  const gaps = instants.slice(1).map((instant, at) => instant - (instants[at] ?? instant))
  return { shortestMs: Math.min(...gaps), longestMs: Math.max(...gaps) }
}
