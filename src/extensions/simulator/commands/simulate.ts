import { once } from 'node:events'
import { InvalidArgumentError } from 'commander'
import { ConfigError } from '../../../base/errors.js'
import { readTextFile } from '../../../base/text-file.js'
import { countOf } from '../../../base/phrases.js'
import type { Simulator } from '../server.js'
import type { Disturbance } from '../webhooks/webhook-script.js'
import { declare, flag, instant, value, wholeNumber } from '../../../commands/declare-command.js'

/** The simulator must not be given the real key, which `.env` may hold. */
const SIMULATOR_KEY = 'simulator-key'
/** Public, like the key: only the simulator signs with it. */
const SIMULATOR_SECRET = 'simulator-webhook-secret'
const SECRET_VARIABLE = 'SIMULATOR_WEBHOOK_SECRET'
const SHORTEST_SECRET = 16

const port = wholeNumber(0, 65_535)
const manyShipments = wholeNumber(0, 10_000_000)
const seed = wholeNumber(0, 2 ** 31 - 1)
const million = wholeNumber(0, 1_000_000)
const pageSize = wholeNumber(1, 10_000)
const percent = wholeNumber(0, 100)

export const simulate = declare({
  name: 'simulate',
  help:
    'Run a stand-in for the tracking service on this machine, with shipments that move as time ' +
    'passes. Ctrl-C ends it.',
  json: 'Print the address as JSON.',
  // The simulator opens no database.
  common: ['logLevel', 'logFormat'],
  takes: {
    port: value('--port <port>', 'HTTP port; 0 takes a free one.', port, 4949),
    host: value('--host <address>', 'Address to listen on.', String, '127.0.0.1'),
    shipments: value('--shipments <count>', 'Shipments at the start.', manyShipments, 300),
    seed: value('--seed <number>', 'Another number makes another world.', seed, 1),
    speed: value(
      '--speed <factor>',
      'Virtual seconds that pass in a real one; at 0 the clock stands still.',
      positive,
      1,
    ),
    start: value(
      '--start <instant>',
      'Where the virtual clock starts, like 2026-03-01T00:00:00Z. Default: now.',
      instant,
    ),
    requestsPerMinute: value(
      '--requests-per-minute <count>',
      'Requests allowed in 60 seconds; more are answered 429. 0: no limit.',
      million,
      100,
    ),
    largestPage: value(
      '--largest-page <count>',
      'Most records on a page; larger page sizes are cut to it.',
      pageSize,
      100,
    ),
    includes: value(
      '--includes <names>',
      'Relations that lists of shipments include, separated by commas; "none" for none.',
      names,
    ),
    webhook: value(
      '--webhook <address>',
      'Send webhook notifications of everything that happens there, signed with the secret that ' +
        `is printed, or with that of ${SECRET_VARIABLE} or ${SECRET_VARIABLE}_FILE.`,
      address,
    ),
    drop: value('--webhook-drop <percent>', 'Share of notifications never sent.', percent, 0),
    duplicate: value(
      '--webhook-duplicate <percent>',
      'Share of notifications sent twice.',
      percent,
      0,
    ),
    thin: value('--webhook-thin <percent>', 'Share of notifications without records.', percent, 0),
    delay: value(
      '--webhook-delay <seconds>',
      'Notifications come up to this many virtual seconds late, and out of order.',
      million,
      0,
    ),
    makesSecrets: flag(
      '--makes-secrets',
      'Make the secret of each new webhook and return it in the answer; ignore a given one.',
    ),
  },
  run: async (app, { json, port: httpPort, host, webhook, ...options }, io) => {
    const { readEnvironment } = await import('../../../config/load.js')
    const { startSimulator, WEBHOOK_EVENT_NAMES: events } = await import('../server.js')
    const { secret, isKnown } = readWebhookSecret(readEnvironment())
    const { shipments, seed, speed, start, includes, makesSecrets, requestsPerMinute } = options
    const simulator = await startSimulator({
      httpPort,
      host,
      shipments,
      seed,
      speed,
      apiKey: SIMULATOR_KEY,
      rateLimitPerMinute: requestsPerMinute === 0 ? null : requestsPerMinute,
      pageSizeMax: options.largestPage,
      // People edit a world whose clock is stopped, too, and trigger samples to this machine.
      webhooks: { automatic: true },
      allowInsecureTrigger: true,
      makesSecrets,
      ...(start === undefined ? {} : { startAt: start }),
      ...(includes === undefined ? {} : { acceptedIncludes: { shipment: includes } }),
    }).catch((thrown: unknown) => {
      throw explainListenError(thrown, httpPort, host) ?? thrown
    })
    app.onClose(() => simulator.close())
    if (webhook !== undefined) {
      const { webhooks } = simulator
      webhooks.create({ url: webhook, active: true, events, secret, headers: [] })
      disturb(webhooks, options)
    }
    const { url: apiUrl } = simulator
    const known = webhook !== undefined && isKnown ? { webhookSecret: secret } : {}
    io.show(json, {
      data: { apiUrl, apiKey: SIMULATOR_KEY, ...known },
      text: [
        `The simulator answers at ${apiUrl} with ${countOf(shipments, 'shipment')}.`,
        `  TRACKING_API_URL=${apiUrl}`,
        `  TRACKING_API_KEY=${SIMULATOR_KEY}`,
        ...Object.values(known).map((text) => `  TRACKING_WEBHOOK_SECRET=${text}`),
        'Ctrl-C ends it.',
      ],
    })
    if (!app.signal.aborted) await once(app.signal, 'abort')
  },
})

