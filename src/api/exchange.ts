import type { IncomingHttpHeaders } from 'node:http'
import { Readable, type Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib'
import type { Pool } from 'undici'
import { ApiRefusedError } from '../base/errors.js'
import type { Clock } from '../base/retry.js'

/**
 * Limits of one exchange in milliseconds. They guard real sockets and therefore run in real time,
 * whatever clock the client was given: a virtual clock that races must not cut a connection.
 */
export interface ApiTimeouts {
  readonly connectMs: number
  /** From the request sent to the head of the answer. */
  readonly headersMs: number
  /** The longest silence within a body. */
  readonly bodyIdleMs: number
  /** The whole exchange: stops a body that drips for ever. */
  readonly totalMs: number
}

/** A healthy page takes one or two seconds. The HTTP library's own limits would be 300 s. */
export const defaultTimeouts: ApiTimeouts = {
  connectMs: 10_000,
  headersMs: 30_000,
  bodyIdleMs: 30_000,
  totalMs: 120_000,
}

export interface BodyLimits {
  /** Most bytes of one answer, after decompression. */
  readonly maxResponseBytes: number
  /**
   * An answer may not grow more than this on decompression. Looked at only past `ratioFreeBytes`.
   */
  readonly maxRatio: number
  readonly ratioFreeBytes: number
}

/**
 * 32 MiB is fifty times the largest page seen. 100:1 is five times what gzip reaches on real pages;
 * a bomb reaches 1000:1. Below 1 MiB nobody is hurt.
 */
export const defaultBodyLimits: BodyLimits = {
  maxResponseBytes: 32 * 1024 * 1024,
  maxRatio: 100,
  ratioFreeBytes: 1024 * 1024,
}

export type HttpMethod = 'GET' | 'POST' | 'PATCH' | 'DELETE'

export interface Exchange {
  readonly method: HttpMethod
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  readonly signal: AbortSignal | undefined
}

export interface RawAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** After decompression. */
  readonly body: Buffer
  readonly startedAt: Date
  /** When the head of the answer had come. */
  readonly answeredAt: Date
}

class TotalTimeoutError extends Error {
  override readonly name = 'TotalTimeoutError'
  readonly code = 'TOTAL_TIMEOUT'
}

export interface ExchangeOptions {
  readonly clock: Clock
  readonly timeouts: ApiTimeouts
  readonly bodyLimits: BodyLimits
}

/**
 * Thrown for a failure after the head of the answer had come; `cause` is what the library threw.
 */
export class CutAnswerError extends Error {
  override readonly name = 'CutAnswerError'
}

/**
 * Sends one request and reads the whole answer, once. The pool knows one origin only, so nothing
 * can be sent elsewhere. Throws what the library threw, `TotalTimeoutError` or the signal's reason;
 * within a body the same inside a `CutAnswerError`, or `ApiRefusedError`.
 */
export async function exchange(
  pool: Pool,
  request: Exchange,
  { clock, timeouts, bodyLimits }: ExchangeOptions,
): Promise<RawAnswer> {
  const { method, url, signal } = request
  signal?.throwIfAborted()
  const controller = new AbortController()
  const stop = (): void => {
    controller.abort(signal?.reason)
  }
  // Not AbortSignal.any: on Node 20 a signal that lives as long as the run would keep every derived
  // one.
  signal?.addEventListener('abort', stop, { once: true })
  const timer = setTimeout(() => {
    controller.abort(new TotalTimeoutError(`no complete answer within ${timeouts.totalMs} ms`))
  }, timeouts.totalMs)
  try {
    const startedAt = clock()
    const answer = await pool.request({
      method,
      path: `${url.pathname}${url.search}`,
      headers: request.headers,
      body: request.body ?? null,
      signal: controller.signal,
      headersTimeout: timeouts.headersMs,
      bodyTimeout: timeouts.bodyIdleMs,
    })
    const answeredAt = clock()
    const encoding = answer.headers['content-encoding']
    const body = await readResponseBody(answer.body, encoding, bodyLimits).catch(
      (error: unknown) => {
        throw error instanceof ApiRefusedError ? error : new CutAnswerError('', { cause: error })
      },
    )
    const { statusCode: status, headers } = answer
    return { status, headers, body, startedAt, answeredAt }
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', stop)
  }
}

