const inPreset = (member: string): string =>
  `it is ${member} in the preset of the service; for another value, name a preset file of your ` +
  'own in TRACKING_SERVICE'

const always = (what: string): string => `${what}; remove it`

/** Settings of earlier versions: member of the configuration file, variable, replacement. */
const FORMER: readonly (readonly [name: string, variable: string, where: string])[] = [
  ['pageSize', 'TRACKING_PAGE_SIZE', inPreset('pageSize')],
  [
    'webhookSignatureHeader',
    'TRACKING_WEBHOOK_SIGNATURE_HEADER',
    inPreset('webhooks.signature.header'),
  ],
  [
    'webhookSignatureAlgorithm',
    'TRACKING_WEBHOOK_SIGNATURE_ALGORITHM',
    inPreset('webhooks.signature.algorithm'),
  ],
  [
    'webhookSignatureEncoding',
    'TRACKING_WEBHOOK_SIGNATURE_ENCODING',
    inPreset('webhooks.signature.encoding'),
  ],
  [
    'webhookSignaturePrefix',
    'TRACKING_WEBHOOK_SIGNATURE_PREFIX',
    inPreset('webhooks.signature.prefix'),
  ],
  ['webhookEvents', 'TRACKING_WEBHOOK_EVENTS', inPreset('webhooks.events')],
  ['webhookEventNames', 'TRACKING_WEBHOOK_EVENT_NAMES', inPreset('webhooks.eventNames')],
  ['webhookCheckSenders', 'TRACKING_WEBHOOK_CHECK_SENDERS', inPreset('webhooks.checkSenders')],
  ['webhookSenders', 'TRACKING_WEBHOOK_SENDERS', inPreset('webhooks.senders')],
  ['accountsAtOnce', 'TRACKING_ACCOUNTS_AT_ONCE', always('eight accounts are read at a time')],
  [
    'requestTimeoutSeconds',
    'TRACKING_REQUEST_TIMEOUT_SECONDS',
    always('an attempt of a request takes at most 120 seconds'),
  ],
  ['eventConcurrency', 'TRACKING_EVENT_CONCURRENCY', always('four requests run at a time')],
  [
    'transportEventChecksPerSync',
    'TRACKING_EVENT_CHECKS_PER_SYNC',
    always('each sync reads the events of one unchanged container'),
  ],
  [
    'quarantineLimitPercent',
    'TRACKING_QUARANTINE_LIMIT_PERCENT',
    always('a run that sets aside more than 5 % of a list ends with exit code 6'),
  ],
  [
    'databasePort',
    'TRACKING_DATABASE_PORT',
    always('the embedded database chooses a free port once and keeps it'),
  ],
  [
    'webhookReactivate',
    'TRACKING_WEBHOOK_REACTIVATE',
    always('`webhooks enable` switches a webhook on again'),
  ],
  [
    'webhookRetentionDays',
    'TRACKING_WEBHOOK_RETENTION_DAYS',
    always('bodies of applied notifications are kept for 30 days'),
  ],
  ['reconcileCron', 'TRACKING_RECONCILE_CRON', always('serve reconciles once an hour')],
  [
    'storeViewsCron',
    'TRACKING_STORE_VIEWS_CRON',
    always('serve stores large views once an hour, from 100,000 containers on'),
  ],
  ['processorWorkers', 'TRACKING_PROCESSOR_WORKERS', always('one worker applies notifications')],
  ['refetchDelayMs', 'TRACKING_REFETCH_DELAY_MS', always('a refetch waits for five seconds')],
  [
    'shutdownSeconds',
    'TRACKING_SHUTDOWN_SECONDS',
    always('serve ends within 25 seconds; what it acknowledged is stored before'),
  ],
  ['alertDigestHour', 'TRACKING_ALERT_DIGEST_HOUR', always('the digest comes from 7:00 on')],
]

/** One warning about a name that was a setting; undefined for any other name. */
export function tellFormer(name: string, place = ''): string | undefined {
  const former = FORMER.find(([member, variable]) => name === member || name === variable)
  return former && `${name}${place} is no longer a setting and has no effect: ${former[2]}`
}
