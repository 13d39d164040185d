import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { noFailpoints, type ReachFailpoint } from '../../base/failpoint.js'
import type { LogFields, Logger } from '../../base/logger.js'
import { showText } from '../../base/phrases.js'
import { isSamePath } from '../../base/this-path.js'
import type { Warehouse } from '../../warehouse/connection/warehouse.js'
import { answer } from '../../http/answer.js'
import { readDelivery } from './delivery.js'
import { GroupCommit } from './group-commit.js'
import { createBodyMemory, readBody, type BodyLimits } from '../../http/read-body.js'
import { senderAddress, type SenderAddresses } from './sender-addresses.js'
import type { SignatureCheck } from './signature.js'

export interface ReceiverLimits {
  readonly bodyBytes: number
  /** Memory of all bodies under way, beyond the first 16 KiB of each. */
  readonly memoryBytes: number
  /** Until a body is complete, from its headers on. */
  readonly bodyTimeoutMs: number
  /** Until a complete delivery is committed or given up. */
  readonly storeDeadlineMs: number
  /** Deliveries that may wait for the warehouse. */
  readonly longestQueue: number
}

/**
 * The largest documented payload has 13 KB. The strictest senders of webhooks wait five seconds for
 * an answer; how long this service waits is not documented.
 */
export const DEFAULT_RECEIVER_LIMITS: ReceiverLimits = {
  bodyBytes: 1024 * 1024,
  memoryBytes: 4 * 1024 * 1024,
  bodyTimeoutMs: 10_000,
  storeDeadlineMs: 5_000,
  longestQueue: 500,
}

export interface ReceiverOptions {
  readonly warehouse: Warehouse
  /** `insecure`: signatures are not checked; for trials on one machine. */
  readonly signature: SignatureCheck | 'insecure'
  readonly logger: Logger
  /** Absent: deliveries are taken from any address. */
  readonly senders?: { readonly addresses: SenderAddresses; readonly trustedProxyHops: number }
  readonly limits?: Partial<ReceiverLimits>
  readonly reachFailpoint?: ReachFailpoint
  /**
   * Called after each delivery that was stored or known, with the time from its headers to its
   * answer. Must not throw.
   */
  readonly onAccepted?: (elapsedMs: number) => void
  /** Called after the answer to a notification that was not known before. Must not throw. */
  readonly onStored?: () => void
}

/** What can become of a delivery, and the status of the answer. */
const STATUS = {
  stored: 202,
  /** Its notification is in the inbox already. */
  duplicate: 202,
  unavailable: 503,
  /** The sender went away before its delivery was complete. */
  aborted: undefined,
  refused_content_type: 415,
  refused_content_encoding: 415,
  refused_sender: 403,
  refused_too_large: 413,
  /** Neither announced nor small. */
  refused_length: 411,
  refused_timeout: 408,
  refused_signature: 401,
  /** A POST to another path than the receiver's, and another method at that path. */
  refused_path: 404,
  refused_method: 405,
} as const

type Result = keyof typeof STATUS

interface Outcome {
  readonly result: Result
  /** Facts for the log. */
  readonly notificationId?: string
  readonly error?: unknown
}

/** Since the receiver was made. `received` is the sum of the others and what is under way. */
export type ReceiverCounts = Readonly<Record<'received' | Result, number>>

/** Seconds after a 503; the service's own plan of retries is not documented. */
const RETRY_AFTER = '10'

/**
 * The receiver of webhook deliveries: checks what is cheap first, then reads the body, checks the
 * signature over its raw bytes, and stores it. The answer is 202 only after the commit; 503 when
 * the warehouse does not take it in time, so that the service sends it again. Nothing is applied
 * here.
 */
export class Receiver {
  readonly #options: ReceiverOptions
  readonly #inbox: GroupCommit
  readonly #bodyLimits: BodyLimits
  readonly #counts: Record<string, number> = { received: 0 }
  readonly #log: (outcome: Outcome, fields: LogFields) => void

