import { tmpdir } from 'node:os'
import { describe, expect, it } from 'vitest'
import { loadConfig } from '../../../src/config/load.js'
import { ConfigError } from '../../../src/base/errors.js'
import { requireWebhookSecrets } from '../../../src/config/needed-settings.js'
import { alertSettingsOf } from '../../../src/extensions/alerts/alert-channels.js'
import { alertSettings } from '../../../src/extensions/alerts/alert-settings.js'
import { problemsIn } from '../../support/config-problems.js'

const SECRET = 'settings-canary-0a61'

function load(environment: Readonly<Record<string, string>>) {
  return loadConfig({ environment, workingDirectory: tmpdir(), groups: [alertSettings] })
}

/** A line for each. */
const problemOf = (environment: Readonly<Record<string, string>>): string =>
  problemsIn(() => load(environment), SECRET).join('\n')

describe("the webhook's secret", () => {
  it('may be two, the present one first, both masked in the log', { tags: ['W7'] }, () => {
    const previous = `${SECRET}-old`
    const { config, secrets } = load({
      TRACKING_WEBHOOK_SECRET: SECRET,
      TRACKING_WEBHOOK_SECRET_PREVIOUS: previous,
    })
    expect(requireWebhookSecrets(config)).toEqual([SECRET, previous])
    expect(secrets).toEqual([SECRET, previous])
    expect(requireWebhookSecrets(load({ TRACKING_WEBHOOK_SECRET: SECRET }).config)).toEqual([
      SECRET,
    ])
  })

  it.each([
    ['not set', {}],
    ['empty', { TRACKING_WEBHOOK_SECRET: '' }],
    ['blank', { TRACKING_WEBHOOK_SECRET: '  ' }],
    ['only the previous one', { TRACKING_WEBHOOK_SECRET_PREVIOUS: SECRET }],
  ])('that is %s is asked for', { tags: ['W5'] }, (_what, environment) => {
    const { config } = load(environment)
    expect(() => requireWebhookSecrets(config)).toThrow(ConfigError)
    expect(() => requireWebhookSecrets(config)).toThrow('TRACKING_WEBHOOK_SECRET is not set')
  })

  it.each([
    [`${SECRET}\n`, 'holds a space or a line break'],
    [` ${SECRET}`, 'holds a space or a line break'],
    [SECRET.slice(0, 11), 'is shorter than 12 characters'],
    [`'${SECRET}'`, 'begins or ends with a quote'],
  ])('%j is refused without being shown', { tags: ['W5'] }, (secret, problem) => {
    for (const variable of ['TRACKING_WEBHOOK_SECRET', 'TRACKING_WEBHOOK_SECRET_PREVIOUS']) {
      expect(problemOf({ [variable]: secret })).toContain(`${variable} ${problem}`)
    }
  })
})

it.each([
  ['TRACKING_WEBHOOK_PATH', 'webhooks'],
  ['TRACKING_WEBHOOK_PATH', '/'],
  ['TRACKING_WEBHOOK_PATH', '/a/../b'],
  ['TRACKING_WEBHOOK_PATH', '/a?b'],
  ['TRACKING_WEBHOOK_PATH', '/a//b'],
  ['TRACKING_WEBHOOK_URL', 'ftp://receiver.example/webhooks'],
  ['TRACKING_WEBHOOK_URL', 'https://user:pass@receiver.example/webhooks'],
  ['TRACKING_WEBHOOK_URL', 'https://receiver.example/webhooks?key=1'],
  ['TRACKING_TRUSTED_PROXY_HOPS', '-1'],
  ['TRACKING_HOST', 'a host'],
  ['PORT', '65536'],
])('other settings of the receiver refuse %s=%s', { tags: ['G12'] }, (variable, value) => {
  expect(problemOf({ [variable]: value })).toMatch(new RegExp(`^${variable} must be`))
})

describe('the settings of alerts', () => {
  it('choose the alerts, and have the time of the schedule', () => {
    const { names, ...others } = alertSettingsOf(
      load({
        TRACKING_ALERT_KINDS: 'operations,overdue,-TrackingSyncQuarantine',
        TRACKING_CRON_TIME_ZONE: 'Asia/Tokyo',
      }).config,
    )
    expect(others).toEqual({ digestHour: 7, timeZone: 'Asia/Tokyo' })
    const asked = ['overdue', 'TrackingSyncOverdue', 'TrackingSyncQuarantine', 'rolled']
    expect(asked.filter((name) => names.has(name as never))).toEqual(asked.slice(0, 2))
  })

  it.each([
    ['http://alerts.example/in', 'only on this machine'],
    [`https://${SECRET}:x@alerts.example/in`, 'without user name'],
    ['ftp://alerts.example/in', 'https://'],
  ])('send no alert to %s', (url, problem) => {
    for (const variable of ['TRACKING_ALERT_SLACK_URL', 'TRACKING_ALERT_TEAMS_URL']) {
      expect(problemOf({ [variable]: url })).toContain(problem)
    }
  })

  it('name what an address needs beside it', () => {
    expect(problemOf({ TRACKING_ALERT_WEBHOOK_URL: 'https://alerts.example/in' })).toBe(
      'TRACKING_ALERT_WEBHOOK_SECRET is not set, and TRACKING_ALERT_WEBHOOK_URL needs it',
    )
    expect(problemOf({ TRACKING_ALERT_SMTP_URL: `smtp://u:${SECRET}@mail.example:587` })).toBe(
      'TRACKING_ALERT_SMTP_FROM is not set, and TRACKING_ALERT_SMTP_URL needs it\n' +
        'TRACKING_ALERT_SMTP_TO is not set, and TRACKING_ALERT_SMTP_URL needs it',
    )
  })

  it.each([
    ['TRACKING_ALERT_SMTP_URL', 'https://mail.example', 'must look like smtps://'],
    ['TRACKING_ALERT_SMTP_URL', 'smtp://mail.example/path', 'must look like smtps://'],
    ['TRACKING_ALERT_SMTP_FROM', 'Robot <a@example.com>', 'must be a mail address'],
    ['TRACKING_ALERT_SMTP_TO', 'a@example.com;b@example.com', 'separated by commas'],
    ['TRACKING_ALERT_SMTP_TO', 'a@example.com\r\nBcc: c@example.com', 'separated by commas'],
    ['TRACKING_ALERT_KINDS', 'all,-no_new', 'does not exist; did you mean no_news?'],
  ])('%s may not be %j', (variable, value, problem) => {
    expect(problemOf({ [variable]: value })).toContain(problem)
  })

  it('are masked whole and in part, and a short path is not', () => {
    const path = '/services/T0/B0/secret-token'
    const { secrets } = load({
      TRACKING_ALERT_SLACK_URL: `https://hooks.slack.example${path}`,
      TRACKING_ALERT_TEAMS_URL: 'https://teams.example/in',
      TRACKING_ALERT_SMTP_URL: 'smtps://u:p%40ss@mail.example',
      TRACKING_ALERT_SMTP_FROM: 'a@example.com',
      TRACKING_ALERT_SMTP_TO: 'b@example.com',
    })
    expect(secrets).toContain(`https://hooks.slack.example${path}`)
    expect(secrets).toContain(path)
    expect(secrets).toContain('https://teams.example/in')
    expect(secrets).not.toContain('/in')
    expect(secrets).toEqual(expect.arrayContaining(['p%40ss', 'p@ss']))
  })
})
