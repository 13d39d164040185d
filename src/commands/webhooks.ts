import type { Command } from 'commander'
import { EXIT_CODES } from '../base/exit-code.js'
import { countOf } from '../base/phrases.js'
import { requireService, watchSettingsOf } from '../config/needed-settings.js'
import type { Envelope } from '../webhooks/receive/envelope.js'
import type { ReconcileReport } from '../webhooks/reconcile.js'
import type { CommandIo } from './command-io.js'
import { declare, SERVICE_ONLY } from './declare-command.js'
import { escapeControls, formatTable } from './output/print-table.js'
import { wholeNumber } from './parse-arguments.js'
import { addCreateCommand, addEnableCommand } from './webhooks-create.js'
import { addTriggerCommand } from './webhooks-trigger.js'

export function addWebhookCommands(program: Command, io: CommandIo): void {
  const group = program
    .command('webhooks')
    .description('Our webhooks at the service: list, create, enable, test, and catch up.')
  addList(group, io)
  addCreateCommand(group, io)
  addEnableCommand(group, io)
  addEvents(group, io)
  addIps(group, io)
  addFailed(group, io)
  addTriggerCommand(group, io)
  addReconcile(group, io)
}

function addList(group: Command, io: CommandIo): void {
  declare(group, io, {
    name: 'list',
    help:
      'List the webhooks of the account, which are ours, and whether they sign with our secret. ' +
      'Shows no secrets. Exit code 6 when ours signs with another.',
    settings: [...SERVICE_ONLY, 'webhookUrl', 'webhookIds'],
    run: async (app, options) => {
      const { listWebhookRecords } = await import('../webhooks/manage/webhook-record.js')
      const { isOurs } = await import('../webhooks/manage/own-webhooks.js')
      const { checkSecret } = await import('../webhooks/manage/check-webhooks.js')
      const own = watchSettingsOf(app.config)
      const listed = await listWebhookRecords((await app.openService()).service, app.signal)
      const webhooks = listed.map((webhook) => ({
        ...webhook,
        isSignedWithOurs: webhook.secret?.isAmong(own.secrets) ?? null,
        isOurs: isOurs(webhook, own),
      }))
      // If the settings name none of them, none is promised to work.
      const isNamed = own.url !== undefined || own.ids.length > 0
      const alerts = webhooks.flatMap((webhook) =>
        isNamed && webhook.isOurs ? checkSecret(webhook, own.secrets) : [],
      )
      io.show(options, webhooks, () => {
        if (webhooks.length === 0) {
          return 'The account has no webhook: make one with `tracking-sync webhooks create`.'
        }
        const rows = webhooks.map((webhook) => [
          webhook.webhookId,
          webhook.url,
          yesOrNo(webhook.isActive),
          webhook.events?.length ?? 'unknown',
          describeSecret(webhook),
          yesOrNo(webhook.isOurs),
        ])
        const columns = ['webhook', 'url', 'active', 'events', 'secret', 'ours']
        const lines = alerts.map(({ sentence }) => escapeControls(`ALERT: ${sentence}`))
        return [formatTable(columns, rows, io.terminal), ...lines].join('\n')
      })
      return alerts.length > 0 ? EXIT_CODES.incomplete : EXIT_CODES.complete
    },
  })
}

function describeSecret(webhook: {
  readonly hasSecret: boolean | null
  readonly isSignedWithOurs: boolean | null
}): string {
  if (webhook.hasSecret === false) return 'none'
  if (webhook.isSignedWithOurs === null) return 'unknown'
  return webhook.isSignedWithOurs ? 'ours' : 'NOT ours'
}

function yesOrNo(value: boolean | null): string {
  if (value === null) return 'unknown'
  return value ? 'yes' : 'no'
}

function addEvents(group: Command, io: CommandIo): void {
  declare(group, io, {
    name: 'events',
    help: 'List the events that a webhook can subscribe to, and which of them we need.',
    settings: [...SERVICE_ONLY, 'webhookEvents'],
    run: async (app, options) => {
      const { listCatalogueEvents, neededEvents } =
        await import('../webhooks/manage/needed-events.js')
      const { document } = await (await app.openService()).service.getWebhookEvents()
      const catalogue = listCatalogueEvents(document)
      const needed = new Set(neededEvents(catalogue, app.config.webhookEvents))
      const events = catalogue.map((entry) => ({ ...entry, isNeeded: needed.has(entry.name) }))
      io.show(options, events, () => {
        if (events.length === 0) return 'The catalogue of the service is empty.'
        const rows = events.map((entry) => [
          entry.category,
          entry.name,
          yesOrNo(entry.isNeeded),
          entry.description,
        ])
        return formatTable(['category', 'event', 'needed', 'description'], rows, io.terminal)
      })
    },
  })
}

