interface LoggedRequest {
  readonly method: string
  /** The path as requested, with `/v2`. */
  readonly path: string
  /** The query without its question mark. */
  readonly query: string
  /** Undefined when a fault left the request without an answer. */
  readonly status: number | undefined
  /** Virtual time. */
  readonly at: Date
}

/** Every request to the interface, answered or not. */
export interface RequestLog {
  readonly total: number
  /** The last thousand, oldest first. */
  readonly recent: readonly LoggedRequest[]
  note(request: LoggedRequest): void
  reset(): void
}

const KEPT = 1_000

export function createRequestLog(): RequestLog {
  let total = 0
  let recent: LoggedRequest[] = []
  return {
    get total() {
      return total
    },
    get recent() {
      return recent
    },
    note: (request) => {
      total += 1
      recent.push(request)
      if (recent.length > KEPT) recent.shift()
    },
    reset: () => {
      total = 0
      recent = []
    },
  }
}
