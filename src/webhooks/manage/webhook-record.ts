import type { TrackingService } from '../../api/endpoints.js'
import { membersOf } from '../../jsonapi/members.js'

/**
 * A secret the service told. It can be compared and revealed, and is in nothing that prints the
 * object that holds it: neither JSON nor `util.inspect` show it.
 */
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
  /** What its deliveries are signed with; null where the service does not tell it, or masked. */
  readonly secret: ToldSecret | null
  readonly headerNames: readonly string[]
}

/**
 * Every webhook of the account, in the service's order: usually one request. A record without a
 * usable id is passed over.
 */
export async function listWebhookRecords(
  service: Pick<TrackingService, 'listWebhooks'>,
  signal?: AbortSignal,
): Promise<WebhookRecord[]> {
  const webhooks: WebhookRecord[] = []
  for await (const page of service.listWebhooks({ signal })) {
    webhooks.push(...page.document.data.flatMap((record) => readWebhookRecord(record) ?? []))
  }
  return webhooks
}

/** Undefined for a record without an id. */
export function readWebhookRecord(record: unknown): WebhookRecord | undefined {
  const { id, attributes } = membersOf(record)
  if (typeof id !== 'string' || id === '') return undefined
  const { url, active, events, secret, headers } = membersOf(attributes)
  return {
    webhookId: id,
    url: typeof url === 'string' ? url : null,
    isActive: typeof active === 'boolean' ? active : null,
    events: Array.isArray(events)
      ? events.filter((event): event is string => typeof event === 'string')
      : null,
    hasSecret: secret === undefined ? null : typeof secret === 'string' && secret !== '',
    secret: isTold(secret) ? new ToldSecret(secret) : null,
    headerNames: readHeaderNames(headers),
  }
}

/** What a service shows in place of a secret that it keeps to itself. */
const MASKED = /[*•·…]|\.\.\.|^x+$|filtered|redacted|hidden/i

function isTold(secret: unknown): secret is string {
  return typeof secret === 'string' && secret !== '' && !MASKED.test(secret)
}

function readHeaderNames(headers: unknown): string[] {
  const list: readonly unknown[] = Array.isArray(headers) ? headers : []
  return list.flatMap((header) => {
    const { name } = membersOf(header)
    return typeof name === 'string' ? [name] : []
  })
}

/**
 * Whether two addresses are one: `https://Example.com` and `https://example.com/` are. A text that
 * is no address equals itself only.
 */
export function isSameUrl(one: string, other: string): boolean {
  if (!URL.canParse(one) || !URL.canParse(other)) return one === other
  return new URL(one).href === new URL(other).href
}
