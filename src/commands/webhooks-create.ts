import type { Command } from 'commander'
import type { App } from '../app.js'
import type { SettingName } from '../config.js'
import { ConfigError } from '../errors.js'
import { EXIT_CODES } from '../exit-code.js'
import type { ManagedWebhook } from '../webhooks/create-webhook.js'
import { addSettingFlags, settingFlagsOf, type CommandIo } from './command-io.js'
import { escapeControls } from './print-table.js'

interface CreateOptions extends Record<string, unknown> {
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
      'Have the service send us every event we need, signed with TRACKING_WEBHOOK_SECRET.',
    )
    .option('--url <url>', 'Address of our receiver; TRACKING_WEBHOOK_URL unless told otherwise.')
    .option('--again', 'Also where a webhook sends to this address already.')
    .option('--json', 'Print as JSON.')
  addSettingFlags(command, [...settings, 'webhookEvents']).action(
    async ({ url: given, again = false, json = false, ...options }: CreateOptions) => {
      await io.withApp(settingFlagsOf(options), async (app) => {
        const { requireWebhookSecrets } = await import('../webhook-settings.js')
        const { createOwnWebhook } = await import('../webhooks/create-webhook.js')
        const { webhookEvents, webhookUrl, webhookIds } = app.config
        const url = given ?? requireWebhookUrl(app)
        const [secret = ''] = requireWebhookSecrets(app.config)
        const { service } = await app.openService()
        const managed = await createOwnWebhook(
          { url, isAgain: again },
          { service, signal: app.signal, events: webhookEvents, secret },
        )
        const { webhookId } = managed.webhook
        const notes = [...managed.notes]
        if (webhookIds !== undefined) notes.push(`add ${webhookId} to TRACKING_WEBHOOK_IDS`)
        else if (webhookUrl !== url) notes.push(`set TRACKING_WEBHOOK_URL=${url}`)
        print(io, json, { ...managed, notes }, 'created')
        return EXIT_CODES.complete
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

interface EnableOptions extends Record<string, unknown> {
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
  addSettingFlags(command, [...settings, 'webhookEvents']).action(
    async (
      webhookId: string,
      { events = false, sign = false, json = false, ...options }: EnableOptions,
    ) => {
      await io.withApp(settingFlagsOf(options), async (app) => {
        const { requireWebhookSecrets } = await import('../webhook-settings.js')
        const { enableWebhook } = await import('../webhooks/create-webhook.js')
        const [secret] = sign ? requireWebhookSecrets(app.config) : []
        const { service } = await app.openService()
        const managed = await enableWebhook(
          { webhookId, isWithEvents: events, isSigning: sign },
          { service, signal: app.signal, events: app.config.webhookEvents, secret },
        )
        print(io, json, managed, 'enabled')
        return EXIT_CODES.complete
      })
    },
  )
}

function print(io: CommandIo, isJson: boolean, managed: ManagedWebhook, what: string): void {
  if (isJson) {
    io.printJson(managed)
    return
  }
  const { webhookId, url, events, isActive } = managed.webhook
  const sends = events === null ? 'events it does not tell' : `${events.length} events`
  const state = isActive === false ? ', but it is NOT active' : ''
  const sentence = `Webhook ${webhookId} ${what}: ${sends} to ${url ?? 'an address it does not tell'}${state}.`
  io.print(escapeControls(sentence))
  for (const note of managed.notes) io.print(escapeControls(`note: ${note}`))
  io.print('Test it with `tracking-sync webhooks trigger`.')
}
