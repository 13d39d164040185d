import { open, rm } from 'node:fs/promises'
import type { Command } from 'commander'
import type { App } from '../app.js'
import { ConfigError } from '../base/errors.js'
import { EXIT_CODES } from '../base/exit-code.js'
import { countOf } from '../base/phrases.js'
import {
  requireWebhookSecrets,
  requireWebhookUrl,
  watchSettingsOf,
} from '../config/needed-settings.js'
import type { ManageDependencies, ManagedWebhook } from '../webhooks/manage/create-webhook.js'
import type { CommandIo } from './command-io.js'
import { declare, SERVICE_ONLY } from './declare-command.js'
import { escapeControls } from './output/print-table.js'

interface SecretOptions {
  readonly showSecret?: boolean
  readonly secretFile?: string
}

interface CreateOptions extends SecretOptions {
  readonly url?: string
  readonly again?: boolean
}

export function addCreateCommand(group: Command, io: CommandIo): void {
  declare<CreateOptions>(group, io, {
    name: 'create',
    help:
      'Have the service send us every event we need, signed. ' +
      'Exit code 6 until the secret it signs with is in our settings.',
    settings: [...SERVICE_ONLY, 'webhookEvents'],
    define: (command) =>
      addSecretOptions(
        command
          .option('--url <url>', 'Address of our receiver. Default: TRACKING_WEBHOOK_URL.')
          .option('--again', 'Even if a webhook already sends to this address.'),
      ),
    run: async (app, options) => {
      const { createOwnWebhook } = await import('../webhooks/manage/create-webhook.js')
      const { webhookUrl, webhookIds } = app.config
      const url = options.url ?? requireWebhookUrl(app.config)
      // Without a secret of ours there must be a way to get the one that the service makes.
      if (!isSecretWanted(options)) requireWebhookSecrets(app.config)
      return manage(app, io, { ...options, what: 'created' }, async (dependencies) => {
        const managed = await createOwnWebhook(
          { url, isAgain: options.again ?? false },
          dependencies,
        )
        const notes = [...managed.notes]
        const { webhookId } = managed.webhook
        if (webhookIds !== undefined) notes.push(`add ${webhookId} to TRACKING_WEBHOOK_IDS`)
        else if (webhookUrl !== url) notes.push(`set TRACKING_WEBHOOK_URL=${url}`)
        return { ...managed, notes }
      })
    },
  })
}

interface EnableOptions extends SecretOptions {
  readonly events?: boolean
  readonly sign?: boolean
}

export function addEnableCommand(group: Command, io: CommandIo): void {
  declare<EnableOptions, [string]>(group, io, {
    name: 'enable',
    help: 'Switch a webhook on again after the service has switched it off.',
    settings: [...SERVICE_ONLY, 'webhookEvents'],
    define: (command) =>
      addSecretOptions(
        command
          .argument('<id>', 'Id of the webhook, from `webhooks list`.')
          .option('--events', 'Also subscribe it to every event we need.')
          .option('--sign', 'Also have it sign with TRACKING_WEBHOOK_SECRET.'),
      ),
    run: async (app, options, webhookId) => {
      const { enableWebhook } = await import('../webhooks/manage/create-webhook.js')
      const { events: isWithEvents = false, sign: isSigning = false } = options
      if (isSigning) requireWebhookSecrets(app.config)
      return manage(app, io, { ...options, what: 'enabled' }, (dependencies) =>
        enableWebhook({ webhookId, isWithEvents, isSigning }, dependencies),
      )
    },
  })
}

function addSecretOptions(command: Command): Command {
  return command
    .option('--show-secret', 'Print the secret that the service returns. Nothing else does.')
    .option(
      '--secret-file <path>',
      'Write the secret that the service returns into a new file that only you can read.',
    )
}

interface ManageOptions extends SecretOptions {
  readonly json?: boolean
  readonly what: string
}

function isSecretWanted({ showSecret = false, secretFile }: SecretOptions): boolean {
  return showSecret || secretFile !== undefined
}

/** Makes the change, prints the outcome, and hands out the secret if that was asked for. */
async function manage(
  app: App,
  io: CommandIo,
  options: ManageOptions,
  change: (dependencies: ManageDependencies) => Promise<ManagedWebhook>,
): Promise<number> {
  const { secrets, events } = watchSettingsOf(app.config)
  const { service } = await app.openService()
  const { secretFile: path } = options
  const file = path === undefined ? undefined : await openSecretFile(path)
  try {
    const managed = await change({ service, signal: app.signal, events, secrets })
    const { secret } = managed.webhook
    if (secret !== null) await file?.write(secret.reveal())
    print(io, options, managed)
    return managed.alerts.length > 0 ? EXIT_CODES.incomplete : EXIT_CODES.complete
  } finally {
    await file?.close()
  }
}

function print(io: CommandIo, options: ManageOptions, managed: ManagedWebhook): void {
  const { webhook, alerts } = managed
  const notes = [...managed.notes]
  if (isSecretWanted(options) && webhook.secret === null) {
    notes.push("the service does not return this webhook's secret; look for it on its website")
  }
  const secret = isSecretWanted(options) ? (webhook.secret?.reveal() ?? null) : null
  const shown = options.showSecret === true ? secret : null
  if (options.json === true) {
    io.printJson({ ...managed, notes, ...(shown === null ? {} : { secret: shown }) })
    return
  }
  const { webhookId, url, events, isActive } = webhook
  const sends = events === null ? 'unknown events' : countOf(events.length, 'event')
  const state = isActive === false ? ', but it is NOT active' : ''
  const lines = [
    `Webhook ${webhookId} ${options.what}: ${sends} to ${url ?? 'an unknown address'}${state}.`,
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
  for (const line of lines) io.print(escapeControls(line))
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

interface SecretFile {
  write(secret: string): Promise<void>
  /** Closes it; a file that holds no secret is removed. */
  close(): Promise<void>
}

/**
 * Makes the file before the service is asked: a secret that is shown only once must not be lost to
 * a wrong path. Throws ConfigError if that fails or the file exists.
 */
async function openSecretFile(path: string): Promise<SecretFile> {
  const file = await open(path, 'wx', 0o600).catch((thrown: unknown) => {
    throw refusal(path, thrown)
  })
  let isWritten = false
  return {
    write: async (secret) => {
      await file.writeFile(`${secret}\n`)
      await file.sync()
      isWritten = true
    },
    close: async () => {
      await file.close()
      if (!isWritten) await rm(path, { force: true })
    },
  }
}

function refusal(path: string, thrown: unknown): ConfigError {
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : 'unknown error'
  const problem =
    code === 'EEXIST'
      ? 'exists already and may hold a secret in use; name a new file'
      : `cannot be written (${code}); name a file in a directory you can write to`
  return new ConfigError([{ setting: `--secret-file ${path}`, problem }], { cause: thrown })
}
