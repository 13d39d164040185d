import type { IncomingMessage, ServerResponse } from 'node:http'

export type BodyProblem = 'too_large' | 'timeout' | 'busy' | 'aborted'

/** Memory that all bodies under way may take together. See `createBodyMemory`. */
export interface BodyMemory {
  /** False: there is none left. */
  take(bytes: number): boolean
  give(bytes: number): void
}

export interface BodyLimits {
  readonly maxBytes: number
  readonly timeoutMs: number
  readonly memory: BodyMemory
}

/** Five times the largest payload that the service's documentation shows. */
const FREE_BYTES = 64 * 1024

/**
 * The first 64 KiB of each body are free, so that large ones cannot keep ordinary ones out; what goes beyond comes from here. With 200 connections
 * all bodies together stay below 12.5 MiB and `bytes`.
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
 * Reads a request's body as raw bytes, never decompressed. One that announces too many bytes is not read at all, one that has no announced length is
 * read up to the limit and no further. What was read of a refused body is let go at once.
 */
export function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  { maxBytes, timeoutMs, memory }: BodyLimits,
): Promise<ReadBody | BodyProblem> {
  const announced = Number(request.headers['content-length'] ?? 0)
  if (announced > maxBytes) return Promise.resolve('too_large')
  if (request.headers.expect !== undefined) response.writeContinue()
  return new Promise((resolve) => {
    let chunks: Buffer[] = []
    let bytes = 0
    let taken = 0

    const release = (): void => {
      memory.give(taken)
      taken = 0
    }
    const finish = (problem?: BodyProblem): void => {
      clearTimeout(timer)
      request.off('data', onData).off('end', finish).off('close', onClose)
      if (problem === undefined) {
        resolve({ body: Buffer.concat(chunks, bytes), release })
        return
      }
      release()
      chunks = []
      resolve(problem)
    }
    const onData = (chunk: Buffer): void => {
      bytes += chunk.length
      if (bytes > maxBytes) {
        finish('too_large')
        return
      }
      const beyond = Math.max(0, bytes - FREE_BYTES) - taken
      if (beyond > 0) {
        if (!memory.take(beyond)) {
          finish('busy')
          return
        }
        taken += beyond
      }
      chunks.push(chunk)
    }
    const onClose = (): void => {
      finish('aborted')
    }
    const timer = setTimeout(finish, timeoutMs, 'timeout')
    request.on('data', onData).once('end', finish).once('close', onClose)
    // A connection that breaks off also says so as an error; it is told as `aborted`.
    request.on('error', () => undefined)
  })
}
