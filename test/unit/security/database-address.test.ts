import { describe, expect, test } from 'vitest'
import { loadConfig } from '../../../src/config/load.js'
import { checkDatabaseLink, shownDatabaseUrl } from '../../../src/config/kinds.js'
import type { ConfigError } from '../../../src/base/errors.js'

const RULES = { isInsecureAllowed: false, isNodeUnsafe: false }
const ELSEWHERE = 'is on another machine'

function problemOf(address: string, rules = RULES): string {
  return checkDatabaseLink(new URL(address), rules).problem ?? ''
}

test.each([
  ['postgres://me:pw%2F1@db.example:5/house?a=b', 'postgres://me:***@db.example:5/house?a=b'],
  ['postgres://:pw@127.0.0.1/house', 'postgres://:***@127.0.0.1/house'],
  ['postgres://me@db.example/house?password=pw', 'postgres://me@db.example/house?password=***'],
  ['postgres:///house?host=%2Frun&sslpassword=pw', 'postgres:///house?host=/run&sslpassword=***'],
])('%s is shown without its password only', { tags: ['FC8'] }, (address, shown) => {
  expect(shownDatabaseUrl(address, '***')).toBe(shown)
})

describe('a database on another machine', { tags: ['S11'] }, () => {
  test.each([
    'postgres://me:pw@db.example/house',
    'postgres://me:pw@db.example/house?sslmode=disable',
    'postgres://me:pw@db.example/house?sslmode=require',
    'postgres://me:pw@db.example/house?sslmode=verify-ca',
    'postgres://me:pw@db.example/house?sslmode=no-verify',
    'postgres://me:pw@db.example/house?sslmode=VERIFY-FULL',
    'postgres://me:pw@db.example/house?ssl=true',
    'postgres://me:pw@db.example/house?sslrootcert=/etc/ssl/ca.pem',
    'postgres://me:pw@db.example/house?sslmode=verify-full&sslmode=no-verify',
    'postgres://me:pw@10.0.0.1/house',
    'postgres://me:pw@[fd00::1]/house',
    'postgres://me:pw@127.0.0.1.evil.example/house',
    'postgres://me:pw@127.0.0.1%2eevil.example/house',
    // The driver takes the host of the query.
    'postgres://me:pw@localhost/house?host=db.example',
    'postgres:///house?host=localhost&host=db.example',
  ])('%s is refused', (address) => {
    expect(problemOf(address)).toContain(ELSEWHERE)
    expect(checkDatabaseLink(new URL(address), { ...RULES, isInsecureAllowed: true })).toEqual({
      warning:
        'the server of DATABASE_URL is not verified: anyone in between can read and change data',
    })
  })

  test.each([
    'postgres://me:pw@db.example/house?sslmode=verify-full',
    'postgres://me:pw@db.example/house?sslmode=verify-full&sslrootcert=/etc/ssl/ca.pem',
    'postgres:///house?host=db.example&sslmode=verify-full',
  ])('%s is reached', (address) => {
    expect(checkDatabaseLink(new URL(address), RULES)).toEqual({})
  })

  test('verify-full is refused where Node is told to check nothing', () => {
    const address = 'postgres://me:pw@db.example/house?sslmode=verify-full'
    for (const isInsecureAllowed of [false, true]) {
      expect(problemOf(address, { isInsecureAllowed, isNodeUnsafe: true })).toContain(
        'NODE_TLS_REJECT_UNAUTHORIZED=0',
      )
    }
  })
})

describe('a database on this machine', { tags: ['S11'] }, () => {
  test.each([
    'postgres://me:pw@localhost/house',
    'postgres://me:pw@LOCALHOST:5433/house',
    'postgres://me:pw@127.1.2.3/house',
    'postgres://me:pw@[::1]/house',
    'postgres:///house?host=/var/run/postgresql',
    'postgres://me@%2Fvar%2Frun%2Fpostgresql/house',
  ])('%s needs no word', (address) => {
    expect(checkDatabaseLink(new URL(address), RULES)).toEqual({})
  })

  test.each(['sslmode=no-verify', 'ssl=no-verify'])('%s is told', (query) => {
    const address = new URL(`postgres://me:pw@localhost/house?${query}`)
    expect(checkDatabaseLink(address, RULES).warning).toContain('is not verified')
  })

  test('an address without a host is refused: another variable would name it', () => {
    expect(problemOf('postgres:///house')).toContain('names no host')
  })
})

describe('the settings', { tags: ['S11'] }, () => {
  const load = (environment: Readonly<Record<string, string>>) =>
    loadConfig({ environment, workingDirectory: '/nowhere' })
  const DATABASE_URL = 'postgres://me:canary-password@db.example/house'

  test('refuse an unverified way by name, without the address, until it is allowed', () => {
    const problem = expect.stringMatching(
      /^(?!.*(?:canary-password|db\.example)).*sslmode=verify-full.*TRACKING_ALLOW_INSECURE_DATABASE=true/,
    ) as string
    const problems = [expect.objectContaining({ setting: 'DATABASE_URL', problem }) as object]
    expect(() => load({ DATABASE_URL })).toThrow(
      expect.objectContaining({ problems }) as ConfigError,
    )
    const allowed = load({ DATABASE_URL, TRACKING_ALLOW_INSECURE_DATABASE: 'true' })
    expect(allowed.warnings).toEqual([expect.stringContaining('is not verified')])
    expect(() => load({ DATABASE_URL, TRACKING_ALLOW_INSECURE_DATABASE: 'false' })).toThrow(
      ELSEWHERE,
    )
  })

  test('read what Node is told', () => {
    const environment = {
      DATABASE_URL: `${DATABASE_URL}?sslmode=verify-full`,
      NODE_TLS_REJECT_UNAUTHORIZED: '0',
    }
    expect(() => load(environment)).toThrow('switches that off')
    expect(load({ ...environment, NODE_TLS_REJECT_UNAUTHORIZED: '1' }).warnings).toEqual([])
  })
})
