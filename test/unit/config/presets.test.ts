import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadConfig, type LoadedConfig } from '../../../src/config/load.js'
import { presetNames, readPreset } from '../../../src/config/presets.js'
import { answerSettings } from '../../../src/extensions/answers/answer-settings.js'
import { numberPageOf } from '../../../src/extensions/answers/number-page.js'
import { problemsIn } from '../../support/config-problems.js'
import { useFolder } from '../../support/temp-folder.js'

const folder = useFolder()

const load = (environment: Readonly<Record<string, string>>): LoadedConfig =>
  loadConfig({ environment, workingDirectory: folder.path })

const problemsOf = (service: string): string =>
  problemsIn(() => load({ TRACKING_SERVICE: service })).join('\n')

describe('a preset', () => {
  it.each(presetNames())('%s is whole and well-formed', (name) => {
    const preset = readPreset(name)
    expect(preset.title).not.toBe('')
    expect(load({ TRACKING_SERVICE: name }).config).toMatchObject({ service: name, preset })
  })

  it('gives the settings that nobody gave, and says so', () => {
    const { config, origins } = load({ TRACKING_SERVICE: 'terminal49' })
    expect(config).toMatchObject({
      apiUrl: 'https://api.terminal49.com/v2',
      rateLimitPerMinute: 90,
    })
    expect(config.preset.webhooks.eventNames).toContain('container.pickup_lfd_rail.changed')
    expect(origins).toMatchObject({ apiUrl: 'preset', rateLimitPerMinute: 'preset' })
  })

  it.each([
    ['terminal48', '; did you mean terminal49?'],
    ['../services/terminal49', ''],
    ['toString', ''],
  ])('%s is unknown: those there are, are listed', (name, rest) => {
    expect(problemsOf(name)).toBe(
      `TRACKING_SERVICE is not a service we have a preset for: generic, terminal49${rest}; ` +
        'for another, name a file like ./my-service.json',
    )
  })
})

describe('the page of a number', () => {
  const pageOf = (environment: Readonly<Record<string, string>>) =>
    numberPageOf(
      loadConfig({ environment, workingDirectory: folder.path, groups: [answerSettings] }).config,
    )

  it('is the one of the preset, the one of the setting, or none', () => {
    const preset = { TRACKING_SERVICE: 'terminal49' }
    const own = { TRACKING_NUMBER_PAGE: 'https://tms.example/{number}?from=warehouse' }
    const pages = [
      preset,
      own,
      { ...preset, ...own },
      { ...preset, TRACKING_NUMBER_PAGE: 'off' },
      {},
    ]
    expect(pages.map((environment) => pageOf(environment)?.('MSCU 1/$&'))).toEqual([
      'https://app.terminal49.com/shipments/find?q=MSCU%201%2F%24%26',
      'https://tms.example/MSCU%201%2F%24%26?from=warehouse',
      'https://tms.example/MSCU%201%2F%24%26?from=warehouse',
      undefined,
      undefined,
    ])
    expect(['', null, 7].map((one) => pageOf(preset)?.(one))).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })

  it.each(['https://tms.example/', 'javascript:alert({number})', 'https://a b/{number}'])(
    '%s is refused',
    (page) => {
      expect(() => pageOf({ TRACKING_NUMBER_PAGE: page })).toThrow(
        'TRACKING_NUMBER_PAGE must be an https:// address with {number} in it, or off',
      )
    },
  )
})

describe('a preset file of an operator', () => {
  const OWN = {
    title: 'another service',
    apiUrl: 'https://api.other.example/v2',
    rateLimitPerMinute: 60,
    pageSize: 50,
    webhooks: {
      signature: { header: 'X-Own', algorithm: 'sha512', encoding: 'base64', prefix: 'sha512=' },
      events: ['all', '-document.*'],
      checkSenders: true,
      senders: ['192.0.2.0/24'],
    },
  }
  const write = (preset: unknown, name = 'my-service.json'): string => {
    writeFileSync(
      join(folder.path, name),
      typeof preset === 'string' ? preset : JSON.stringify(preset),
    )
    return `./${name}`
  }

  it('is named by its path, relative or absolute', () => {
    const { apiUrl, rateLimitPerMinute } = OWN
    const relative = write(OWN)
    for (const service of [relative, join(folder.path, 'my-service.json')]) {
      const { config, origins } = load({ TRACKING_SERVICE: service })
      expect(config).toMatchObject({ service, apiUrl, rateLimitPerMinute, preset: OWN })
      expect(origins).toMatchObject({ apiUrl: 'preset', rateLimitPerMinute: 'preset' })
    }
  })

  const signed = (change: object) => ({
    ...OWN,
    webhooks: { ...OWN.webhooks, signature: { ...OWN.webhooks.signature, ...change } },
  })
  it.each([
    [signed({ header: 'X Signature' }), 'webhooks.signature.header must be the name of a header'],
    [signed({ algorithm: 'md5' }), 'webhooks.signature.algorithm must be one of sha256, sha512'],
    [signed({ encoding: 'binary' }), 'webhooks.signature.encoding must be one of hex, base64'],
    [signed({ prefix: 'sha 256=' }), 'webhooks.signature.prefix must be a short text like sha256='],
    [{ ...OWN, pageSize: undefined }, 'pageSize must be a whole number from 1 to 1000'],
    [{ ...OWN, pagesize: 3 }, 'pagesize'],
    ['{', 'is not a JSON object'],
  ])('is refused by its member: %j', { tags: ['G12'] }, (preset, problem) => {
    expect(problemsOf(write(preset))).toMatch(/^TRACKING_SERVICE names the preset .\/my-service/)
    expect(problemsOf(write(preset))).toContain(problem)
  })
})
