import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { loadConfig, type ConfigSources, type LoadedConfig } from '../../../src/config/load.js'
import { describeSettings } from '../../../src/config/settings.js'
import { ConfigError } from '../../../src/base/errors.js'
import { requireService } from '../../../src/config/needed-settings.js'
import { readPreset } from '../../../src/config/presets.js'
import { problemsIn } from '../../support/config-problems.js'
import { SETTING_GROUPS as groups } from '../../support/setting-groups.js'
import { useFolder } from '../../support/temp-folder.js'

const allSettings = describeSettings(groups)
const canary = 'canary-9d1f4c77ab'

const folder = useFolder()

/** Writes a file below the working directory and returns its path. */
function write(name: string, content: string, mode = 0o640): string {
  const path = join(folder.path, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
  chmodSync(path, mode)
  return path
}

function writeConfig(settings: unknown): void {
  write('config/tracking-sync.json', JSON.stringify(settings))
}

function load(
  environment: ConfigSources['environment'] = {},
  rest: Partial<ConfigSources> = {},
): LoadedConfig {
  return loadConfig({ environment, workingDirectory: folder.path, groups, ...rest })
}

const problemsOf = (environment?: ConfigSources['environment']): string[] =>
  problemsIn(() => load(environment), canary)

describe('where a setting comes from', () => {
  test('without anything nothing is given, and nothing is told', () => {
    const { config, origins, secrets, warnings } = load()
    expect(config.preset).toEqual(readPreset('generic'))
    expect(new Set(Object.values(origins))).toEqual(new Set(['default']))
    expect([secrets, warnings]).toEqual([[], []])
  })

  test('names that nothing reads are told, with the nearest', { tags: ['FD9'] }, () => {
    write('.env', `TRACKING_API_KYE=${canary}\nTRACKING_API_KEY_FILE=\nOTHER=1\n`)
    const { warnings } = load({ TRACKING_RATE_LIMIT: '5', TRACKING_QQQQQQQQQ: '', PATH: '' })
    expect(warnings).toEqual([
      'TRACKING_API_KYE is not a setting and has no effect; did you mean TRACKING_API_KEY?',
      'TRACKING_QQQQQQQQQ is not a setting and has no effect',
      'TRACKING_RATE_LIMIT is not a setting and has no effect; did you mean TRACKING_RATE_LIMIT_PER_MINUTE?',
    ])
  })

  test('flag before environment before .env before file before default', () => {
    const take = (
      flags: Readonly<Record<string, unknown>>,
      environment: Record<string, string>,
    ): readonly unknown[] => {
      const { config, origins } = load(environment, { flags })
      return [config.rateLimitPerMinute, origins.rateLimitPerMinute]
    }
    expect(take({}, {})).toEqual([90, 'default'])
    writeConfig({ rateLimitPerMinute: 1 })
    expect(take({}, {})).toEqual([1, 'file'])
    write('.env', 'TRACKING_RATE_LIMIT_PER_MINUTE=2\n')
    expect(take({}, {})).toEqual([2, '.env'])
    expect(take({}, { TRACKING_RATE_LIMIT_PER_MINUTE: '3' })).toEqual([3, 'environment'])
    expect(take({ rateLimitPerMinute: '4' }, { TRACKING_RATE_LIMIT_PER_MINUTE: '3' })).toEqual([
      4,
      'flag',
    ])
  })

  test('empty means absent, in every source', () => {
    write('.env', 'TRACKING_RATE_LIMIT_PER_MINUTE=\nTRACKING_SCHEMA=""\nTRACKING_API_KEY=\n')
    writeConfig({ rateLimitPerMinute: '', schema: 'warehouse' })
    const environment = {
      TRACKING_RATE_LIMIT_PER_MINUTE: '',
      TRACKING_SCHEMA: '  ',
      TRACKING_API_KEY_FILE: '',
    }
    const { config, origins } = load(environment, {
      flags: { rateLimitPerMinute: '', home: undefined },
    })
    expect(config).toMatchObject({
      rateLimitPerMinute: 90,
      schema: 'warehouse',
      home: '.tracking-sync',
    })
    expect(config.apiKey).toBeUndefined()
    expect(origins).toMatchObject({
      rateLimitPerMinute: 'default',
      schema: 'file',
      apiKey: 'default',
    })
  })

  test('a configuration file may hold comments as members that begin with //', () => {
    writeConfig({ '//': 'few at a time', '// rateLimitPerMinute': 5, rateLimitPerMinute: 50 })
    expect(load().config.rateLimitPerMinute).toBe(50)
  })

  test('a named configuration file takes the place of the default one', () => {
    writeConfig({ rateLimitPerMinute: 1 })
    write('other.json', '{"rateLimitPerMinute":2}')
    expect(load({}, { configFile: 'other.json' }).config.rateLimitPerMinute).toBe(2)
  })
})

describe('.env as people write it', { tags: ['JB1'] }, () => {
  test.each([
    ['long-enough-a#b', 'long-enough-a#b'],
    ['#long-enough-ab', '#long-enough-ab'],
    ['long-enough-abc # why', 'long-enough-abc'],
    ["'long-enough-a#b' # why", 'long-enough-a#b'],
    ['"long-enough-a#b"', 'long-enough-a#b'],
    ['  long-enough-abc\t', 'long-enough-abc'],
  ])('a secret written as %s is whole', (written, value) => {
    write('.env', `TRACKING_WEBHOOK_SECRET=${written}\n`, 0o600)
    expect(load().config.webhookSecret).toBe(value)
  })

  test('lines without an effect are named, without what they hold', () => {
    const lines = [`TRACKING_API_KEY: ${canary}`, '# fine', '', canary, 'A=1', 'TRACKING_SCHEMA=x']
    write('.env', [...lines, 'TRACKING_SCHEMA=y'].join('\n'), 0o600)
    const { config, warnings } = load()
    expect(config.schema).toBe('y')
    expect(warnings).toEqual([
      '.env lines 1, 4: nothing is set there; write NAME=value, or # before it',
      '.env line 6 has no effect: line 7 sets TRACKING_SCHEMA again',
    ])
  })

  test.each([`A="${canary}`, `A='${canary}' more`, `A="one\ntwo\nB="${canary}"`])(
    'a quote that is broken is refused by its line: %j',
    (text) => {
      write('.env', `# first\n${text}\n`, 0o600)
      expect(problemsOf()).toEqual([
        '.env line 2: a quote is not closed, or text follows the closing quote',
      ])
    },
  )

  test('a relative file of a secret is beside .env', { tags: ['JE4'] }, () => {
    write('secrets/key', 'a-key-with-digits\n')
    write('.env', 'TRACKING_API_KEY_FILE=secrets/key\n', 0o600)
    expect(folder.path).not.toBe(process.cwd())
    expect(load().config.apiKey).toBe('a-key-with-digits')
  })
})

describe('problems', () => {
  test('all of them are told together, by the name of the variable and without any value', () => {
    writeConfig({ runMinutes: canary, unknownThing: canary })
    write('.env', `TRACKING_SCHEMA=${canary.toUpperCase()}\n`)
    const problems = problemsOf({
      TRACKING_API_URL: `http://${canary}.example/v2`,
      TRACKING_API_KEY: `Token ${canary}`,
      DATABASE_URL: `mysql://user:${canary}@host/db`,
      TRACKING_MIGRATE: canary,
      TRACKING_LOG_LEVEL: canary,
      TRACKING_RATE_LIMIT_PER_MINUTE: canary,
    })
    expect(problems.sort()).toEqual([
      'DATABASE_URL must look like postgres://user:password@host:5432/database',
      'TRACKING_API_KEY holds a scheme word; give the bare key, "Token " is put before it',
      'TRACKING_API_URL is plain http or a private address, and the key would go there; use https://, or set TRACKING_ALLOW_INSECURE_API_URL=true',
      'TRACKING_LOG_LEVEL must be one of debug, info, warn, error, silent',
      'TRACKING_MIGRATE must be true or false',
      'TRACKING_RATE_LIMIT_PER_MINUTE must be a whole number from 1 to 100000',
      'TRACKING_RUN_MINUTES must be a whole number from 1 to 10000',
      'TRACKING_SCHEMA must be 1 to 50 lower-case letters, digits or underscores, not beginning with a digit',
      'unknownThing in config/tracking-sync.json is not a setting',
    ])
  })

  test('every setting given as a lone value of the wrong kind is told by its variable, without the value', () => {
    // Any text is a directory or a title; a proxy is looked at by what uses it.
    const free = ['home', 'schema', 'httpsProxy', 'noProxy', 'pageTitle']
    const wrong = allSettings.filter(({ name }) => !free.includes(name))
    for (const { variable } of wrong) {
      const [problem] = problemsOf({ [variable]: `"${canary}` })
      expect(problem?.startsWith(`${variable} `)).toBe(true)
    }
  })

  test.each([
    [`"${canary}"`, 'holds a quote'],
    [`\u201c${canary}\u201d`, 'holds characters that are not allowed in an HTTP header'],
    [`${canary}\nX-Evil: 1`, 'holds a space or a line break'],
    [`${canary}\u0007`, 'holds characters that are not allowed in an HTTP header'],
  ])('the key %j is refused, and is not shown', { tags: ['G12'] }, (key, reason) => {
    const problems = problemsOf({ TRACKING_API_KEY: key })
    expect(problems).toHaveLength(1)
    expect(problems[0]).toContain(`TRACKING_API_KEY ${reason}`)
  })

  test.each([
    ['api.tracking.example/v2', 'is not a URL'],
    ['javascript:alert(1)', 'must begin with https://'],
    [`https://user:${canary}@api.tracking.example/v2`, 'must not hold a user name'],
    [`https://api.tracking.example/v2?key=${canary}`, 'must not hold a user name, query'],
  ])('the address %s is refused', { tags: ['G12'] }, (url, reason) => {
    const problems = problemsOf({ TRACKING_API_URL: url })
    expect(problems).toHaveLength(1)
    expect(problems[0]).toContain(`TRACKING_API_URL ${reason}`)
  })

  test.each([
    ['postgres://u:p#w@localhost/db', 'has a # in it'],
    [
      'postgres://u:p/w@localhost/db',
      'must look like postgres://user:password@host:5432/database; in',
    ],
    [' postgres://u:p@localhost/db', 'has a space before or after it'],
    ['postgres://u:p@/db?host=/run', 'has a user and no host after the @'],
    ['postgres://u:p@one:5432,two:5432/db', 'names several hosts'],
    ['postgres://u:p@localhost/db?sslrootcert=system', 'has sslrootcert=system'],
  ])('%s is told by the part that is not understood', { tags: ['JB13'] }, (url, problem) => {
    const problems = problemsOf({ DATABASE_URL: url })
    expect(problems).toEqual([expect.stringContaining(`DATABASE_URL ${problem}`)])
    expect(problems[0]).not.toContain('ALLOW_INSECURE')
  })

  test('what Kubernetes sets for services beside ours is passed over', { tags: ['JB13'] }, () => {
    const links = (name: string): Record<string, string> => ({
      [`TRACKING_${name}_SERVICE_HOST`]: '10.0.0.1',
      [`TRACKING_${name}_SERVICE_PORT`]: '5432',
      [`TRACKING_${name}_SERVICE_PORT_SQL`]: '5432',
      [`TRACKING_${name}_PORT`]: 'tcp://10.0.0.1:5432',
      [`TRACKING_${name}_PORT_5432_TCP`]: 'tcp://10.0.0.1:5432',
      [`TRACKING_${name}_PORT_5432_TCP_ADDR`]: '10.0.0.1',
    })
    expect(load({ ...links('DATABASE'), ...links('SYNC') }).warnings).toEqual([])
  })

  test.each([`{"rateLimitPerMinute":${canary}`, `["${canary}"]`, `"${canary}"`, 'null', ''])(
    'a configuration file that is no JSON object is refused, and not quoted: %s',
    { tags: ['G12'] },
    (content) => {
      write('config/tracking-sync.json', content)
      expect(problemsOf()).toEqual(['config/tracking-sync.json is not a JSON object'])
    },
  )
})

describe('numbers and booleans', () => {
  test('the rate limit is a whole number from 1 to 100000', () => {
    for (const value of '0x10| 12 |1e3|12px|1_000|+5|5.5|NaN|Infinity|0|100001|-1|٣'.split('|')) {
      expect({ value, problems: problemsOf({ TRACKING_RATE_LIMIT_PER_MINUTE: value }) }).toEqual({
        value,
        problems: ['TRACKING_RATE_LIMIT_PER_MINUTE must be a whole number from 1 to 100000'],
      })
    }
    for (const [value, limit] of Object.entries({ '1': 1, '1000': 1000, '012': 12 })) {
      expect(load({ TRACKING_RATE_LIMIT_PER_MINUTE: value }).config.rateLimitPerMinute).toBe(limit)
    }
  })

  test('texts for yes and no are true and false, and others neither', () => {
    for (const value of ['false', 'FALSE', '0', 'no', 'off']) {
      expect([value, load({ TRACKING_MIGRATE: value }).config.migrate]).toEqual([value, false])
    }
    for (const value of ['true', '1', 'yes']) {
      expect([value, load({ TRACKING_MIGRATE: value }).config.migrate]).toEqual([value, true])
    }
    for (const value of ['maybe', '2', 'wahr', 'tru']) {
      expect([value, ...problemsOf({ TRACKING_MIGRATE: value })]).toEqual([
        value,
        'TRACKING_MIGRATE must be true or false',
      ])
    }
    writeConfig({ migrate: false })
    expect(load().config.migrate).toBe(false)
  })
})

describe('secrets', { tags: ['S4'] }, () => {
  test.each([
    [0o600, `TRACKING_API_KEY=${canary}`, 0],
    [0o640, `TRACKING_API_KEY=${canary}\nTRACKING_WEBHOOK_SECRET=${canary}`, 1],
    [0o604, `DATABASE_URL=postgres://user:${canary}@localhost/db`, 1],
    [0o644, 'TRACKING_RATE_LIMIT_PER_MINUTE=2', 0],
  ])('a .env of mode %o that others read is told', { tags: ['FC6'] }, (mode, content, count) => {
    chmodSync(write('.env', `${content}\n`), mode)
    const { warnings } = load()
    expect(warnings).toEqual(
      Array(count).fill('.env holds a secret and other users can read it: chmod 0600 it'),
    )
  })

  test.each([
    [0o600, `${canary}\n`, false],
    [0o640, `${canary}\r\n`, false],
    [0o644, canary, true],
    [0o660, canary, true],
    [0o604, canary, true],
  ])(
    'a secret is read from a file of mode %o: %j; is there a warning? %s',
    (mode, text, isTold) => {
      const path = write('key', text, mode)
      const { config, origins, secrets, warnings } = load({ TRACKING_API_KEY_FILE: path })
      expect([config.apiKey, origins.apiKey, secrets]).toEqual([canary, 'environment', [canary]])
      const warning =
        'other users can read or change the file of TRACKING_API_KEY_FILE: chmod 0640 it'
      expect(warnings).toEqual(isTold ? [warning] : [])
    },
  )

  test('a secret file that is missing, empty or a directory is told by its variable', () => {
    const problem = (path: string) => problemsOf({ TRACKING_API_KEY_FILE: path })
    const unreadable = 'TRACKING_API_KEY_FILE names a file that cannot be read'
    expect(problem(join(folder.path, canary))).toEqual([
      `${unreadable} (ENOENT): there is no such file`,
    ])
    expect(problem(folder.path)).toContain(`${unreadable} (EISDIR): it is a folder; name a file`)
    expect(problem(write('blank', '\n'))).toEqual([
      'TRACKING_API_KEY_FILE names an empty file; write the value into it',
    ])
  })

  test('a secret set both directly and by file is refused', () => {
    const path = write('key', canary)
    expect(problemsOf({ TRACKING_API_KEY: canary, TRACKING_API_KEY_FILE: path })).toEqual([
      'TRACKING_API_KEY is set together with TRACKING_API_KEY_FILE; remove one of them',
    ])
  })

  test('a secret in the configuration file is refused, also when another would win', () => {
    writeConfig({ apiKey: canary })
    expect(problemsOf({ TRACKING_API_KEY: 'another-key' })).toEqual([
      'TRACKING_API_KEY is a secret and must not be in the configuration file; set it in the environment, or use TRACKING_API_KEY_FILE',
    ])
  })

  test.each([
    ['the key', { TRACKING_API_KEY: canary }, [canary]],
    [
      'the password of the database, as it stands and decoded',
      { DATABASE_URL: `postgres://user:${canary}%2F@localhost/db` },
      [`${canary}%2F`, `${canary}/`],
    ],
    [
      'the password in the query of the database address',
      { DATABASE_URL: `postgres://localhost/db?user=me&password=${canary}` },
      [canary],
    ],
    ['nothing where there is no password', { DATABASE_URL: 'postgres://localhost/db' }, []],
  ])('%s must never be printed', { tags: ['S1'] }, (_what, environment, secrets) => {
    expect(load(environment).secrets).toEqual(secrets)
  })
})

describe('where the key may go', { tags: ['S5'] }, () => {
  const insecure = 'is plain http or a private address'

  const INSECURE = `
    http://api.tracking.example/v2 http://10.0.0.1/v2 https://10.0.0.1/v2
    https://192.168.1.1/v2 https://172.16.0.1/v2 https://172.31.255.255/v2
    https://169.254.169.254/v2 https://0.0.0.0/v2 https://[fd00::1]/v2 https://[fc00::1]/v2
    https://[fe80::1]/v2 https://[::]/v2 https://[::ffff:10.0.0.1]/v2 https://0xa000001/v2
    https://167772161/v2 http://localhost.evil.example/v2 http://127.0.0.1.evil.example/v2`
  const SECURE = `
    https://api.tracking.example/v2 https://172.32.0.1/v2 https://8.8.8.8/v2
    http://localhost:4010/v2 http://127.0.0.1:4010/v2 http://127.1.2.3/v2
    http://[::1]:4010/v2 http://2130706433/v2`
  const wordsOf = (text: string): string[] => text.trim().split(/\s+/)

  test.each(wordsOf(INSECURE))('%s needs the explicit setting', (url) => {
    const problems = problemsOf({ TRACKING_API_URL: url })
    expect(problems).toHaveLength(1)
    expect(problems[0]).toContain(insecure)
    const allowed = load({ TRACKING_API_URL: url, TRACKING_ALLOW_INSECURE_API_URL: 'true' })
    expect(allowed.config.apiUrl).toBe(url)
  })

  test.each(wordsOf(SECURE))('%s does not', (url) => {
    expect(load({ TRACKING_API_URL: url }).config.apiUrl).toBe(url)
  })
})

test('what a command that reads the service needs is told together', () => {
  const failure = () => requireService(load().config)
  expect(failure).toThrow(ConfigError)
  expect(failure).toThrow(
    /^TRACKING_API_URL is not set.*tracking-sync demo.*\nTRACKING_API_KEY is not set/,
  )
})
