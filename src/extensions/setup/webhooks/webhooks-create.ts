import { randomBytes } from 'node:crypto'
import { open, rm, type FileHandle } from 'node:fs/promises'
import { resolve } from 'node:path'
import { InvalidArgumentError } from 'commander'
import type { App } from '../../../app.js'
import { ConfigError } from '../../../base/errors.js'
import { EXIT_CODES, exitCodeOf } from '../../../base/exit-code.js'
import { describeOtherPath } from '../../../webhooks/receive/receiver-path.js'
import { countOf } from '../../../base/phrases.js'
import { ownVariable } from '../../../config/setting.js'
import { partsOf, requireWebhookSecrets, watchSettingsOf } from '../../../config/needed-settings.js'
import type { Config } from '../../../config/settings.js'
import type { ManageDependencies, ManagedWebhook } from './create-webhook.js'
import type { Answer, CommandIo } from '../../../commands/command-io.js'
import {
  argument,
  declare,
  flag,
  SERVICE_ONLY,
  value,
  wholeNumber,
} from '../../../commands/declare-command.js'

const SECRET_OPTIONS = {
  isSecretShown: flag(
    '--show-secret',
    'Print the secret that the service returns. Nothing else does.',
  ),
  secretFile: value(
    '--secret-file <path>',
    'Write the secret that the service returns into a new file that only you can read.',
  ),
}

interface SecretOptions {
  readonly isSecretShown: boolean
  readonly secretFile: string | undefined
}

export const create = declare({
  name: 'create',
  help:
    'Have the service send us every event we need, signed. ' +
    'Exit code 6 until the secret it signs with is in our settings; at a terminal it offers to ' +
    'write it there.',
  settings: SERVICE_ONLY,
  takes: {
    givenUrl: value('--url <url>', 'Address of our receiver. Default: TRACKING_WEBHOOK_URL.'),
    isAgain: flag('--again', 'Even if a webhook already sends to this address.'),
    isWriting: flag('--write', 'Write its id, its secret and a new address into .env.'),
    ...SECRET_OPTIONS,
  },
  run: async (app, { givenUrl, isAgain, isWriting, ...options }, io) => {
    const { createOwnWebhook } = await import('./create-webhook.js')
    const { webhookUrl, webhookIds } = app.config
    const url = givenUrl ?? requireWebhookUrl(app.config)
    const isSilent = options.json || isSecretWanted(options)
    const isWritten = isWriting || (!isSilent && (await isWritingWanted(app, io)))
    const path = resolve(io.process.cwd(), SETTINGS_FILE)
    // Without a secret of ours there must be a way to get the one that the service makes.
    if (isWritten) await requireWritable(app, path)
    else if (!isSecretWanted(options)) requireWebhookSecrets(app.config)
    return manage(app, 'created', options, async (given) => {
      // A service that makes its own secret ignores it.
      const made = isWritten && given.secrets.length === 0 ? [randomBytes(32).toString('hex')] : []
      const dependencies = { ...given, secrets: [...given.secrets, ...made] }
      const managed = await createOwnWebhook({ url, isAgain }, dependencies)
      const { webhookPath, account } = app.config
      const receiverPath = account === undefined ? webhookPath : `${webhookPath}/${account}`
      const otherPath = describeOtherPath(url, receiverPath)
      const notes = [...managed.notes, ...(otherPath === undefined ? [] : [otherPath])]
      const { webhookId } = managed.webhook
      if (isWritten) return writeSettings(app, { path, url, isAgain, ours: made[0] }, managed)
      if (webhookIds !== undefined) notes.push(`add ${webhookId} to TRACKING_WEBHOOK_IDS`)
      else if (webhookUrl !== url) notes.push(`set TRACKING_WEBHOOK_URL=${url}`)
      return { ...managed, notes }
    })
  },
})

const SETTINGS_FILE = '.env'

async function isWritingWanted(app: App, { process }: CommandIo): Promise<boolean> {
  if (process.stdin?.isTTY !== true) return false
  const { Prompt } = await import('../prompt.js')
  const prompt = new Prompt({ input: process.stdin, output: process.stderr, signal: app.signal })
  const answer = await prompt.ask('Write its id and secret into .env? Enter for yes, n for no: ')
  return !/^n/i.test(answer)
}

/**
 * Runs before the request to the service: a secret that is shown only once must not be lost. Throws
 * ConfigError if the file cannot be written, or if its values would be overridden.
 */
