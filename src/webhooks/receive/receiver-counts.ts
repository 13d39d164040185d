export type RefusalReason =
  | 'content_type'
  | 'content_encoding'
  | 'sender'
  | 'too_large'
  | 'small_chunks'
  | 'timeout'
  | 'signature'

/** Since the receiver was made. `received` is the sum of the others and what is under way. */
export interface ReceiverCounts {
  readonly received: number
  /** Notifications that were new. */
  readonly stored: number
  /** Deliveries of notifications that were known. */
  readonly duplicates: number
  readonly refused: Readonly<Record<RefusalReason, number>>
  /** Answered 503. */
  readonly unavailable: number
  /** The sender went away before its delivery was complete. */
  readonly aborted: number
  readonly ackLatency: LatencyHistogram
}

/**
 * Of accepted deliveries, from the request's headers to the answer. As in Prometheus, each bucket
 * includes the smaller ones.
 */
export interface LatencyHistogram {
  readonly buckets: readonly { readonly upToMs: number; readonly count: number }[]
  readonly count: number
  readonly sumMs: number
}

const BUCKETS_MS = [1, 2, 5, 10, 15, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000]

export type Outcome =
  | { readonly kind: 'stored' | 'duplicate'; readonly notificationId: string }
  | { readonly kind: 'refused'; readonly reason: RefusalReason }
  | { readonly kind: 'unavailable'; readonly error: unknown }
  | { readonly kind: 'aborted' }

export interface Counter {
  begin(): void
  end(outcome: Outcome, elapsedMs: number): void
  counts(): ReceiverCounts
}

export function createCounter(): Counter {
  let received = 0
  const kinds = { stored: 0, duplicate: 0, unavailable: 0, aborted: 0 }
  const refused: Record<RefusalReason, number> = {
    content_type: 0,
    content_encoding: 0,
    sender: 0,
    too_large: 0,
    small_chunks: 0,
    timeout: 0,
    signature: 0,
  }
  const perBucket = BUCKETS_MS.map(() => 0)
  let sumMs = 0
  return {
    begin: () => {
      received += 1
    },
    end: (outcome, elapsedMs) => {
      if (outcome.kind === 'refused') refused[outcome.reason] += 1
      else kinds[outcome.kind] += 1
      if (outcome.kind !== 'stored' && outcome.kind !== 'duplicate') return
      sumMs += elapsedMs
      for (const [index, upToMs] of BUCKETS_MS.entries()) {
        if (elapsedMs <= upToMs) perBucket[index] = (perBucket[index] ?? 0) + 1
      }
    },
    counts: () => ({
      received,
      stored: kinds.stored,
      duplicates: kinds.duplicate,
      refused: { ...refused },
      unavailable: kinds.unavailable,
      aborted: kinds.aborted,
      ackLatency: {
        buckets: BUCKETS_MS.map((upToMs, index) => ({ upToMs, count: perBucket[index] ?? 0 })),
        count: kinds.stored + kinds.duplicate,
        sumMs,
      },
    }),
  }
}
