/** What a delivery is refused for, and the status of the answer. */
export const REFUSALS = {
  content_type: 415,
  content_encoding: 415,
  sender: 403,
  too_large: 413,
  small_chunks: 400,
  timeout: 408,
  signature: 401,
} as const

export type RefusalReason = keyof typeof REFUSALS

export type Outcome =
  | { readonly kind: 'stored' | 'duplicate'; readonly notificationId: string }
  | { readonly kind: 'refused'; readonly reason: RefusalReason }
  | { readonly kind: 'unavailable'; readonly error: unknown }
  | { readonly kind: 'aborted' }

/** Since the receiver was made. `received` is the sum of the others and what is under way. */
export interface ReceiverCounts {
  received: number
  /** Notifications that were new. */
  stored: number
  /** Deliveries of notifications that were known. */
  duplicate: number
  readonly refused: Record<RefusalReason, number>
  /** Answered 503. */
  unavailable: number
  /** The sender went away before its delivery was complete. */
  aborted: number
}

export function createCounts(): ReceiverCounts {
  const refused = Object.fromEntries(Object.keys(REFUSALS).map((reason) => [reason, 0]))
  return {
    received: 0,
    stored: 0,
    duplicate: 0,
    refused: refused as Record<RefusalReason, number>,
    unavailable: 0,
    aborted: 0,
  }
}
