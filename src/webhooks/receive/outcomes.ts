import type { IncomingMessage } from 'node:http'
import type { LogFields, Logger } from '../../base/logger.js'
import { showText } from '../../base/phrases.js'
import { isSamePath } from './receiver-path.js'

/** The outcomes of a delivery, and the status of the answer. */
export const STATUS = {
  stored: 202,
  /** Its notification is already in the inbox. */
  duplicate: 202,
  unavailable: 503,
  /** The sender went away before its delivery was complete. */
  aborted: undefined,
  refused_content_type: 415,
  refused_content_encoding: 415,
  refused_sender: 403,
  refused_too_large: 413,
  /** The length was not announced, and the body is not small. */
  refused_length: 411,
  refused_timeout: 408,
  refused_signature: 401,
  /** A POST to another path than a receiver's, or another method at that path. */
  refused_path: 404,
  refused_method: 405,
} as const

export type Result = keyof typeof STATUS

export interface Outcome {
  readonly result: Result
  /** Facts for the log. */
  readonly notificationId?: string
  readonly error?: unknown
}

/** `received` is the sum of the others and of the deliveries under way. */
export type ReceiverCounts = Readonly<Record<'received' | Result, number>>

/** Called when a refusal is logged, with the refusals since the last call. Must not throw. */
export type OnRefused = (reason: string, count: number) => void

const QUIET_MS = 10_000

/**
 * Counts and logs the outcomes of deliveries. Forgeries must not fill the disk: a refusal or
 * failure is logged at most once in ten seconds for each reason, with the number of unlogged ones.
 */
export class Outcomes {
  readonly #logger: Logger
  readonly #onRefused: OnRefused | undefined
  readonly #counts: Record<string, number> = { received: 0 }
  readonly #logged = new Map<string, { atMs: number; leftOut: number }>()

  constructor(logger: Logger, onRefused?: OnRefused) {
    this.#logger = logger
    this.#onRefused = onRefused
    for (const result of Object.keys(STATUS)) this.#counts[result] = 0
  }

  /** Counts since this object was made. */
  counts(): ReceiverCounts {
    return { ...this.#counts } as ReceiverCounts
  }

  begin(): void {
    this.#count('received')
  }

  /** Ends a delivery that was begun. */
  end(outcome: Outcome, fields: LogFields): void {
    this.#count(outcome.result)
    this.#log(outcome, fields)
  }

  /**
   * Counts a request that the server answered itself because no route took it, if it may have been
   * a delivery: a POST, or a request to one of `webhookPaths`.
   */
  refusedBefore(
    { method, url = '' }: IncomingMessage,
    webhookPaths: readonly string[],
    status: 404 | 405,
  ): void {
    const path = url.split('?', 1)[0] ?? ''
    if (method !== 'POST' && !webhookPaths.some((one) => isSamePath(path, one))) return
    this.begin()
    const result = status === 404 || method === 'POST' ? 'refused_path' : 'refused_method'
    this.end({ result }, { method, path: showText(url, 200), webhookPath: webhookPaths.join(' ') })
  }

  #count(name: keyof ReceiverCounts): void {
    this.#counts[name] = (this.#counts[name] ?? 0) + 1
  }

  #log({ result, ...facts }: Outcome, fields: LogFields): void {
    const status = STATUS[result]
    if (status === 202) {
      this.#logger.debug('a delivery was accepted', { ...fields, ...facts, kind: result })
      return
    }
    if (status === undefined) {
      this.#logger.debug('a sender went away before its delivery was complete', fields)
      return
    }
    const last = this.#logged.get(result)
    const nowMs = performance.now()
    if (last !== undefined && nowMs - last.atMs < QUIET_MS) {
      last.leftOut += 1
      return
    }
    this.#logged.set(result, { atMs: nowMs, leftOut: 0 })
    const isRefused = status !== 503
    const leftOut = last?.leftOut ? { leftOut: last.leftOut } : {}
    const reason = result.replace('refused_', '')
    if (isRefused) this.#onRefused?.(reason, 1 + (last?.leftOut ?? 0))
    this.#logger.warn(isRefused ? 'a delivery was refused' : 'a delivery could not be stored', {
      reason,
      ...fields,
      ...facts,
      ...leftOut,
    })
  }
}
