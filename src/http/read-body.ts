import type { IncomingMessage, ServerResponse } from 'node:http'

export type BodyProblem = 'too_large' | 'length' | 'timeout' | 'busy' | 'aborted'

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
 * goes beyond comes from here. With 500 connections all bodies together take at most 8 MiB and
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

/** Of a body that does not announce its length, as one in chunks. The service may send such. */
const MOST_UNANNOUNCED_BYTES = 64 * 1024
/** Also for such a body: each piece costs the parser the same, with any contents. */
const MOST_PIECES = 1_024

/**
 * Reads a request's body as raw bytes, never decompressed. A body that announces too many bytes is
 * not read at all; a body without an announced length may be small, and is read up to its own
 * limit. Chunks are copied and released at once: each is an object of some hundred bytes, with any
 * contents.
 */
export function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  { maxBytes, timeoutMs, memory }: BodyLimits,
): Promise<ReadBody | BodyProblem> {
  const length = request.headers['content-length']
  const most = length === undefined ? Math.min(MOST_UNANNOUNCED_BYTES, maxBytes) : Number(length)
  if (most > maxBytes) return Promise.resolve('too_large')
  if (request.headers.expect !== undefined) response.writeContinue()
  return new Promise((resolve) => {
    let body = Buffer.alloc(0)
    let bytes = 0
    let taken = 0
    let pieces = 0

    const release = (): void => {
      memory.give(taken)
      taken = 0
    }
    /** Makes room, doubling it if need be; false when no memory is left. */
    const grow = (needed: number): boolean => {
      if (needed <= body.length) return true
      const size = Math.max(needed, Math.min(most, Math.max(FREE_BYTES, 2 * body.length)))
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
      const needed = bytes + chunk.length
      pieces += 1
      // The parser itself ends a body at the length that was announced.
      if (length === undefined && (needed > most || pieces > MOST_PIECES)) finish('length')
      else if (!grow(needed)) finish('busy')
      else {
        chunk.copy(body, bytes)
        bytes = needed
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
