import { createHash } from 'node:crypto'
import {
  ApiNotFoundError,
  ApiRequestError,
  ApiUnavailableError,
  PaginationLoopError,
} from '../base/errors.js'
import type { Document } from '../jsonapi/document.js'
import type { RawRecord, RecordIdentity } from '../jsonapi/raw-record.js'
import { createLoopGuard, readNextLink, readTotal } from '../jsonapi/pagination.js'
import type { CallOptions } from './call.js'
import type { ApiAnswer } from './call-runner.js'
import type { ApiClient } from './client.js'
import { dropRefusedIncludes } from './includes.js'
import { resolveSameOrigin } from './origin.js'

/** One answer of a list, and what it says about the walk. */
export interface Page {
  /** `page[number]` of the request. */
  readonly number: number
  /** Without the includes, which may change from page to page. */
  readonly url: string
  /** Split into its records, which are not parsed. */
  readonly document: Document<RawRecord>
  /** Of the records of `data`. */
  readonly rows: readonly RecordIdentity[]
  /** See `ApiAnswer`. */
  readonly observedAt: Date
  readonly bytes: number
  /**
   * What the service says there is in all: a hint, and absent when it cannot be true as a count.
   */
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
  /** The includes the page was asked with, after what the service refused was dropped. */
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

/** The document of a page, parsed. Throws `ApiUnavailableError` when a record is no JSON. */
export function parsePage({
  document,
  number,
  url,
}: Pick<Page, 'document' | 'number' | 'url'>): Document {
  const parse = (record: RawRecord): unknown => record.parse()
  try {
    return { ...document, data: document.data.map(parse), included: document.included.map(parse) }
  } catch {
    // The parser's message quotes the body, so it is not kept as the cause.
    throw new ApiUnavailableError(
      `page ${number} of ${new URL(url).pathname} holds a record that is no JSON`,
    )
  }
}

export interface ListPagesOptions extends ListOptions {
  readonly path: string
}

/**
 * Walks a list by its `links.next`, one request a page, made when the page is asked for; nothing is
 * read ahead and no page is kept.
 *
 * The walk ends where `links.next` is null, absent or empty, even if the total says otherwise:
 * guessing at a page that the service does not name could read rows twice or past the end;
 * `isShort` tells the caller. It also ends at an empty page once the total has been reached. Every
 * link must stay on the service and on this very list (`ApiRefusedError` else); what it drops of
 * our query is put back. Throws `PaginationLoopError` after the page that proved the loop was
 * handed over, and whatever `ApiClient.get` throws.
 */
export async function* listPages(
  client: ApiClient,
  options: ListPagesOptions,
): AsyncGenerator<Page, void, undefined> {
  const guard = createLoopGuard(digest)
  let number = options.startPage ?? 1
  let url = firstUrl(client, options, number)
  let includes = options.includes ?? []
  let rowsSoFar: number | undefined
  for (;;) {
    stopOn(guard.follow(comparable(url)), options)
    const step = await takeStep(client, { number, url, includes, rowsSoFar }, options)
    const { keys, total, next } = step
    includes = step.includes
    rowsSoFar = step.rowsSoFar
    yield step.handOver()
    if (next === undefined) return
    stopOn(guard.see({ keys, total, rowsSoFar }), options)
    url = nextUrl(client, url, next, options)
    number = readPageNumber(url) ?? number + 1
  }
}

/** Where a walk stands before a page. */
interface Stand {
  readonly number: number
  readonly url: URL
  readonly includes: readonly string[]
  readonly rowsSoFar: number | undefined
}

/** What a walk keeps of a page. */
interface Step extends Pick<Page, 'includes' | 'rowsSoFar' | 'total'> {
  /** Undefined after the last page. */
  readonly next: string | undefined
  readonly keys: readonly string[]
  /**
   * Once: the page is the caller's alone then, and is not kept in memory while the next one comes.
   */
  handOver(): Page
}

async function takeStep(client: ApiClient, stand: Stand, options: ListPagesOptions): Promise<Step> {
  const { number, url } = stand
  const { answer, includes } = await getWithIncludes(client, url, stand.includes, options)
  const { observedAt, bytes } = answer
  const document = answer.document as Document<RawRecord>
  const total = readTotal(document)
  const next = readNextLink(document)
  const rows = document.data.map(({ identity }) => identity)
  // A page with a successor is full and tells the size in force; the last one may be short.
  const size = next === undefined ? (options.pageSize ?? rows.length) : rows.length
  const rowsSoFar = (stand.rowsSoFar ?? (number - 1) * size) + rows.length
  const isEnd = rows.length === 0 && total !== undefined && rowsSoFar >= total
  const isLast = next === undefined || isEnd
  const isShort = isLast && total !== undefined && total > rowsSoFar
  const facts = { number, url: url.href, document, rows, observedAt, bytes, total }
  const pages = [{ ...facts, rowsSoFar, isLast, isShort, includes }]
  return {
    includes,
    rowsSoFar,
    total,
    next: isLast ? undefined : next,
    keys: rows.map(({ type, id }) => JSON.stringify([type, id])),
    handOver: () => pages.pop() as Page,
  }
}

function firstUrl(client: ApiClient, options: ListPagesOptions, startPage: number): URL {
  const url = resolveSameOrigin(
    client.baseUrl,
    `${client.baseUrl.href.replace(/\/$/, '')}${options.path}`,
  )
  url.searchParams.set('page[number]', String(startPage))
  return imposeQuery(url, options)
}

/**
 * `page[size]` is left as the link has it: a service that capped it counts its page numbers in its
 * own size.
 */
function nextUrl(client: ApiClient, current: URL, next: string, options: ListPagesOptions): URL {
  const collectionPath = current.pathname
  const url = resolveSameOrigin(client.baseUrl, next, { from: current, collectionPath })
  return imposeQuery(url, options)
}

function imposeQuery(url: URL, { query = {}, pageSize }: ListPagesOptions): URL {
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, String(value))
  }
  if (pageSize !== undefined && !url.searchParams.has('page[size]')) {
    url.searchParams.set('page[size]', String(pageSize))
  }
  url.searchParams.delete('include')
  return url
}

/**
 * One page, with as many of the includes as the service takes. Costs a request more for each
 * refusal.
 */
async function getWithIncludes(
  client: ApiClient,
  url: URL,
  wanted: readonly string[],
  options: ListPagesOptions,
): Promise<{ readonly answer: ApiAnswer; readonly includes: readonly string[] }> {
  const { signal, purpose, counter } = options
  let includes = wanted
  for (;;) {
    const query = includes.length === 0 ? {} : { include: includes.join(',') }
    try {
      const call = { query, signal, purpose, counter, expect: 'list', areRecordsRaw: true } as const
      const answer = await client.get(url, call)
      return { answer, includes }
    } catch (error) {
      const fewer = dropRefusedIncludes(includes, error)
      if (fewer === undefined) throw isWholeCollection(options.path) ? toListError(error) : error
      includes = fewer
    }
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
  if (!(error instanceof ApiNotFoundError)) return error
  const hint = 'Check that TRACKING_API_URL is the whole address, with the version at its end.'
  return new ApiRequestError(`${error.message} ${hint}`, { status: 404, context: error.context })
}

function stopOn(reason: string | undefined, { path }: ListPagesOptions): void {
  if (reason === undefined) return
  throw new PaginationLoopError(
    `GET ${path}: the paging does not end, ${reason}. The walk is incomplete.`,
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

/** 72 bits: at 100,000 pages two of them meet by accident once in 10^12 walks. */
function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 12)
}
