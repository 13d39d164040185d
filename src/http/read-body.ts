import type { IncomingMessage, ServerResponse } from 'node:http'

export type BodyProblem = 'too_large' | 'small_chunks' | 'timeout' | 'busy' | 'aborted'

/** Memory that all bodies under way share. See `createBodyMemory`. */
export interface BodyMemory {
  /** False when too little is left. */
  take(bytes: number): boolean
  give(bytes: number): void
}

export interface BodyLimits {
  readonly maxBytes: number
  readonly timeoutMs: number
  readonly memory: BodyMemory
}

/** More than the largest payload that the service's documentation shows. */
const FREE_BYTES = 16 * 1024

/**
 * The first 16 KiB of each body are free, so that large ones cannot keep ordinary ones out; what
 * goes beyond comes from here. With 200 connections all bodies together take at most 3.2 MiB and
 * `bytes`.
 */
export function createBodyMemory(bytes: number): BodyMemory {
  let left = bytes
  return {
    take: (wanted) => {
      if (wanted > left) return false
      left -= wanted
      return true
    },
    give: (returned) => {
      left += returned
    },
  }
}

export interface ReadBody {
  readonly body: Buffer
  /** To be called when the body is no longer needed. */
  release(): void
}

/**
 * Reads a request's body as raw bytes, never decompressed. One that announces too many bytes is not
 * read at all, one without an announced length is read up to the limit. Chunks are copied and let
 * go at once: each is an object of some hundred bytes, whatever it holds.
 */
export function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  { maxBytes, timeoutMs, memory }: BodyLimits,
): Promise<ReadBody | BodyProblem> {
  const announced = Number(request.headers['content-length'] ?? maxBytes)
  if (announced > maxBytes) return Promise.resolve('too_large')
  if (request.headers.expect !== undefined) response.writeContinue()
  return new Promise((resolve) => {
    let body = Buffer.alloc(0)
    let bytes = 0
    let taken = 0
    const isInSmallChunks = createChunkCheck()

    const release = (): void => {
      memory.give(taken)
      taken = 0
    }
    /** Makes room, doubling it if need be; false when no memory is left. */
    const grow = (needed: number): boolean => {
      if (needed <= body.length) return true
      const size = Math.max(needed, Math.min(announced, Math.max(FREE_BYTES, 2 * body.length)))
      const beyond = Math.max(0, size - FREE_BYTES) - taken
      if (beyond > 0) {
        if (!memory.take(beyond)) return false
        taken += beyond
      }
      const larger = Buffer.allocUnsafeSlow(size)
      body.copy(larger, 0, 0, bytes)
      body = larger
      return true
    }
    const finish = (problem?: BodyProblem): void => {
      clearTimeout(timer)
      request.off('data', onData).off('end', finish).off('close', onClose)
      if (problem === undefined) {
        resolve({ body: body.subarray(0, bytes), release })
        return
      }
      release()
      body = Buffer.alloc(0)
      resolve(problem)
    }
    const onData = (chunk: Buffer): void => {
      const length = bytes + chunk.length
      if (length > maxBytes) finish('too_large')
      else if (isInSmallChunks(chunk)) finish('small_chunks')
      else if (!grow(length)) finish('busy')
      else {
        chunk.copy(body, bytes)
        bytes = length
      }
    }
    const onClose = (): void => {
      finish('aborted')
    }
    const timer = setTimeout(finish, timeoutMs, 'timeout')
    request.on('data', onData).once('end', finish).once('close', onClose)
    // A connection that breaks off also emits an error; `aborted` says it already.
    request.on('error', () => undefined)
  })
}

/** The first chunks of a body may be of any size. */
const FREE_CHUNKS = 512
const SMALLEST_AVERAGE_BYTES = 64

/**
 * Takes the chunks of one body. Returns true as soon as they are so many and so small that reading
 * costs too much: a megabyte in chunks of one byte takes more than a second.
 */
export function createChunkCheck(): (chunk: Buffer) => boolean {
  let chunks = 0
  let bytes = 0
  return (chunk) => {
    chunks += 1
    bytes += chunk.length
    return chunks > FREE_CHUNKS && bytes < chunks * SMALLEST_AVERAGE_BYTES
  }
}
