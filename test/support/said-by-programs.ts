import { afterEach } from 'vitest'

/** Of each program that is shown; more would hide the failure. */
const MOST_CHARACTERS = 3_000
const MOST_PROGRAMS = 4

interface Program {
  readonly name: string
  /** All of its output so far. */
  readonly said: () => string
  readonly isRunning: () => boolean
}

const programs: Program[] = []

/** To be told of every program that a test starts, in a process of its own or in this one. */
export function rememberProgram(program: Program): void {
  programs.push(program)
}

function tailOf({ name, said }: Program): string {
  const text = said().trimEnd()
  const tail = text.length > MOST_CHARACTERS ? `…${text.slice(-MOST_CHARACTERS)}` : text
  return `--- ${name}\n${tail === '' ? '(no output)' : tail}`
}

/**
 * For a set-up file: a failure ends with what the last programs of its test said, for a log is gone
 * when the failure is read.
 */
export function showProgramsOfFailures(): void {
  afterEach(({ task }) => {
    const tails = programs.slice(-MOST_PROGRAMS).map(tailOf)
    // One that a hook started serves the next test too.
    programs.splice(0, Infinity, ...programs.filter(({ isRunning }) => isRunning()))
    const error = task.result?.errors?.at(-1)
    if (error === undefined || tails.length === 0) return
    error.message = [error.message, 'Programs of this test said:', ...tails].join('\n')
  })
}
