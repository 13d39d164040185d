import { toError } from '../../../base/errors.js'
import type { Logger } from '../../../base/logger.js'
import { backoffMs, type Sleep } from '../../../base/retry.js'
import {
  endJob,
  giveBackJob,
  keepJobs,
  keyOfTake,
  planJobs,
  takeJobs,
  type TakenJob,
} from './account-jobs.js'
import type { Warehouse } from '../../../warehouse/connection/warehouse.js'
import { describeRhythm, nextDue, type Rhythm } from './job-rhythm.js'

/** A job of one account, for planning. */
export interface AccountJob {
  readonly account: string
  readonly job: string
  readonly rhythm: Rhythm
  /** A new job is due at once: the first sync. */
  readonly isFirstAtOnce: boolean
}

/** Jobs that share places of a worker, so that long ones do not hold up short ones. */
export interface Lane {
  readonly jobs: readonly string[]
  readonly places: number
}

export interface WorkerDependencies {
  /** The schema that the accounts share. */
  readonly accounts: Warehouse
  /**
   * The worker's name for other processes: the host, the process, and a part that tells it from an
   * earlier one.
   */
  readonly worker: string
  readonly jobs: readonly AccountJob[]
  readonly lanes: readonly Lane[]
  /**
   * Does a job. Returns the wait until it is due again if that is sooner than its rhythm says, else
   * undefined. A failure is stored and logged.
   */
  readonly run: (taken: TakenJob, signal: AbortSignal) => Promise<number | undefined>
  readonly logger: Logger
  readonly clock: () => Date
  readonly sleep: Sleep
}

export interface RunningWorker {
  /** The jobs that this worker holds. */
  readonly held: () => readonly TakenJob[]
  /** Active jobs stop at their next page and are given back. Idempotent. */
  stop(): Promise<void>
}

/** A due job is noticed within this time. */
const LOOK_EVERY_MS = 1_000
const SIGN_EVERY_MS = 10_000
const LONGEST_PAUSE_MS = 15_000

/**
 * Takes jobs of accounts as they fall due, as many at once as there are places, until it is
 * stopped. Any number of workers share the jobs. No failure ends it, not even a long outage of the
 * database.
 */
export function startWorker(dependencies: WorkerDependencies): RunningWorker {
  const stopping = new AbortController()
  // Jobs that end after the stop stay held until then.
  const quiet = new AbortController()
  const worker = new Worker(dependencies, stopping.signal)
  const taking = worker.take()
  const signing = worker.giveSigns(quiet.signal)
  // A rejection means a bug; the caller of `stop` gets it.
  for (const loop of [taking, signing]) loop.catch(() => undefined)
  let ended: Promise<void> | undefined
  const stop = async (): Promise<void> => {
    stopping.abort()
    await taking
    await Promise.all(worker.held().map(({ done }) => done))
    quiet.abort()
    await signing
  }
  return {
    held: () => worker.held().map(({ taken }) => taken),
    stop: () => (ended ??= stop()),
  }
}

interface Held {
  readonly taken: TakenJob
  readonly lost: AbortController
  done: Promise<void>
  /** Its end is being stored: losing it now is expected. */
  isEnding: boolean
}

class Worker {
  readonly #dependencies: WorkerDependencies
  readonly #signal: AbortSignal
  readonly #held = new Map<string, Held>()
  /** Replaced and aborted each time a place becomes free. */
  #freed = new AbortController()

  constructor(dependencies: WorkerDependencies, signal: AbortSignal) {
    this.#dependencies = dependencies
    this.#signal = signal
  }

  held(): readonly Held[] {
    return [...this.#held.values()]
  }

  async take(): Promise<void> {
    const { logger } = this.#dependencies
    let isPlanned = false
    let failures = 0
    while (!this.#signal.aborted) {
      const freed = this.#freed.signal
      try {
        if (!isPlanned) await this.#plan()
        isPlanned = true
        await this.#takeOnce()
        failures = 0
      } catch (thrown) {
        failures += 1
        const waitMs = backoffMs(failures, LOOK_EVERY_MS, LONGEST_PAUSE_MS)
        logger.error('the jobs of accounts cannot be taken, trying again', {
          waitMs,
          error: thrown,
        })
        await this.#wait(waitMs, this.#signal)
        continue
      }
      // A place that became free meanwhile is filled at once: more jobs may be due than were taken.
      await this.#wait(LOOK_EVERY_MS, AbortSignal.any([this.#signal, freed]))
    }
  }

  async #plan(): Promise<void> {
    const { accounts, jobs, clock } = this.#dependencies
    const now = clock()
    await planJobs(
      accounts,
      jobs.map(({ account, job, rhythm, isFirstAtOnce }) => ({
        account,
        job,
        rhythm: describeRhythm(rhythm),
        dueAt: isFirstAtOnce ? now : nextDue(rhythm, account, now, undefined),
      })),
    )
  }

