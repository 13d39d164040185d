import { request as requestHttp, Agent as HttpAgent, type ClientRequest } from 'node:http'
import { request as requestHttps, Agent as HttpsAgent } from 'node:https'

export interface WebhookPost {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** The result of one request: a status, or the reason why there was none. */
export interface PostOutcome {
  readonly status: number | null
  readonly error: string | null
}

/** Sends requests over kept connections. */
export interface Poster {
  /** Never rejects. Redirects are not followed; the answer's body is read and thrown away. */
  post(post: WebhookPost): Promise<PostOutcome>
  /** Ends every request on the way and every kept connection. */
  close(): void
}

export function createPoster(timeoutMs: number): Poster {
  const agents = {
    'http:': new HttpAgent({ keepAlive: true }),
    'https:': new HttpsAgent({ keepAlive: true }),
  }
  const underway = new Set<ClientRequest>()
  let closed: Error | undefined

  const attempt = (post: WebhookPost): Promise<PostOutcome & { isStale: boolean }> =>
    new Promise((resolve) => {
      let request: ClientRequest | undefined
      let timer: NodeJS.Timeout | undefined
      const settle = (status: number | null, error: string | null, isStale = false): void => {
        clearTimeout(timer)
        if (request !== undefined) underway.delete(request)
        resolve({ status, error, isStale })
      }
      try {
        const url = new URL(post.url)
        if (url.protocol !== 'http:' && url.protocol !== 'https:') {
          settle(null, `${url.protocol} is not sent to.`)
          return
        }
        const isSecure = url.protocol === 'https:'
        const sent = (isSecure ? requestHttps : requestHttp)(url, {
          method: 'POST',
          agent: agents[url.protocol],
          headers: { ...post.headers, 'content-length': String(post.body.length) },
        })
        request = sent
        underway.add(sent)
        timer = setTimeout(() => {
          sent.destroy(new Error(`No answer within ${timeoutMs} ms.`))
        }, timeoutMs).unref()
        let hasAnswer = false
        sent.on('response', (response) => {
          hasAnswer = true
          response.resume()
          response.on('end', () => {
            settle(response.statusCode ?? null, null)
          })
          response.on('error', (error) => {
            settle(null, error.message)
          })
          response.on('close', () => {
            settle(null, 'The answer was cut off.')
          })
        })
        sent.on('error', (error) => {
          const code = 'code' in error ? error.code : undefined
          const isStale =
            closed === undefined && !hasAnswer && sent.reusedSocket && code === 'ECONNRESET'
          settle(null, error.message, isStale)
        })
        sent.end(post.body)
      } catch (thrown) {
        settle(null, thrown instanceof Error ? thrown.message : 'The request could not be made.')
      }
    })

  return {
    post: async (post) => {
      if (closed !== undefined) return { status: null, error: closed.message }
      let outcome = await attempt(post)
      // The receiver closed a kept connection at the moment it was used, which is not a failure of
      // this request.
      while (outcome.isStale) outcome = await attempt(post)
      return { status: outcome.status, error: outcome.error }
    },
    close: () => {
      closed = new Error('The simulator was closed.')
      for (const request of underway) request.destroy(closed)
      for (const agent of Object.values(agents)) agent.destroy()
    },
  }
}
