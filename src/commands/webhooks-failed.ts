import type { Command } from 'commander'
import type { SettingName } from '../config/settings.js'
import { EXIT_CODES } from '../base/exit-code.js'
import type { Envelope } from '../webhooks/receive/envelope.js'
import type { ReconcileReport } from '../webhooks/reconcile/reconcile.js'
import { addSettingFlags, settingFlagsOf, type CommandIo } from './command-io.js'
import { countOf } from './output/count-of.js'
import { escapeControls, formatTable } from './output/print-table.js'
import type { Terminal } from './output/terminal.js'
import { wholeNumber } from './output/whole-number.js'

interface FailedOptions extends Record<string, unknown> {
  readonly limit: number
  readonly json?: boolean
}

export function addFailedCommand(
  group: Command,
  io: CommandIo,
  settings: readonly SettingName[],
): void {
  const command = group
    .command('failed')
    .description('Notifications the service has given up on, of all webhooks of the account.')
    .option('--limit <count>', 'Show at most this many.', wholeNumber(1, 10_000), 50)
    .option('--json', 'Print as JSON.')
  addSettingFlags(command, settings).action(
    async ({ limit, json = false, ...options }: FailedOptions) => {
      await io.withApp(settingFlagsOf(options), async (app) => {
        const { listFailedNotifications } =
          await import('../webhooks/reconcile/failed-notifications.js')
        const { service } = await app.openService()
        const failed: Envelope[] = []
        const pageSize = Math.min(limit, app.config.pageSize)
        for await (const page of listFailedNotifications(service, { pageSize })) {
          failed.push(...page.failed)
          if (failed.length >= limit) break
        }
        const shown = failed.slice(0, limit)
        if (json) io.printJson(shown)
        else io.print(formatFailed(shown, io.terminal))
        return EXIT_CODES.complete
      })
    },
  )
}

function formatFailed(failed: readonly Envelope[], terminal: Terminal): string {
  if (failed.length === 0) return 'No notification has failed.'
  const rows = failed.map(({ notificationId, event, createdAt, webhookId, reference }) => [
    notificationId,
    event,
    createdAt,
    webhookId,
    reference === null ? null : `${reference.type} ${reference.id}`,
  ])
  return formatTable(['notification', 'event', 'created', 'webhook', 'about'], rows, terminal)
}

interface ReconcileOptions extends Record<string, unknown> {
  readonly json?: boolean
}

export function addReconcileCommand(
  group: Command,
  io: CommandIo,
  settings: readonly SettingName[],
): void {
  const command = group
    .command('reconcile')
    .description(
      'Check our webhook, and queue what failed notifications were about to be refetched. Exit code 6 when the webhook needs attention.',
    )
    .option('--json', 'Print the report as JSON.')
  addSettingFlags(command, [
    ...settings,
    'rateLimitPerMinute',
    'pageSize',
    'migrate',
    'webhookUrl',
    'webhookIds',
    'webhookEvents',
    'webhookReactivate',
  ]).action(async ({ json = false, ...options }: ReconcileOptions) => {
    await io.withApp(settingFlagsOf(options), async (app) => {
      const { reconcile } = await import('../webhooks/reconcile/reconcile.js')
      const { watchSettingsOf } = await import('../config/needed-settings.js')
      const { requireService } = await import('../config/needed-settings.js')
      // Before a database is started for nothing.
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
      if (json) io.printJson(report)
      else io.print(formatReconcileReport(report))
      return report.webhook.alerts.length > 0 ? EXIT_CODES.incomplete : EXIT_CODES.complete
    })
  })
}

function formatReconcileReport(report: ReconcileReport): string {
  const { webhook } = report
  const lines = [
    ...webhook.notes.map((note) => `note: ${note}`),
    ...webhook.alerts.map(({ sentence }) => `ALERT: ${sentence}`),
  ]
  if (!webhook.isConfigured) {
    lines.push(
      'note: neither TRACKING_WEBHOOK_URL nor TRACKING_WEBHOOK_IDS is set: no webhook to check',
    )
  }
  if (report.isTruncated) {
    lines.push(
      `note: the list of failed notifications is longer than the ${report.pages} pages that were read; the next complete sync brings their news`,
    )
  }
  const known = [
    `${report.alreadyKnown} known already`,
    ...(report.foreign > 0 ? [`${report.foreign} of other webhooks`] : []),
    `${report.recovered} recovered (${countOf(report.queued, 'read')} queued)`,
    `${report.unresolved} left to the next complete sync`,
  ]
  const sentence = `${countOf(report.failed, 'failed notification')}: ${known.join(', ')}.`
  return [...lines.map(escapeControls), sentence].join('\n')
}