function addIps(group: Command, io: CommandIo): void {
  declare(group, io, {
    name: 'ips',
    help: 'List the addresses that deliveries come from, one per line, for a firewall.',
    settings: SERVICE_ONLY,
    run: async (app, options) => {
      const { readAddressList } = await import('../webhooks/receive/sender-addresses.js')
      const { service } = await app.openService()
      const addresses = readAddressList((await service.getWebhookIps()).body)
      io.show(options, addresses, () => addresses.join('\n'))
    },
  })
}

function addFailed(group: Command, io: CommandIo): void {
  declare<{ readonly limit: number }>(group, io, {
    name: 'failed',
    help: 'List notifications that the service gave up on, of all webhooks of the account.',
    settings: SERVICE_ONLY,
    define: (command) =>
      command.option('--limit <count>', 'Show at most this many.', wholeNumber(1, 10_000), 50),
    run: async (app, options) => {
      const { listFailedNotifications } = await import('../webhooks/reconcile.js')
      const { service } = await app.openService()
      const { limit } = options
      const failed: Envelope[] = []
      const pageSize = Math.min(limit, app.config.pageSize)
      for await (const page of listFailedNotifications(service, { pageSize })) {
        failed.push(...page.failed.map(({ envelope }) => envelope))
        if (failed.length >= limit) break
      }
      const shown = failed.slice(0, limit)
      io.show(options, shown, () => {
        if (shown.length === 0) return 'No notification has failed.'
        const rows = shown.map(({ notificationId, event, createdAt, webhookId, reference }) => [
          notificationId,
          event,
          createdAt,
          webhookId,
          reference === null ? null : `${reference.type} ${reference.id}`,
        ])
        const columns = ['notification', 'event', 'created', 'webhook', 'about']
        return formatTable(columns, rows, io.terminal)
      })
    },
  })
}

function addReconcile(group: Command, io: CommandIo): void {
  declare(group, io, {
    name: 'reconcile',
    help:
      'Check our webhook, and put failed notifications into the inbox for the processor. ' +
      'Exit code 6 when the webhook needs attention.',
    json: 'Print the report as JSON.',
    settings: [
      ...SERVICE_ONLY,
      'rateLimitPerMinute',
      'pageSize',
      'migrate',
      'webhookUrl',
      'webhookIds',
      'webhookEvents',
      'webhookReactivate',
    ],
    run: async (app, options) => {
      const { reconcile } = await import('../webhooks/reconcile.js')
      // Before a database is started in vain.
      requireService(app.config)
      const warehouse = await app.openWarehouse({ isWriting: true })
      const { service } = await app.openService({ warehouse })
      const report = await reconcile({
        service,
        warehouse,
        logger: app.logger,
        signal: app.signal,
        settings: { ...watchSettingsOf(app.config), pageSize: app.config.pageSize },
      })
      io.show(options, report, () => formatReconcileReport(report))
      return report.webhook.alerts.length > 0 ? EXIT_CODES.incomplete : EXIT_CODES.complete
    },
  })
}

function formatReconcileReport(report: ReconcileReport): string {
  const { webhook } = report
  const lines = [
    ...webhook.notes.map((note) => `note: ${note}`),
    ...webhook.alerts.map(({ sentence }) => `ALERT: ${sentence}`),
  ]
  if (!webhook.isConfigured) {
    lines.push('note: set TRACKING_WEBHOOK_URL or TRACKING_WEBHOOK_IDS to have our webhook checked')
  }
  if (report.isTruncated) {
    lines.push(
      `note: only ${report.pages} pages of failed notifications were read; ` +
        'the next complete sync brings what the others were about',
    )
  }
  const parts = [
    `${report.alreadyKnown} known already`,
    ...(report.foreign > 0 ? [`${report.foreign} of other webhooks`] : []),
    `${report.recovered} recovered`,
  ]
  const sentence = `${countOf(report.failed, 'failed notification')}: ${parts.join(', ')}.`
  return [...lines.map(escapeControls), sentence].join('\n')
}
