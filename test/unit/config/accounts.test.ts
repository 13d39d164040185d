import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { loadConfig, type ConfigSources } from '../../../src/config/load.js'
import { loadAccounts } from '../../../src/extensions/accounts/load-accounts.js'
import { problemsIn } from '../../support/config-problems.js'
import { useFolder } from '../../support/temp-folder.js'

const KEYS = {
  TRACKING_API_URL: 'https://api.tracking.example/v2',
  TRACKING_API_KEY_ACME: 'key-of-acme-1234',
  TRACKING_API_KEY_BLUE_SEA: 'key-of-blue-sea-1',
}

const folder = useFolder()

function sources(
  accounts: unknown,
  environment: ConfigSources['environment'] = KEYS,
  rest: object = {},
): ConfigSources {
  const workingDirectory = folder.path
  mkdirSync(join(workingDirectory, 'config'), { recursive: true })
  const file = join(workingDirectory, 'config', 'tracking-sync.json')
  writeFileSync(file, JSON.stringify({ rateLimitPerMinute: 50, accounts, ...rest }))
  return { environment, workingDirectory }
}

const TWO = [{ name: 'acme' }, { name: 'blue-sea', rateLimitPerMinute: 25, syncCron: '0 * * * *' }]

describe('an account', () => {
  test('is an overlay: its own settings, then the general ones, with its key and schema', () => {
    const [acme, blueSea] = loadAccounts(sources(TWO))
    expect(acme!.config).toMatchObject({
      account: 'acme',
      apiKey: 'key-of-acme-1234',
      rateLimitPerMinute: 50,
      schema: 'tracking_acme',
    })
    expect(blueSea!.config).toMatchObject({
      apiKey: 'key-of-blue-sea-1',
      rateLimitPerMinute: 25,
      schema: 'tracking_blue_sea',
      syncCron: '0 * * * *',
    })
    expect(blueSea!.origins).toMatchObject({ rateLimitPerMinute: 'account', schema: 'account' })
    expect(acme!.secrets).toEqual(['key-of-acme-1234'])
  })

  test('has its own schema, or the general one with its name, from every source', () => {
    const given = sources([{ name: 'acme', schema: 'ours' }, { name: 'blue-sea' }])
    const schemas = loadAccounts({ ...given, flags: { schema: 'wide' } }).map(
      ({ config }) => config.schema,
    )
    expect(schemas).toEqual(['ours', 'wide_blue_sea'])
  })

  test('takes its key from a file, and never the general one', () => {
    const key = join(folder.path, 'key')
    writeFileSync(key, 'key-from-a-file-1\n')
    chmodSync(key, 0o640)
    const environment = {
      ...KEYS,
      TRACKING_API_KEY: 'the-general-key-1',
      TRACKING_API_KEY_ACME: undefined,
    }
    const withFile = sources([{ name: 'acme', apiKeyFile: key }], environment)
    expect(loadAccounts(withFile)[0]!.config.apiKey).toBe('key-from-a-file-1')
    const variable = { ...environment, TRACKING_API_KEY_ACME_FILE: key }
    expect(loadAccounts(sources([{ name: 'acme' }], variable))[0]!.config.apiKey).toBe(
      'key-from-a-file-1',
    )
    const without = loadAccounts(sources([{ name: 'acme' }], environment))
    expect(without[0]!.config.apiKey).toBeUndefined()
  })

  test('is chosen by flag, environment or file, and a wrong name is told what there is', () => {
    const given = sources(TWO)
    expect(loadConfig({ ...given, flags: { account: 'acme' } }).config.schema).toBe('tracking_acme')
    const environment = { ...KEYS, TRACKING_ACCOUNT: 'blue-sea' }
    expect(loadConfig({ ...given, environment }).config.schema).toBe('tracking_blue_sea')
    expect(problemsIn(() => loadConfig({ ...given, flags: { account: 'acmee' } }))).toEqual([
      'TRACKING_ACCOUNT is not in the configuration file, which has acme, blue-sea; ' +
        'did you mean acme?',
    ])
    expect(problemsIn(() => loadConfig({ ...sources([]), flags: { account: 'acme' } }))).toEqual([
      'TRACKING_ACCOUNT is set, but the configuration file has no accounts; ' +
        'unset it, or see docs/accounts.md',
    ])
  })
})

