import { afterAll, describe, expect, it } from 'vitest'
import type { Simulator } from '../../../src/extensions/simulator/server.js'
import { callCli, type CliCall } from '../../support/call-cli.js'
import { useTestWarehouse } from '../../support/reused-warehouse.js'
import { startSameWorld } from '../../support/simulate-cli.js'

const FIRST = 'key-of-the-first-account'
const SECOND = 'key-of-another-account'

const opened = useTestWarehouse()
const simulators: Simulator[] = []

async function simulate(apiKey: string): Promise<string> {
  const simulator = await startSameWorld({ shipments: 2, apiKey })
  simulators.push(simulator)
  return simulator.url
}

afterAll(async () => {
  for (const simulator of simulators) await simulator.close()
})

function run(apiUrl: string, apiKey: string, ...args: readonly string[]): Promise<CliCall> {
  return callCli(args, {
    TRACKING_API_URL: apiUrl,
    TRACKING_API_KEY: apiKey,
    TRACKING_LOG_LEVEL: 'silent',
    DATABASE_URL: opened.url,
  })
}

describe('a warehouse and the account it is filled from', { tags: ['FA8'] }, () => {
  it('go together until somebody says otherwise', async () => {
    const [first, second] = [await simulate(FIRST), await simulate(SECOND)]
    // A key that the service refuses is nobody's.
    expect((await run(first, SECOND, 'backfill')).exitCode).toBe(3)
    expect((await run(first, FIRST, 'backfill')).exitCode).toBe(0)
    expect((await run(first, FIRST, 'sync')).exitCode).toBe(0)

    for (const simulator of simulators) simulator.requests.reset()
    for (const args of [
      ['sync'],
      ['backfill'],
      ['webhooks', 'reconcile'],
      ['serve', '--no-receiver'],
    ]) {
      const { exitCode, stderr } = await run(second, SECOND, ...args)
      expect({ args, exitCode }).toEqual({ args, exitCode: 2 })
      expect(stderr).toMatch(
        /^error: TRACKING_API_KEY:? is not the key that filled tracking: .*run `tracking-sync sync --accept-account` once. For another account, set TRACKING_SCHEMA or DATABASE_URL/,
      )
    }
    const elsewhere = await run(first.replace('127.0.0.1', 'localhost'), FIRST, 'sync')
    expect(elsewhere.exitCode).toBe(2)
    expect(elsewhere.stderr).toMatch(
      /^error: TRACKING_API_URL:? is http:\/\/localhost\/v2, but tracking is filled from http:\/\/127\.0\.0\.1\/v2: /,
    )
    expect(simulators.map(({ requests }) => requests.total)).toEqual([0, 0])

    expect((await run(second, SECOND, 'sync', '--accept-account')).exitCode).not.toBe(2)
    expect((await run(second, SECOND, 'sync')).exitCode).not.toBe(2)
    expect((await run(first, FIRST, 'sync')).exitCode).toBe(2)
  })

  it('are noted without anything from which the key is found', async () => {
    const rows = await opened.rows<{ address: string; salt: Buffer; hash: Buffer }>`
      select address, salt, key_hash as hash from tracking_sync.source_account`
    const found = rows.map(({ address, salt, hash }) => [address, salt.length, hash.length])
    expect(found).toEqual([['http://127.0.0.1/v2', 16, 32]])
    expect(JSON.stringify(rows)).not.toContain(SECOND)
  })
})