/** Has the simulator send notifications badly. Shares are in percent. */
function disturb(
  { script }: Simulator['webhooks'],
  shares: {
    readonly drop: number
    readonly duplicate: number
    readonly thin: number
    readonly delay: number
  },
): void {
  const add = (share: number, disturbance: Disturbance): void => {
    if (share > 0) script.add({ disturbance, share: share / 100 })
  }
  const spreadMs = shares.delay * 1000
  add(shares.drop, { kind: 'drop', as: 'failed' })
  add(shares.duplicate, { kind: 'duplicate', copies: 2 })
  add(shares.thin, { kind: 'thin' })
  add(spreadMs > 0 ? 100 : 0, { kind: 'delay', virtualMs: 0, spreadMs })
}

const LISTEN_ERRORS: Readonly<Record<string, readonly ['port' | 'host', string]>> = {
  EADDRINUSE: ['port', 'is in use; name another, or 0 for a free one'],
  EACCES: ['port', 'may not be used by this user; name one above 1023'],
  EADDRNOTAVAIL: ['host', 'is not an address of this machine'],
  ENOTFOUND: ['host', 'is not an address of this machine'],
}

function explainListenError(thrown: unknown, port: number, host: string): ConfigError | undefined {
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : ''
  const [name, problem] = LISTEN_ERRORS[code] ?? []
  if (name === undefined || problem === undefined) return undefined
  return new ConfigError([{ setting: `--${name} ${name === 'port' ? port : host}`, problem }])
}

function positive(text: string): number {
  const number = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : Number.NaN
  if (number >= 0 && number <= 1_000_000) return number
  throw new InvalidArgumentError('It must be a number from 0 to 1000000.')
}

function names(text: string): readonly string[] {
  return text === 'none' ? [] : text.split(',').filter((name) => name !== '')
}

/** The secret to sign with, and whether it is the public one. Throws ConfigError for a bad one. */
function readWebhookSecret(environment: Readonly<Record<string, string | undefined>>): {
  readonly secret: string
  readonly isKnown: boolean
} {
  const file = environment[`${SECRET_VARIABLE}_FILE`]
  const given = file
    ? readTextFile(file, { name: `${SECRET_VARIABLE}_FILE` }).replace(/\r?\n$/, '')
    : environment[SECRET_VARIABLE]
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
