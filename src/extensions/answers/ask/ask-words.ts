import type { ConfigProblem } from '../../../base/errors.js'

/** The names that a caller gives to the parts of a question, for errors and notes. */
export interface AskWords {
  readonly filter: (name: string) => string
  readonly asOf: string
  readonly against: string
  readonly columns: string
  /** Completes `…; `: the place with the names of the questions. */
  readonly list: string
  /** The way to ask `timeline --kind hold`. */
  readonly asked: (question: string) => string
  /** The time limit of an answer has passed. */
  readonly overtime: ConfigProblem
}

export const OPTIONS: AskWords = {
  filter: (name) => `--${name}`,
  asOf: '--as-of',
  against: '--against',
  columns: '--columns',
  list: '`tracking-sync query` lists them',
  asked: (question) => `\`tracking-sync query ${question}\``,
  overtime: {
    setting: '--timeout',
    problem: 'is over before the answer is there: narrow the question, or give it more seconds',
  },
}
