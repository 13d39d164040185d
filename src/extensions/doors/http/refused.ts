import type { OutgoingHttpHeaders } from 'node:http'
import { ConfigError, ConnectorError, WarehouseUnavailableError } from '../../../base/errors.js'
import type { Answer } from '../../../http/answer.js'
import { asOneLine, sentenceOf } from '../../answers/ask/shown-text.js'

/** A request that is answered with one sentence and the fix. */
export class Refused extends Error {
  readonly status: number
  readonly headers: OutgoingHttpHeaders

  constructor(status: number, sentence: string, headers: OutgoingHttpHeaders = {}) {
    super(asOneLine(sentence))
    this.status = status
    this.headers = headers
  }

  answer(): Answer {
    return { status: this.status, error: this.message, headers: this.headers }
  }
}

export const RETRY_SECONDS = '10'

/**
 * The refusal for an error of an answer; undefined for a fault of ours. No sentence has a word of
 * the database's own: its messages name hosts, logins and tables.
 */
export function refusalOf(thrown: unknown): Refused | undefined {
  if (thrown instanceof Refused) return thrown
  if (thrown instanceof ConfigError) {
    const [first] = thrown.problems
    // Raised by the time limit of the statement.
    if (thrown.cause instanceof ConnectorError) return new Refused(504, sentenceOf(thrown))
    // The limits that rows alone show: of a format and of a comparison.
    const isTooLarge = ['--format', 'the comparison'].includes(first?.setting ?? '')
    return new Refused(isTooLarge ? 413 : 400, sentenceOf(thrown))
  }
  if (!(thrown instanceof ConnectorError)) return undefined
  if (thrown.context.code === NOT_ALLOWED) {
    return new Refused(
      403,
      'the login of this token may not read all that the question needs; ask another one, or have ' +
        'the owner of the warehouse look at the rights of its role',
    )
  }
  const what =
    thrown instanceof WarehouseUnavailableError
      ? 'the database does not answer'
      : 'the database could not answer; the log of this program says why'
  return new Refused(503, `${what}; ask again in ${RETRY_SECONDS} seconds`, {
    'retry-after': RETRY_SECONDS,
  })
}

/** insufficient_privilege */
const NOT_ALLOWED = '42501'
