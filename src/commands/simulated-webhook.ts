import { readFileSync } from 'node:fs'
import { InvalidArgumentError, type Command } from 'commander'
import { ConfigError } from '../base/errors.js'
import type { Simulator } from '../simulator/server.js'
import type { Disturbance } from '../simulator/webhooks/webhook-script.js'
import { wholeNumber } from './output/whole-number.js'

/** What `simulate` is told about the webhook it sends to. Shares are percents. */
export interface SimulatedWebhookOptions {
  readonly webhook?: string
  readonly webhookDrop: number
  readonly webhookDuplicate: number
  readonly webhookThin: number
  readonly webhookDelay: number
  readonly makesSecrets?: boolean
}

/** Like the key: everybody may know it, because nothing but a stand-in is signed with it. */
const SIMULATOR_SECRET = 'simulator-webhook-secret'
const SECRET_VARIABLE = 'SIMULATOR_WEBHOOK_SECRET'
const SHORTEST_SECRET = 16

const percent = wholeNumber(0, 100)

export function addWebhookOptions(command: Command): Command {
  return command
    .option(
      '--webhook <address>',
      `Send webhook notifications of everything that happens there, signed with the secret it prints, or with that of ${SECRET_VARIABLE} or ${SECRET_VARIABLE}_FILE.`,
      address,
    )
    .option(
      '--webhook-drop <percent>',
      'This share of the notifications is never sent.',
      percent,
      0,
    )
    .option(
      '--webhook-duplicate <percent>',
      'This share of the notifications is sent twice.',
      percent,
      0,
    )
    .option(
      '--webhook-thin <percent>',
      'This share of the notifications comes without records.',
      percent,
      0,
    )
    .option(
      '--webhook-delay <seconds>',
      'Notifications come up to this many virtual seconds late, and so out of order.',
      wholeNumber(0, 1_000_000),
      0,
    )
    .option(
      '--makes-secrets',
      'Make the secret of each webhook that is created through the interface, tell it in the answer, and take none from whoever creates it.',
    )
}

/**
 * The secret to sign with, and whether it is the one everybody knows. ConfigError for one that is
 * of no use.
 */
export function readWebhookSecret(environment: Readonly<Record<string, string | undefined>>): {
  readonly secret: string
  readonly isKnown: boolean
} {
  const file = environment[`${SECRET_VARIABLE}_FILE`]
  const given = file ? readSecretFile(file) : environment[SECRET_VARIABLE]
  if (given === undefined || given === '') return { secret: SIMULATOR_SECRET, isKnown: true }
  if (given.trim() === given && given.length >= SHORTEST_SECRET) {
    return { secret: given, isKnown: false }
  }
  throw new ConfigError([
    {
      setting: SECRET_VARIABLE,
      problem: `must have at least ${SHORTEST_SECRET} characters and no space at its ends`,
    },
  ])
}

function readSecretFile(file: string): string {
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '')
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? ` (${String(thrown.code)})` : ''
    throw new ConfigError([
      { setting: `${SECRET_VARIABLE}_FILE`, problem: `names a file that cannot be read${code}` },
    ])
  }
}

/**
 * Subscribes the address to every event and scripts what shall go wrong. Nothing without an
 * address.
 */
export function subscribeWebhook(
  { webhooks }: Simulator,
  options: SimulatedWebhookOptions,
  secret: string,
  events: readonly string[],
): void {
  if (options.webhook === undefined) return
  webhooks.create({ url: options.webhook, active: true, events, secret, headers: [] })
  const disturb = (share: number, disturbance: Disturbance): void => {
    if (share > 0) webhooks.script.add({ disturbance, share: share / 100 })
  }
  disturb(options.webhookDrop, { kind: 'drop', as: 'failed' })
  disturb(options.webhookDuplicate, { kind: 'duplicate', copies: 2 })
  disturb(options.webhookThin, { kind: 'thin' })
  const spreadMs = options.webhookDelay * 1000
  disturb(spreadMs > 0 ? 100 : 0, { kind: 'delay', virtualMs: 0, spreadMs })
}

function address(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    throw new InvalidArgumentError('It must be an address like http://127.0.0.1:8080/webhooks.')
  }
  if (url.username !== '' || url.password !== '') {
    throw new InvalidArgumentError('It must not hold a password.')
  }
  return url.href
}
