import pLimit from 'p-limit'
import type { App } from '../../../app.js'
import { toError } from '../../../base/errors.js'
import { EXIT_CODES, exitCodeOf, exitCodeOfSignal, stopSignalOf } from '../../../base/exit-code.js'
import { countOf } from '../../../base/phrases.js'
import type { Answer } from '../../../commands/command-io.js'

/**
 * Accounts that one process reads at a time. Three workers with three connections for each account
 * stay below the 100 connections of a PostgreSQL with default settings; more accounts have more
 * workers.
 */
export const ACCOUNTS_AT_ONCE = 8

/** The outcome of the command for one account. */
export interface AccountEnd<Result> {
  readonly account: string
  readonly seconds: number
  /** Undefined if it failed. */
  readonly result: Result | undefined
  readonly exitCode: number
  /** Why it failed; without secrets. */
  readonly problem: string | undefined
}

/** A result with an exit code of its own, and with its problems. */
interface Ended {
  readonly exitCode: number
  readonly problem?: string | undefined
}

/**
 * Does `work` for every account, `ACCOUNTS_AT_ONCE` of them at a time, in the given order. A
 * failure of one account does not hold up the others. After a signal no further account is begun.
 */
export async function forAllAccounts<Result extends Ended>(
  app: App,
  work: (ofAccount: App) => Promise<Result>,
  order: readonly string[] = app.accounts.map(({ name }) => name),
): Promise<AccountEnd<Result>[]> {
  return pLimit(ACCOUNTS_AT_ONCE).map(order, (account) =>
    app.signal.aborted ? notBegun(account) : workFor(app, account, work),
  )
}

function notBegun(account: string) {
  const problem = 'not begun: the command was stopped'
  return { account, seconds: 0, result: undefined, exitCode: EXIT_CODES.incomplete, problem }
}

async function workFor<Result extends Ended>(
  app: App,
  account: string,
  work: (ofAccount: App) => Promise<Result>,
): Promise<AccountEnd<Result>> {
  const startedAt = performance.now()
  const seconds = (): number => Math.round((performance.now() - startedAt) / 100) / 10
  const loaded = app.accounts.find(({ name }) => name === account)
  if (loaded === undefined) throw new Error(`there is no account ${account}`)
  const ofAccount = app.ofAccount(loaded)
  try {
    const result = await work(ofAccount)
    const { exitCode, problem } = result
    return { account, seconds: seconds(), result, exitCode, problem }
  } catch (thrown) {
    const problem = app.redact(toError(thrown).message)
    return { account, seconds: seconds(), result: undefined, exitCode: exitCodeOf(thrown), problem }
  } finally {
    await ofAccount.close()
  }
}

/** From problems of everybody to problems that pass by themselves. */
const GRAVEST_FIRST: readonly number[] = [
  EXIT_CODES.bug,
  EXIT_CODES.config,
  EXIT_CODES.auth,
  EXIT_CODES.database,
  EXIT_CODES.service,
  EXIT_CODES.incomplete,
  EXIT_CODES.leaseHeld,
]

/** One table with a line for each account; the exit code is the gravest of all. */
export function answerForAll<Result>(
  app: App,
  ends: readonly AccountEnd<Result>[],
  columns: readonly string[],
  cellsOf: (end: AccountEnd<Result>) => readonly unknown[],
  dataOf: (end: AccountEnd<Result>) => object,
): Answer {
  const failed = ends.filter(({ exitCode }) => exitCode !== EXIT_CODES.complete)
  const signal = app.signal.aborted ? stopSignalOf(app.signal.reason) : undefined
  const gravest = GRAVEST_FIRST.find((code) => failed.some(({ exitCode }) => exitCode === code))
  return {
    data: ends.map((end) => ({
      account: end.account,
      exitCode: end.exitCode,
      seconds: end.seconds,
      problem: end.problem ?? null,
      ...dataOf(end),
    })),
    text: [
      { columns: ['account', ...columns], rows: ends.map((end) => [end.account, ...cellsOf(end)]) },
      ...(failed.length === 0 ? [] : ['']),
      ...failed.map(({ account, problem }) => `${account}: ${firstLine(problem)}`),
    ],
    exitCode: signal === undefined ? (gravest ?? EXIT_CODES.complete) : exitCodeOfSignal(signal),
    error:
      failed.length === 0
        ? undefined
        : `${countOf(failed.length, 'account')} of ${ends.length} need attention`,
  }
}

function firstLine(problem: string | undefined): string {
  return problem?.split('\n')[0] ?? 'did not end complete'
}
