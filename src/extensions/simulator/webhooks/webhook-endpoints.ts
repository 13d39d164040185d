import { createHash } from 'node:crypto'
import type { ResourceObject } from '../../../source/jsonapi/document.js'
import { errorAnswer, notFound, type Answer, type ServiceRequest } from '../interface/answers.js'
import type { RecordFinder } from '../interface/included-records.js'
import { WEBHOOK_EVENT_NAMES, webhookEventCategories } from './webhook-catalog.js'
import { WEBHOOK_IPS, type WebhookAttributes, type WebhookDesk } from './webhook-desk.js'

export interface WebhookRules {
  readonly desk: WebhookDesk
  /** A record that a notification leads to: its webhook, a log, or one of the world. */
  readonly record: RecordFinder
  /** The interface wants HTTPS; tests on one machine may do without. */
  readonly allowInsecureTrigger: boolean
  /** The service makes the secret of each webhook, shows it, and takes none. */
  readonly makesSecrets: boolean
}

export function createWebhook(rules: WebhookRules, request: ServiceRequest): Answer {
  const { desk } = rules
  const given = readTakenAttributes(rules, request)
  if (typeof given.url !== 'string') return missing('url')
  const wrong = unknownEvent(given.events)
  if (wrong !== undefined) return wrong
  const webhook = desk.create({
    url: given.url,
    active: given.active ?? true,
    events: given.events ?? WEBHOOK_EVENT_NAMES,
    secret: rules.makesSecrets ? makeSecret(desk) : (given.secret ?? null),
    headers: given.headers ?? [],
  })
  return single(request, webhook)
}

export function updateWebhook(rules: WebhookRules, request: ServiceRequest, id: string): Answer {
  const { desk } = rules
  const given = readTakenAttributes(rules, request)
  const wrong = unknownEvent(given.events)
  if (wrong !== undefined) return wrong
  const webhook = desk.update(id, given)
  return webhook === undefined ? notFound(request.path) : single(request, webhook)
}

export function deleteWebhook({ desk }: WebhookRules, request: ServiceRequest, id: string): Answer {
  return desk.remove(id) ? { status: 200, document: { data: null } } : notFound(request.path)
}

export function readWebhook({ desk }: WebhookRules, request: ServiceRequest, id: string): Answer {
  const webhook = desk.find(id)
  return webhook === undefined ? notFound(request.path) : single(request, webhook)
}

export function listWebhookEvents(): Answer {
  return { status: 200, document: { data: webhookEventCategories() } }
}

export function listWebhookIps(): Answer {
  return { status: 200, document: { webhook_notification_ips: WEBHOOK_IPS } }
}

/** Accepts at once; `onTrigger` sends the sample. */
export function triggerWebhook(
  { desk, allowInsecureTrigger }: WebhookRules,
  request: ServiceRequest,
): Answer {
  const { url, event, secret } = asObject(request.body)
  if (typeof url !== 'string') return missing('url')
  if (!isAllowedTarget(url, allowInsecureTrigger)) {
    return unprocessable('url must be an HTTPS URL.', '/url')
  }
  const name = typeof event === 'string' ? event : 'tracking_request.succeeded'
  const wrong = unknownEvent([name])
  if (wrong !== undefined) return wrong
  desk.onTrigger({ url, event: name, secret: typeof secret === 'string' ? secret : undefined })
  return { status: 200, document: { meta: { accepted: true, url, event: name } } }
}

function isAllowedTarget(url: string, allowInsecure: boolean): boolean {
  if (!URL.canParse(url)) return false
  const { protocol } = new URL(url)
  return protocol === 'https:' || (allowInsecure && protocol === 'http:')
}

/** Not guarded: only the simulator signs with it. Each run makes the same secrets. */
function makeSecret(desk: WebhookDesk): string {
  const count = desk.webhooks().length
  return createHash('sha256').update(`secret of simulated webhook ${count}`).digest('hex')
}

function readTakenAttributes(
  { makesSecrets }: WebhookRules,
  { body }: ServiceRequest,
): Partial<WebhookAttributes> {
  const { secret, ...rest } = readAttributes(body)
  return makesSecrets || secret === undefined ? rest : { ...rest, secret }
}

/** A JSON:API body, or the attributes alone. An attribute of the wrong type is left out. */
function readAttributes(body: unknown): Partial<WebhookAttributes> {
  const data = asObject(asObject(body).data)
  const given = 'attributes' in data ? asObject(data.attributes) : asObject(body)
  const { url, active, events, secret, headers } = given
  return {
    ...(typeof url === 'string' ? { url } : {}),
    ...(typeof active === 'boolean' ? { active } : {}),
    ...(Array.isArray(events) ? { events: events.map(String) } : {}),
    ...(typeof secret === 'string' || secret === null ? { secret } : {}),
    ...(Array.isArray(headers) ? { headers: headers.map(readHeader) } : {}),
  }
}

function readHeader(given: unknown): WebhookAttributes['headers'][number] {
  const { name, value } = asObject(given)
  return { name: String(name), value: String(value) }
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

function unknownEvent(events: readonly string[] | undefined): Answer | undefined {
  const unknown = events?.find((event) => !WEBHOOK_EVENT_NAMES.includes(event))
  if (unknown === undefined) return undefined
  return unprocessable(`${unknown} is not an event.`, '/data/attributes/events')
}

function missing(name: string): Answer {
  return unprocessable(`${name} is required.`, `/data/attributes/${name}`)
}

function unprocessable(detail: string, pointer: string): Answer {
  return errorAnswer(422, 'Unprocessable Entity', detail, { source: { pointer } })
}

function single(request: ServiceRequest, data: ResourceObject): Answer {
  return { status: 200, document: { data, links: { self: `${request.origin}/v2${request.path}` } } }
}
