/** How the simulator sends its webhook notifications. Everything is optional. */
export interface WebhookOptions {
  /**
   * Look at the clock every `lookEveryMs` and send everything that is due. Without it, only
   * `deliverDue()` sends. Default: true if the clock runs at the start (`speed` above 0), so that a
   * test with a stopped clock sends by itself.
   */
  readonly automatic?: boolean
  /** Real milliseconds. Default 100. */
  readonly lookEveryMs?: number
  /** Requests on the way at once, over all webhooks. Default 4; 1 keeps the order. */
  readonly concurrency?: number
  /** Real milliseconds from the first byte sent to the last one of the answer. Default 10 000. */
  readonly timeoutMs?: number
  /** One wait per retry. Default: twelve, from one second, doubling: 68 minutes in all. */
  readonly retryDelaysMs?: readonly number[]
  /** Multiplies the waits; 0.001 makes milliseconds of the default's seconds. Default 1. */
  readonly retryScale?: number
  /**
   * The clock of the waits. On the virtual one, a retry waits for the next look like everything
   * else. Default `real`.
   */
  readonly retryClock?: 'real' | 'virtual'
  /**
   * A retry shows the records and the status of its own instant: same id, other bytes. Default
   * false: the same bytes.
   */
  readonly rerenderRetries?: boolean
  /** So many failed notifications in a row make a webhook inactive; null: never. Default 10. */
  readonly deactivateAfter?: number | null
  /** Edits make notifications at once. Default true. */
  readonly notifyEdits?: boolean
}

export interface WebhookSettings {
  readonly automatic: boolean
  readonly lookEveryMs: number
  readonly concurrency: number
  readonly timeoutMs: number
  readonly retryDelaysMs: readonly number[]
  readonly retryClock: 'real' | 'virtual'
  readonly rerenderRetries: boolean
  readonly deactivateAfter: number
  readonly notifyEdits: boolean
}

const MOST_RETRIES = 12
const DEFAULT_DELAYS = Array.from({ length: MOST_RETRIES }, (_, retry) => 1000 * 2 ** retry)

/** RangeError for more than the interface's twelve retries. */
export function fillWebhookOptions(options: WebhookOptions, isRunning: boolean): WebhookSettings {
  const { retryDelaysMs = DEFAULT_DELAYS, retryScale = 1, deactivateAfter = 10 } = options
  if (retryDelaysMs.length > MOST_RETRIES) {
    throw new RangeError(`The service retries at most ${MOST_RETRIES} times.`)
  }
  return {
    automatic: options.automatic ?? isRunning,
    lookEveryMs: options.lookEveryMs ?? 100,
    concurrency: Math.max(1, options.concurrency ?? 4),
    timeoutMs: options.timeoutMs ?? 10_000,
    retryDelaysMs: retryDelaysMs.map((delay) => delay * retryScale),
    retryClock: options.retryClock ?? 'real',
    rerenderRetries: options.rerenderRetries ?? false,
    deactivateAfter: deactivateAfter ?? Number.POSITIVE_INFINITY,
    notifyEdits: options.notifyEdits ?? true,
  }
}
