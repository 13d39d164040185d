import { Dispatcher, errors } from 'undici'
import type { PlainAnswer, Simulator } from '../../../src/extensions/simulator/server.js'
import type { ResourceIdentifier, ResourceObject } from '../../../src/source/jsonapi/document.js'
import { currentProcess, type Scheduler } from './scheduler.js'

/** A page or a record as it reached a process. */
export interface Shown {
  readonly path: string
  readonly query: URLSearchParams
  /** Of the request, by the true time. */
  readonly sentAt: number
  readonly records: readonly ResourceObject[]
}

/** A notification as the service knows it. */
export interface Notification {
  readonly record: ResourceObject
  readonly about: ResourceIdentifier
  /** The service could not deliver it. */
  readonly isFailed: boolean
}

/** Faults of pages that keep their total. */
export interface OddAnswer {
  readonly kind: 'repeated' | 'omitted'
  /** Of the next pages of lists. */
  times: number
}

export interface NetworkOptions {
  readonly simulator: Simulator
  /** The account may read custom fields and the catalogue of events. */
  readonly hasFields: boolean
  readonly scheduler: Scheduler
  /** Every notification that was made. */
  readonly notifications: () => readonly Notification[]
  readonly onShown: (shown: Shown) => void
  /** Called when an odd answer was given. */
  readonly onOdd: (kind: OddAnswer['kind']) => void
}

const HEADERS_TIMEOUT_MS = 30_000
const MOST_WAY_MS = 300

const FORBIDDEN: PlainAnswer = {
  outgoing: { status: 403, headers: {}, body: Buffer.from('{"errors":[]}'), hasDate: false },
}

/** Between the client and the service: no socket, and every answer waits for the scheduler. */
export class SimulatedNetwork extends Dispatcher {
  readonly #options: NetworkOptions
  /** When each request was sent, by the true time. */
  readonly sentAt: number[] = []
  readonly odd: OddAnswer[] = []
  /** By how much the service's clock is wrong. */
  skewMs = 0

  constructor(options: NetworkOptions) {
    super()
    this.#options = options
  }

  /* eslint-disable @typescript-eslint/no-deprecated -- undici itself passes such a handler */
  override dispatch(
    { method, path, origin, headers }: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
  ): boolean {
    const { scheduler } = this.#options
    const process = currentProcess()
    const sentAt = scheduler.now
    const url = new URL(path, String(origin))
    let isOver = false
    const later = (what: string, mostMs: number, atLeastMs: number, work: () => void): void => {
      scheduler.add({
        at: scheduler.now + atLeastMs,
        process,
        what: `${what} ${method} ${path.slice(0, 120)}`,
        mostMs,
        happen: () => {
          if (!isOver) work()
        },
      })
    }
    const fail = (error: Error): void => {
      isOver = true
      handler.onError?.(error)
    }
    handler.onConnect?.((reason) => {
      if (!isOver) fail(reason ?? new errors.RequestAbortedError())
    })
    this.sentAt.push(sentAt)
    later('reaches the service:', MOST_WAY_MS, 0, () => {
      const answer = this.#answer(method, url, headers as Record<string, string>)
      const { outgoing, delivery } = answer
      if (delivery?.kind === 'hang') {
        later('is not answered:', 0, HEADERS_TIMEOUT_MS, () => {
          fail(new errors.HeadersTimeoutError())
        })
        return
      }
      later(`is answered ${outgoing.status}:`, MOST_WAY_MS, 0, () => {
        if (delivery?.kind === 'drop') {
          fail(new errors.SocketError('other side closed'))
          return
        }
        handler.onHeaders?.(outgoing.status, rawHeaders(answer), () => undefined, '')
        const isCut = delivery?.kind === 'cut'
        handler.onData?.(isCut ? outgoing.body.subarray(0, delivery.afterBytes) : outgoing.body)
        if (isCut) fail(new errors.SocketError('other side closed'))
        else {
          isOver = true
          handler.onComplete?.([])
          this.#note(answer, { path: url.pathname, query: url.searchParams, sentAt })
        }
      })
    })
    return true
  }

