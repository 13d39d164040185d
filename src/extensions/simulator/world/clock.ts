/**
 * The simulator's own time. It starts at a given instant and runs `speed` virtual seconds per real
 * second.
 */
export interface Clock {
  now(): Date
  advance(milliseconds: number): void
  /** 1 runs, 0 stops, 3600 makes an hour of a second. The time passed so far stays. */
  setSpeed(speed: number): void
  readonly speed: number
  /** The same as speed 0. */
  stop(): void
}

/** `realNow` is a monotonic reading in milliseconds. */
export function createClock(startAt: Date, speed: number, realNow: () => number): Clock {
  let origin = startAt.getTime()
  let since = realNow()
  let current = speed
  const read = (): number => origin + (realNow() - since) * current
  const rebase = (): void => {
    origin = read()
    since = realNow()
  }
  const setSpeed = (next: number): void => {
    rebase()
    current = next
  }
  return {
    now: () => new Date(Math.floor(read())),
    advance: (milliseconds) => {
      rebase()
      origin += milliseconds
    },
    setSpeed,
    get speed() {
      return current
    },
    stop: () => {
      setSpeed(0)
    },
  }
}
