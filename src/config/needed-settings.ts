import { chosenAlerts } from '../base/alert-names.js'
import { ConfigError, type ConfigProblem } from '../base/errors.js'
import type { Config } from './settings.js'

/** What a command cannot do without. Each throws ConfigError that names every missing setting. */

interface Service {
  readonly apiUrl: string
  readonly apiKey: string
}

export function requireService({ apiUrl, apiKey }: Pick<Config, 'apiUrl' | 'apiKey'>): Service {
  if (apiUrl !== undefined && apiKey !== undefined) return { apiUrl, apiKey }
  const missing: ConfigProblem[] = []
  if (apiUrl === undefined) {
    missing.push({
      setting: 'TRACKING_API_URL',
      problem: 'is not set; give the base address of the service, or try `tracking-sync demo`',
    })
  }
  if (apiKey === undefined) missing.push(missingSecret('TRACKING_API_KEY'))
  throw new ConfigError(missing)
}

/** The secrets that a delivery may be signed with, the current one first. */
export function requireWebhookSecrets(
  config: Pick<Config, 'webhookSecret' | 'webhookSecretPrevious'>,
): readonly string[] {
  if (config.webhookSecret === undefined) {
    throw new ConfigError([missingSecret('TRACKING_WEBHOOK_SECRET')])
  }
  return webhookSecrets(config)
}

function missingSecret(variable: string): ConfigProblem {
  const problem =
    'is not set; put it into the environment, ' + `or into a file that ${variable}_FILE names`
  return { setting: variable, problem }
}

/** The address of our receiver. */
export function requireWebhookUrl({ webhookUrl }: Pick<Config, 'webhookUrl'>): string {
  if (webhookUrl !== undefined) return webhookUrl
  const problem =
    'is not set; give the address at which the service reaches our receiver, ' +
    'like https://tracking.example.com/webhooks'
  throw new ConfigError([{ setting: 'TRACKING_WEBHOOK_URL', problem }])
}

/** Which webhooks are ours, what they must send, and how they sign. */
export function watchSettingsOf(config: Config) {
  return {
    url: config.webhookUrl,
    ids: config.webhookIds?.split(',').map((id) => id.trim()) ?? [],
    events: config.webhookEvents,
    isReactivating: config.webhookReactivate,
    secrets: webhookSecrets(config),
  }
}

function webhookSecrets(
  config: Pick<Config, 'webhookSecret' | 'webhookSecretPrevious'>,
): readonly string[] {
  return [config.webhookSecret, config.webhookSecretPrevious].filter(
    (secret) => secret !== undefined,
  )
}

/** Where alerts are sent, which, and when the digest is made. */
export function alertSettingsOf(config: Config) {
  const { alertWebhookUrl, alertWebhookSecret, alertSlackUrl, alertTeamsUrl } = config
  const { alertSmtpUrl, alertSmtpFrom, alertSmtpTo } = config
  return {
    ...(alertWebhookUrl === undefined || alertWebhookSecret === undefined
      ? {}
      : { webhook: { url: alertWebhookUrl, secret: alertWebhookSecret } }),
    ...(alertSlackUrl === undefined ? {} : { slack: { url: alertSlackUrl } }),
    ...(alertTeamsUrl === undefined ? {} : { teams: { url: alertTeamsUrl } }),
    ...(alertSmtpUrl === undefined || alertSmtpFrom === undefined || alertSmtpTo === undefined
      ? {}
      : {
          mail: {
            url: alertSmtpUrl,
            from: alertSmtpFrom,
            to: alertSmtpTo.split(',').map((address) => address.trim()),
          },
        }),
    names: chosenAlerts(config.alertKinds),
    digestHour: config.alertDigestHour,
    timeZone: config.cronTimeZone,
  }
}
