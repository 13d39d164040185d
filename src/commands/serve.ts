import type { App } from '../app.js'
import type { CreatePages } from '../extension.js'
import type { SettingName } from '../config/settings.js'
import { ConfigError } from '../base/errors.js'
import { describeOtherPath } from '../webhooks/receive/receiver-path.js'
import { isLoopbackHost } from '../http/listed-hosts.js'
import { requireService, requireWebhookSecrets } from '../config/needed-settings.js'
import type { ServeParts } from '../serve/serve-dependencies.js'
import type { Serving } from '../serve/start-serve.js'
import type { SignatureCheck } from '../webhooks/receive/signature.js'
import type { CommandIo } from './command-io.js'
import { command, flag } from './declare-command.js'
import { serveUntilStopped } from './serve-until-stopped.js'
import { failpointOf, runSettingsOf, SERVICE_SETTINGS } from './sync.js'

const SERVE_SETTINGS: readonly SettingName[] = [
  ...SERVICE_SETTINGS,
  'host',
  'hosts',
  'httpPort',
  'pagesHost',
  'pagesPort',
  'webhookPath',
  'webhookUrl',
  'webhookIds',
  'trustedProxyHops',
  'syncCron',
  'cronTimeZone',
]

/**
 * One connection for the inbox, one to check that the inbox can be used. Nothing else uses them.
 */
const INBOX_CONNECTIONS = 2
/** For the processor, refetches, a run and its lease, stored views, and the metrics. */
const CONNECTIONS = 6

export const serve = command({
  name: 'serve',
  help:
    'Receive webhooks, apply them and run syncs on schedule, with health, metrics and the ' +
    'dashboard, until it is stopped.',
  json: false,
  settings: SERVE_SETTINGS,
  takes: {
    isReceiving: flag('--no-receiver', 'Do not receive webhooks here.'),
    isProcessing: flag('--no-processor', 'Do not apply notifications here.'),
    isScheduling: flag('--no-scheduler', 'Do not run scheduled jobs here.'),
    isInsecure: flag('--insecure-no-signature', 'Accept unsigned deliveries: for trials only.'),
  },
  run: async (app, { isInsecure, ...parts }, io) => run(app, io, parts, isInsecure),
})

async function run(
  app: App,
  io: CommandIo,
  parts: ServeParts,
  isInsecure: boolean,
): Promise<number> {
  const { config, logger, signal } = app
  requireService(config)
  const signature = await createSignature(app, parts, isInsecure)
  const { startServe } = await import('../serve/start-serve.js')
  const { createSleep } = await import('../base/retry.js')
  const { refuseReadOnly } = await import('../warehouse/connection/read-only.js')
  const warehouse = await app.connect({ poolSize: CONNECTIONS })
  const inbox = await app.connect({ poolSize: INBOX_CONNECTIONS, isKeptOpen: true })
  const { service, stats } = await app.openService({ warehouse })
  const serving = await startServe({
    config,
    parts,
    warehouse,
    inbox,
    pages: await openPages(app),
    // A receiver alone writes into its inbox and nowhere else.
    prepare: async () => {
      if (parts.isReceiving) await refuseReadOnly(warehouse)
      await app.prepare(warehouse, { isWriting: parts.isProcessing || parts.isScheduling })
      await app.keepReader(warehouse)
    },
    service,
    stats,
    freeDiskBytes: () => app.freeDiskBytes(),
    observers: app.observers,
    redact: app.redact,
    signature,
    runSettings: runSettingsOf(config),
    programVersion: app.programVersion,
    logger,
    clock: () => new Date(),
    sleep: createSleep(),
    reachFailpoint: failpointOf(app),
    signal,
  })
  const { url, pagesUrl } = serving
  logStart(app, parts, serving)
  const hooks = parts.isReceiving ? `, webhooks at ${config.webhookPath}` : ''
  io.print(`serving at ${url}${hooks}, pages at ${pagesUrl}`)
  return serveUntilStopped(app, io, serving)
}

/** Each page has its own read-only connections, so that a slow page does not delay other parts. */
async function openPages(app: App): Promise<CreatePages[]> {
  const opened: CreatePages[] = []
  for (const { pages } of app.extensions) {
    if (pages !== undefined) opened.push(await pages(app))
  }
  return opened
}

function logStart(
  { config, logger, programVersion }: App,
  parts: ServeParts,
  { url, pagesUrl }: Serving,
): void {
  const { webhookPath, webhookUrl, webhookIds, syncCron, cronTimeZone } = config
  logger.info('serving', {
    url,
    pagesUrl,
    programVersion,
    ...parts,
    ...(parts.isReceiving ? { webhookPath, webhookUrl } : {}),
    ...(parts.isScheduling ? { syncCron, cronTimeZone } : {}),
  })
  const otherPath = parts.isReceiving ? describeOtherPath(webhookUrl, webhookPath) : undefined
  if (otherPath !== undefined) logger.warn(otherPath)
  if (parts.isProcessing && webhookUrl === undefined && webhookIds === undefined) {
    logger.warn(
      'neither TRACKING_WEBHOOK_URL nor TRACKING_WEBHOOK_IDS is set: notifications of every ' +
        'webhook of the account are applied, and nothing checks that ours still works',
    )
  }
}

/** Throws ConfigError where unsigned deliveries would come from anyone, or a secret is missing. */
export async function createSignature(
  { config }: App,
  { isReceiving }: ServeParts,
  isInsecure: boolean,
): Promise<SignatureCheck | 'insecure'> {
  if (isInsecure && isReceiving && !isLoopbackHost(config.host)) {
    const problem =
      `is ${config.host}, but --insecure-no-signature accepts deliveries from anyone; ` +
      'use 127.0.0.1'
    throw new ConfigError([{ setting: 'TRACKING_HOST', problem }])
  }
  if (isInsecure || !isReceiving) return 'insecure'
  const { createSignatureCheck } = await import('../webhooks/receive/signature.js')
  return createSignatureCheck({
    secrets: requireWebhookSecrets(config),
    ...config.preset.webhooks.signature,
  })
}