  constructor(options: ReceiverOptions) {
    this.#options = options
    const { warehouse, signature, logger } = options
    const limits = { ...DEFAULT_RECEIVER_LIMITS, ...options.limits }
    const { storeDeadlineMs: deadlineMs, longestQueue } = limits
    this.#inbox = new GroupCommit({ warehouse, deadlineMs, longestQueue })
    this.#bodyLimits = {
      maxBytes: limits.bodyBytes,
      timeoutMs: limits.bodyTimeoutMs,
      memory: createBodyMemory(limits.memoryBytes),
    }
    for (const result of Object.keys(STATUS)) this.#counts[result] = 0
    this.#log = createOutcomeLog(logger)
    if (signature === 'insecure') {
      logger.warn('signatures of webhook deliveries are not checked: anyone can send anything')
    }
  }

  /**
   * Answers a POST; the server has checked path and method. Never rejects for anything a sender or
   * the warehouse does.
   */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { onAccepted, onStored } = this.#options
    const startedAt = performance.now()
    const requestId = randomUUID()
    this.#count('received')
    const outcome = await this.#receive(request, response)
    const { result } = outcome
    respond(request, response, result, requestId)
    const elapsedMs = performance.now() - startedAt
    this.#count(result)
    if (STATUS[result] === 202) onAccepted?.(elapsedMs)
    this.#log(outcome, { requestId, elapsedMs: Math.round(elapsedMs * 10) / 10 })
    if (result === 'stored') onStored?.()
  }

  /** Counts and logs what the server answered itself, where it may have been a delivery. */
  refusedBefore({ method, url = '' }: IncomingMessage, path: string, status: 404 | 405): void {
    if (method !== 'POST' && !isSamePath(url.split('?', 1)[0] ?? '', path)) return
    const result = status === 404 || method === 'POST' ? 'refused_path' : 'refused_method'
    this.#count('received')
    this.#count(result)
    this.#log({ result }, { method, path: showText(url, 200), webhookPath: path })
  }

  counts(): ReceiverCounts {
    return { ...this.#counts } as ReceiverCounts
  }

  /** False while the warehouse answers but takes no delivery, as with a full disk. */
  canStore(): Promise<boolean> {
    return this.#inbox.canStore()
  }

  /** Resolves when nothing waits for the warehouse any more. Call it once the server stopped. */
  drain(): Promise<void> {
    return this.#inbox.drain()
  }

  #count(name: keyof ReceiverCounts): void {
    this.#counts[name] = (this.#counts[name] ?? 0) + 1
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<Outcome> {
    const refusal = checkHeaders(request) ?? this.#checkSender(request)
    if (refusal !== undefined) return { result: refusal }
    const read = await readBody(request, response, this.#bodyLimits)
    if (read === 'aborted') return { result: 'aborted' }
    if (read === 'busy') return { result: 'unavailable', error: 'too many large bodies at once' }
    if (typeof read === 'string') return { result: `refused_${read}` }
    try {
      return await this.#accept(request, read.body)
    } finally {
      read.release()
    }
  }

  async #accept(request: IncomingMessage, body: Buffer): Promise<Outcome> {
    const { signature, reachFailpoint = noFailpoints } = this.#options
    if (signature !== 'insecure' && !signature(request.rawHeaders, body)) {
      return { result: 'refused_signature' }
    }
    reachFailpoint('delivery_received')
    const delivery = readDelivery(body, request.headers)
    const { notificationId } = delivery.envelope
    try {
      const isNew = await this.#inbox.store(delivery)
      reachFailpoint('delivery_stored')
      return { result: isNew ? 'stored' : 'duplicate', notificationId }
    } catch (error) {
      return { result: 'unavailable', error }
    }
  }

  #checkSender(request: IncomingMessage): Result | undefined {
    const { senders, signature } = this.#options
    if (senders === undefined) return undefined
    const verdict = senders.addresses.check(senderAddress(request, senders.trustedProxyHops))
    // Without a list the signature must do; without either, nothing would be checked.
    const isTaken = verdict === 'allowed' || (verdict === 'unknown' && signature !== 'insecure')
    return isTaken ? undefined : 'refused_sender'
  }
}

const JSON_TYPES = ['application/json', 'application/vnd.api+json']

/** Bodies are never decompressed: a few kilobytes can become gigabytes. */
function checkHeaders({ headers }: IncomingMessage): Result | undefined {
  const type = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase()
  if (type === undefined || !JSON_TYPES.includes(type)) return 'refused_content_type'
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity'
  return encoding === 'identity' ? undefined : 'refused_content_encoding'
}

function respond(
  request: IncomingMessage,
  response: ServerResponse,
  result: Result,
  requestId: string,
): void {
  const status = STATUS[result]
  if (status === undefined) {
    response.destroy()
    return
  }
  const headers = {
    'x-request-id': requestId,
    ...(status === 503 ? { 'retry-after': RETRY_AFTER } : {}),
  }
  const word = status === 202 ? { result: 'stored' } : { error: result.replace('refused_', '') }
  answer(request, response, { status, headers, ...word })
}

const QUIET_MS = 10_000

/**
 * Logs what became of each request. Forgeries must not fill the disk: a refusal or failure is
 * logged at most once in ten seconds for each reason, with the number of those left out.
 */
function createOutcomeLog(logger: Logger) {
  const logged = new Map<string, { atMs: number; leftOut: number }>()

  return ({ result, ...facts }: Outcome, fields: LogFields): void => {
    const status = STATUS[result]
    if (status === 202) {
      logger.debug('a delivery was accepted', { ...fields, ...facts, kind: result })
      return
    }
    if (status === undefined) {
      logger.debug('a sender went away before its delivery was complete', fields)
      return
    }
    const last = logged.get(result)
    const nowMs = performance.now()
    if (last !== undefined && nowMs - last.atMs < QUIET_MS) {
      last.leftOut += 1
      return
    }
    logged.set(result, { atMs: nowMs, leftOut: 0 })
    const isRefused = status !== 503
    const leftOut = last?.leftOut ? { leftOut: last.leftOut } : {}
    logger.warn(isRefused ? 'a delivery was refused' : 'a delivery could not be stored', {
      reason: result.replace('refused_', ''),
      ...fields,
      ...facts,
      ...leftOut,
    })
  }
}
