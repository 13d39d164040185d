import { tmpdir } from 'node:os'
import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { loadConfig, type LoadedConfig } from '../../../src/config/load.js'
import { ConfigError } from '../../../src/base/errors.js'
import { requireWebhookSecrets } from '../../../src/config/needed-settings.js'

const SECRET = 'settings-canary-0a61'

function load(environment: Readonly<Record<string, string>>): LoadedConfig {
  return loadConfig({ environment, workingDirectory: tmpdir() })
}

function problemOf(environment: Readonly<Record<string, string>>): string {
  try {
    load(environment)
  } catch (error) {
    expect(inspect(error)).not.toContain(SECRET)
    return (error as ConfigError).message
  }
  throw new Error('expected the settings to be refused')
}

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

describe('the other settings of the receiver', () => {
  it.each([
    ['TRACKING_WEBHOOK_PATH', 'webhooks'],
    ['TRACKING_WEBHOOK_PATH', '/'],
    ['TRACKING_WEBHOOK_PATH', '/a/../b'],
    ['TRACKING_WEBHOOK_PATH', '/a/.'],
    ['TRACKING_WEBHOOK_PATH', '/a?b'],
    ['TRACKING_WEBHOOK_PATH', '/a//b'],
    ['TRACKING_WEBHOOK_URL', 'receiver.example/webhooks'],
    ['TRACKING_WEBHOOK_URL', 'ftp://receiver.example/webhooks'],
    ['TRACKING_WEBHOOK_URL', 'https://user:pass@receiver.example/webhooks'],
    ['TRACKING_WEBHOOK_URL', 'https://receiver.example/webhooks?key=1'],
    ['TRACKING_TRUSTED_PROXY_HOPS', '-1'],
    ['TRACKING_HOST', 'a host'],
    ['PORT', '65536'],
  ])('refuse %s=%s', { tags: ['G12'] }, (variable, value) => {
    expect(problemOf({ [variable]: value })).toMatch(new RegExp(`^${variable} must be`))
  })

  it('take what is well-formed', () => {
    const { config } = load({
      TRACKING_WEBHOOK_PATH: '/hooks/v1.2/in~x',
      TRACKING_WEBHOOK_URL: 'https://receiver.example/hooks',
      TRACKING_HOST: '::',
      PORT: '0',
    })
    expect(config).toMatchObject({ webhookPath: '/hooks/v1.2/in~x', host: '::', httpPort: 0 })
  })
})
