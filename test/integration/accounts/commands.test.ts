import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Simulator } from '../../../src/extensions/simulator/server.js'
import { callProgram, refusalOf, type CliCall } from '../../support/call-cli.js'
import { compareWarehouse } from '../../support/compare-warehouse.js'
import { lookAt } from '../../support/look-at-cli-rows.js'
import { startSameWorld } from '../../support/simulate-cli.js'
import { holdOldest } from '../../support/small-world.js'
import {
  createTestDatabase,
  readerSettings,
  type TestDatabase,
} from '../../support/test-database.js'
import { useFolder } from '../../support/temp-folder.js'

const NAMES = ['acme', 'blue-sea'] as const

let database: TestDatabase
const folder = useFolder('file')
let env: Record<string, string>
const simulators: Simulator[] = []

beforeAll(async () => {
  database = await createTestDatabase()
  await mkdir(join(folder.path, 'config'))
  env = {
    DATABASE_URL: database.url,
    ...readerSettings(database.url),
    TRACKING_LOG_LEVEL: 'error',
  }
  for (const [at, name] of NAMES.entries()) {
    // Both have something to send by rail.
    const options = { seed: [1, 4][at]!, shipments: 3, apiKey: `the-key-of-${name}-17` }
    const simulator = await startSameWorld(options)
    simulators.push(simulator)
    holdOldest(simulator)
    env[`TRACKING_API_KEY_${name.toUpperCase().replace('-', '_')}`] = simulator.apiKey
  }
  const accounts = NAMES.map((name, at) => ({ name, apiUrl: simulators[at]!.url }))
  await writeFile(
    join(folder.path, 'config', 'tracking-sync.json'),
    JSON.stringify({ accounts, fullSyncHours: 0 }),
  )
})

afterAll(async () => {
  for (const simulator of simulators) await simulator.close()
  await database.drop()
})

const run = (...args: readonly string[]): Promise<CliCall> =>
  callProgram(args, { directory: folder.path, env, secrets: simulators.map((one) => one.apiKey) })

function differencesOf(at: number): Promise<string[]> {
  const schema = ['tracking_acme', 'tracking_blue_sea'][at]!
  const { world, clock } = simulators[at]!
  return lookAt(database.url, (own) => compareWarehouse(own, world, clock.now()), schema)
}

interface Line {
  readonly account: string
  readonly exitCode: number
  readonly outcome: string
  readonly rowsWritten: number
  readonly problem: string | null
}

const linesOf = ({ stdout }: CliCall): Line[] => JSON.parse(stdout) as Line[]

describe('commands for every account', { tags: ['D12'] }, () => {
  it('migrate, then sync twice: each its own rows, nothing the second time', async () => {
    expect((await run('migrate', '--all')).exitCode).toBe(0)
    const first = await run('sync', '--all', '--json')
    expect({ ...first, stdout: '' }).toEqual({ exitCode: 0, stdout: '', stderr: '' })
    const lines = linesOf(first)
    expect(lines.map(({ account }) => account)).toEqual([...NAMES])
    expect(lines.every(({ rowsWritten }) => rowsWritten > 0)).toBe(true)
    expect([await differencesOf(0), await differencesOf(1)]).toEqual([[], []])
    const again = linesOf(await run('sync', '--all', '--json'))
    expect(again.map(({ rowsWritten, outcome }) => [rowsWritten, outcome])).toEqual([
      [0, 'complete'],
      [0, 'complete'],
    ])
  })

  it('whose key is refused holds up no other; exit the worst', { tags: ['release'] }, async () => {
    const before = env.TRACKING_API_KEY_ACME!
    env.TRACKING_API_KEY_ACME = 'a-key-that-is-wrong'
    try {
      const { exitCode, stdout, stderr } = await run('sync', '--all', '--accept-account')
      expect(exitCode).toBe(3)
      expect(stderr).toContain('error: 1 account of 2 need attention')
      expect(stdout).toMatch(/^account +outcome +rows written +requests +seconds\n/)
      expect(stdout).toMatch(/^blue-sea +complete/m)
      expect(stdout).toMatch(/^acme +failed/m)
      expect(stdout).toMatch(/^acme: .*key/m)
    } finally {
      env.TRACKING_API_KEY_ACME = before
    }
  })

  it('status --all has a line for each, in 80 columns', async () => {
    const { exitCode, stdout } = await run('status', '--all')
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^account +schema +age +every +next +worker +alerts$/m)
    expect(stdout).toMatch(/^blue-sea +tracking_blue_sea +\d+ s +15 min +in /m)
    for (const line of stdout.split('\n').filter((text) => !text.startsWith('ALERT'))) {
      expect(line.length).toBeLessThanOrEqual(80)
    }
  })
})

it('a command for one account works on its warehouse, and is told which', async () => {
  const sql = 'select count(*) from shipments'
  const { stdout } = await run('query', sql, '--account', 'blue-sea', '--format', 'csv')
  expect(stdout).toBe('count\r\n3\r\n')
  const without = await refusalOf(run('status'))
  expect(without).toMatch(/^2 .*choose with --account, or --all: acme, blue-sea/)
  expect((await run('check')).stderr).toContain('choose with --account: acme, blue-sea')
  env.TRACKING_API_KEY_ACME = ''
  const unset = await refusalOf(run('plan', '--account', 'acme'))
  expect(unset).toMatch(/^2 .*TRACKING_API_KEY_ACME is not set/)
})
