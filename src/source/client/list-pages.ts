import {
  ApiAuthError,
  ApiNotFoundError,
  ApiRequestError,
  ApiUnavailableError,
  PaginationLoopError,
} from '../../base/errors.js'
import { membersOf } from '../jsonapi/document.js'
import type { RawDocument, RecordIdentity } from '../jsonapi/raw-record.js'
import { LoopGuard } from '../jsonapi/pagination.js'
import type { ApiClient, CallOptions, RawPageAnswer } from './client.js'
import { resolveSameOrigin } from './origin.js'

/** One answer of a list, whose records are not parsed, and its place in the walk. */
export interface RawPage {
  /** `page[number]` of the request. */
  readonly number: number
  /** Without the includes, which may change from page to page. */
  readonly url: string
  readonly document: RawDocument
  readonly rows: readonly RecordIdentity[]
  /** The number of rows that no earlier page of this walk showed. */
  readonly fresh: number
  /** See `ApiAnswer`. */
  readonly observedAt: Date
  readonly bytes: number
  /** The service's own count of all rows: a hint, and absent when it cannot be true as a count. */
  readonly total: number | undefined
  /**
   * Rows of this walk up to here, repeated ones as well; with `startPage`, the rows before it are
   * reckoned in.
   */
  readonly rowsSoFar: number
  readonly isLast: boolean
  /**
   * The last page, and yet fewer rows came than the total promised. The walk must not count as
   * complete without a second look.
   */
  readonly isShort: boolean
  /** A page before it failed: a walk that is resumed here would leave that one out. */
  readonly isBehindGap: boolean
  /** The includes of the request, without the refused ones. */
  readonly includes: readonly string[]
}

export interface ListOptions extends Pick<CallOptions, 'signal' | 'purpose' | 'counter' | 'query'> {
  /**
   * Asked for; the service may send fewer or more, and is believed. Its own default when absent.
   */
  readonly pageSize?: number | undefined
  /** Most wanted first. */
  readonly includes?: readonly string[] | undefined
  /** To go on from a checkpoint; 1 when absent. */
  readonly startPage?: number | undefined
}

export interface ListPagesOptions extends ListOptions {
  readonly path: string
}

/**
 * Walks a list by its `links.next`, one request a page, made when the caller asks for the page;
 * nothing is read ahead and no page is kept.
 *
 * The walk ends where `links.next` is null, absent or empty, even if the total says otherwise:
 * guessing at a page that the service does not name could read rows twice or past the end;
 * `isShort` tells the caller. It also ends at an empty page once the total has been reached. Every
 * link must stay on the service and on this very list (`ApiRefusedError` else); members of our
 * query that a link drops are put back. Throws `PaginationLoopError` after the page that proved the
 * loop was handed over, and every error of `ApiClient.get`; where one page of a list answers 5xx,
 * only after the pages behind it.
 */
export function listPages(
  client: ApiClient,
  options: ListPagesOptions,
): AsyncIterableIterator<RawPage, undefined> {
  return new ListWalk(client, options)
}

/** Not a generator: its frame would hold on to a page until the next one is there. */
class ListWalk implements AsyncIterableIterator<RawPage, undefined> {
  readonly #client: ApiClient
  readonly #options: ListPagesOptions
  readonly #guard = new LoopGuard()
  #number: number
  #url: URL
  #includes: readonly string[]
  #rowsSoFar: number | undefined
  #total: number | undefined
  /** Undefined after the last page. */
  #next: string | undefined
  /** The size of the last page that came. */
  #size = 0
  /** The failure of the page that was passed over. */
  #failure: Error | undefined