describe('wrong accounts are refused together', () => {
  test.each<[string, unknown, RegExp]>([
    ['no list', { name: 'acme' }, /accounts .* must be a list of objects/],
    ['an entry that is no object', ['acme'], /accounts\[0\] .* must be an object with a name/],
    ['a bad name', [{ name: 'Acme Ltd' }], /must be 1 to 30 lower-case letters/],
    ['the same name', [{ name: 'a-b' }, { name: 'a_b' }], /has the name a_b of another account; /],
    ['a name that ends as a variable', [{ name: 'acme-file' }], /has the name acme-file/],
    ['a name that begins as one', [{ name: 'previous-acme' }], /has the name previous-acme/],
    ['a secret', [{ name: 'acme', apiKey: 'x' }], /set TRACKING_API_KEY_<ACCOUNT>/],
    ['a setting of the process', [{ name: 'acme', httpPort: 1 }], /is the same for all accounts/],
    ['a database of its own', [{ name: 'acme', databaseUrl: 'x' }], /is the same for all accounts/],
    ['an unknown setting', [{ name: 'acme', runminutes: 1 }], /setting; did you mean runMinutes/],
    ['one schema', ['a', 'b'].map((name) => ({ name, schema: 'x' })), /as of a; give each account/],
    ['a schema of another', [{ name: 'sync' }], /is tracking_sync, which TRACKING_SCHEMA uses/],
    ['an odd schema', [{ name: 'acme', schema: 'no-schema' }], /schema of acme is no-schema/],
  ])('%s', (_, accounts, problem) => {
    const problems = problemsIn(() => loadConfig(sources(accounts)))
    expect(problems).toHaveLength(1)
    expect(problems[0]).toMatch(problem)
  })

  test('a value of one, one key for two: each with the account, and without the value', () => {
    const accounts = [
      { name: 'acme', rateLimitPerMinute: 0 },
      { name: 'blue-sea', rateLimitPerMinute: 'many' },
    ]
    expect(problemsIn(() => loadAccounts(sources(accounts)))).toEqual([
      'TRACKING_RATE_LIMIT_PER_MINUTE of acme must be a whole number from 1 to 100000',
      'TRACKING_RATE_LIMIT_PER_MINUTE of blue-sea must be a whole number from 1 to 100000',
    ])
    const same = { ...KEYS, TRACKING_API_KEY_BLUE_SEA: KEYS.TRACKING_API_KEY_ACME }
    expect(problemsIn(() => loadAccounts(sources(TWO, same)))).toEqual([
      'the key of acme is the key of blue-sea too; each account has its own',
    ])
  })

  test('--all without accounts, or beside one of them', () => {
    expect(problemsIn(() => loadAccounts(sources([])))[0]).toMatch(/^--all needs accounts/)
    const chosen = { ...KEYS, TRACKING_ACCOUNT: 'acme' }
    expect(problemsIn(() => loadAccounts(sources(TWO, chosen)))[0]).toMatch(
      /^TRACKING_ACCOUNT is acme, but --all means every account/,
    )
  })
})

test('a variable of an account is known, a misspelt one is warned about', () => {
  const environment = { ...KEYS, TRACKING_API_KEY_ACMEE: 'a-misspelt-key-1' }
  const { warnings } = loadConfig(sources(TWO, environment))
  expect(warnings).toEqual([
    'TRACKING_API_KEY_ACMEE is not a setting and has no effect; did you mean TRACKING_API_KEY_ACME?',
  ])
})
