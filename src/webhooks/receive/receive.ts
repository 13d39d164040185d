import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { noFailpoints, type ReachFailpoint } from '../../base/failpoint.js'
import type { Logger } from '../../base/logger.js'
import type { Warehouse } from '../../warehouse/connection/warehouse.js'
import { answer } from '../../http/answer.js'
import { readDelivery } from './delivery.js'
import { createGroupCommit } from './group-commit.js'
import { createBodyMemory, readBody } from '../../http/read-body.js'
import {
  createCounts,
  REFUSALS,
  type Outcome,
  type ReceiverCounts,
  type RefusalReason,
} from './receiver-counts.js'
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

export interface Receiver {
  /**
   * Answers a POST; the server has checked path and method. Never rejects for anything a sender or
   * the warehouse does.
   */
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>
  counts(): Readonly<ReceiverCounts>
  /** False while the warehouse answers but takes no delivery, as with a full disk. */
  canStore(): Promise<boolean>
  /**
   * Resolves when nothing waits for the warehouse any more. Called after the server was stopped.
   */
  drain(): Promise<void>
}

/** Seconds after a 503; the service's own plan of retries is not documented. */
const RETRY_AFTER = '10'

/**
 * The receiver of webhook deliveries: checks what is cheap first, then reads the body, checks the
 * signature over its raw bytes, and stores it. The answer is 202 only after the commit; 503 when
 * the warehouse does not take it in time, so that the service sends it again. Nothing is applied
 * here.
 */
export function createReceiver(options: ReceiverOptions): Receiver {
  const { warehouse, signature, logger, reachFailpoint = noFailpoints } = options
  const limits = { ...DEFAULT_RECEIVER_LIMITS, ...options.limits }
  const { storeDeadlineMs: deadlineMs, longestQueue } = limits
  const inbox = createGroupCommit({ warehouse, deadlineMs, longestQueue })
  const bodyLimits = {
    maxBytes: limits.bodyBytes,
    timeoutMs: limits.bodyTimeoutMs,
    memory: createBodyMemory(limits.memoryBytes),
  }
  const counts = createCounts()
  const logOutcome = createOutcomeLog(logger)
  if (signature === 'insecure') {
    logger.warn('signatures of webhook deliveries are not checked: anyone can send anything')
  }

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<Outcome> {
    const refusal = checkHeaders(request) ?? checkSender(request)
    if (refusal !== undefined) return { kind: 'refused', reason: refusal }
    const read = await readBody(request, response, bodyLimits)
    if (read === 'aborted') return { kind: 'aborted' }
    if (read === 'busy') return { kind: 'unavailable', error: 'too many large bodies at once' }
    if (typeof read === 'string') return { kind: 'refused', reason: read }
    try {
      return await accept(request, read.body)
    } finally {
      read.release()
    }
  }

  async function accept(request: IncomingMessage, body: Buffer): Promise<Outcome> {
    if (signature !== 'insecure' && !signature(request.rawHeaders, body)) {
      return { kind: 'refused', reason: 'signature' }
    }
    reachFailpoint('delivery_received')
    const delivery = readDelivery(body, request.headers)
    const { notificationId } = delivery.envelope
    try {
      const isNew = await inbox.store(delivery)
      reachFailpoint('delivery_stored')
      return { kind: isNew ? 'stored' : 'duplicate', notificationId }
    } catch (error) {
      return { kind: 'unavailable', error }
    }
  }

  function checkSender(request: IncomingMessage): RefusalReason | undefined {
    if (options.senders === undefined) return undefined
    const { addresses, trustedProxyHops } = options.senders
    const verdict = addresses.check(senderAddress(request, trustedProxyHops))
    // Without a list the signature must do; without either, nothing would be checked.
    const isTaken = verdict === 'allowed' || (verdict === 'unknown' && signature !== 'insecure')
    return isTaken ? undefined : 'sender'
  }

  return {
    handle: async (request, response) => {
      const startedAt = performance.now()
      const requestId = randomUUID()
      counts.received += 1
      const outcome = await receive(request, response)
      respond(request, response, outcome, requestId)
      const elapsedMs = performance.now() - startedAt
      if (outcome.kind === 'refused') counts.refused[outcome.reason] += 1
      else counts[outcome.kind] += 1
      if (isAccepted(outcome)) options.onAccepted?.(elapsedMs)
      logOutcome(outcome, { requestId, elapsedMs: Math.round(elapsedMs * 10) / 10 })
      if (outcome.kind === 'stored') options.onStored?.()
    },
    counts: () => structuredClone(counts),
    canStore: () => inbox.canStore(),
    drain: () => inbox.drain(),
  }
}

function isAccepted({ kind }: Outcome): boolean {
  return kind === 'stored' || kind === 'duplicate'
}

const JSON_TYPES = ['application/json', 'application/vnd.api+json']

/** Bodies are never decompressed: a few kilobytes can become gigabytes. */
function checkHeaders({ headers }: IncomingMessage): RefusalReason | undefined {
  const type = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase()
  if (type === undefined || !JSON_TYPES.includes(type)) return 'content_type'
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity'
  return encoding === 'identity' ? undefined : 'content_encoding'
}

function respond(
  request: IncomingMessage,
  response: ServerResponse,
  outcome: Outcome,
  requestId: string,
): void {
  const headers = { 'x-request-id': requestId }
  switch (outcome.kind) {
    case 'stored':
    case 'duplicate':
      answer(request, response, { status: 202, headers, result: 'stored' })
      return
    case 'refused': {
      const { reason } = outcome
      answer(request, response, { status: REFUSALS[reason], headers, error: reason })
      return
    }
    case 'unavailable':
      answer(request, response, {
        status: 503,
        headers: { ...headers, 'retry-after': RETRY_AFTER },
        error: 'unavailable',
      })
      return
    case 'aborted':
      response.destroy()
  }
}

const QUIET_MS = 10_000

/**
 * Logs what became of each request. Forgeries must not fill the disk: a refusal or failure is
 * logged at most once in ten seconds for each reason, with the number of those left out.
 */
function createOutcomeLog(logger: Logger) {
  const logged = new Map<string, { atMs: number; leftOut: number }>()

  function warn(message: string, reason: string, fields: object): void {
    const last = logged.get(reason)
    const nowMs = performance.now()
    if (last !== undefined && nowMs - last.atMs < QUIET_MS) {
      last.leftOut += 1
      return
    }
    logged.set(reason, { atMs: nowMs, leftOut: 0 })
    logger.warn(message, { reason, ...fields, ...(last?.leftOut ? { leftOut: last.leftOut } : {}) })
  }

  return (outcome: Outcome, fields: Readonly<Record<string, unknown>>): void => {
    switch (outcome.kind) {
      case 'stored':
      case 'duplicate': {
        const { kind, notificationId } = outcome
        logger.debug('a delivery was accepted', { ...fields, notificationId, kind })
        return
      }
      case 'refused':
        warn('a delivery was refused', outcome.reason, fields)
        return
      case 'unavailable':
        warn('a delivery could not be stored', 'unavailable', { ...fields, error: outcome.error })
        return
      case 'aborted':
        logger.debug('a sender went away before its delivery was complete', fields)
    }
  }
}