async function requireWritable({ origins }: App, path: string): Promise<void> {
  const names = { webhookSecret: 'TRACKING_WEBHOOK_SECRET', webhookIds: 'TRACKING_WEBHOOK_IDS' }
  const problem = 'is set outside of .env, which then does not count; take it from there into .env'
  const problems = (['webhookSecret', 'webhookIds'] as const)
    .filter((name) => ['environment', 'flag', 'file'].includes(origins[name]))
    .map((name) => ({ setting: names[name], problem }))
  if (problems.length > 0) throw new ConfigError(problems)
  const { requireUpdatable } = await import('../env-file.js')
  requireUpdatable(path)
}

interface SettingsPlace {
  readonly path: string
  readonly url: string
  readonly isAgain: boolean
  /** The secret that we have made for it. */
  readonly ours: string | undefined
}

/** Writes the values of the new webhook into the settings file. */
async function writeSettings(
  { config }: App,
  { path, url, isAgain, ours }: SettingsPlace,
  managed: ManagedWebhook,
): Promise<ManagedWebhook> {
  const { webhookId, secret } = managed.webhook
  const { account, webhookIds, webhookUrl, webhookSecret } = config
  const notes = [...managed.notes]
  const changes: Record<string, string | undefined> = {}
  const own = (variable: string): string =>
    account === undefined ? variable : ownVariable(variable, account)
  // The ids of an account are in its entry of the configuration file.
  if (account !== undefined) {
    notes.push(`add ${webhookId} to webhookIds of ${account}, if it has any`)
  } else if (webhookIds !== undefined) {
    changes.TRACKING_WEBHOOK_IDS = [...partsOf(webhookIds), webhookId].join(',')
  } else if (webhookUrl !== undefined && webhookUrl !== url) {
    notes.push(`set TRACKING_WEBHOOK_URL=${url}`)
  } else {
    if (webhookUrl === undefined) changes.TRACKING_WEBHOOK_URL = url
    // Else the notifications of the other webhook that sends there would no longer be applied.
    if (!isAgain) changes.TRACKING_WEBHOOK_IDS = webhookId
  }
  const made = secret?.reveal() ?? ours
  if (made !== undefined && made !== webhookSecret) {
    const name = own('TRACKING_WEBHOOK_SECRET')
    Object.assign(changes, { [name]: made, [`${name}_FILE`]: undefined })
    // Deliveries that are signed with it are accepted until it is taken out.
    const before = own('TRACKING_WEBHOOK_SECRET_PREVIOUS')
    if (webhookSecret !== undefined) {
      Object.assign(changes, { [before]: webhookSecret, [`${before}_FILE`]: undefined })
    }
  }
  const { updateEnvFile } = await import('../env-file.js')
  try {
    updateEnvFile(path, changes)
  } catch (thrown) {
    if (!(thrown instanceof ConfigError)) throw thrown
    const again = `\`tracking-sync webhooks enable ${webhookId} --secret-file <path>\``
    notes.push(`${thrown.message}, so nothing is written there; ${again} gives the secret`)
    return { ...managed, notes }
  }
  const names = Object.keys(changes).filter((name) => changes[name] !== undefined)
  if (names.length > 0) notes.push(`${SETTINGS_FILE} has ${names.join(', ')} now`)
  const isKnown = made !== undefined
  const alerts = managed.alerts.filter(({ kind }) => !(isKnown && kind === 'other_secret'))
  return { ...managed, notes, alerts }
}

export const enable = declare({
  name: 'enable',
  help: 'Switch a webhook on again after the service has switched it off.',
  settings: SERVICE_ONLY,
  takes: {
    webhookId: argument('<id>', 'Id of the webhook, from `webhooks list`.'),
    isWithEvents: flag('--events', 'Also subscribe it to every event we need.'),
    isSigning: flag('--sign', 'Also have it sign with TRACKING_WEBHOOK_SECRET.'),
    ...SECRET_OPTIONS,
  },
  run: async (app, { webhookId, isWithEvents, isSigning, ...options }) => {
    const { enableWebhook } = await import('./create-webhook.js')
    if (isSigning) requireWebhookSecrets(app.config)
    return manage(app, 'enabled', options, (dependencies) =>
      enableWebhook({ webhookId, isWithEvents, isSigning }, dependencies),
    )
  },
})

