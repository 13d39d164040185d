/**
 * A script of things that go wrong. Each request plays at most one fault of limited `times`: the
 * oldest that matches it and has plays left. Faults of unlimited `times` are circumstances: all
 * that match are in force, beside the limited one (when two decide how the answer is sent, the
 * limited one, then the older one, wins).
 *
 * Only authorized requests within the rate limit meet a fault. The control surface (`/simulator`)
 * never does.
 */

/** Change which records a list request is given. */
export type QueryFault =
  | { readonly kind: 'capPageSize'; readonly size: number }
  /** Every request gets this page; its links name the page that was asked for. */
  | { readonly kind: 'repeatPage'; readonly page: number }
  /**
   * Records within groups of this size change places from page to page, as ties do without a stable
   * order.
   */
  | { readonly kind: 'shuffle'; readonly groupSize: number; readonly salt?: number }

/** Faults that change the content of the document. */
export type DocumentFault =
  /** Any value, or no `total` at all when absent. */
  | { readonly kind: 'wrongTotal'; readonly total?: unknown }
  /** Any text; no `next` at all when absent. */
  | {
      readonly kind: 'nextLink'
      readonly url?: string | null | ((request: FaultRequest) => string | null)
    }
  | {
      readonly kind: 'transform'
      readonly apply: (document: unknown, request: FaultRequest) => unknown
    }
  | { readonly kind: 'errorsUnder200' }

/** Replace or dress up the answer. */
export type ContentFault =
  | {
      readonly kind: 'status'
      readonly status: number
      readonly body?: string
      readonly headers?: Readonly<Record<string, string>>
      readonly contentType?: string
    }
  | { readonly kind: 'redirect'; readonly status: number; readonly location: string }
  | { readonly kind: 'html'; readonly status?: number }
  | { readonly kind: 'empty'; readonly status?: number }
  | { readonly kind: 'bom' }
  | { readonly kind: 'gzipBomb'; readonly mebibytes: number }
  /** Null: no `Date` at all. */
  | { readonly kind: 'dateHeader'; readonly value: string | null | { readonly offsetMs: number } }
  /** Replaces headers; a list sends the header as often. */
  | { readonly kind: 'headers'; readonly set: Readonly<Record<string, string | string[]>> }

/** Change how the bytes travel. */
export type DeliveryFault =
  | { readonly kind: 'drop' }
  /**
   * Ends after so many bytes of the body (negative: counted from its end). Unclean: the declared
   * length stays and the connection is torn down. Clean: the length is that of the part.
   * `inHeaders`: before the headers are complete.
   */
  | {
      readonly kind: 'cut'
      readonly afterBytes: number
      readonly clean?: boolean
      readonly inHeaders?: boolean
    }
  | {
      readonly kind: 'hang'
      readonly phase: 'beforeHeaders' | 'afterHeaders' | 'drip'
      /** For `drip`: real milliseconds between two bytes. Default 1000. */
      readonly everyMs?: number
    }
  | { readonly kind: 'slow'; readonly bytesPerSecond: number }
  | { readonly kind: 'endlessBody' }

export type Fault = QueryFault | DocumentFault | ContentFault | DeliveryFault

type Stage = 'query' | 'document' | 'content' | 'delivery'

const STAGES = {
  capPageSize: 'query',
  repeatPage: 'query',
  shuffle: 'query',
  wrongTotal: 'document',
  nextLink: 'document',
  transform: 'document',
  errorsUnder200: 'document',
  status: 'content',
  redirect: 'content',
  html: 'content',
  empty: 'content',
  bom: 'content',
  gzipBomb: 'content',
  dateHeader: 'content',
  headers: 'content',
  drop: 'delivery',
  cut: 'delivery',
  hang: 'delivery',
  slow: 'delivery',
  endlessBody: 'delivery',
} as const satisfies Record<Fault['kind'], Stage>

export interface FaultRequest {
  readonly method: string
  /** The path without `/v2`. */
  readonly path: string
  readonly query: URLSearchParams
}

type FaultMatch =
  | ((request: FaultRequest) => boolean)
  /** A text is a prefix of the path. */
  | { readonly method?: string; readonly path?: string | RegExp }

interface ScriptedFault {
  readonly fault: Fault
  /** Default: every request. */
  readonly match?: FaultMatch
  /** Default 1; `Infinity` for a circumstance that lasts. */
  readonly times?: number
  /** The number of matching requests that pass first. Default 0. */
  readonly after?: number
}

/** The faults of one request, by the part that they change. */
export interface FaultsInForce {
  readonly query: readonly QueryFault[]
  readonly document: readonly DocumentFault[]
  readonly content: readonly ContentFault[]
  readonly delivery: DeliveryFault | undefined
}

export interface FaultScript {
  /** The returned handle removes the fault and says how often it was played. */
  add(scripted: ScriptedFault): { remove(): void; readonly played: number }
  clear(): void
  /** Counts as one play of each fault that is returned. */
  meet(request: FaultRequest): FaultsInForce
}

interface Entry {
  readonly fault: Fault
  readonly match: FaultMatch | undefined
  readonly times: number
  passes: number
  played: number
}

export function createFaultScript(): FaultScript {
  let entries: Entry[] = []
  return {
    add: ({ fault, match, times = 1, after = 0 }) => {
      const entry: Entry = { fault, match, times, passes: after, played: 0 }
      entries.push(entry)
      return {
        remove: () => {
          entries = entries.filter((other) => other !== entry)
        },
        get played() {
          return entry.played
        },
      }
    },
    clear: () => {
      entries = []
    },
    meet: (request) => {
      const met: Entry[] = []
      for (const entry of entries) {
        if (entry.played >= entry.times || !isMatch(entry.match, request)) continue
        if (entry.passes > 0) {
          entry.passes -= 1
          continue
        }
        const isLimited = Number.isFinite(entry.times)
        if (isLimited && met.some(({ times }) => Number.isFinite(times))) continue
        met.push(entry)
      }
      for (const entry of met) entry.played += 1
      const isLasting = ({ times }: Entry): number => (Number.isFinite(times) ? 0 : 1)
      const limitedFirst = met.sort((one, other) => isLasting(one) - isLasting(other))
      return sortByStage(limitedFirst.map(({ fault }) => fault))
    },
  }
}

function isMatch(match: FaultMatch | undefined, request: FaultRequest): boolean {
  if (match === undefined) return true
  if (typeof match === 'function') return match(request)
  if (match.method !== undefined && match.method !== request.method) return false
  if (match.path === undefined) return true
  if (typeof match.path === 'string') return request.path.startsWith(match.path)
  return match.path.test(request.path)
}

function sortByStage(faults: readonly Fault[]): FaultsInForce {
  const query: QueryFault[] = []
  const document: DocumentFault[] = []
  const content: ContentFault[] = []
  const delivery: DeliveryFault[] = []
  for (const fault of faults) {
    if (isQueryFault(fault)) query.push(fault)
    else if (isDocumentFault(fault)) document.push(fault)
    else if (isContentFault(fault)) content.push(fault)
    else delivery.push(fault)
  }
  return { query, document, content, delivery: delivery[0] }
}

function isQueryFault(fault: Fault): fault is QueryFault {
  return STAGES[fault.kind] === 'query'
}

function isDocumentFault(fault: Fault): fault is DocumentFault {
  return STAGES[fault.kind] === 'document'
}

function isContentFault(fault: Fault): fault is ContentFault {
  return STAGES[fault.kind] === 'content'
}