  constructor(client: ApiClient, options: ListPagesOptions) {
    this.#client = client
    this.#options = options
    this.#number = options.startPage ?? 1
    this.#includes = options.includes ?? []
    const url = resolveSameOrigin(client.baseUrl, options.path)
    url.searchParams.set('page[number]', String(this.#number))
    this.#url = this.#imposeQuery(url)
    this.#guard.follow(comparable(this.#url))
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<RawPage, undefined>> {
    for (;;) {
      const isOver = this.#rowsSoFar !== undefined && !this.#goOn()
      if (isOver && this.#failure !== undefined) {
        this.#failure.message += ' The pages before it and behind it are read.'
        throw this.#failure
      }
      if (isOver) return { done: true, value: undefined }
      const answer = await this.#get().catch((error: unknown) => {
        this.#passOver(error)
      })
      if (answer !== undefined) return { done: false, value: this.#toPage(answer) }
    }
  }

  #toPage({ observedAt, bytes, document }: RawPageAnswer): RawPage {
    const rows = document.primary.map(({ identity }) => identity)
    const fresh = this.#guard.see(rows)
    const total = document.meta.total ?? undefined
    const next = document.links.next ?? undefined
    // A page with a successor is full and tells the size in force; the last one may be short.
    const size = next === undefined ? (this.#options.pageSize ?? rows.length) : rows.length
    const rowsSoFar = (this.#rowsSoFar ?? (this.#number - 1) * size) + rows.length
    const isEnd = rows.length === 0 && total !== undefined && rowsSoFar >= total
    const isLast = next === undefined || isEnd
    const isShort = isLast && total !== undefined && total > rowsSoFar
    this.#rowsSoFar = rowsSoFar
    this.#size = rows.length
    this.#total = total
    this.#next = isLast ? undefined : next
    return {
      number: this.#number,
      url: this.#url.href,
      document,
      rows,
      fresh,
      observedAt,
      bytes,
      total,
      rowsSoFar,
      isLast,
      isShort,
      isBehindGap: this.#failure !== undefined,
      includes: this.#includes,
    }
  }

  /**
   * Steps behind a page that answers 5xx, once in a walk: the records behind it need not wait for
   * it. Throws where nothing can be known of them, or the service is in trouble as a whole.
   */
  #passOver(error: unknown): void {
    const { path } = this.#options
    const isFault = error instanceof ApiUnavailableError && Number(error.context.status) >= 500
    if (!isFault || !isWholeCollection(path)) throw this.#failure ?? error
    const rowsSoFar = (this.#rowsSoFar ?? 0) + this.#size
    const isMore = this.#size > 0 && rowsSoFar < (this.#total ?? Infinity)
    const isNumbered = readPageNumber(this.#url) === this.#number
    const isPassed = this.#failure === undefined && isMore && isNumbered
    this.#failure ??= withAdvice(error, this.#url)
    if (!isPassed) throw this.#failure
    const next = new URL(this.#url)
    next.searchParams.set('page[number]', String(this.#number + 1))
    this.#rowsSoFar = rowsSoFar
    this.#next = next.href
  }

  /** Steps to the next page; false after the last one. Throws when the paging does not end. */
  #goOn(): boolean {
    if (this.#next === undefined) return false
    this.#stopOn(this.#guard.stop(this.#total, this.#rowsSoFar ?? 0))
    this.#url = this.#imposeQuery(resolveSameOrigin(this.#client.baseUrl, this.#next, this.#url))
    this.#number = readPageNumber(this.#url) ?? this.#number + 1
    this.#stopOn(this.#guard.follow(comparable(this.#url)))
    return true
  }

  /**
   * One page, with as many of the includes as the service takes. Costs a request more for each
   * refusal.
   */
  async #get(): Promise<RawPageAnswer> {
    const { signal, purpose, counter, path } = this.#options
    for (;;) {
      const query = this.#includes.length === 0 ? {} : { include: this.#includes.join(',') }
      try {
        return await this.#client.getPage(this.#url, { query, signal, purpose, counter })
      } catch (error) {
        const fewer = dropRefusedIncludes(this.#includes, error)
        if (fewer === undefined) throw isWholeCollection(path) ? toListError(error) : error
        this.#includes = fewer
      }
    }
  }

  /**
   * `page[size]` is left as a link has it: a service that capped it counts its page numbers in its
   * own size.
   */
  #imposeQuery(url: URL): URL {
    const { query = {}, pageSize } = this.#options
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value))
    }
    if (pageSize !== undefined && !url.searchParams.has('page[size]')) {
      url.searchParams.set('page[size]', String(pageSize))
    }
    url.searchParams.delete('include')
    return url
  }

  #stopOn(reason: string | undefined): void {
    if (reason === undefined) return
    throw new PaginationLoopError(
      `GET ${this.#options.path}: the paging does not end: ${reason}. The walk is incomplete, and ` +
        `nothing is marked as gone. If every run ends so, tell the service: ` +
        `page[number]=${this.#number}`,
    )
  }
}

function isWholeCollection(path: string): boolean {
  return path.lastIndexOf('/') === 0
}

/**
 * A record can be gone, a collection cannot: its 404 means that the address is wrong, and must not
 * pass for "no records".
 */
function toListError(error: unknown): unknown {
  if (error instanceof ApiAuthError && error.context.status === 403) {
    const advice = 'If the key is right, ask the owner of the account for the right to this list.'
    return new ApiAuthError(`${error.message} ${advice}`, { context: error.context })
  }
  if (!(error instanceof ApiNotFoundError)) return error
  const hint =
    'Check that TRACKING_API_URL is the whole address, with the version at its end. Where the other ' +
    'lists answer, ask the service for this one.'
  return new ApiRequestError(`${error.message} ${hint}`, { status: 404, context: error.context })
}

function withAdvice(error: ApiUnavailableError, url: URL): ApiUnavailableError {
  const [number, size] = ['page[number]', 'page[size]'].map((name) => url.searchParams.get(name))
  const { message, retryAfterMs, context } = error
  return new ApiUnavailableError(
    `${message} If this page alone fails in every run, tell the service: page[number]=` +
      `${number}, page[size]=${size}; a preset file with a smaller pageSize puts fewer records on it.`,
    { cause: error, context, retryAfterMs },
  )
}

/** The same request in another spelling or order of parameters is the same page. */
function comparable(url: URL): string {
  const copy = new URL(url)
  copy.searchParams.sort()
  return copy.search
}

function readPageNumber(url: URL): number | undefined {
  const text = url.searchParams.get('page[number]') ?? ''
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined
}

/**
 * The includes for the next request after a refusal, or undefined when the error is not about the
 * request's parameters (then the caller must throw it). Names that the service complains of are
 * dropped; where it names none, the second half of the list, which is in order of priority. Also
 * undefined when it complains of a filter.
 */
export function dropRefusedIncludes(
  includes: readonly string[],
  error: unknown,
): readonly string[] | undefined {
  const isRefusal =
    error instanceof ApiRequestError && (error.status === 400 || error.status === 422)
  if (!isRefusal || includes.length === 0) return undefined
  const words = new Set(wordsOf(error.context.errors))
  const kept = includes.filter((name) => !words.has(name))
  const isNamed = kept.length < includes.length
  if (!isNamed && (words.has('filter') || words.has('filters'))) return undefined
  return isNamed ? kept : includes.slice(0, Math.floor(includes.length / 2))
}

/** All words in the texts of `errors[]`; a relation name, dots included, is one word. */
function wordsOf(errors: unknown): string[] {
  const details: unknown[] = Array.isArray(errors) ? errors : []
  const texts = details.flatMap((detail) => Object.values(membersOf(detail)))
  return texts
    .filter((text) => typeof text === 'string')
    .flatMap((text) => text.split(/[^\w.-]+/))
    .map((word) => word.replace(/\.$/, ''))
}