/**
 * Reads a body to its end, decompressing as it comes, so that a bomb is noticed while it swells and
 * not after. Throws `ApiRefusedError` for more than the limits allow, for nested and for unknown
 * encodings; errors of the socket or of the decompressor fly through. The source is destroyed then.
 * Resolves to the bytes and not to their text: a large text would stay in memory for long.
 */
async function readResponseBody(
  source: Readable,
  contentEncoding: string | readonly string[] | undefined,
  limits: BodyLimits,
): Promise<Buffer> {
  // A destroyed body still emits an error; whoever reads it hears of it, and after a refusal nobody
  // does.
  source.on('error', () => undefined)
  const encodings = listEncodings(contentEncoding)
  const [encoding, nested] = encodings
  if (nested !== undefined) {
    source.destroy()
    throw new ApiRefusedError(`an answer is compressed more than once (${encodings.join(', ')})`)
  }
  return encoding === undefined
    ? collect(source, limits, () => Infinity)
    : readCompressed(source, encoding, limits)
}

function listEncodings(header: string | readonly string[] | undefined): string[] {
  const text = typeof header === 'string' ? header : (header ?? []).join(',')
  const names = text.split(',').map((name) => name.trim().toLowerCase())
  return names.filter((name) => name !== '' && name !== 'identity')
}

async function readCompressed(
  source: Readable,
  encoding: string,
  limits: BodyLimits,
): Promise<Buffer> {
  const chunks = source[Symbol.asyncIterator]() as AsyncIterator<Buffer, undefined>
  const first = (await chunks.next()).value
  if (first === undefined) return Buffer.alloc(0)
  const decompressor = createDecompressor(encoding, first)
  if (decompressor === undefined) {
    source.destroy()
    throw new ApiRefusedError(`an answer has the unknown encoding ${JSON.stringify(encoding)}`)
  }
  let compressedBytes = 0
  const count = (bytes: number): void => {
    compressedBytes += bytes
  }
  const counted = Readable.from(countBytes(first, chunks, count), { objectMode: false })
  counted.once('error', (error) => decompressor.destroy(error))
  counted.pipe(decompressor)
  try {
    return await collect(decompressor, limits, () => compressedBytes)
  } finally {
    counted.destroy()
    source.destroy()
  }
}

async function* countBytes(
  first: Buffer,
  rest: AsyncIterator<Buffer, undefined>,
  count: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  for (let chunk: Buffer | undefined = first; chunk !== undefined;) {
    count(chunk.length)
    yield chunk
    chunk = (await rest.next()).value
  }
}

/** Undefined for an encoding we never asked for. */
function createDecompressor(encoding: string, first: Buffer): Transform | undefined {
  const options = { chunkSize: 64 * 1024 }
  switch (encoding) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip(options)
    case 'br':
      return createBrotliDecompress(options)
    case 'deflate':
      // Some servers send raw deflate under this name. RFC 1950: a zlib header's first byte ends in
      // 8.
      return (first[0] ?? 0) % 16 === 8 ? createInflate(options) : createInflateRaw(options)
    default:
      return undefined
  }
}

async function collect(
  source: Readable,
  limits: BodyLimits,
  compressedBytes: () => number,
): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of source) {
    const part = chunk as Buffer
    bytes += part.length
    if (bytes > limits.maxResponseBytes) {
      throw new ApiRefusedError(`an answer is larger than ${limits.maxResponseBytes} bytes`)
    }
    if (bytes > limits.ratioFreeBytes && bytes > limits.maxRatio * compressedBytes()) {
      throw new ApiRefusedError(`an answer grows more than ${limits.maxRatio} times on unpacking`)
    }
    chunks.push(part)
  }
  return Buffer.concat(chunks, bytes)
}
