import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'

export type Answer = {
  readonly status: number
  readonly headers?: OutgoingHttpHeaders
} & ({ readonly error: string } | { readonly result: string })

export interface TextAnswer {
  readonly text: string | Uint8Array
  readonly type: string
  /** 200 if absent. */
  readonly status?: number
  readonly headers?: OutgoingHttpHeaders
}

/**
 * Answers with one word in a JSON object. A request whose body was not read to its end is the last
 * one on its connection.
 */
export function answer(request: IncomingMessage, response: ServerResponse, given: Answer): void {
  const { status, headers, ...word } = given
  if (response.destroyed || request.socket.destroyed) return
  const body = Buffer.from(`${JSON.stringify(word)}\n`)
  if (!request.complete && bringsBody(request)) response.shouldKeepAlive = false
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': body.length,
    'cache-control': 'no-store',
    ...headers,
  })
  response.end(body)
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
