import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ConfigError } from '../../../src/base/errors.js'
import { loadConfig, type LoadedConfig } from '../../../src/config/load.js'
import { describeKey } from '../../../src/config/needed-settings.js'
import { presetNames, readPreset } from '../../../src/config/presets.js'
import { serviceSettings } from '../../../src/config/service-settings.js'

let workingDirectory: string

beforeAll(() => {
  workingDirectory = mkdtempSync(join(tmpdir(), 'tracking-sync-presets-'))
})

afterAll(() => {
  rmSync(workingDirectory, { recursive: true, force: true })
})

const load = (environment: Readonly<Record<string, string>>): LoadedConfig =>
  loadConfig({ environment, workingDirectory })

const namesOfService = Object.keys(serviceSettings) as (keyof typeof serviceSettings)[]

describe('a preset', () => {
  it.each(presetNames())('%s is whole and well-formed', (name) => {
    const { title, settings } = readPreset(name)
    expect(title).not.toBe('')
    expect(load({ TRACKING_SERVICE: name }).config).toMatchObject({ ...settings, service: name })
  })

  it('gives every setting that nobody gave, and says so', () => {
    const { config, origins } = load({ TRACKING_SERVICE: 'terminal49' })
    expect(config).toMatchObject({
      apiUrl: 'https://api.terminal49.com/v2',
      webhookSignatureHeader: 'X-T49-Webhook-Signature',
      webhookSignatureAlgorithm: 'sha256',
      webhookSignatureEncoding: 'hex',
      webhookSenders: '35.222.62.171,3.230.67.145,44.217.15.129',
    })
    expect(config.webhookEventNames?.split(',')).toContain('container.pickup_lfd_rail.changed')
    for (const name of namesOfService) {
      // The service signs without a prefix.
      const from = name === 'webhookSignaturePrefix' ? 'default' : 'preset'
      expect([name, origins[name]]).toEqual([name, from])
    }
  })

  it('gives way to a setting from anywhere', () => {
    writeFileSync(join(workingDirectory, 'own.json'), '{"service":"terminal49","pageSize":30}')
    const { config, origins } = loadConfig({
      environment: { TRACKING_WEBHOOK_SIGNATURE_HEADER: 'X-Own' },
      workingDirectory,
      configFile: 'own.json',
      flags: { rateLimitPerMinute: '50' },
    })
    expect(config).toMatchObject({
      apiUrl: 'https://api.terminal49.com/v2',
      pageSize: 30,
      rateLimitPerMinute: 50,
      webhookSignatureHeader: 'X-Own',
    })
    expect(origins).toMatchObject({
      service: 'file',
      apiUrl: 'preset',
      pageSize: 'file',
      rateLimitPerMinute: 'flag',
      webhookSignatureHeader: 'environment',
    })
  })

  it.each([
    ['terminal48', 'generic, terminal49; did you mean terminal49?'],
    ['../services/terminal49', 'generic, terminal49'],
    ['toString', 'generic, terminal49'],
  ])('%s is unknown: those there are, are listed', (name, rest) => {
    expect(() => load({ TRACKING_SERVICE: name })).toThrow(
      new ConfigError([
        {
          setting: 'TRACKING_SERVICE',
          problem: `is not a service we have a preset for: ${rest}`,
        },
      ]),
    )
  })
})

describe('what to check when the service refuses the key', () => {
  it('names preset, address and variable', () => {
    expect(describeKey(load({ TRACKING_SERVICE: 'terminal49' }))).toBe(
      'TRACKING_API_KEY must be a key of the service at https://api.terminal49.com/v2, ' +
        'the address of the preset terminal49 (TRACKING_SERVICE).',
    )
  })

  it('names an address that was given in place of the preset’s', () => {
    const apiUrl = 'https://api.tracking.example/v2'
    const own = load({ TRACKING_SERVICE: 'terminal49', TRACKING_API_URL: apiUrl })
    expect(describeKey(own)).toMatch(
      / at https:\/\/api\.tracking\.example\/v2, .* TRACKING_API_URL /,
    )
    expect(describeKey(load({ TRACKING_API_URL: apiUrl }))).toBeUndefined()
  })
})
