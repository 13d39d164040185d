import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { InvalidArgumentError, type Command } from 'commander'
import type { App } from '../app.js'
import { ConfigError } from '../base/errors.js'
import { countOf } from '../base/phrases.js'
import type { Simulator } from '../simulator/server.js'
import type { Disturbance } from '../simulator/webhooks/webhook-script.js'
import type { CommandIo } from './command-io.js'
import { declare } from './declare-command.js'
import { instant, wholeNumber } from './parse-arguments.js'

interface SimulateOptions extends SimulatedWebhookOptions {
  readonly port: number
  readonly host: string
  readonly shipments: number
  readonly seed: number
  readonly speed: number
  readonly start?: Date
  readonly requestsPerMinute: number
  readonly largestPage: number
  readonly includes?: readonly string[]
}

/** A stand-in must not be given the real key, which `.env` may hold. */
const SIMULATOR_KEY = 'simulator-key'

export function addSimulateCommand(program: Command, io: CommandIo): void {
  declare<SimulateOptions>(program, io, {
    name: 'simulate',
    help:
      'Run a stand-in for the tracking service on this machine, with shipments that move as time ' +
      'passes. Ctrl-C ends it.',
    json: 'Print the address as JSON.',
    // It has no database.
    common: ['logLevel', 'logFormat'],
    define: (command) => addWebhookOptions(addOptions(command)),
    run: (app, options) => simulate(app, io, options),
  })
}

function addOptions(command: Command): Command {
  return command
    .option('--port <port>', 'HTTP port; 0 takes a free one.', wholeNumber(0, 65_535), 4949)
    .option('--host <address>', 'Address to listen on.', '127.0.0.1')
    .option('--shipments <count>', 'Shipments at the start.', wholeNumber(0, 10_000_000), 300)
    .option(
      '--seed <number>',
      'Seed of the world: another number makes another world.',
      wholeNumber(0, 2 ** 31 - 1),
      1,
    )
    .option(
      '--speed <factor>',
      'Virtual seconds that pass in a real one; at 0 the clock stands still.',
      positive,
      1,
    )
    .option(
      '--start <instant>',
      'Where the virtual clock starts, like 2026-03-01T00:00:00Z. Default: now.',
      instant,
    )
    .option(
      '--requests-per-minute <count>',
      'Requests allowed in 60 seconds; more are answered 429. 0: no limit.',
      wholeNumber(0, 1_000_000),
      100,
    )
    .option(
      '--largest-page <count>',
      'Most records on a page; larger page sizes are cut to it.',
      wholeNumber(1, 10_000),
      100,
    )
    .option(
      '--includes <names>',
      'Relations that lists of shipments include, separated by commas; "none" for none.',
      names,
    )
}

async function simulate(
  app: App,
  io: CommandIo,
  options: SimulateOptions & { readonly json?: boolean },
): Promise<void> {
  const { readEnvironment } = await import('../config/load.js')
  const { startSimulator, WEBHOOK_EVENT_NAMES } = await import('../simulator/server.js')
  const { secret, isKnown } = readWebhookSecret(readEnvironment())
  const { requestsPerMinute, start, includes, shipments } = options
  const simulator = await startSimulator({
    httpPort: options.port,
    host: options.host,
    shipments,
    seed: options.seed,
    speed: options.speed,
    apiKey: SIMULATOR_KEY,
    rateLimitPerMinute: requestsPerMinute === 0 ? null : requestsPerMinute,
    pageSizeMax: options.largestPage,
    // People also edit a world that stands still, and trigger samples to this machine.
    webhooks: { automatic: true },
    allowInsecureTrigger: true,
    makesSecrets: options.makesSecrets ?? false,
    ...(start === undefined ? {} : { startAt: start }),
    ...(includes === undefined ? {} : { acceptedIncludes: { shipment: includes } }),
  }).catch((thrown: unknown) => {
    throw explainListenError(thrown, options) ?? thrown
  })
  app.onClose(() => simulator.close())
  subscribeWebhook(simulator, options, secret, WEBHOOK_EVENT_NAMES)
  const { url: apiUrl } = simulator
  const webhook = options.webhook !== undefined && isKnown ? { webhookSecret: secret } : {}
  io.show(options, { apiUrl, apiKey: SIMULATOR_KEY, ...webhook }, () =>
    [
      `The simulator answers at ${apiUrl} with ${countOf(shipments, 'shipment')}.`,
      `  TRACKING_API_URL=${apiUrl}`,
      `  TRACKING_API_KEY=${SIMULATOR_KEY}`,
      ...Object.values(webhook).map((known) => `  TRACKING_WEBHOOK_SECRET=${known}`),
      'Ctrl-C ends it.',
    ].join('\n'),
  )
  if (!app.signal.aborted) await once(app.signal, 'abort')
}

function explainListenError(
  thrown: unknown,
  { port, host }: SimulateOptions,
): ConfigError | undefined {
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined
  switch (code) {
    case 'EADDRINUSE':
      return new ConfigError([
        { setting: `--port ${port}`, problem: 'is in use; name another, or 0 for a free one' },
      ])
    case 'EACCES':
      return new ConfigError([
        { setting: `--port ${port}`, problem: 'may not be used by this user; name one above 1023' },
      ])
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new ConfigError([
        { setting: `--host ${host}`, problem: 'is not an address of this machine' },
      ])
    default:
      return undefined
  }
}

function positive(text: string): number {
  const number = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : Number.NaN
  if (number >= 0 && number <= 1_000_000) return number
  throw new InvalidArgumentError('It must be a number from 0 to 1000000.')
}

function names(text: string): readonly string[] {
  return text === 'none' ? [] : text.split(',').filter((name) => name !== '')
}

/** The webhook that `simulate` sends to. Shares are in percent. */
interface SimulatedWebhookOptions {
  readonly webhook?: string
  readonly webhookDrop: number
  readonly webhookDuplicate: number
  readonly webhookThin: number
  readonly webhookDelay: number
  readonly makesSecrets?: boolean
}

/** Public, like the key: nothing but a stand-in signs with it. */
const SIMULATOR_SECRET = 'simulator-webhook-secret'
const SECRET_VARIABLE = 'SIMULATOR_WEBHOOK_SECRET'
const SHORTEST_SECRET = 16

const percent = wholeNumber(0, 100)

function addWebhookOptions(command: Command): Command {
  return command
    .option(
      '--webhook <address>',
      'Send webhook notifications of everything that happens there, signed with the secret that ' +
        `is printed, or with that of ${SECRET_VARIABLE} or ${SECRET_VARIABLE}_FILE.`,
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
      'Notifications come up to this many virtual seconds late, and out of order.',
      wholeNumber(0, 1_000_000),
      0,
    )
    .option(
      '--makes-secrets',
      'Make the secret of each new webhook and return it in the answer; ignore a given one.',
    )
}

/** The secret to sign with, and whether it is the public one. Throws ConfigError for a bad one. */
function readWebhookSecret(environment: Readonly<Record<string, string | undefined>>): {
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

/** Subscribes the address, if there is one, to every event, and scripts what shall go wrong. */
function subscribeWebhook(
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
