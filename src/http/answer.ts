import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { createChunkCheck } from './read-body.js'

export type Answer = {
  readonly status: number
  readonly headers?: OutgoingHttpHeaders
} & ({ readonly error: string } | { readonly result: string })

export interface TextAnswer {
  readonly text: string
  readonly type: string
  /** 200 if absent. */
  readonly status?: number
  readonly headers?: OutgoingHttpHeaders
}

/** After its request was refused, a sender may go on this long, and this much of it is read. */
const LINGER_MS = 1_000
const LINGER_BYTES = 256 * 1024
/** At most this many senders may go on; the others are cut off. */
const MOST_LINGERING = 16

let lingering = 0

/**
 * Answers with one word in a JSON object. A request whose body was not read to its end is the last
 * one on its connection; some more of the body is read and thrown away, because a sender that is
 * cut off while it sends may never see the answer.
 */
export function answer(request: IncomingMessage, response: ServerResponse, given: Answer): void {
  const { status, headers, ...word } = given
  if (response.destroyed || request.socket.destroyed) return
  const body = Buffer.from(`${JSON.stringify(word)}\n`)
  const isRead = request.complete || !bringsBody(request)
  if (!isRead) response.shouldKeepAlive = false
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': body.length,
    'cache-control': 'no-store',
    ...headers,
  })
  // A sender that waits for `100 Continue` sends no body now.
  if (isRead || request.headers.expect !== undefined || lingering >= MOST_LINGERING) {
    response.end(body)
    return
  }
  response.write(body)
  lingering += 1
  let isLingering = true
  const end = (): void => {
    if (!isLingering) return
    isLingering = false
    lingering -= 1
    clearTimeout(timer)
    response.end()
  }
  const timer = setTimeout(end, LINGER_MS)
  request.once('close', end)
  request.once('end', end)
  let discarded = 0
  const isInSmallChunks = createChunkCheck()
  request.on('data', (chunk: Buffer) => {
    discarded += chunk.length
    if (isInSmallChunks(chunk)) request.destroy()
    else if (discarded > LINGER_BYTES) request.pause()
  })
}

/** Answers a GET or HEAD with a text that no cache may keep. */
export function answerText(
  response: ServerResponse,
  { text, type, status = 200, headers }: TextAnswer,
): void {
  response.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    ...headers,
  })
  response.end(text)
}

function bringsBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}
