import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { Dispatcher } from 'undici'
import { ApiRefusedError } from '../../base/errors.js'
import type { Clock } from '../../base/retry.js'

/**
 * Limits of one exchange in milliseconds. They guard real sockets and therefore run in real time,
 * even if the client has another clock: a virtual clock that races must not cut a connection.
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

/**
 * Fifty times the largest page seen. An answer that swells while it is unpacked, or never ends, is
 * cut off here.
 */
export const LARGEST_ANSWER_BYTES = 32 * 1024 * 1024

export type HttpMethod = 'GET' | 'POST' | 'PATCH' | 'DELETE'

export interface Exchange {
  readonly method: HttpMethod
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  readonly signal: AbortSignal | undefined
}

/** One value for each name, in lower case. */
export type AnswerHeaders = Readonly<Partial<Record<string, string>>>

/**
 * Headers as they came: a gateway may send one twice or empty. The first value that is not empty
 * counts; a header without one is absent.
 */
export function singleHeaders(headers: IncomingHttpHeaders): AnswerHeaders {
  const single: Record<string, string> = Object.create(null) as Record<string, string>
  for (const [name, value] of Object.entries(headers)) {
    const first = [value].flat().find((one) => one !== undefined && one.trim() !== '')
    if (first !== undefined) single[name.toLowerCase()] = first.trim()
  }
  return single
}

export interface RawAnswer {
  readonly status: number
  readonly headers: AnswerHeaders
  /** After decompression. */
  readonly body: Buffer
  readonly startedAt: Date
  /** The arrival of the head of the answer. */
  readonly answeredAt: Date
}

class TotalTimeoutError extends Error {
  override readonly name = 'TotalTimeoutError'
  readonly code = 'TOTAL_TIMEOUT'
}

export interface ExchangeOptions {
  readonly clock: Clock
  readonly timeouts: ApiTimeouts
  /** The limit of one answer, after decompression. */
  readonly maxBytes: number
}

/** A failure after the head of the answer had come; `cause` is the library's error. */
export class CutAnswerError extends Error {
  override readonly name = 'CutAnswerError'
}

/**
 * Sends one request and reads the whole answer, once. Throws the library's error,
 * `TotalTimeoutError` or the signal's reason; within a body the same inside a `CutAnswerError`, or
 * `ApiRefusedError`.
 */
export async function exchange(
  connections: Dispatcher,
  request: Exchange,
  { clock, timeouts, maxBytes }: ExchangeOptions,
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
    const answer = await connections.request({
      origin: url.origin,
      method,
      path: `${url.pathname}${url.search}`,
      headers: request.headers,
      body: request.body ?? null,
      signal: controller.signal,
      headersTimeout: timeouts.headersMs,
      bodyTimeout: timeouts.bodyIdleMs,
    })
    const answeredAt = clock()
    const { statusCode: status } = answer
    const headers = singleHeaders(answer.headers)
    const encoding = headers['content-encoding']
    const body = await readAnswer(answer.body, encoding, maxBytes).catch((error: unknown) => {
      throw error instanceof ApiRefusedError ? error : new CutAnswerError('', { cause: error })
    })
    return { status, headers, body, startedAt, answeredAt }
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', stop)
  }
}

const unpackGzip = promisify(gunzip)

/** Deflate packs no better than this. */
const MOST_TIMES_PACKED = 1_032

/**
 * Reads a body to its end and unpacks it. Throws `ApiRefusedError` for more than `maxBytes` and for
 * an encoding that was not asked for; errors of the socket or of the unpacking pass through.
 * Resolves to the bytes and not to their text: a large text would stay in memory for long.
 */
async function readAnswer(source: Readable, encoding = '', maxBytes: number): Promise<Buffer> {
  // A body that is refused is destroyed, and emits an error that nobody else listens for.
  source.on('error', () => undefined)
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    if (!/^(?:|identity|(?:x-)?gzip)$/i.test(encoding)) {
      throw new ApiRefusedError(`an answer is packed as "${encoding}", which was not asked for`)
    }
    for await (const chunk of source) {
      bytes += (chunk as Buffer).length
      if (bytes > maxBytes) throw tooLarge(maxBytes)
      chunks.push(chunk as Buffer)
    }
  } finally {
    source.destroy()
  }
  const body = Buffer.concat(chunks, bytes)
  return bytes > 0 && /gzip$/i.test(encoding) ? unpack(body, maxBytes) : body
}

/**
 * In one piece: the end of a gzip file says its size, so that one buffer takes it and nothing is
 * copied. An end that lies costs at most `maxBytes` of address space, or more pieces.
 */
async function unpack(packed: Buffer, maxBytes: number): Promise<Buffer> {
  const said = packed.length < 4 ? 0 : packed.readUInt32LE(packed.length - 4)
  const chunkSize = 1_024 + Math.min(said, maxBytes, packed.length * MOST_TIMES_PACKED)
  try {
    return await unpackGzip(packed, { chunkSize, maxOutputLength: maxBytes })
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException
    throw code === 'ERR_BUFFER_TOO_LARGE' ? tooLarge(maxBytes) : thrown
  }
}

function tooLarge(maxBytes: number): ApiRefusedError {
  return new ApiRefusedError(`an answer is larger than ${maxBytes} bytes`)
}
