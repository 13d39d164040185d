import { tmpdir } from 'node:os'
import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import type { ConfigError } from '../../../src/base/errors.js'
import { loadConfig } from '../../../src/config/load.js'
import { alertSettingsOf } from '../../../src/extensions/alerts/alert-channels.js'
import { alertSettings } from '../../../src/extensions/alerts/alert-settings.js'

const CANARY = 'alert-canary-0a61'

function load(environment: Readonly<Record<string, string>>) {
  return loadConfig({ environment, workingDirectory: tmpdir(), groups: [alertSettings] })
}

function problemsOf(environment: Readonly<Record<string, string>>): string[] {
  try {
    load(environment)
  } catch (error) {
    expect(inspect(error)).not.toContain(CANARY)
    return (error as ConfigError).message.split('\n')
  }
  return []
}

describe('the settings of alerts', () => {
  it('make the channels that are set', () => {
    expect(alertSettingsOf(load({}).config)).toMatchObject({ digestHour: 7, timeZone: 'UTC' })
    const { config } = load({
      TRACKING_ALERT_WEBHOOK_URL: 'https://alerts.example/in?key=1',
      TRACKING_ALERT_WEBHOOK_SECRET: 'a-secret-of-enough-signs',
      TRACKING_ALERT_SLACK_URL: 'https://hooks.slack.example/services/T/B/x',
      TRACKING_ALERT_TEAMS_URL: 'http://127.0.0.1:9/teams',
      TRACKING_ALERT_SMTP_URL: 'smtps://u:p@mail.example',
      TRACKING_ALERT_SMTP_FROM: 'a@example.com',
      TRACKING_ALERT_SMTP_TO: 'b@example.com, c@example.com',
      TRACKING_ALERT_KINDS: 'operations,overdue,-TrackingSyncQuarantine',
      TRACKING_CRON_TIME_ZONE: 'Asia/Tokyo',
    })
    const { names, ...others } = alertSettingsOf(config)
    expect(others).toEqual({
      webhook: { url: 'https://alerts.example/in?key=1', secret: 'a-secret-of-enough-signs' },
      slack: { url: 'https://hooks.slack.example/services/T/B/x' },
      teams: { url: 'http://127.0.0.1:9/teams' },
      mail: {
        url: 'smtps://u:p@mail.example',
        from: 'a@example.com',
        to: ['b@example.com', 'c@example.com'],
      },
      digestHour: 7,
      timeZone: 'Asia/Tokyo',
    })
    expect(names).toContain('overdue')
    expect(names).toContain('TrackingSyncOverdue')
    expect(names).not.toContain('TrackingSyncQuarantine')
    expect(names).not.toContain('rolled')
  })

  it.each([
    ['http://alerts.example/in', 'only on this machine'],
    [`https://${CANARY}:x@alerts.example/in`, 'without user name'],
    ['ftp://alerts.example/in', 'https://'],
  ])('send no alert to %s', (url, problem) => {
    for (const variable of ['TRACKING_ALERT_SLACK_URL', 'TRACKING_ALERT_TEAMS_URL']) {
      expect(problemsOf({ [variable]: url })[0]).toContain(problem)
    }
  })

  it('name what an address needs beside it', () => {
    expect(problemsOf({ TRACKING_ALERT_WEBHOOK_URL: 'https://alerts.example/in' })).toEqual([
      'TRACKING_ALERT_WEBHOOK_SECRET is not set, and TRACKING_ALERT_WEBHOOK_URL needs it',
    ])
    expect(problemsOf({ TRACKING_ALERT_SMTP_URL: `smtp://u:${CANARY}@mail.example:587` })).toEqual([
      'TRACKING_ALERT_SMTP_FROM is not set, and TRACKING_ALERT_SMTP_URL needs it',
      'TRACKING_ALERT_SMTP_TO is not set, and TRACKING_ALERT_SMTP_URL needs it',
    ])
  })

  it.each([
    ['TRACKING_ALERT_SMTP_URL', 'https://mail.example', 'must look like smtps://'],
    ['TRACKING_ALERT_SMTP_URL', 'smtp://mail.example/path', 'must look like smtps://'],
    ['TRACKING_ALERT_SMTP_FROM', 'Robot <a@example.com>', 'must be a mail address'],
    ['TRACKING_ALERT_SMTP_TO', 'a@example.com;b@example.com', 'separated by commas'],
    ['TRACKING_ALERT_SMTP_TO', 'a@example.com\r\nBcc: c@example.com', 'separated by commas'],
    ['TRACKING_ALERT_KINDS', 'all,-no_new', 'does not exist; did you mean no_news?'],
  ])('%s may not be %j', (variable, value, problem) => {
    expect(problemsOf({ [variable]: value })[0]).toContain(problem)
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
