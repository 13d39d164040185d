import type { IncomingMessage, ServerResponse } from 'node:http'
import { toError } from '../../base/errors.js'
import { answer } from '../../http/answer.js'
import { createBodyMemory, readBody } from '../../http/read-body.js'
import { DEFAULT_RECEIVER_LIMITS } from '../receive/receive.js'

/** A request that came while a sample was waited for. */
export interface SampleCandidate {
  readonly path: string
  readonly rawHeaders: readonly string[]
  readonly body: Buffer
}

export interface SampleWait {
  readonly handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>
  /**
   * The sample; undefined when the time is over before it came. Rejects when the signal is aborted.
   */
  wait(timeoutMs: number, signal: AbortSignal): Promise<SampleCandidate | undefined>
  /** What else came, up to ten. */
  readonly others: readonly SampleCandidate[]
}

const MOST_OTHERS = 10

/**
 * Takes the first request that `isSample` accepts, with a 202. Everything else is answered 503: it
 * may be a real delivery, which the service then sends again when the receiver is back.
 */
export function createSampleWait(isSample: (candidate: SampleCandidate) => boolean): SampleWait {
  const { bodyBytes, bodyTimeoutMs, memoryBytes } = DEFAULT_RECEIVER_LIMITS
  const limits = {
    maxBytes: bodyBytes,
    timeoutMs: bodyTimeoutMs,
    memory: createBodyMemory(memoryBytes),
  }
  const others: SampleCandidate[] = []
  let accept: (candidate: SampleCandidate) => void = () => undefined
  const sample = new Promise<SampleCandidate>((resolve) => {
    accept = resolve
  })
  return {
    others,
    handle: async (request, response) => {
      const read = await readBody(request, response, limits)
      if (typeof read === 'string') {
        answer(request, response, { status: 503, error: 'unavailable' })
        return
      }
      const path = request.url?.split('?', 1)[0] ?? ''
      const candidate = { path, rawHeaders: request.rawHeaders, body: read.body }
      read.release()
      if (isSample(candidate)) {
        answer(request, response, { status: 202, result: 'received' })
        accept(candidate)
        return
      }
      if (others.length < MOST_OTHERS) others.push(candidate)
      answer(request, response, { status: 503, error: 'unavailable' })
    },
    wait: async (timeoutMs, signal) => {
      signal.throwIfAborted()
      let end: () => void = () => undefined
      const over = new Promise<undefined>((resolve, reject) => {
        const timer = setTimeout(resolve, timeoutMs, undefined)
        const onAbort = (): void => {
          reject(toError(signal.reason))
        }
        signal.addEventListener('abort', onAbort)
        end = () => {
          clearTimeout(timer)
          signal.removeEventListener('abort', onAbort)
        }
      })
      try {
        return await Promise.race([sample, over])
      } finally {
        end()
      }
    },
  }
}
