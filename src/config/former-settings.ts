const inPreset = (member: string): string =>
  `it is ${member} in the preset of the service; for another value, name a preset file of your ` +
  'own in TRACKING_SERVICE'

const always = (what: string): string => `${what}; remove it`

/** Replacements of the settings of earlier versions, by variable. */
const FORMER: Readonly<Record<string, string>> = {
  TRACKING_PAGE_SIZE: inPreset('pageSize'),
  TRACKING_WEBHOOK_SIGNATURE_HEADER: inPreset('webhooks.signature.header'),
  TRACKING_WEBHOOK_SIGNATURE_ALGORITHM: inPreset('webhooks.signature.algorithm'),
  TRACKING_WEBHOOK_SIGNATURE_ENCODING: inPreset('webhooks.signature.encoding'),
  TRACKING_WEBHOOK_SIGNATURE_PREFIX: inPreset('webhooks.signature.prefix'),
  TRACKING_WEBHOOK_EVENTS: inPreset('webhooks.events'),
  TRACKING_WEBHOOK_EVENT_NAMES: inPreset('webhooks.eventNames'),
  TRACKING_WEBHOOK_CHECK_SENDERS: inPreset('webhooks.checkSenders'),
  TRACKING_WEBHOOK_SENDERS: inPreset('webhooks.senders'),
  TRACKING_ACCOUNTS_AT_ONCE: always('eight accounts are read at a time'),
  TRACKING_REQUEST_TIMEOUT_SECONDS: always('an attempt of a request takes at most 120 seconds'),
  TRACKING_EVENT_CONCURRENCY: always('four requests run at a time'),
  TRACKING_EVENT_CHECKS_PER_SYNC: always('each sync reads the events of one unchanged container'),
  TRACKING_QUARANTINE_LIMIT_PERCENT: always(
    'a run that sets aside more than 5 % of a list ends with exit code 6',
  ),
  TRACKING_DATABASE_PORT: always('the embedded database chooses a free port once and keeps it'),
  TRACKING_WEBHOOK_REACTIVATE: always('`webhooks enable` switches a webhook on again'),
  TRACKING_WEBHOOK_RETENTION_DAYS: always('bodies of applied notifications are kept for 30 days'),
  TRACKING_RECONCILE_CRON: always('serve reconciles once an hour'),
  TRACKING_STORE_VIEWS_CRON: always(
    'serve stores large views once an hour, from 100,000 containers on',
  ),
  TRACKING_PROCESSOR_WORKERS: always('one worker applies notifications'),
  TRACKING_REFETCH_DELAY_MS: always('a refetch waits for five seconds'),
  TRACKING_SHUTDOWN_SECONDS: always(
    'serve ends within 25 seconds; what it acknowledged is stored before',
  ),
  TRACKING_ALERT_DIGEST_HOUR: always('the digest comes from 7:00 on'),
}

/** A member of the configuration file that was not named after its variable. */
const OTHER_MEMBERS: Readonly<Record<string, string>> = {
  transportEventChecksPerSync: 'TRACKING_EVENT_CHECKS_PER_SYNC',
}

/** One warning about a variable or member that was a setting; undefined for any other name. */
export function tellFormer(name: string, place = ''): string | undefined {
  const words = name.replaceAll(/[A-Z]/g, '_$&').toUpperCase()
  const variable = OTHER_MEMBERS[name] ?? (/[a-z]/.test(name) ? `TRACKING_${words}` : name)
  const where = FORMER[variable]
  return where && `${name}${place} is no longer a setting and has no effect: ${where}`
}
