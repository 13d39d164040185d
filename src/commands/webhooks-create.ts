import type { Command } from 'commander'
import type { App } from '../app.js'
import type { SettingName } from '../config/settings.js'
import { ConfigError } from '../base/errors.js'
import { EXIT_CODES } from '../base/exit-code.js'
import type { ManageDependencies, ManagedWebhook } from '../webhooks/manage/create-webhook.js'
import { addSettingFlags, settingFlagsOf, type CommandIo } from './command-io.js'
import { countOf } from './output/count-of.js'
import { escapeControls } from './output/print-table.js'
import {
  addSecretOptions,
  openSecretFile,
  type SecretOptions,
} from './output/webhook-secret-output.js'

interface CreateOptions extends Record<string, unknown>, SecretOptions {
  readonly url?: string
  readonly again?: boolean
  readonly json?: boolean
}

export function addCreateCommand(
  group: Command,
  io: CommandIo,
  settings: readonly SettingName[],
): void {
  const command = group
    .command('create')
    .description(
      'Have the service send us every event we need, signed. Exit code 6 until the secret it signs with is in our settings.',
    )
    .option('--url <url>', 'Address of our receiver. Default: TRACKING_WEBHOOK_URL.')
    .option('--again', 'Also where a webhook sends to this address already.')
    .option('--json', 'Print as JSON.')
  addSettingFlags(addSecretOptions(command), [...settings, 'webhookEvents']).action(
    async ({ url: given, again = false, ...options }: CreateOptions) => {
      await io.withApp(settingFlagsOf(options), async (app) => {
        const { requireWebhookSecrets } = await import('../config/needed-settings.js')
        const { createOwnWebhook } = await import('../webhooks/manage/create-webhook.js')
        const { webhookUrl, webhookIds } = app.config
        const url = given ?? requireWebhookUrl(app)
        // Without one of ours there must be a way to the one that the service makes.
        if (!isSecretWanted(options)) requireWebhookSecrets(app.config)
        return manage(app, io, { ...options, what: 'created' }, async (dependencies) => {
          const managed = await createOwnWebhook({ url, isAgain: again }, dependencies)
          const notes = [...managed.notes]
          const { webhookId } = managed.webhook
          if (webhookIds !== undefined) notes.push(`add ${webhookId} to TRACKING_WEBHOOK_IDS`)
          else if (webhookUrl !== url) notes.push(`set TRACKING_WEBHOOK_URL=${url}`)
          return { ...managed, notes }
        })
      })
    },
  )
}

/** The address of our receiver. Throws ConfigError where it is not set. */
export function requireWebhookUrl({ config }: App): string {
  if (config.webhookUrl !== undefined) return config.webhookUrl
  const problem =
    'is not set; give the address at which the service reaches our receiver, like https://tracking.example.com/webhooks'
  throw new ConfigError([{ setting: 'TRACKING_WEBHOOK_URL', problem }])
}

interface EnableOptions extends Record<string, unknown>, SecretOptions {
  readonly events?: boolean
  readonly sign?: boolean
  readonly json?: boolean
}

export function addEnableCommand(
  group: Command,
  io: CommandIo,
  settings: readonly SettingName[],
): void {
  const command = group
    .command('enable')
    .description('Switch a webhook on again, after the service has switched it off.')
    .argument('<id>', 'Id of the webhook, from `webhooks list`.')
    .option('--events', 'Also subscribe it to every event we need.')
    .option('--sign', 'Also have it sign with TRACKING_WEBHOOK_SECRET.')
    .option('--json', 'Print as JSON.')
  addSettingFlags(addSecretOptions(command), [...settings, 'webhookEvents']).action(
    async (webhookId: string, { events = false, sign = false, ...options }: EnableOptions) => {
      await io.withApp(settingFlagsOf(options), async (app) => {
        const { requireWebhookSecrets } = await import('../config/needed-settings.js')
        const { enableWebhook } = await import('../webhooks/manage/create-webhook.js')
        if (sign) requireWebhookSecrets(app.config)
        return manage(app, io, { ...options, what: 'enabled' }, (dependencies) =>
          enableWebhook({ webhookId, isWithEvents: events, isSigning: sign }, dependencies),
        )
      })
    },
  )
}

interface ManageOptions extends SecretOptions {
  readonly json?: boolean
  readonly what: string
}

function isSecretWanted({ showSecret = false, secretFile }: SecretOptions): boolean {
  return showSecret || secretFile !== undefined
}

/** Does it, prints what came of it, and hands out the secret where that was asked for. */
async function manage(
  app: App,
  io: CommandIo,
  options: ManageOptions,
  change: (dependencies: ManageDependencies) => Promise<ManagedWebhook>,
): Promise<number> {
  const { watchSettingsOf } = await import('../config/needed-settings.js')
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
    notes.push("the service does not tell this webhook's secret; look for it on its own pages")
  }
  const told = isSecretWanted(options) ? (webhook.secret?.reveal() ?? null) : null
  const shown = options.showSecret === true ? told : null
  if (options.json === true) {
    io.printJson({ ...managed, notes, ...(shown === null ? {} : { secret: shown }) })
    return
  }
  const { webhookId, url, events, isActive } = webhook
  const sends = events === null ? 'events it does not tell' : countOf(events.length, 'event')
  const state = isActive === false ? ', but it is NOT active' : ''
  const lines = [
    `Webhook ${webhookId} ${options.what}: ${sends} to ${url ?? 'an address it does not tell'}${state}.`,
    ...notes.map((note) => `note: ${note}`),
  ]
  if (told !== null && options.secretFile !== undefined) {
    lines.push(`Its secret is in ${options.secretFile}.`)
  }
  if (shown !== null) lines.push(`Its secret, shown this once: ${shown}`)
  for (const { kind, sentence } of alerts) {
    const isAtHand = kind === 'other_secret' && told !== null
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
  return `the service signs the deliveries of webhook ${webhookId} with this secret and no other: ${how}, or every delivery is refused`
}
