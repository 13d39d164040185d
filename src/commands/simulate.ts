import { once } from 'node:events'
import { InvalidArgumentError, type Command } from 'commander'
import type { SettingName } from '../config/settings.js'
import { ConfigError } from '../base/errors.js'
import { EXIT_CODES } from '../base/exit-code.js'
import { addSettingFlags, settingFlagsOf, type CommandIo } from './command-io.js'
import {
  addWebhookOptions,
  readWebhookSecret,
  subscribeWebhook,
  type SimulatedWebhookOptions,
} from './simulated-webhook.js'
import { instant } from './output/instant.js'
import { countOf } from './output/count-of.js'
import { wholeNumber } from './output/whole-number.js'

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
  readonly json?: boolean
}

/** Not the account's: a stand-in must not be given the real key, and `.env` may hold it. */
const SIMULATOR_KEY = 'simulator-key'

/** It has no database: of the settings of every command it uses the log's. */
const SIMULATOR_SETTINGS: readonly SettingName[] = ['logLevel', 'logFormat']

export function addSimulateCommand(program: Command, io: CommandIo): void {
  const command = program
    .command('simulate')
    .description(
      'Run a stand-in for the tracking service on this machine, with a world of shipments that moves with time. Ends with Ctrl-C.',
    )
    .option('--port <port>', 'HTTP port; 0 takes a free one.', wholeNumber(0, 65_535), 4949)
    .option('--host <address>', 'Address to listen on.', '127.0.0.1')
    .option('--shipments <count>', 'Shipments at the start.', wholeNumber(0, 10_000_000), 300)
    .option(
      '--seed <number>',
      'Seed of the world: another number is another world.',
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
      'Requests the service allows in 60 seconds before it answers 429; 0: no limit.',
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
      'Relations that lists of shipments include, by comma; "none" for none.',
      names,
    )
    .option('--json', 'Print the address as JSON.')
  addSettingFlags(addWebhookOptions(command), [], SIMULATOR_SETTINGS).action(
    async (options: SimulateOptions & Record<string, unknown>) => {
      await io.withApp(settingFlagsOf(options), async (app) => {
        const { startSimulator, WEBHOOK_EVENT_NAMES } = await import('../simulator/server.js')
        const { secret, isKnown } = readWebhookSecret(await io.environment())
        const simulator = await startSimulator({
          httpPort: options.port,
          host: options.host,
          shipments: options.shipments,
          seed: options.seed,
          speed: options.speed,
          apiKey: SIMULATOR_KEY,
          rateLimitPerMinute: options.requestsPerMinute === 0 ? null : options.requestsPerMinute,
          pageSizeMax: options.largestPage,
          // People edit a world that stands still, too; and they trigger samples to this machine.
          webhooks: { automatic: true },
          allowInsecureTrigger: true,
          makesSecrets: options.makesSecrets ?? false,
          ...(options.start === undefined ? {} : { startAt: options.start }),
          ...(options.includes === undefined
            ? {}
            : { acceptedIncludes: { shipment: options.includes } }),
        }).catch((thrown: unknown) => {
          throw explainListenError(thrown, options) ?? thrown
        })
        app.onClose(() => simulator.close())
        subscribeWebhook(simulator, options, secret, WEBHOOK_EVENT_NAMES)
        const isSecretTold = options.webhook !== undefined && isKnown
        if (options.json === true) {
          const webhook = isSecretTold ? { webhookSecret: secret } : {}
          io.printJson({ apiUrl: simulator.url, apiKey: SIMULATOR_KEY, ...webhook })
        } else {
          io.print(
            `The simulator answers at ${simulator.url} with ${countOf(options.shipments, 'shipment')}.`,
          )
          io.print(`  TRACKING_API_URL=${simulator.url}`)
          io.print(`  TRACKING_API_KEY=${SIMULATOR_KEY}`)
          if (isSecretTold) io.print(`  TRACKING_WEBHOOK_SECRET=${secret}`)
          io.print('Ctrl-C ends it.')
        }
        if (!app.signal.aborted) await once(app.signal, 'abort')
        return EXIT_CODES.complete
      })
    },
  )
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
        { setting: `--host ${host}`, problem: 'is no address of this machine' },
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
