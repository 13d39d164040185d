import type { ApiAnswer } from '../../../source/client/client.js'
import type { TrackingService } from '../../../source/client/endpoints.js'
import { ApiUnavailableError, ConfigError } from '../../../base/errors.js'
import { isThisMachine } from '../../../base/service-address.js'
import { checkSecret } from '../../../webhooks/manage/check-webhooks.js'
import { readNeededEvents, type EventChoice } from '../../../webhooks/manage/needed-events.js'
import {
  listWebhookRecords,
  readWebhookRecord,
  sendsTo,
  type WebhookAlert,
  type WebhookRecord,
} from '../../../webhooks/manage/own-webhooks.js'

export interface ManageDependencies extends EventChoice {
  readonly service: Pick<
    TrackingService,
    'listWebhooks' | 'getWebhookEvents' | 'createWebhook' | 'updateWebhook'
  >
  readonly signal: AbortSignal
  /** Our secrets, the present one first. Only that one is sent, and only to the service. */
  readonly secrets: readonly string[]
}

export interface ManagedWebhook {
  readonly webhook: WebhookRecord
  /** Reasons for which its deliveries would be refused. */
  readonly alerts: readonly WebhookAlert[]
  readonly notes: readonly string[]
}

export interface CreateWebhookOptions {
  readonly url: string
  /** Create it even if another webhook sends to this URL. */
  readonly isAgain: boolean
}

/**
 * Creates a webhook that sends every event that we need to `url`. A service that accepts a secret
 * gets ours; one that makes its own returns it, and that one counts. Three requests. Throws
 * ConfigError for a forbidden address, and for a second webhook with the same URL: each
 * notification would come twice.
 */
export async function createOwnWebhook(
  { url, isAgain }: CreateWebhookOptions,
  dependencies: ManageDependencies,
): Promise<ManagedWebhook> {
  checkTargetUrl('--url', url)
  const { service, signal, secrets } = dependencies
  const listed = await listWebhookRecords(service, signal)
  const same = listed.filter((webhook) => sendsTo(webhook, url))
  if (same.length > 0 && !isAgain) throw alreadyThere(url, same)
  const events = await readNeededEvents(dependencies)
  const settings = { active: true, url, events, secret: secrets[0] }
  const answer = await service.createWebhook(settings, { signal })
  return managed(answer, 'created', secrets, notesOn(events))
}

export interface EnableWebhookOptions {
  readonly webhookId: string
  /** Also subscribe it to every event that we need. */
  readonly isWithEvents: boolean
  /** Also have it sign with our secret. */
  readonly isSigning: boolean
}

/** Switches a webhook on again. Idempotent. Throws `ApiNotFoundError` if it does not exist. */
export async function enableWebhook(
  { webhookId, isWithEvents, isSigning }: EnableWebhookOptions,
  dependencies: ManageDependencies,
): Promise<ManagedWebhook> {
  const { service, signal, secrets } = dependencies
  const events = isWithEvents ? await readNeededEvents(dependencies) : undefined
  const settings = { active: true, events, secret: isSigning ? secrets[0] : undefined }
  const answer = await service.updateWebhook(webhookId, settings, { signal })
  return managed(answer, 'changed', secrets, isWithEvents ? notesOn(events) : [])
}

function managed(
  { document }: ApiAnswer,
  what: string,
  secrets: readonly string[],
  notes: readonly string[],
): ManagedWebhook {
  const webhook = readWebhookRecord(document.data[0])
  if (webhook !== undefined) return { webhook, alerts: checkSecret(webhook, secrets), notes }
  throw new ApiUnavailableError(
    `the webhook was ${what}, but the service's answer lacks its id; ` +
      'see `tracking-sync webhooks list`',
  )
}

/**
 * Throws ConfigError for an address that must not get deliveries: they hold the customer's data, so
 * the address needs https unless it is this machine. `option` names the origin of the address.
 */
export function checkTargetUrl(option: string, url: string): void {
  const problem = targetUrlProblem(url)
  if (problem !== undefined) throw new ConfigError([{ setting: option, problem }])
}

function targetUrlProblem(url: string): string | undefined {
  if (!URL.canParse(url)) return 'must be an address like https://tracking.example.com/webhooks'
  const { protocol, hostname, username, password, hash } = new URL(url)
  if (username !== '' || password !== '') return 'must not hold a user name or a password'
  if (hash !== '') return 'must not hold a fragment (#…)'
  if (protocol === 'https:') return undefined
  if (protocol === 'http:' && isThisMachine(hostname)) return undefined
  return (
    'must be an https:// address: deliveries hold your data ' +
    '(plain http is for this machine only)'
  )
}

function alreadyThere(url: string, same: readonly WebhookRecord[]): ConfigError {
  const ids = same.map(({ webhookId }) => webhookId).join(', ')
  const inactive = same.find(({ isActive }) => isActive === false)
  const use =
    inactive === undefined
      ? 'use that one'
      : `switch it on with \`tracking-sync webhooks enable ${inactive.webhookId}\``
  const problem = `is the address of webhook ${ids} already; ${use}, or add --again for a second one`
  return new ConfigError([{ setting: url, problem }])
}

function notesOn(events: readonly string[] | undefined): string[] {
  if (events !== undefined) return []
  return ['the service does not publish its catalogue of events, so it chose the events itself']
}
