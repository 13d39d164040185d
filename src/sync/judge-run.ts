import { ConnectorError, IncompleteRunError, LeaseLostError, toError } from '../base/errors.js'
import { EXIT_CODES, exitCodeOf, exitCodeOfSignal, stopSignalOf } from '../base/exit-code.js'
import type { RunOutcome } from '../warehouse/connection/tables.js'
import { foreignStreamError } from '../ingest/foreign-types.js'
import type { Run } from '../ingest/run.js'

/** A stream that did not end complete, and why. */
export interface Failure {
  readonly stream: string
  readonly error: Error
}

/**
 * Streams that were read to their end and yet are not to be trusted, which their outcome then says.
 */
export function findUntrusted(run: Run): Failure[] {
  return [...excessiveQuarantine(run), ...foreignStreams(run), ...distrustedStreams(run)]
}

function distrustedStreams({ ledger }: Run): Failure[] {
  return ledger.distrusted().map(({ stream, why }) => {
    ledger.conclude(stream, 'incomplete', why)
    return { stream, error: new IncompleteRunError(why) }
  })
}

function excessiveQuarantine(run: Run): Failure[] {
  const { quarantineLimitPercent } = run.settings
  return run.ledger.states().flatMap(({ stream, counts }) => {
    if (counts.quarantined * 100 <= counts.fetched * quarantineLimitPercent) return []
    const message = `${counts.quarantined} of ${counts.fetched} records of ${stream} were set aside, more than ${quarantineLimitPercent} %; look at ${run.warehouse.names.sync}.quarantine`
    run.ledger.conclude(stream, 'incomplete', message)
    return [{ stream, error: new IncompleteRunError(message) }]
  })
}

/** Lists find out for themselves, before they look for what is gone. */
function foreignStreams(run: Run): Failure[] {
  return [...run.ledger.listedTypes()].flatMap(([stream, listed]) => {
    const error = foreignStreamError(stream, listed)
    if (error === undefined) return []
    run.ledger.conclude(stream, 'incomplete', error.message)
    return [{ stream, error }]
  })
}

/** How a run ended. */
export interface RunJudgement {
  readonly outcome: RunOutcome
  readonly exitCode: number
  readonly errorCode: string | null
  readonly problems: readonly string[]
}

/** The gravest class decides the exit code: a bug first, an answer not to be trusted last. */
const GRAVITY: readonly number[] = [
  EXIT_CODES.bug,
  EXIT_CODES.config,
  EXIT_CODES.auth,
  EXIT_CODES.service,
  EXIT_CODES.incomplete,
]

/**
 * A stop by signal before a lost lease before what ended the run before what single streams lacked;
 * of these the gravest.
 */
export function judgeRun(run: Run, failures: readonly Failure[], thrown: unknown): RunJudgement {
  const reason: unknown = run.signal.reason
  const isLeaseLost = reason instanceof LeaseLostError
  const fatal: unknown = isLeaseLost ? reason : thrown
  // The limit of its time is over.
  if (reason instanceof IncompleteRunError) {
    const { code: errorCode, message } = reason
    const problems = [message, ...failures.map(describeFailure)]
    return { outcome: 'incomplete', exitCode: EXIT_CODES.incomplete, errorCode, problems }
  }
  if (run.signal.aborted && !isLeaseLost) {
    const signal = stopSignalOf(reason)
    const exitCode = signal === undefined ? EXIT_CODES.incomplete : exitCodeOfSignal(signal)
    const problems = [
      `the run was stopped${signal === undefined ? '' : ` by ${signal}`}; run the command again to go on`,
    ]
    return { outcome: 'aborted', exitCode, errorCode: 'aborted', problems }
  }
  if (fatal !== undefined) {
    const error = toError(fatal)
    return {
      outcome: 'failed',
      exitCode: exitCodeOf(fatal),
      errorCode: fatal instanceof ConnectorError ? fatal.code : 'bug',
      problems: [error.message, ...failures.map(describeFailure)],
    }
  }
  if (failures.length === 0) {
    return { outcome: 'complete', exitCode: EXIT_CODES.complete, errorCode: null, problems: [] }
  }
  const rank = ({ error }: Failure): number => GRAVITY.indexOf(exitCodeOf(error))
  const sorted = [...failures].sort((one, two) => rank(one) - rank(two))
  const gravest = sorted[0]?.error
  const exitCode = exitCodeOf(gravest)
  return {
    outcome: exitCode === EXIT_CODES.incomplete ? 'incomplete' : 'failed',
    exitCode,
    errorCode: gravest instanceof ConnectorError ? gravest.code : 'bug',
    problems: sorted.map(describeFailure),
  }
}

function describeFailure({ stream, error }: Failure): string {
  return `${stream}: ${error.message}`
}
