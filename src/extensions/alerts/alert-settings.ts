import { suggest } from '../../base/phrases.js'
import { isThisMachine } from '../../base/service-address.js'
import * as kind from '../../config/kinds.js'
import type { Settings, SettingsGroup } from '../../config/setting.js'
import { ALERT_WORDS, wordsOfKinds } from './alert-names.js'

/** The address for alerts. Its path is often the secret, so it may also have a query. */
const alertUrl = kind.text.refine((value) => {
  if (!URL.canParse(value)) return false
  const { protocol, hostname, username, hash } = new URL(value)
  if (username !== '' || hash !== '') return false
  return protocol === 'https:' || (protocol === 'http:' && isThisMachine(hostname))
}, 'must be an https:// URL without user name or fragment; http:// only on this machine')

const smtpUrl = kind.text.refine((value) => {
  if (!URL.canParse(value)) return false
  const { protocol, hostname, pathname, search, hash } = new URL(value)
  const isBare = ['', '/'].includes(pathname) && search === '' && hash === ''
  return isBare && hostname !== '' && /^smtps?:$/.test(protocol)
}, 'must look like smtps://user:password@host:465 or smtp://user:password@host:587')

const MAIL_ADDRESS = String.raw`[\w.!#$%&'*+/=?^{|}~-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){0,8}`

/** One address without a name; `most` of them, separated by commas. */
const mailAddresses = (most: number) =>
  kind.matching(
    new RegExp(`^${MAIL_ADDRESS}(?:\\s*,\\s*${MAIL_ADDRESS}){0,${most - 1}}$`),
    most === 1
      ? 'must be a mail address like alerts@example.com'
      : 'must be mail addresses separated by commas',
  )

const alertKinds = kind.checked((value) => {
  const unknown = wordsOfKinds(value)
    .map((word) => word.replace(/^-/, ''))
    .find((word) => !ALERT_WORDS.includes(word))
  if (unknown === undefined) return undefined
  return `names an alert that does not exist${suggest(unknown, ALERT_WORDS)}`
})

/** Channels of alerts, and the selection of alerts. */
const settings = {
  alertWebhookUrl: {
    variable: 'TRACKING_ALERT_WEBHOOK_URL',
    isSecret: true,
    kind: alertUrl.optional(),
    meaning: 'Address that alerts are posted to as signed JSON.',
  },
  alertWebhookSecret: {
    variable: 'TRACKING_ALERT_WEBHOOK_SECRET',
    isSecret: true,
    kind: kind.webhookSecret.optional(),
    meaning: 'Secret with which alerts to TRACKING_ALERT_WEBHOOK_URL are signed.',
  },
  alertSlackUrl: {
    variable: 'TRACKING_ALERT_SLACK_URL',
    isSecret: true,
    kind: alertUrl.optional(),
    meaning: 'Incoming webhook of the Slack channel that alerts are posted to.',
  },
  alertTeamsUrl: {
    variable: 'TRACKING_ALERT_TEAMS_URL',
    isSecret: true,
    kind: alertUrl.optional(),
    meaning: 'Webhook of the workflow that posts alerts to a channel of Microsoft Teams.',
  },
  alertSmtpUrl: {
    variable: 'TRACKING_ALERT_SMTP_URL',
    isSecret: true,
    kind: smtpUrl.optional(),
    meaning:
      'Mail server for alerts: smtps://user:password@host:465, or smtp:// with STARTTLS. ' +
      'User and password may be left out.',
  },
  alertSmtpFrom: {
    variable: 'TRACKING_ALERT_SMTP_FROM',
    kind: mailAddresses(1).optional(),
    meaning: 'Mail address that alerts come from.',
  },
  alertSmtpTo: {
    variable: 'TRACKING_ALERT_SMTP_TO',
    kind: mailAddresses(50).optional(),
    meaning: 'Mail addresses that alerts are sent to, separated by commas.',
  },
  heartbeatUrl: {
    variable: 'TRACKING_HEARTBEAT_URL',
    isSecret: true,
    kind: alertUrl.optional(),
    meaning:
      'Address of a monitor like healthchecks.io, which tells people when no sync comes: one GET ' +
      'after each complete run, of <address>/fail after another end.',
  },
  alertKinds: {
    variable: 'TRACKING_ALERT_KINDS',
    kind: alertKinds.default('all'),
    meaning:
      'Alerts to send: all, operations, exceptions, or names separated by commas. ' +
      'A leading - leaves out, as in all,-no_news.',
  },
} as const satisfies Settings

/** A shorter path is a name like /alerts. */
const SHORTEST_SECRET_PATH = 16

/** An address needs these beside it. */
const NEEDED = [
  ['alertWebhookUrl', 'alertWebhookSecret'],
  ['alertSmtpUrl', 'alertSmtpFrom'],
  ['alertSmtpUrl', 'alertSmtpTo'],
] as const

export const alertSettings: SettingsGroup<typeof settings> = {
  settings,
  problems: (given) =>
    NEEDED.filter(
      ([address, other]) => given[address] !== undefined && given[other] === undefined,
    ).map(([address, other]) => ({
      setting: settings[other].variable,
      problem: `is not set, and ${settings[address].variable} needs it`,
    })),
  /** Secrets as a whole, and the parts that a message of a library may show. */
  secrets: ({ alertWebhookUrl, alertSlackUrl, alertTeamsUrl, heartbeatUrl, ...values }) => {
    const urls = [alertWebhookUrl, alertSlackUrl, alertTeamsUrl, heartbeatUrl].flatMap(
      (address) => {
        if (address === undefined) return []
        const { href, pathname, search } = new URL(address)
        const path = `${pathname}${search}`
        return [address, href, ...(path.length < SHORTEST_SECRET_PATH ? [] : [path, pathname])]
      },
    )
    return [...urls, ...kind.passwordsIn(values.alertSmtpUrl), values.alertWebhookSecret ?? '']
  },
}
