import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { silentLogger } from '../../../src/base/logger.js'
import { startSimulator, type Simulator } from '../../../src/extensions/simulator/server.js'
import { createWarehouse } from '../../../src/warehouse/connection/warehouse.js'
import { callProgram, type CliCall } from '../../support/call-cli.js'
import { compareWarehouse } from '../../support/compare-warehouse.js'
import { holdOldest } from '../../support/small-world.js'
import {
  createTestDatabase,
  readerSettings,
  type TestDatabase,
} from '../../support/test-database.js'
import { START } from '../sync/sync-scene.js'

const NAMES = ['acme', 'blue-sea'] as const

let database: TestDatabase
let directory: string
let env: Record<string, string>
const simulators: Simulator[] = []

beforeAll(async () => {
  database = await createTestDatabase()
  directory = await mkdtemp(join(tmpdir(), 'tracking-sync-accounts-'))
  await mkdir(join(directory, 'config'))
  env = {
    DATABASE_URL: database.url,
    ...readerSettings(database.url),
    TRACKING_LOG_LEVEL: 'error',
  }
  for (const [at, name] of NAMES.entries()) {
    const simulator = await startSimulator({
      // Both have something to send by rail.
      seed: [1, 4][at]!,
      shipments: 3,
      startAt: START,
      speed: 0,
      rateLimitPerMinute: null,
      apiKey: `the-key-of-${name}-17`,
    })
    simulators.push(simulator)
    holdOldest(simulator)
    env[`TRACKING_API_KEY_${name.toUpperCase().replace('-', '_')}`] = simulator.apiKey
  }
  const accounts = NAMES.map((name, at) => ({ name, apiUrl: simulators[at]!.url }))
  await writeFile(
    join(directory, 'config', 'tracking-sync.json'),
    JSON.stringify({ accounts, fullSyncHours: 0 }),
  )
})

afterAll(async () => {
  for (const simulator of simulators) await simulator.close()
  await rm(directory, { recursive: true, force: true })
  await database.drop()
})

const run = (...args: readonly string[]): Promise<CliCall> =>
  callProgram(args, { directory, env, secrets: simulators.map(({ apiKey }) => apiKey) })

async function differencesOf(at: number): Promise<string[]> {
  const schema = ['tracking_acme', 'tracking_blue_sea'][at]!
  const warehouse = createWarehouse({ url: database.url, schema, logger: silentLogger })
  const { world, clock } = simulators[at]!
  try {
    return await compareWarehouse(warehouse, world, clock.now())
  } finally {
    await warehouse.close()
  }
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

describe('a command for one account', () => {
  it('works on its warehouse', async () => {
    const { exitCode, stdout } = await run(
      ...['query', 'select count(*) from shipments', '--account', 'blue-sea', '--format', 'csv'],
    )
    expect(exitCode).toBe(0)
    expect(stdout).toContain('3')
  })

  it('needs to be told which, and knows a name that is nearly right', async () => {
    const without = await run('status')
    expect(without.exitCode).toBe(2)
    expect(without.stderr).toContain('choose with --account, or --all: acme, blue-sea')
    expect((await run('check')).stderr).toContain('choose with --account: acme, blue-sea')
    const wrong = await run('status', '--account', 'blue-see')
    expect(wrong.exitCode).toBe(2)
    expect(wrong.stderr).toContain('did you mean blue-sea?')
  })

  it('is told the variable of its own key', async () => {
    const environment = { ...env, TRACKING_API_KEY_ACME: '' }
    const call = await callProgram(['plan', '--account', 'acme'], { directory, env: environment })
    expect(call.exitCode).toBe(2)
    expect(call.stderr).toContain('TRACKING_API_KEY_ACME is not set')
  })
})
