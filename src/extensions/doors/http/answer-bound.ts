export interface BoundOptions {
  readonly atOnce: number
  /** More are turned away at once. */
  readonly waiting: number
  readonly patienceMs: number
}

/** Ends the turn. Idempotent. */
export type EndTurn = () => void

/** Gives a turn, or undefined if too many wait or the wait is too long. */
export type AnswerBound = () => Promise<EndTurn | undefined>

/** Bounds the answers under way: each takes a connection of the database, and memory. */
export function createAnswerBound({ atOnce, waiting, patienceMs }: BoundOptions): AnswerBound {
  let underWay = 0
  const line: ((turn: EndTurn | undefined) => void)[] = []

  function begin(): EndTurn {
    underWay += 1
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      underWay -= 1
      line.shift()?.(begin())
    }
  }

  return () => {
    if (underWay < atOnce) return Promise.resolve(begin())
    if (line.length >= waiting) return Promise.resolve(undefined)
    return new Promise((resolve) => {
      const take = (turn: EndTurn | undefined): void => {
        clearTimeout(timer)
        resolve(turn)
      }
      const timer = setTimeout(() => {
        line.splice(line.indexOf(take), 1)
        resolve(undefined)
      }, patienceMs)
      line.push(take)
    })
  }
}
