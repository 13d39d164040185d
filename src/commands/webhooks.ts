import type { Command } from 'commander'
import type { SettingName } from '../config/settings.js'
import { EXIT_CODES } from '../base/exit-code.js'
import { addSettingFlags, settingFlagsOf, type CommandIo } from './command-io.js'
import { escapeControls, formatTable } from './output/print-table.js'
import { addFailedCommand, addReconcileCommand } from './webhooks-failed.js'
import { addCreateCommand, addEnableCommand } from './webhooks-create.js'
import { addTriggerCommand } from './webhooks-trigger.js'

/** Settings of commands that only ask the service something. */
const SERVICE_ONLY: readonly SettingName[] = [
  'apiUrl',
  'requestTimeoutSeconds',
  'allowInsecureApiUrl',
]

interface PrintOptions extends Record<string, unknown> {
  readonly json?: boolean
}

export function addWebhookCommands(program: Command, io: CommandIo): void {
  const group = program
    .command('webhooks')
    .description('Our webhooks at the service: list, create, enable, test, and catch up.')
  addList(group, io)
  addCreateCommand(group, io, SERVICE_ONLY)
  addEnableCommand(group, io, SERVICE_ONLY)
  addEvents(group, io)
  addIps(group, io)
  addFailedCommand(group, io, SERVICE_ONLY)
  addTriggerCommand(group, io, SERVICE_ONLY)
  addReconcileCommand(group, io, SERVICE_ONLY)
}

function addList(group: Command, io: CommandIo): void {
  const command = group
    .command('list')
    .description(
      'The webhooks of the account, which are ours, and whether they sign with our secret. Secrets are not shown. Exit code 6 when ours signs with another.',
    )
    .option('--json', 'Print as JSON.')
  const settings: readonly SettingName[] = [...SERVICE_ONLY, 'webhookUrl', 'webhookIds']
  addSettingFlags(command, settings).action(async (options: PrintOptions) => {
    await io.withApp(settingFlagsOf(options), async (app) => {
      const { listWebhookRecords } = await import('../webhooks/manage/webhook-record.js')
      const { isOurs } = await import('../webhooks/manage/own-webhooks.js')
      const { checkSecret } = await import('../webhooks/manage/check-webhooks.js')
      const { watchSettingsOf } = await import('../config/needed-settings.js')
      const own = watchSettingsOf(app.config)
      const listed = await listWebhookRecords((await app.openService()).service, app.signal)
      const webhooks = listed.map((webhook) => ({
        ...webhook,
        isSignedWithOurs: webhook.secret?.isAmong(own.secrets) ?? null,
        isOurs: isOurs(webhook, own),
      }))
      // Where the settings name none of them, none is promised to work.
      const isNamed = own.url !== undefined || own.ids.length > 0
      const alerts = webhooks.flatMap((webhook) =>
        isNamed && webhook.isOurs ? checkSecret(webhook, own.secrets) : [],
      )
      if (options.json === true) io.printJson(webhooks)
      else if (webhooks.length === 0) {
        io.print('The account has no webhook: make one with `tracking-sync webhooks create`.')
      } else {
        const rows = webhooks.map((webhook) => [
          webhook.webhookId,
          webhook.url,
          yesOrNo(webhook.isActive),
          webhook.events?.length ?? 'not said',
          tellSecret(webhook),
          yesOrNo(webhook.isOurs),
        ])
        io.print(
          formatTable(['webhook', 'url', 'active', 'events', 'secret', 'ours'], rows, io.terminal),
        )
        for (const { sentence } of alerts) io.print(escapeControls(`ALERT: ${sentence}`))
      }
      return alerts.length > 0 ? EXIT_CODES.incomplete : EXIT_CODES.complete
    })
  })
}

function tellSecret(webhook: {
  readonly hasSecret: boolean | null
  readonly isSignedWithOurs: boolean | null
}): string {
  if (webhook.hasSecret === false) return 'none'
  if (webhook.isSignedWithOurs === null) return 'not said'
  return webhook.isSignedWithOurs ? 'ours' : 'NOT ours'
}

function yesOrNo(value: boolean | null): string {
  if (value === null) return 'not said'
  return value ? 'yes' : 'no'
}

function addEvents(group: Command, io: CommandIo): void {
  const command = group
    .command('events')
    .description('The catalogue of events a webhook can subscribe to, and which of them we need.')
    .option('--json', 'Print as JSON.')
  addSettingFlags(command, [...SERVICE_ONLY, 'webhookEvents']).action(
    async (options: PrintOptions) => {
      await io.withApp(settingFlagsOf(options), async (app) => {
        const { listCatalogueEvents, neededEvents } =
          await import('../webhooks/manage/needed-events.js')
        const { document } = await (await app.openService()).service.getWebhookEvents()
        const catalogue = listCatalogueEvents(document)
        const needed = new Set(neededEvents(catalogue, app.config.webhookEvents))
        const events = catalogue.map((entry) => ({ ...entry, isNeeded: needed.has(entry.name) }))
        if (options.json === true) io.printJson(events)
        else if (events.length === 0) io.print('The catalogue of the service is empty.')
        else {
          const rows = events.map((entry) => [
            entry.category,
            entry.name,
            yesOrNo(entry.isNeeded),
            entry.description,
          ])
          io.print(formatTable(['category', 'event', 'needed', 'description'], rows, io.terminal))
        }
        return EXIT_CODES.complete
      })
    },
  )
}

function addIps(group: Command, io: CommandIo): void {
  const command = group
    .command('ips')
    .description('The addresses deliveries come from, one a line: for a firewall.')
    .option('--json', 'Print as JSON.')
  addSettingFlags(command, SERVICE_ONLY).action(async (options: PrintOptions) => {
    await io.withApp(settingFlagsOf(options), async (app) => {
      const { readAddressList } = await import('../webhooks/receive/sender-addresses.js')
      const addresses = readAddressList(
        (await (await app.openService()).service.getWebhookIps()).body,
      )
      if (options.json === true) io.printJson(addresses)
      else for (const address of addresses) io.print(address)
      return EXIT_CODES.complete
    })
  })
}
