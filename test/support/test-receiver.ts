import { createHmac, randomUUID } from 'node:crypto'
import { silentLogger } from '../../src/base/logger.js'
import { startHttpServer, type HttpLimits } from '../../src/http/http-server.js'
import { Receiver, type ReceiverOptions } from '../../src/webhooks/receive/receive.js'
import {
  createSignatureCheck,
  type SignatureSettings,
} from '../../src/webhooks/receive/signature.js'

/** The signature in the service's public documentation. */
export const DEFAULT_SIGNATURE: Omit<SignatureSettings, 'secrets'> = {
  header: 'X-SVC-Webhook-Signature',
  algorithm: 'sha256',
  encoding: 'hex',
  prefix: '',
}

export const WEBHOOK_SECRET = 'whsec-canary-5be1f0a94c'

export type TestReceiver = Awaited<ReturnType<typeof startTestReceiver>>

export type TestReceiverOptions = Partial<ReceiverOptions> & {
  readonly warehouse: ReceiverOptions['warehouse']
  readonly httpLimits?: Partial<HttpLimits>
}

/** A receiver at `/webhooks` of a server of its own. */
export async function startTestReceiver({ httpLimits = {}, ...options }: TestReceiverOptions) {
  const receiver = new Receiver({
    logger: silentLogger,
    signature: createSignatureCheck({ ...DEFAULT_SIGNATURE, secrets: [WEBHOOK_SECRET] }),
    ...options,
  })
  const server = await startHttpServer({
    httpPort: 0,
    logger: options.logger ?? silentLogger,
    limits: httpLimits,
    routes: {
      '/webhooks': {
        methods: ['POST'],
        handle: (request, response) => receiver.handle(request, response),
      },
    },
  })
  return {
    receiver,
    server,
    /** Posts a body, signed unless headers say otherwise. */
    post: (body: string | Buffer, headers: Readonly<Record<string, string>> = {}) =>
      fetch(`${server.url}/webhooks`, {
        method: 'POST',
        body: new Uint8Array(Buffer.from(body)),
        headers: {
          'content-type': 'application/json',
          [DEFAULT_SIGNATURE.header]: signBody(body),
          ...headers,
        },
      }),
    /** Stops the server and waits for the inbox. */
    stop: async (): Promise<void> => {
      await server.stop(1_000)
      await receiver.drain()
    },
  }
}

export function signBody(body: string | Buffer, secret: string = WEBHOOK_SECRET): string {
  return createHmac('sha256', secret).update(body).digest('hex')
}

/** A notification as the service writes it. */
export function notificationBody(
  id: string = randomUUID(),
  attributes: Readonly<Record<string, unknown>> = {},
): string {
  return JSON.stringify({
    data: {
      id,
      type: 'webhook_notification',
      attributes: {
        id,
        event: 'container.updated',
        created_at: '2026-03-02T08:00:00Z',
        ...attributes,
      },
      relationships: {
        reference_object: { data: { id: 'a-reference', type: 'container_updated_event' } },
        webhook: { data: { id: 'a-webhook', type: 'webhook' } },
      },
    },
    included: [],
  })
}

/** A delivery as it goes over the wire, for raw connections. */
export function rawDelivery(body: string, headers: readonly string[] = []): string {
  return [
    'POST /webhooks HTTP/1.1',
    'Host: receiver',
    'Content-Type: application/json',
    `${DEFAULT_SIGNATURE.header}: ${signBody(body)}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...headers,
    '',
    body,
  ].join('\r\n')
}
