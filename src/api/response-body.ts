import { Readable, type Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib'
import { ApiRefusedError } from '../base/errors.js'

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

/**
 * Reads a body to its end, decompressing as it comes, so that a bomb is noticed while it swells and
 * not after. Throws `ApiRefusedError` for more than the limits allow, for nested and for unknown
 * encodings; errors of the socket or of the decompressor fly through. The source is destroyed then.
 * Resolves to the bytes and not to their text: a large text would stay in memory for long.
 */
export async function readResponseBody(
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
