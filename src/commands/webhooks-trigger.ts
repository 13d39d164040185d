import { InvalidArgumentError, type Command } from 'commander'
import type { App } from '../app.js'
import { EXIT_CODES, exitCodeOf } from '../base/exit-code.js'
import { requireWebhookUrl, watchSettingsOf } from '../config/needed-settings.js'
import type { CommandIo } from './command-io.js'
import { declare, SERVICE_ONLY } from './declare-command.js'
import { formatCheck } from './output/print-check.js'
import { escapeControls } from './output/print-table.js'
import { wholeNumber } from './parse-arguments.js'

interface TriggerOptions {
  readonly event: string
  readonly to?: string
  readonly listen?: { readonly host: string; readonly httpPort: number }
  readonly timeout: number
  readonly json?: boolean
}

export function addTriggerCommand(group: Command, io: CommandIo): void {
  declare<TriggerOptions>(group, io, {
    name: 'trigger',
    help:
      'Test the whole way of a delivery: open the receiver for a moment, compare the secret of ' +
      'our webhook with TRACKING_WEBHOOK_SECRET, have the service send a sample to ' +
      'TRACKING_WEBHOOK_URL, and check what arrives. Stores nothing.',
    settings: [
      ...SERVICE_ONLY,
      'webhookUrl',
      'webhookPath',
      'webhookSignatureHeader',
      'webhookSignatureAlgorithm',
      'webhookSignatureEncoding',
      'webhookSignaturePrefix',
    ],
    define: (command) =>
      command
        .option('--event <name>', 'Event of the sample.', 'tracking_request.succeeded')
        .option(
          '--to <url>',
          'Only have a sample sent to this address, signed as real deliveries to it are: with ' +
            'the secret of its webhook, or with TRACKING_WEBHOOK_SECRET if it has none.',
        )
        .option(
          '--listen <host:port>',
          'Where to listen. Default: TRACKING_HOST and PORT.',
          address,
        )
        .option('--timeout <seconds>', 'How long to wait for the sample.', wholeNumber(1, 600), 20),
    run: (app, options) =>
      options.to === undefined
        ? testWay(app, io, options)
        : sendSample(app, io, options, options.to),
  })
}

async function sendSample(
  app: App,
  io: CommandIo,
  options: TriggerOptions,
  url: string,
): Promise<number> {
  const { event } = options
  const { checkTargetUrl } = await import('../webhooks/manage/create-webhook.js')
  checkTargetUrl('--to', url)
  const { listWebhookRecords, sendsTo } = await import('../webhooks/manage/webhook-record.js')
  const { checkSecret } = await import('../webhooks/manage/check-webhooks.js')
  const { secrets } = watchSettingsOf(app.config)
  const { service } = await app.openService()
  const sending = (await listWebhookRecords(service, app.signal)).find((webhook) =>
    sendsTo(webhook, url),
  )
  // What real deliveries are signed with, if the service returns it.
  const secret = sending?.secret?.reveal() ?? secrets[0]
  await service.triggerWebhook({ url, event, secret })
  const alerts = sending === undefined ? [] : checkSecret(sending, secrets)
  io.show(options, { url, event, isSigned: secret !== undefined, alerts }, () => {
    const isOurs = secret !== undefined && secrets.includes(secret)
    const how = isOurs ? 'signed with TRACKING_WEBHOOK_SECRET' : 'signed as real deliveries are'
    const end = secret === undefined ? 'not signed' : how
    return [
      `The service sends a sample of ${event} to ${url}, ${end}.`,
      ...alerts.map(({ sentence }) => `ALERT: ${sentence}`),
    ]
      .map(escapeControls)
      .join('\n')
  })
  return alerts.length > 0 ? EXIT_CODES.incomplete : EXIT_CODES.complete
}

async function testWay(
  app: App,
  io: CommandIo,
  { event, listen, timeout, json = false }: TriggerOptions,
): Promise<number> {
  const { checkTargetUrl } = await import('../webhooks/manage/create-webhook.js')
  const { testWebhook } = await import('../webhooks/manage/self-test.js')
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
    signature: {
      header: config.webhookSignatureHeader,
      algorithm: config.webhookSignatureAlgorithm,
      encoding: config.webhookSignatureEncoding,
      prefix: config.webhookSignaturePrefix ?? '',
    },
    timeoutMs: timeout * 1000,
    onStep: ({ name, isOk, detail }) => {
      if (json) return
      io.print(formatCheck({ name, isOk, detail: app.redact(detail) }, io.terminal))
    },
  })
  if (json) io.printJson(report)
  if (error !== undefined) return exitCodeOf(error)
  return report.isPassed ? EXIT_CODES.complete : EXIT_CODES.config
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
