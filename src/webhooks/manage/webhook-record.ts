import { parsePage } from '../../api/list-pages.js'
import type { TrackingService } from '../../api/endpoints.js'
import { membersOf } from '../../jsonapi/members.js'

/** A secret from the service. It can be compared and revealed; no print of its owner shows it. */
export class ToldSecret {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  isAmong(secrets: readonly string[]): boolean {
    return secrets.includes(this.#text)
  }

  reveal(): string {
    return this.#text
  }

  toJSON(): undefined {
    return undefined
  }
}

/**
 * A webhook as the service lists it, without the values of its headers. Null: the service does not
 * say. Only `active` is specified; the rest is what public samples show.
 */
export interface WebhookRecord {
  readonly webhookId: string
  readonly url: string | null
  readonly isActive: boolean | null
  readonly events: readonly string[] | null
  /** False: its deliveries are not signed. */
  readonly hasSecret: boolean | null
  /** What its deliveries are signed with; also null where the service masks it. */
  readonly secret: ToldSecret | null
  readonly headerNames: readonly string[]
}

/** Something that keeps notifications from us, as a sentence that ends with what to do. */
export interface WebhookAlert {
  /** Null where no webhook is known that could be named. */
  readonly webhookId: string | null
  readonly kind:
    'missing' | 'inactive' | 'other_url' | 'events_missing' | 'unsigned' | 'other_secret'
  readonly sentence: string
}

/** Every webhook of the account, in the service's order: usually one request. */
export async function listWebhookRecords(
  service: Pick<TrackingService, 'listWebhooks'>,
  signal?: AbortSignal,
): Promise<WebhookRecord[]> {
  const webhooks: WebhookRecord[] = []
  for await (const page of service.listWebhooks({ signal })) {
    webhooks.push(...parsePage(page).data.flatMap((record) => readWebhookRecord(record) ?? []))
  }
  return webhooks
}

/** Undefined for a record without an id. */
export function readWebhookRecord(record: unknown): WebhookRecord | undefined {
  const { id, attributes } = membersOf(record)
  if (!isText(id)) return undefined
  const { url, active, events, secret, headers } = membersOf(attributes)
  return {
    webhookId: id,
    url: typeof url === 'string' ? url : null,
    isActive: typeof active === 'boolean' ? active : null,
    events: Array.isArray(events) ? events.filter((event) => typeof event === 'string') : null,
    hasSecret: secret === undefined ? null : isText(secret),
    secret: isText(secret) && !MASKED.test(secret) ? new ToldSecret(secret) : null,
    headerNames: (Array.isArray(headers) ? headers : [])
      .map((header) => membersOf(header).name)
      .filter((name) => typeof name === 'string'),
  }
}

/** What a service shows in place of a secret. */
const MASKED = /[*•·…]|\.\.\.|^x+$|filtered|redacted|hidden/i

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

/** Whether it sends to the address: `https://Example.com` and `https://example.com/` are one. */
export function sendsTo({ url }: Pick<WebhookRecord, 'url'>, address: string): boolean {
  if (url === null || !URL.canParse(url) || !URL.canParse(address)) return url === address
  return new URL(url).href === new URL(address).href
}
