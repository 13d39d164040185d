import { toError } from '../base/errors.js'
import type { JobState } from '../extension.js'
import type { Logger } from '../base/logger.js'
import { nextSlot } from '../base/slots.js'

/** A piece of work that is done at the slots of a cron expression. */
export interface Job {
  readonly name: string
  /** Five fields, or six with seconds in front. */
  readonly cron: string
  /** Its failure is logged and leaves the schedule in force; its answer is for other callers. */
  readonly run: () => Promise<unknown>
}

export interface Schedule {
  state(): readonly JobState[]
  /** Runs a job now, as if a slot had come. Ignores the name of a job that is switched off. */
  fire(name: string): void
  /** Stops firing slots and waits for running jobs. Idempotent. */
  stop(): Promise<void>
}

/** Calls `onSlot` at every slot of an expression, and once after slots that were missed. */
export type Cron = (expression: string, onSlot: () => void) => { readonly stop: () => void }

export interface ScheduleOptions {
  readonly logger: Logger
  /** IANA time zone that expressions are read in. */
  readonly timeZone: string
  readonly clock: () => Date
  /** Replaced in tests, so that they need not wait. */
  readonly cron?: Cron
}

/**
 * Runs jobs at their slots. A job never overlaps itself: one run at its end makes up for all slots
 * that came meanwhile, or that a sleeping machine missed. Different jobs run side by side, and the
 * same job on several hosts: the lease lets only one write.
 */
export function startSchedule(jobs: readonly Job[], options: ScheduleOptions): Schedule {
  const runners = jobs.map((job) => new JobRunner(job, options))
  const cron = options.cron ?? createCron(options.timeZone)
  const tasks = runners.map((runner) =>
    cron(runner.job.cron, () => {
      runner.fire()
    }),
  )
  let stopping: Promise<void> | undefined
  const stopAll = async (): Promise<void> => {
    for (const task of tasks) task.stop()
    await Promise.all(runners.map((runner) => runner.end()))
  }
  return {
    state: () => runners.map((runner) => runner.state()),
    fire: (name) => runners.find(({ job }) => job.name === name)?.fire(),
    stop: () => (stopping ??= stopAll()),
  }
}

class JobRunner {
  readonly job: Job
  readonly #options: ScheduleOptions
  readonly #results = {
    lastSuccessAt: undefined as Date | undefined,
    lastFailureAt: undefined as Date | undefined,
    failures: 0,
  }
  #running: Promise<void> | undefined
  /** A slot came while the job ran. */
  #isDueAgain = false
  #isEnded = false

  constructor(job: Job, options: ScheduleOptions) {
    this.job = job
    this.#options = options
  }

  state(): JobState {
    return { name: this.job.name, isRunning: this.#running !== undefined, ...this.#results }
  }

  fire(): void {
    if (this.#isEnded) return
    if (this.#running === undefined) this.#running = this.#run()
    else this.#isDueAgain = true
  }

  async end(): Promise<void> {
    this.#isEnded = true
    await this.#running
  }

  async #run(): Promise<void> {
    await this.#runOnce()
    this.#running = undefined
    if (!this.#isDueAgain) return
    this.#isDueAgain = false
    this.fire()
  }

  async #runOnce(): Promise<void> {
    const { clock, logger } = this.#options
    try {
      await this.job.run()
      this.#results.lastSuccessAt = clock()
    } catch (thrown) {
      this.#results.lastFailureAt = clock()
      this.#results.failures += 1
      logger.error(`the scheduled ${this.job.name} failed`, { error: toError(thrown) })
    }
  }
}

/** How soon a clock that was put forward, or a machine that slept, is noticed. */
const LONGEST_LOOK_MS = 30_000
/** After a smaller correction of the clock no slot comes twice. */
const PUT_BACK_MS = 60_000

/**
 * Slots by the wall clock. The timer is ours, because the library's runs once for every missed slot
 * and is silent for an hour after the clock was put back by one; so are the slots at a change to or
 * from summer time (`nextSlots`).
 */
function createCron(timeZone: string): Cron {
  return (expression, onSlot) => {
    let lookedAt = Date.now()
    let slot = nextSlot(expression, timeZone)?.getTime()
    let timer: NodeJS.Timeout
    const look = (): void => {
      const now = Date.now()
      const isDue = slot !== undefined && now >= slot
      if (isDue || now < lookedAt - PUT_BACK_MS) slot = nextSlot(expression, timeZone)?.getTime()
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
      },
    }
  }
}
