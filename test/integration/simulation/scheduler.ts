import { AsyncLocalStorage } from 'node:async_hooks'
import { createHash } from 'node:crypto'
import { createDice, type Dice } from '../../../src/extensions/simulator/world/dice.js'

/** Code that runs as if it had a process and a machine of its own. */
export interface SimulatedProcess {
  readonly name: string
  /** Killed or ended: nothing of it happens. */
  isGone: boolean
  /** Until this instant nothing of it happens, as if its machine were suspended. */
  frozenUntil: number
  /** Its clock minus the true time. */
  clockOffsetMs: number
  /** Events until it is killed. */
  eventsLeft: number
}

export interface SimulatedEvent {
  /** Not before this instant. */
  readonly at: number
  /** Absent: it happens outside of every process. */
  readonly process?: SimulatedProcess | undefined
  readonly what: string
  /** The most time it takes. */
  readonly mostMs: number
  readonly happen: () => void | Promise<void>
}

/** A seed takes some hundreds to a few thousand; a loop that never ends is told from that. */
const MOST_EVENTS = 20_000

/**
 * Simulated time, and the one place that decides what happens next. Everything that a process waits
 * for is an event: an answer of the service, one of the database, a timer. Nothing happens between
 * two events, so that a run is a function of its seed.
 */
export class Scheduler {
  readonly dice: Dice
  /** Milliseconds of the true time. */
  now: number
  /** Each event, the oldest first. */
  readonly story: string[] = []
  /** How often an event overtook one that was ready before it. */
  overtakings = 0
  #events: SimulatedEvent[] = []
  #added = 0
  readonly #startedAt: number
  readonly #onLastEvent: (process: SimulatedProcess) => void

  constructor(options: {
    readonly seed: number
    readonly startAt: Date
    readonly onLastEvent: (process: SimulatedProcess) => void
  }) {
    this.dice = createDice(options.seed, 0x5eed)
    this.now = this.#startedAt = options.startAt.getTime()
    this.#onLastEvent = options.onLastEvent
  }

  add(event: SimulatedEvent): SimulatedEvent {
    if (event.process?.isGone === true) return event
    this.#added += 1
    this.#events.push(event)
    return event
  }

  remove(event: SimulatedEvent | undefined): void {
    this.#events = this.#events.filter((other) => other !== event)
  }

  removeOf(process: SimulatedProcess): void {
    this.#events = this.#events.filter((event) => event.process !== process)
  }

  tell(what: string, process?: SimulatedProcess): void {
    const seconds = ((this.now - this.#startedAt) / 1_000).toFixed(3)
    this.story.push(`${seconds} ${process?.name ?? '-'}: ${what}`)
  }

  /** Of all that happened, in its order: equal for two runs that went alike. */
  digest(): string {
    return createHash('sha256').update(this.story.join('\n')).digest('hex')
  }

  advance(ms: number): void {
    this.now += Math.max(0, ms)
  }

  /** Lets events happen until it is so. Throws where nothing is left, or no end is in sight. */
  async runUntil(isSo: () => boolean): Promise<void> {
    await settle(() => this.#added)
    for (let happened = 0; !isSo(); happened += 1) {
      if (happened > MOST_EVENTS) throw new Error(`no end after ${MOST_EVENTS} events`)
      const event = this.#choose()
      this.remove(event)
      this.advance(this.dice.integer(0, event.mostMs))
      this.tell(event.what, event.process)
      const { process } = event
      if (process !== undefined && (process.eventsLeft -= 1) === 0) this.#onLastEvent(process)
      else await event.happen()
      await settle(() => this.#added)
    }
  }

  /** The one that waits longest, or any: answers overtake each other. */
  #choose(): SimulatedEvent {
    const readyAt = ({ at, process }: SimulatedEvent): number =>
      Math.max(at, process?.frozenUntil ?? -Infinity)
    const first = Math.min(...this.#events.map(readyAt))
    if (first === Infinity) throw new Error('nothing is left to happen, and someone waits')
    this.advance(first - this.now)
    const ready = this.#events.filter((event) => readyAt(event) <= this.now)
    const [oldest] = ready
    const chosen = this.dice.chance(0.5) ? oldest : this.dice.pick(ready)
    if (chosen !== oldest) this.overtakings += 1
    return chosen!
  }
}

const nextTurn = globalThis.setImmediate

/** Turns without a new event after which all code waits for one. */
const QUIET_TURNS = 3

async function settle(added: () => number): Promise<void> {
  let before = added()
  for (let quiet = 0; quiet < QUIET_TURNS; quiet += 1) {
    await new Promise<void>((resolve) => nextTurn(resolve))
    if (added() !== before) quiet = -1
    before = added()
  }
}

const running = new AsyncLocalStorage<{
  readonly process: SimulatedProcess
  readonly scheduler: Scheduler
}>()

/** Does work as the process. */
export function runAs<Result>(
  scheduler: Scheduler,
  process: SimulatedProcess,
  work: () => Result,
): Result {
  return running.run({ scheduler, process }, work)
}

export function currentProcess(): SimulatedProcess {
  const process = running.getStore()?.process
  if (process === undefined) throw new Error('no simulated process does this')
  return process
}

/**
 * Gives simulated processes the scheduler's timers, clock and chance, until the returned function is
 * called. Everything else of this program, the driver of the database among it, keeps the real ones.
 */
export function simulateTime(): () => void {
  const real = { setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout }
  const realNow = performance.now.bind(performance)
  const realRandom = Math.random
  const timers = new WeakMap<object, { scheduler: Scheduler; event: SimulatedEvent }>()
  const simulated = (callback: (...given: unknown[]) => void, ms = 0, ...given: unknown[]) => {
    const here = running.getStore()
    if (here === undefined) return real.setTimeout(callback, ms, ...given)
    const { scheduler, process } = here
    const event = scheduler.add({
      at: scheduler.now + ms,
      process,
      what: `timer after ${Math.round(ms)} ms`,
      mostMs: 0,
      happen: () => {
        running.run(here, callback, ...given)
      },
    })
    const timer = { ref: () => timer, unref: () => timer, hasRef: () => true }
    timers.set(timer, { scheduler, event })
    return timer
  }
  globalThis.setTimeout = simulated as unknown as typeof setTimeout
  globalThis.clearTimeout = ((timer: object | undefined) => {
    const known = typeof timer === 'object' ? timers.get(timer) : undefined
    if (known === undefined) real.clearTimeout(timer as NodeJS.Timeout)
    else known.scheduler.remove(known.event)
  }) as typeof clearTimeout
  performance.now = () => running.getStore()?.scheduler.now ?? realNow()
  Math.random = () => running.getStore()?.scheduler.dice.fraction() ?? realRandom()
  return () => {
    Object.assign(globalThis, real)
    performance.now = realNow
    Math.random = realRandom
  }
}
