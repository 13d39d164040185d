import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ResourceObject } from '../../src/source/jsonapi/document.js'

/** One request as it came in. */
export interface ReceivedDelivery {
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
      const delivery = readDelivery(request.headers, Buffer.concat(chunks))
      deliveries.push(delivery)
      const status = receiver.answer(delivery, response)
      if (status !== undefined) response.writeHead(status, { location: '/elsewhere' }).end()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const receiver: WebhookReceiver = {
    url: `http://127.0.0.1:${port}/hook`,
    deliveries,
    answer: () => 202,
    close: async () => {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
  return receiver
}

function readDelivery(headers: IncomingHttpHeaders, body: Buffer): ReceivedDelivery {
  try {
    const { data, included } = JSON.parse(body.toString('utf8')) as Partial<ReceivedDelivery>
    return { headers, body, data, included }
  } catch {
    return { headers, body, data: undefined, included: undefined }
  }
}