function isSecretWanted({ isSecretShown, secretFile }: SecretOptions): boolean {
  return isSecretShown || secretFile !== undefined
}

/** Makes the change, describes the outcome, and hands out the secret if that was asked for. */
async function manage(
  app: App,
  what: string,
  options: SecretOptions,
  change: (dependencies: ManageDependencies) => Promise<ManagedWebhook>,
): Promise<Answer> {
  const { secrets, events, eventNames } = watchSettingsOf(app.config)
  const { service } = await app.openService()
  const { secretFile: path } = options
  const file = path === undefined ? undefined : await openSecretFile(path)
  let isWritten = false
  try {
    const managed = await change({ service, signal: app.signal, events, eventNames, secrets })
    const { secret } = managed.webhook
    if (secret !== null && file !== undefined) {
      await file.writeFile(`${secret.reveal()}\n`)
      await file.sync()
      isWritten = true
    }
    return describeManaged(managed, what, options)
  } finally {
    await file?.close()
    if (path !== undefined && !isWritten) await rm(path, { force: true })
  }
}

/**
 * Created before the request to the service: a wrong path must not lose a secret that is shown only
 * once. Throws ConfigError if that fails or the file exists.
 */
function openSecretFile(path: string): Promise<FileHandle> {
  return open(path, 'wx', 0o600).catch((cause: unknown) => {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown error'
    const problem =
      code === 'EEXIST'
        ? 'exists already and may hold a secret in use; name a new file'
        : `cannot be written (${code}); name a file in a directory you can write to`
    throw new ConfigError([{ setting: `--secret-file ${path}`, problem }], { cause })
  })
}

function describeManaged(managed: ManagedWebhook, what: string, options: SecretOptions): Answer {
  const { webhook, alerts } = managed
  const { webhookId, url, events, isActive } = webhook
  const notes = [...managed.notes]
  if (isSecretWanted(options) && webhook.secret === null) {
    notes.push("the service does not return this webhook's secret; look for it on its website")
  }
  const secret = isSecretWanted(options) ? (webhook.secret?.reveal() ?? null) : null
  const shown = options.isSecretShown ? secret : null
  const sends = events === null ? 'unknown events' : countOf(events.length, 'event')
  const state = isActive === false ? ', but it is NOT active' : ''
  const lines = [
    `Webhook ${webhookId} ${what}: ${sends} to ${url ?? 'an unknown address'}${state}.`,
    ...notes.map((note) => `note: ${note}`),
  ]
  if (secret !== null && options.secretFile !== undefined) {
    lines.push(`Its secret is in ${options.secretFile}.`)
  }
  if (shown !== null) lines.push(`Its secret, shown this once: ${shown}`)
  for (const { kind, sentence } of alerts) {
    const isAtHand = kind === 'other_secret' && secret !== null
    lines.push(`ALERT: ${isAtHand ? whatToSet(webhookId, options) : sentence}`)
  }
  if (alerts.length === 0) lines.push('Test it with `tracking-sync webhooks trigger`.')
  return {
    data: { ...managed, notes, ...(shown === null ? {} : { secret: shown }) },
    text: lines,
    exitCode: alerts.length > 0 ? EXIT_CODES.incomplete : EXIT_CODES.complete,
  }
}

function whatToSet(webhookId: string, { secretFile }: SecretOptions): string {
  const how =
    secretFile === undefined
      ? 'set TRACKING_WEBHOOK_SECRET to it'
      : `set TRACKING_WEBHOOK_SECRET_FILE=${secretFile} and remove TRACKING_WEBHOOK_SECRET`
  return (
    `the service signs the deliveries of webhook ${webhookId} with this secret only: ${how}, ` +
    'or every delivery is refused'
  )
}

export const trigger = declare({
  name: 'trigger',
  help:
    'Test the whole way of a delivery: open the receiver for a moment, compare the secret of ' +
    'our webhook with TRACKING_WEBHOOK_SECRET, have the service send a sample to ' +
    'TRACKING_WEBHOOK_URL, and check what arrives. Stores nothing.',
  settings: [...SERVICE_ONLY, 'webhookUrl', 'webhookPath'],
  takes: {
    event: value('--event <name>', 'Event of the sample.', String, 'tracking_request.succeeded'),
    to: value(
      '--to <url>',
      'Only have a sample sent to this address, signed as real deliveries to it are: with ' +
        'the secret of its webhook, or with TRACKING_WEBHOOK_SECRET if it has none.',
    ),
    listen: value(
      '--listen <host:port>',
      'Where to listen. Default: TRACKING_HOST and PORT.',
      address,
    ),
    timeout: value(
      '--timeout <seconds>',
      'How long to wait for the sample.',
      wholeNumber(1, 600),
      20,
    ),
  },
  run: (app, options, io) =>
    options.to === undefined
      ? testWay(app, io, options)
      : sendSample(app, options.event, options.to),
})