  async #takeOnce(): Promise<void> {
    const { accounts, worker, jobs, lanes } = this.#dependencies
    const names = [...new Set(jobs.map(({ account }) => account))]
    for (const lane of lanes) {
      const free = lane.places - this.#countHeld(lane)
      if (free === 0 || this.#signal.aborted) continue
      const of = { accounts: names, jobs: lane.jobs }
      for (const taken of await takeJobs(accounts, worker, of, free)) this.#begin(taken)
    }
  }

  #countHeld({ jobs }: Lane): number {
    return this.held().filter(({ taken }) => jobs.includes(taken.job)).length
  }

  #begin(taken: TakenJob): void {
    const { account, job, formerWorker } = taken
    if (formerWorker !== null) {
      this.#dependencies.logger.warn('a worker gave no sign of life; its job is taken over', {
        account,
        job,
        formerWorker,
      })
    }
    const lost = new AbortController()
    const held: Held = { taken, lost, done: Promise.resolve(), isEnding: false }
    this.#held.set(keyOfTake(taken), held)
    held.done = this.#work(held, AbortSignal.any([this.#signal, lost.signal])).finally(() => {
      this.#held.delete(keyOfTake(taken))
      const freed = this.#freed
      this.#freed = new AbortController()
      freed.abort()
    })
  }

  async #work(held: Held, signal: AbortSignal): Promise<void> {
    const { taken } = held
    const { accounts, run, logger, clock, jobs } = this.#dependencies
    const { account, job } = taken
    let againMs: number | undefined
    let problem: string | null = null
    try {
      // Losing a job just after taking it aborts the signal.
      signal.throwIfAborted()
      againMs = await run(taken, signal)
    } catch (thrown) {
      if (!signal.aborted) {
        problem = toError(thrown).message
        logger.error(`the ${job} of an account failed`, { account, error: thrown })
      }
    }
    held.isEnding = true
    try {
      if (signal.aborted) {
        await giveBackJob(accounts, taken)
        return
      }
      const rhythm = jobs.find((one) => one.account === account && one.job === job)?.rhythm
      const now = clock()
      const due = rhythm === undefined ? now : nextDue(rhythm, account, now, taken.dueAt)
      const again = againMs === undefined ? due.getTime() : now.getTime() + againMs
      await endJob(accounts, taken, {
        dueAt: new Date(Math.min(due.getTime(), again)),
        problem,
      })
    } catch (thrown) {
      // Without a sign of life another worker takes it, or this one does again.
      logger.warn('the end of a job could not be stored', { account, job, error: thrown })
    }
  }

  async giveSigns(quiet: AbortSignal): Promise<void> {
    const { accounts, worker, logger } = this.#dependencies
    while (!quiet.aborted) {
      await this.#wait(SIGN_EVERY_MS, quiet)
      const held = [...this.#held]
      if (held.length === 0) continue
      try {
        const kept = await keepJobs(accounts, worker)
        for (const [key, { taken, lost, isEnding }] of held) {
          if (kept.has(key) || isEnding) continue
          const { account, job } = taken
          logger.warn('a job was taken over by another worker; it stops here', { account, job })
          lost.abort(new Error('the job was taken over by another worker'))
        }
      } catch (thrown) {
        logger.warn('a sign of life could not be given', { error: thrown })
      }
    }
  }

  async #wait(ms: number, signal: AbortSignal): Promise<void> {
    try {
      signal.throwIfAborted()
      await this.#dependencies.sleep(ms, signal)
    } catch (thrown) {
      if (!signal.aborted) throw thrown
    }
  }
}
