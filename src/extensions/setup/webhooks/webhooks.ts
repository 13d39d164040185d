import { EXIT_CODES } from '../../../base/exit-code.js'
import { countOf } from '../../../base/phrases.js'
import { requireService, watchSettingsOf } from '../../../config/needed-settings.js'
import type { Envelope } from '../../../webhooks/receive/delivery.js'
import type { ReconcileReport } from '../../../webhooks/manage/reconcile.js'
import { replay } from '../../../commands/replay.js'
import {
  declare,
  group,
  SERVICE_ONLY,
  value,
  wholeNumber,
} from '../../../commands/declare-command.js'
import { create, enable, trigger } from './webhooks-create.js'

const list = declare({
  name: 'list',
  help:
    'List the webhooks of the account, which are ours, and whether they sign with our secret. ' +
    'Shows no secrets. Exit code 6 when ours signs with another.',
  settings: [...SERVICE_ONLY, 'webhookUrl', 'webhookIds'],
  run: async (app) => {
    const { isOurs, listWebhookRecords } = await import('../../../webhooks/manage/own-webhooks.js')
    const { checkSecret } = await import('../../../webhooks/manage/check-webhooks.js')
    const own = watchSettingsOf(app.config)
    const listed = await listWebhookRecords((await app.openService()).service, app.signal)
    const webhooks = listed.map((webhook) => ({
      ...webhook,
      isSignedWithOurs: webhook.secret?.isAmong(own.secrets) ?? null,
      isOurs: isOurs(webhook, own),
    }))
    // If the settings name none of them, no webhook is checked.
    const isNamed = own.url !== undefined || own.ids.length > 0
    const alerts = webhooks.flatMap((webhook) =>
      isNamed && webhook.isOurs ? checkSecret(webhook, own.secrets) : [],
    )
    const rows = webhooks.map((webhook) => [
      webhook.webhookId,
      webhook.url,
      yesOrNo(webhook.isActive),
      webhook.events?.length ?? 'unknown',
      webhook.hasSecret === false
        ? 'none'
        : yesOrNo(webhook.isSignedWithOurs, ['ours', 'NOT ours']),
      yesOrNo(webhook.isOurs),
    ])
    const columns = ['webhook', 'url', 'active', 'events', 'secret', 'ours']
    return {
      data: webhooks,
      text:
        rows.length === 0
          ? ['The account has no webhook: make one with `tracking-sync webhooks create`.']
          : [{ columns, rows }, ...alerts.map(({ sentence }) => `ALERT: ${sentence}`)],
      exitCode: alerts.length > 0 ? EXIT_CODES.incomplete : EXIT_CODES.complete,
    }
  },
})

function yesOrNo(isSo: boolean | null, [yes, no] = ['yes', 'no']): string | undefined {
  if (isSo === null) return 'unknown'
  return isSo ? yes : no
}

const events = declare({
  name: 'events',
  help: 'List the events that a webhook can subscribe to, and which of them we need.',
  settings: SERVICE_ONLY,
  run: async (app) => {
    const { listCatalogueEvents, neededEvents } =
      await import('../../../webhooks/manage/needed-events.js')
    const { document } = await (await app.openService()).service.getWebhookEvents()
    const catalogue = listCatalogueEvents(document)
    const needed = new Set(neededEvents(catalogue, app.config.preset.webhooks.events))
    const data = catalogue.map((entry) => ({ ...entry, isNeeded: needed.has(entry.name) }))
    if (data.length === 0) return { data, text: ['The catalogue of the service is empty.'] }
    const rows = data.map(({ category, name, isNeeded, description }) => [
      category,
      name,
      yesOrNo(isNeeded),
      description,
    ])
    return { data, text: [{ columns: ['category', 'event', 'needed', 'description'], rows }] }
  },
})

const ips = declare({
  name: 'ips',
  help: 'List the addresses that deliveries come from, one per line, for a firewall.',
  settings: SERVICE_ONLY,
  run: async (app) => {
    const { readAddressList } = await import('../../../webhooks/receive/sender-addresses.js')
    const { service } = await app.openService()
    const addresses = readAddressList((await service.getWebhookIps()).body)
    return { data: addresses, text: addresses }
  },
})

const failed = declare({
  name: 'failed',
  help: 'List notifications that the service gave up on, of all webhooks of the account.',
  settings: SERVICE_ONLY,
  takes: {
    limit: value('--limit <count>', 'Show at most this many.', wholeNumber(1, 10_000), 50),
  },
  run: async (app, { limit }) => {
    const { listFailedNotifications } = await import('../../../webhooks/manage/reconcile.js')
    const { service } = await app.openService()
    const found: Envelope[] = []
    const pageSize = Math.min(limit, app.config.preset.pageSize)
    for await (const page of listFailedNotifications(service, { pageSize })) {
      found.push(...page.failed.map(({ envelope }) => envelope))
      if (found.length >= limit) break
    }
    const data = found.slice(0, limit)
    if (data.length === 0) return { data, text: ['No notification has failed.'] }
    const rows = data.map(({ notificationId, event, createdAt, webhookId, reference }) => [
      notificationId,
      event,
      createdAt,
      webhookId,
      reference === null ? null : `${reference.type} ${reference.id}`,
    ])
    const columns = ['notification', 'event', 'created', 'webhook', 'about']
    return { data, text: [{ columns, rows }] }
  },
})

const reconcile = declare({
  name: 'reconcile',
  help:
    'Check our webhook, and put failed notifications into the inbox for the processor. ' +
    'Exit code 6 when the webhook needs attention.',
  json: 'Print the report as JSON.',
  settings: [...SERVICE_ONLY, 'rateLimitPerMinute', 'migrate', 'webhookUrl', 'webhookIds'],
  run: async (app) => {
    const { reconcile: catchUp } = await import('../../../webhooks/manage/reconcile.js')
    // Checked before a database is started in vain.
    requireService(app.config)
    const warehouse = await app.openWarehouse({ isWriting: true })
    const { service } = await app.openService({ warehouse })
    const { logger, signal, config } = app
    const settings = { ...watchSettingsOf(config), pageSize: config.preset.pageSize }
    const report = await catchUp({ service, warehouse, logger, signal, settings })
    const isWell = report.webhook.alerts.length === 0
    return {
      data: report,
      text: describeReconciliation(report),
      exitCode: isWell ? EXIT_CODES.complete : EXIT_CODES.incomplete,
    }
  },
})

function describeReconciliation(report: ReconcileReport): string[] {
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
  return [...lines, sentence]
}

export const webhooks = group(
  'webhooks',
  'Our webhooks at the service: list, create, enable, test, catch up, and apply again.',
  [list, create, enable, events, ips, failed, trigger, reconcile, replay],
)
