import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { silentLogger } from '../../../src/base/logger.js'
import { findToken } from '../../../src/extensions/doors/access-tokens.js'
import { createTokenUses } from '../../../src/extensions/doors/token-uses.js'
import { rawStatement } from '../../../src/warehouse/connection/typed-database.js'
import { callCli, type CliCall } from '../../support/call-cli.js'
import { createTestWarehouse, type TestWarehouse } from '../../support/test-warehouse.js'

let opened: TestWarehouse

beforeAll(async () => {
  opened = await createTestWarehouse()
})

afterAll(() => opened.drop())

const tokens = (...args: string[]): Promise<CliCall> =>
  callCli(['tokens', ...args], { DATABASE_URL: opened.url, TRACKING_LOG_LEVEL: 'debug' })

const look = (sqlText: string): Promise<Record<string, unknown>[]> =>
  opened.warehouse.query('look', rawStatement<Record<string, unknown>>(sqlText))

async function create(name: string, ...more: string[]): Promise<string> {
  const { exitCode, stdout } = await tokens(
    'create',
    ...['--name', name, '--questions', 'last_free_days,attention', '--json'],
    ...more,
  )
  expect({ name, exitCode }).toEqual({ name, exitCode: 0 })
  return (JSON.parse(stdout) as { token: string }).token
}

describe('a token', () => {
  it('is printed once, has 256 bits, and only its hash is stored', { tags: ['HQ5'] }, async () => {
    const { stdout, stderr } = await tokens(
      'create',
      ...['--name', 'acme', '--questions', 'last_free_days,attention', '--expires', '30d'],
    )
    const [text = '', , sentence] = stdout.split('\n')
    expect(text).toMatch(/^tsq_[\da-f]{12}_[\w-]{43}$/)
    expect(sentence).toMatch(/^acme opens last_free_days, attention until 20\d\d-\d\d-\d\dT/)
    const secret = text.split('_').slice(2).join('_')
    expect(stderr).not.toContain(secret)
    const dumped = JSON.stringify(
      await look('select one, to_jsonb(one) from tracking_sync.access_tokens as one'),
    )
    expect(dumped).not.toContain(secret)
    expect(
      await look(`select secret_hash = sha256('${text}') as is_hash,
        expires_at - created_at = interval '30 days' as is_month
      from tracking_sync.access_tokens`),
    ).toEqual([{ is_hash: true, is_month: true }])
    const listed = await tokens('list')
    expect(listed.stdout).toContain('last_free_days, attention')
    expect(`${listed.stdout}${listed.stderr}`).not.toContain(secret)
    expect(await findToken(opened.warehouse, text)).toMatchObject({
      name: 'acme',
      questions: ['last_free_days', 'attention'],
      customers: null,
      state: 'active',
    })
  })

  it('is found by its whole text alone', { tags: ['HQ5'] }, async () => {
    const text = await create('whole')
    const other = await create('other')
    const last = text.endsWith('A') ? 'B' : 'A'
    for (const wrong of [
      `${text.slice(0, -1)}${last}`,
      `${text.slice(0, 17)}${other.slice(17)}`,
      `tsq_000000000000_${text.slice(17)}`,
      text.slice(0, -1),
      `${text} `,
      text.toUpperCase(),
      '',
      `tsq_' or true --_${text.slice(17)}`,
    ]) {
      expect({ wrong, found: await findToken(opened.warehouse, wrong) }).toEqual({
        wrong,
        found: undefined,
      })
    }
  })

  it('ends at its instant, or when it is revoked, and leaves its name to another', async () => {
    const text = await create('short')
    await look(`update tracking_sync.access_tokens set expires_at = now() where name = 'short'`)
    expect(await findToken(opened.warehouse, text)).toMatchObject({ state: 'expired' })
    expect((await tokens('revoke', 'short')).stdout).toBe('1 token revoked.\n')
    expect(await findToken(opened.warehouse, text)).toMatchObject({ state: 'revoked' })
    expect(await findToken(opened.warehouse, await create('short'))).toMatchObject({
      state: 'active',
    })
  })

  const ONE = 'create --name one --questions costs'
  it.each([
    ['a name in use', 'create --name twice --questions costs', /already; choose another/],
    [
      'an unknown question',
      `${ONE}t`,
      /names costst, which is not a question; did you mean costs\?/,
    ],
    ['an end that is over', `${ONE} --expires 2020-01-01`, /is over already; give a later day/],
    ['no end', `${ONE} --expires 0d`, /It must be a day, or 1d to 3660d/],
    ['an odd name', `${ONE} --name one!two`, /--name must be 1 to 60 letters/],
    ['a customer where none may read', `${ONE} --customer Acme`, /is open to customers: run/],
    ['an unknown token', 'revoke twic', /twic is not the name of .*; did you mean twice\?/],
  ])('says what is wrong with %s', async (_, line, sentence) => {
    await tokens('create', '--name', 'twice', '--questions', 'costs')
    const { exitCode, stdout, stderr } = await tokens(...line.split(' '))
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toMatch(sentence)
    expect(await look(`select from tracking_sync.access_tokens where name = 'one'`)).toEqual([])
  })

  it('is counted, with one write a minute at most', async () => {
    const found = await findToken(opened.warehouse, await create('counted'))
    let writes = 0
    const warehouse = {
      ...opened.warehouse,
      query: (...asked: Parameters<typeof opened.warehouse.query>) => {
        writes += 1
        return opened.warehouse.query(...asked)
      },
    } as typeof opened.warehouse
    const uses = createTokenUses(warehouse, silentLogger)
    for (let use = 0; use < 500; use += 1) uses.count(found!.tokenId)
    await uses.close()
    for (let use = 0; use < 500; use += 1) uses.count(found!.tokenId)
    expect(writes).toBe(1)
    await uses.close()
    expect(writes).toBe(2)
    expect(
      await look(`select uses, last_used_at > created_at as is_used
      from tracking_sync.access_tokens where name = 'counted'`),
    ).toEqual([{ uses: 1_000, is_used: true }])
  })
})
