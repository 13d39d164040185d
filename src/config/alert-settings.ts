import * as kind from './kinds.js'
import type { Setting } from './setting.js'

/** Channels of alerts, and the selection of alerts. */
export const alertSettings = {
  alertWebhookUrl: {
    variable: 'TRACKING_ALERT_WEBHOOK_URL',
    isSecret: true,
    kind: kind.alertUrl.optional(),
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
    kind: kind.alertUrl.optional(),
    meaning: 'Incoming webhook of the Slack channel that alerts are posted to.',
  },
  alertTeamsUrl: {
    variable: 'TRACKING_ALERT_TEAMS_URL',
    isSecret: true,
    kind: kind.alertUrl.optional(),
    meaning: 'Webhook of the workflow that posts alerts to a channel of Microsoft Teams.',
  },
  alertSmtpUrl: {
    variable: 'TRACKING_ALERT_SMTP_URL',
    isSecret: true,
    kind: kind.smtpUrl.optional(),
    meaning:
      'Mail server for alerts: smtps://user:password@host:465, or smtp:// with STARTTLS. ' +
      'User and password may be left out.',
  },
  alertSmtpFrom: {
    variable: 'TRACKING_ALERT_SMTP_FROM',
    kind: kind.mailAddresses(1).optional(),
    meaning: 'Mail address that alerts come from.',
  },
  alertSmtpTo: {
    variable: 'TRACKING_ALERT_SMTP_TO',
    kind: kind.mailAddresses(50).optional(),
    meaning: 'Mail addresses that alerts are sent to, separated by commas.',
  },
  heartbeatUrl: {
    variable: 'TRACKING_HEARTBEAT_URL',
    isSecret: true,
    kind: kind.alertUrl.optional(),
    meaning:
      'Address of a monitor like healthchecks.io, which tells people when no sync comes: one GET ' +
      'after each complete run, of <address>/fail after another end.',
  },
  alertKinds: {
    variable: 'TRACKING_ALERT_KINDS',
    kind: kind.alertKinds.default('all'),
    meaning:
      'Alerts to send: all, operations, exceptions, or names separated by commas. ' +
      'A leading - leaves out, as in all,-no_news.',
  },
} as const satisfies Readonly<Record<string, Setting>>