  /* eslint-enable @typescript-eslint/no-deprecated */

  override close = (): Promise<void> => Promise.resolve()
  override destroy = (): Promise<void> => Promise.resolve()

  #answer(method: string, url: URL, headers: Record<string, string>): PlainAnswer {
    const { simulator, scheduler, hasFields } = this.#options
    // Whole answers: unpacking would go on beside the scheduler.
    const plain = { ...headers, 'accept-encoding': 'identity' }
    const own = method === 'GET' ? this.#notifications(url) : undefined
    const isClosed = !hasFields && /^\/v2\/(?:custom_field|webhooks\/events$)/.test(url.pathname)
    if (isClosed) return FORBIDDEN
    const { outgoing, delivery } = simulator.answer({ method, url, headers: plain })
    const { date } = outgoing.headers
    const world = Math.floor(simulator.clock.now().getTime() / 1_000) * 1_000
    // The service's clock goes on while the world waits.
    const told = Date.parse(String(date)) - world + scheduler.now + this.skewMs
    const isDated = outgoing.hasDate && !Number.isNaN(told)
    return {
      delivery,
      outgoing: {
        ...outgoing,
        headers: isDated
          ? { ...outgoing.headers, date: new Date(told).toUTCString() }
          : outgoing.headers,
        ...(own === undefined
          ? { body: outgoing.status === 200 ? this.#oddBody(url, outgoing.body) : outgoing.body }
          : { status: 200, body: own }),
      },
    }
  }

  /** The service tells of its failed deliveries, and of each notification. */
  #notifications({ pathname, searchParams }: URL): Buffer | undefined {
    const [path, id] = /^\/v2\/webhook_notifications(?:\/(.+))?$/.exec(pathname) ?? []
    if (path === undefined) return undefined
    const { simulator, notifications } = this.#options
    const isFirstPage = (searchParams.get('page[number]') ?? '1') === '1'
    const told = notifications().filter(({ record, isFailed }) =>
      id === undefined ? isFailed && isFirstPage : record.id === id,
    )
    if (id !== undefined && told.length === 0) return undefined
    const records = told.map(({ record }) => record)
    const included = told.flatMap(
      ({ about }) => simulator.world.record(about.type, about.id, simulator.clock.now()) ?? [],
    )
    const data = id === undefined ? records : records[0]
    return Buffer.from(JSON.stringify({ data, included }))
  }

  /** A page on which one row comes twice, or is missing, as while rows move. */
  #oddBody({ searchParams, pathname }: URL, body: Buffer): Buffer {
    const [odd] = this.odd
    if (odd === undefined || !searchParams.has('page[number]')) return body
    if (!/^\/v2\/(?:shipments|containers|tracking_requests)$/.test(pathname)) return body
    const document = parsed(body) as { readonly data?: unknown[] } | undefined
    const [first] = document?.data ?? []
    if (first === undefined) return body
    this.#options.onOdd(odd.kind)
    odd.times -= 1
    if (odd.times === 0) this.odd.shift()
    const rows = document?.data ?? []
    const data = odd.kind === 'omitted' ? rows.slice(1) : [first, ...rows]
    return Buffer.from(JSON.stringify({ ...document, data }))
  }

  #note({ outgoing: { status, body } }: PlainAnswer, about: Omit<Shown, 'records'>): void {
    if (status !== 200) return
    const { data, included = [] } = (parsed(body) ?? {}) as {
      readonly data?: ResourceObject | ResourceObject[]
      readonly included?: ResourceObject[]
    }
    this.#options.onShown({ ...about, records: [...[data ?? []].flat(), ...included] })
  }
}

/** Undefined for a foreign page: it shows nothing. */
function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    return undefined
  }
}

function rawHeaders({ outgoing: { headers, body } }: PlainAnswer): Buffer[] {
  const all = { ...headers, 'content-length': String(body.length) }
  return Object.entries(all).flatMap(([name, value]) =>
    [value].flat().flatMap((one) => [Buffer.from(name), Buffer.from(one)]),
  )
}