async function sendSample(app: App, event: string, url: string): Promise<Answer> {
  const { checkTargetUrl } = await import('./create-webhook.js')
  checkTargetUrl('--to', url)
  const { listWebhookRecords, sendsTo } = await import('../../../webhooks/manage/own-webhooks.js')
  const { checkSecret } = await import('../../../webhooks/manage/check-webhooks.js')
  const { secrets } = watchSettingsOf(app.config)
  const { service } = await app.openService()
  const sending = (await listWebhookRecords(service, app.signal)).find((webhook) =>
    sendsTo(webhook, url),
  )
  // The secret of real deliveries, if the service returns it.
  const secret = sending?.secret?.reveal() ?? secrets[0]
  await service.triggerWebhook({ url, event, secret })
  const alerts = sending === undefined ? [] : checkSecret(sending, secrets)
  const isSigned = secret !== undefined
  const isOurs = isSigned && secrets.includes(secret)
  const how = isOurs ? 'signed with TRACKING_WEBHOOK_SECRET' : 'signed as real deliveries are'
  return {
    data: { url, event, isSigned, alerts },
    text: [
      `The service sends a sample of ${event} to ${url}, ${isSigned ? how : 'not signed'}.`,
      ...alerts.map(({ sentence }) => `ALERT: ${sentence}`),
    ],
    exitCode: alerts.length > 0 ? EXIT_CODES.incomplete : EXIT_CODES.complete,
  }
}

interface TestOptions {
  readonly event: string
  readonly listen: { readonly host: string; readonly httpPort: number } | undefined
  readonly timeout: number
  readonly json: boolean
}

async function testWay(
  app: App,
  io: CommandIo,
  { event, listen, timeout, json }: TestOptions,
): Promise<Answer> {
  const { checkTargetUrl } = await import('./create-webhook.js')
  const { testWebhook } = await import('./self-test.js')
  const { config } = app
  const url = requireWebhookUrl(config)
  checkTargetUrl('TRACKING_WEBHOOK_URL', url)
  const { error, ...report } = await testWebhook({
    service: (await app.openService()).service,
    logger: app.logger,
    signal: app.signal,
    url,
    event,
    secrets: watchSettingsOf(config).secrets,
    host: listen?.host ?? config.host,
    httpPort: listen?.httpPort ?? config.httpPort,
    path: config.webhookPath,
    signature: config.preset.webhooks.signature,
    timeoutMs: timeout * 1000,
    onStep: ({ name, isOk, detail }) => {
      if (!json) io.print({ name, isOk, detail: app.redact(detail) })
    },
  })
  const verdict = report.isPassed ? EXIT_CODES.complete : EXIT_CODES.config
  // Without --json, each step was printed at once.
  return { data: report, text: [], exitCode: error === undefined ? verdict : exitCodeOf(error) }
}

/** `127.0.0.1:8080`, `[::1]:8080`, or a port alone on this machine. */
function address(text: string): { readonly host: string; readonly httpPort: number } {
  const [, host = '127.0.0.1', digits = ''] = /^(?:(.+):)?(\d{1,5})$/.exec(text) ?? []
  const httpPort = Number(digits)
  if (digits === '' || httpPort > 65_535) {
    throw new InvalidArgumentError('It must look like 127.0.0.1:8080.')
  }
  return { host: host.replace(/^\[(.*)\]$/, '$1'), httpPort }
}

/** The address of our receiver. */
function requireWebhookUrl({ webhookUrl }: Pick<Config, 'webhookUrl'>): string {
  if (webhookUrl !== undefined) return webhookUrl
  const problem =
    'is not set; give the address at which the service reaches our receiver, ' +
    'like https://tracking.example.com/webhooks'
  throw new ConfigError([{ setting: 'TRACKING_WEBHOOK_URL', problem }])
}
