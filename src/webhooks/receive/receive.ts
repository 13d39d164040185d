import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { noFailpoints, type ReachFailpoint } from '../../base/failpoint.js'
import type { Logger } from '../../base/logger.js'
import type { Warehouse } from '../../warehouse/connection/warehouse.js'
import { answer } from '../../http/answer.js'
import { readDelivery } from './delivery.js'
import { GroupCommit } from './group-commit.js'
import { Outcomes, STATUS, type Outcome, type Result } from './outcomes.js'
import { createBodyMemory, readBody, type BodyLimits } from '../../http/read-body.js'
import { noteRefusal } from './inbox.js'
import { senderAddress, type SenderAddresses } from './sender-addresses.js'
import type { SignatureCheck } from './signature.js'

export interface ReceiverLimits {
  readonly bodyBytes: number
  /** Memory of all bodies in transfer, beyond the first 16 KiB of each. */
  readonly memoryBytes: number
  /** Time for a body, from its headers on. */
  readonly bodyTimeoutMs: number
  /** Time for a complete delivery to be committed or given up. */
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
  /** Absent: deliveries from any address are accepted. */
  readonly senders?: { readonly addresses: SenderAddresses; readonly trustedProxyHops: number }
  readonly limits?: Partial<ReceiverLimits>
  readonly reachFailpoint?: ReachFailpoint
  /** Called after each accepted delivery with its time from headers to answer. Must not throw. */
  readonly onAccepted?: (elapsedMs: number) => void
  /** Called after the answer to a new notification. Must not throw. */
  readonly onStored?: () => void
}

/** Seconds to wait after a 503; the service's own plan of retries is not documented. */
const RETRY_AFTER = '10'

/**
 * The receiver of webhook deliveries: cheap checks come first, then it reads the body, checks the
 * signature over its raw bytes, and stores it. It answers 202 only after the commit, and 503 if the
 * warehouse does not store the delivery in time, so that the service sends it again. Applies
 * nothing.
 */
export class Receiver {
  readonly #options: ReceiverOptions
  readonly #inbox: GroupCommit
  readonly #bodyLimits: BodyLimits
  readonly outcomes: Outcomes

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
    this.outcomes = new Outcomes(logger, (reason, count) => {
      // Before the first migration, or without the database, only the log has the refusal.
      noteRefusal(warehouse, reason, count).catch((error: unknown) => {
        logger.debug('a refusal could not be noted', { reason, error })
      })
    })
    if (signature === 'insecure') {
      logger.warn('signatures of webhook deliveries are not checked: anyone can send anything')
    }
  }

  /** Answers a POST; the server has checked path and method. Never rejects. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { onAccepted, onStored } = this.#options
    const startedAt = performance.now()
    const requestId = randomUUID()
    this.outcomes.begin()
    const outcome = await this.#receive(request, response)
    const { result } = outcome
    respond(request, response, result, requestId)
    const elapsedMs = performance.now() - startedAt
    if (STATUS[result] === 202) onAccepted?.(elapsedMs)
    this.outcomes.end(outcome, { requestId, elapsedMs: Math.round(elapsedMs * 10) / 10 })
    if (result === 'stored') onStored?.()
  }

  /** False while the warehouse answers but refuses deliveries, as with a full disk. */
  canStore(): Promise<boolean> {
    return this.#inbox.canStore()
  }

  /** Resolves when no delivery waits for the warehouse. Call it after the server has stopped. */
  drain(): Promise<void> {
    return this.#inbox.drain()
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
    // Without a list the signature must suffice; without both, nothing would be checked.
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
