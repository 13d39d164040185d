import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Simulator } from '../../src/extensions/simulator/server.js'
import { settingsOf } from '../support/call-cli.js'
import { makeFreshHome, removeFreshHomes } from '../support/fresh-home.js'
import { differencesFrom } from '../support/look-at-cli-rows.js'
import { endPrograms, runCli } from '../support/run-cli.js'
import { holdOldest } from '../support/small-world.js'
import { startSameWorld } from '../support/simulate-cli.js'
import { createTestDatabase, type TestDatabase } from '../support/test-database.js'

let simulator: Simulator
let database: TestDatabase

beforeAll(async () => {
  simulator = await startSameWorld({ shipments: 5 })
  holdOldest(simulator)
  database = await createTestDatabase()
})
afterAll(async () => {
  await endPrograms()
  await simulator.close()
  await database.drop()
  await removeFreshHomes()
})

/** Node's own guard: no file may be written, no process, worker or native module started. */
const GUARD = process.allowedNodeEnvironmentFlags.has('--permission')
  ? '--permission'
  : '--experimental-permission'

it('writes no file and starts no program', { tags: ['S16', 'JB12', 'release'] }, async () => {
  const { directory } = await makeFreshHome()
  const net = process.allowedNodeEnvironmentFlags.has('--allow-net') ? ' --allow-net' : ''
  const env = {
    NODE_OPTIONS: `${GUARD} --allow-fs-read=*${net}`,
    NODE_NO_WARNINGS: '1',
    NODE_PG_FORCE_NATIVE: 'true',
    ...settingsOf(simulator, database.url),
    TRACKING_RATE_LIMIT_PER_MINUTE: '100000',
    TRACKING_LOG_LEVEL: 'error',
  }
  for (const args of [['backfill'], ['sync'], ['status', '--json']]) {
    const { exitCode, stderr } = await runCli(args, { directory, env })
    expect({ args, exitCode, stderr: stderr.replace(/^.*page \d+.*$\n/gm, '') }).toMatchObject({
      args,
      exitCode: 0,
    })
  }
  expect(await differencesFrom(simulator.world, simulator.clock.now(), database.url)).toEqual([])
})

it('the guard would have refused a program that writes', { tags: ['S16'] }, async () => {
  const { directory } = await makeFreshHome()
  const env = { NODE_OPTIONS: `${GUARD} --allow-fs-read=*`, NODE_NO_WARNINGS: '1' }
  // Without an external server the program creates the embedded one, which writes files.
  const { exitCode, stderr } = await runCli(['status'], { directory, env })
  expect(exitCode).not.toBe(0)
  expect(stderr).toMatch(/ERR_ACCESS_DENIED|restricted|permission/i)
})
