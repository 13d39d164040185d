import { flag, setting, text, wholeNumber } from './setting-kinds.js'

/** The settings of what watches and keeps our webhooks; a part of the object in `config.ts`. */
export const webhookWatchSettings = {
  webhookIds: setting(
    text
      .regex(
        /^[^\s,"']{1,255}(?:\s*,\s*[^\s,"']{1,255})*$/,
        'must be ids of webhooks, separated by commas',
      )
      .optional(),
    { variable: 'TRACKING_WEBHOOK_IDS', flag: '--webhook-ids' },
    'Ids of our webhooks, separated by commas; only their notifications are applied. Absent: those that send to TRACKING_WEBHOOK_URL.',
  ),
  webhookEvents: setting(
    text
      .regex(
        /^-?[\w.*]+(?:\s*,\s*-?[\w.*]+)*$/,
        'must be all, or names of events separated by commas, like all,-document.*',
      )
      .default('all'),
    { variable: 'TRACKING_WEBHOOK_EVENTS', flag: '--webhook-events' },
    'Events our webhook must subscribe to: all, or names separated by commas; * stands for any part of a name, a - in front leaves out, as in all,-document.*.',
  ),
  webhookReactivate: setting(
    flag().default(false),
    { variable: 'TRACKING_WEBHOOK_REACTIVATE', flag: '--webhook-reactivate' },
    'Switch our webhook on again where the service has switched it off after failed deliveries.',
  ),
  webhookRetentionDays: setting(
    wholeNumber(1, 3650).default(30),
    { variable: 'TRACKING_WEBHOOK_RETENTION_DAYS', flag: '--webhook-retention' },
    'Days after which the bodies of applied notifications are deleted; their ids stay.',
  ),
}

/** What the parts that watch webhooks are given of the settings. */
export function watchSettingsOf(config: {
  readonly webhookUrl?: string | undefined
  readonly webhookIds?: string | undefined
  readonly webhookEvents: string
  readonly webhookReactivate: boolean
  readonly webhookSecret?: string | undefined
  readonly webhookSecretPrevious?: string | undefined
}) {
  return {
    url: config.webhookUrl,
    ids: config.webhookIds?.split(',').map((id) => id.trim()) ?? [],
    events: config.webhookEvents,
    isReactivating: config.webhookReactivate,
    secrets: [config.webhookSecret, config.webhookSecretPrevious].filter(
      (secret) => secret !== undefined,
    ),
  }
}
