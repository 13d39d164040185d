import type { ProxySettings } from '../../base/outbound.js'
import { configWith, partsOf, proxyOf } from '../../config/needed-settings.js'
import type { Config } from '../../config/settings.js'
import { numberPageOf, type NumberPage } from '../answers/number-page.js'
import { chosenAlerts } from './alert-names.js'
import type { alertSettings } from './alert-settings.js'

/** An incoming webhook whose address is its secret. */
export interface ChatChannel {
  readonly url: string
  readonly proxy?: ProxySettings | undefined
}

/** The target of signed webhooks. */
export interface WebhookChannel extends ChatChannel {
  readonly secret: string
}

export interface MailChannel {
  /** `smtps://user:password@host:465`, or `smtp://`. */
  readonly url: string
  readonly from: string
  readonly to: readonly string[]
}

/** The configured channels. */
export interface AlertChannels {
  readonly webhook?: WebhookChannel | undefined
  readonly slack?: ChatChannel | undefined
  readonly teams?: ChatChannel | undefined
  readonly mail?: MailChannel | undefined
}

export interface AlertSettings extends AlertChannels {
  /** The monitor of runs; see `sendHeartbeat`. */
  readonly heartbeat?: ChatChannel | undefined
  /** Names of the alerts and exceptions to send. */
  readonly names: ReadonlySet<string>
  /** Hour of the local day after which the digest is made. */
  readonly digestHour: number
  /** IANA time zone of that day. */
  readonly timeZone: string
  /** Page of a container at the service. */
  readonly pageOf?: NumberPage | undefined
}

/** An hour before people plan their day, in the time zone of the cron expressions. */
const DIGEST_HOUR = 7

/** Channels and selection of alerts, and the time of the digest. */
export function alertSettingsOf(config: Config): AlertSettings {
  const {
    alertWebhookUrl,
    alertWebhookSecret: secret,
    ...alerts
  } = configWith<typeof alertSettings>(config)
  const { alertSmtpUrl, alertSmtpFrom: from, alertSmtpTo: to } = alerts
  const proxy = proxyOf(config)
  const chat = (url: string | undefined) => (url === undefined ? undefined : { url, proxy })
  const webhook = chat(alertWebhookUrl)
  return {
    webhook: webhook && secret !== undefined ? { ...webhook, secret } : undefined,
    slack: chat(alerts.alertSlackUrl),
    teams: chat(alerts.alertTeamsUrl),
    mail:
      alertSmtpUrl === undefined || from === undefined || to === undefined
        ? undefined
        : { url: alertSmtpUrl, from, to: partsOf(to) },
    heartbeat: chat(alerts.heartbeatUrl),
    names: chosenAlerts(alerts.alertKinds),
    digestHour: DIGEST_HOUR,
    timeZone: config.cronTimeZone,
    pageOf: numberPageOf(config),
  }
}

export const CHANNEL_NAMES = ['webhook', 'slack', 'teams', 'mail'] as const

export type ChannelName = (typeof CHANNEL_NAMES)[number]

/** In the order of CHANNEL_NAMES. */
export function channelsOf(settings: AlertChannels): ChannelName[] {
  return CHANNEL_NAMES.filter((name) => settings[name] !== undefined)
}
