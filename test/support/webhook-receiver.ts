import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import type { ResourceObject } from '../../src/source/jsonapi/document.js'
import { listen, stop } from '../unit/api/fake-service.js'

/** One request as it came in. */
export interface ReceivedDelivery {
  /** Method and path. */
  readonly line: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  /**
   * The notification's id, event and other members; undefined if the body is not such a document.
   */
  readonly data: ResourceObject | undefined
  readonly included: readonly ResourceObject[] | undefined
}

export interface WebhookReceiver {
  readonly url: string
  /** In the order of arrival. */
  readonly deliveries: ReceivedDelivery[]
  /**
   * The status of the next answers, by default 202. A function may answer by itself, or not at all.
   */
  answer: (delivery: ReceivedDelivery, response: ServerResponse) => number | undefined
  close(): Promise<void>
}

/** A small HTTP server that keeps what it is sent. */
export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const deliveries: ReceivedDelivery[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const delivery = readDelivery(request, Buffer.concat(chunks))
      deliveries.push(delivery)
      const status = receiver.answer(delivery, response)
      if (status !== undefined) response.writeHead(status, { location: '/elsewhere' }).end()
    })
  })
  const receiver: WebhookReceiver = {
    url: `${await listen(server)}/hook`,
    deliveries,
    answer: () => 202,
    close: () => stop(server),
  }
  return receiver
}

function readDelivery(request: IncomingMessage, body: Buffer): ReceivedDelivery {
  const { headers, method, url } = request
  const came = { line: `${method} ${url}`, headers, body }
  try {
    const { data, included } = JSON.parse(body.toString('utf8')) as Partial<ReceivedDelivery>
    return { ...came, data, included }
  } catch {
    return { ...came, data: undefined, included: undefined }
  }
}
