import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import type { ContentFault, DeliveryFault, DocumentFault, FaultRequest } from './faults.js'

/** An answer as it goes over the wire. */
export interface Outgoing {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[]>>
  readonly body: Buffer
  /** Node would add a `Date` of the real clock otherwise. */
  readonly hasDate: boolean
}

const MEBIBYTE = 1_048_576
const HTML = '<!doctype html><html><head><title>Sign in</title></head><body>Sign in</body></html>'

/** The document after a fault; other parts of it stay as they are. */
export function faultyDocument(
  document: unknown,
  fault: DocumentFault,
  request: FaultRequest,
): unknown {
  switch (fault.kind) {
    case 'errorsUnder200':
      return { errors: [{ status: '500', title: 'Internal Server Error' }] }
    case 'transform':
      return fault.apply(document, request)
    case 'wrongTotal':
      return withMember(document, 'meta', 'total', fault.total)
    case 'nextLink': {
      const url = typeof fault.url === 'function' ? fault.url(request) : fault.url
      return withMember(document, 'links', 'next', url)
    }
    default:
      return fault satisfies never
  }
}

/** Undefined removes the member. */
function withMember(document: unknown, part: string, name: string, value: unknown): unknown {
  if (typeof document !== 'object' || document === null) return document
  const old = (document as Record<string, unknown>)[part]
  const others = Object.entries(typeof old === 'object' && old !== null ? old : {}).filter(
    ([member]) => member !== name,
  )
  const members = value === undefined ? others : [...others, [name, value]]
  return { ...document, [part]: Object.fromEntries(members) as unknown }
}

export function faultyContent(outgoing: Outgoing, fault: ContentFault): Outgoing {
  const { headers, body } = outgoing
  switch (fault.kind) {
    case 'status': {
      const text =
        fault.body ?? JSON.stringify({ errors: [{ status: String(fault.status), title: 'Fault' }] })
      const contentType = fault.contentType ?? headers['content-type'] ?? 'application/json'
      return {
        ...outgoing,
        status: fault.status,
        headers: { ...headers, 'content-type': contentType, ...fault.headers },
        body: Buffer.from(text),
      }
    }
    case 'redirect':
      return {
        ...outgoing,
        status: fault.status,
        headers: { ...headers, location: fault.location },
        body: Buffer.alloc(0),
      }
    case 'html':
      return {
        ...outgoing,
        status: fault.status ?? 200,
        headers: { ...headers, 'content-type': 'text/html; charset=utf-8' },
        body: Buffer.from(HTML),
      }
    case 'empty':
      return { ...outgoing, status: fault.status ?? 200, body: Buffer.alloc(0) }
    case 'bom':
      return { ...outgoing, body: Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), body]) }
    case 'gzipBomb':
      return {
        ...outgoing,
        headers: { ...headers, 'content-encoding': 'gzip' },
        body: gzipBomb(fault.mebibytes),
      }
    case 'dateHeader':
      return withDate(outgoing, fault.value)
    case 'headers':
      return { ...outgoing, headers: { ...headers, ...fault.set }, hasDate: false }
    default:
      return fault satisfies never
  }
}

function withDate(
  outgoing: Outgoing,
  value: string | null | { readonly offsetMs: number },
): Outgoing {
  if (value === null) {
    const headers = Object.fromEntries(
      Object.entries(outgoing.headers).filter(([name]) => name !== 'date'),
    )
    return { ...outgoing, headers, hasDate: false }
  }
  const was = Date.parse(String(outgoing.headers.date))
  const date = typeof value === 'string' ? value : new Date(was + value.offsetMs).toUTCString()
  return { ...outgoing, headers: { ...outgoing.headers, date } }
}

/** Gzip members may follow one another, so the bomb takes about 1 KiB of memory a MiB. */
function gzipBomb(mebibytes: number): Buffer {
  const member = gzipSync(Buffer.alloc(MEBIBYTE, ' '), { level: 9 })
  return Buffer.concat(Array.from({ length: mebibytes }, () => member))
}

/**
 * Sends the answer, or the part that the fault leaves. A fault that goes on by itself ends with the
 * connection.
 */
export function deliver(
  response: ServerResponse,
  outgoing: Outgoing,
  fault: DeliveryFault | undefined,
): void {
  const { status, headers, body } = outgoing
  response.sendDate = outgoing.hasDate
  const length = { 'content-length': String(body.length) }
  if (fault === undefined) {
    response.writeHead(status, { ...headers, ...(status === 204 ? {} : length) })
    response.end(body)
    return
  }
  switch (fault.kind) {
    case 'drop':
      response.socket?.destroy()
      return
    case 'cut':
      cut(response, outgoing, fault)
      return
    case 'hang':
      if (fault.phase === 'beforeHeaders') return
      response.writeHead(status, { ...headers, ...length })
      response.flushHeaders()
      if (fault.phase === 'drip') drip(response, body, 1, fault.everyMs ?? 1000)
      return
    case 'slow':
      response.writeHead(status, { ...headers, ...length })
      drip(response, body, Math.max(1, Math.ceil(fault.bytesPerSecond / 20)), 50)
      return
    case 'endlessBody':
      response.writeHead(status, headers)
      pour(response)
      return
    default:
      fault satisfies never
  }
}

function cut(
  response: ServerResponse,
  { status, headers, body }: Outgoing,
  fault: Extract<DeliveryFault, { kind: 'cut' }>,
): void {
  if (fault.inHeaders === true) {
    response.socket?.end('HTTP/1.1 200 OK\r\ncontent-ty')
    return
  }
  const end = fault.afterBytes < 0 ? body.length + fault.afterBytes : fault.afterBytes
  const part = body.subarray(0, Math.max(0, end))
  const declared = fault.clean === true ? part.length : body.length
  response.writeHead(status, { ...headers, 'content-length': String(declared) })
  if (fault.clean === true) {
    response.end(part)
    return
  }
  response.flushHeaders()
  // Closed in order rather than reset, so that the sent part arrives.
  response.write(part, () => response.socket?.end())
}

function drip(response: ServerResponse, body: Buffer, bytes: number, everyMs: number): void {
  let sent = 0
  const timer = setInterval(() => {
    response.write(body.subarray(sent, sent + bytes))
    sent += bytes
    if (sent < body.length) return
    clearInterval(timer)
    response.end()
  }, everyMs)
  response.on('close', () => {
    clearInterval(timer)
  })
}

function pour(response: ServerResponse): void {
  const chunk = Buffer.alloc(65_536, ' ')
  const more = (): void => {
    if (response.destroyed) return
    if (response.write(chunk)) setImmediate(more)
    else response.once('drain', more)
  }
  more()
}
