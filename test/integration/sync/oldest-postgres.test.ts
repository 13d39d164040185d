import { sql } from 'kysely'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  startEmbeddedDatabase,
  type EmbeddedDatabase,
} from '../../../src/extensions/embedded-postgres/embedded-database.js'
import { silentLogger } from '../../../src/base/logger.js'
import { startSimulator, type Simulator } from '../../../src/extensions/simulator/server.js'
import { describeSchema } from '../../../src/extensions/doctor/schema/describe-schema.js'
import { compareWarehouse } from '../../support/compare-warehouse.js'
import { countViewRows } from '../../support/count-view-rows.js'
import { holdOldest } from '../../support/small-world.js'
import { runTestSync } from '../../support/run-test-sync.js'
import { snapshotRows } from '../../support/snapshot-tables.js'
import { createTestWarehouse, type TestWarehouse } from '../../support/test-warehouse.js'
import { HOUR, START } from './sync-scene.js'

const OLDEST = 'embedded-postgres-14'
/**
 * Where the registry holds no programs of 14, `overrides` in package.json puts those of the oldest
 * it holds.
 */
const OLDEST_MAJOR = process.platform === 'linux' && process.arch === 'x64' ? '14' : '15'

const NEWEST_MAJOR = '18'

let homeDirectory: string
let oldServer: EmbeddedDatabase
let onOldest: TestWarehouse
let onNewest: TestWarehouse
let simulator: Simulator

beforeAll(async () => {
  homeDirectory = await mkdtemp(join(tmpdir(), 'tracking-sync-tests-oldest-'))
  await chmod(homeDirectory, 0o755)
  oldServer = await startEmbeddedDatabase({
    packageName: OLDEST,
    homeDirectory,
    logger: silentLogger,
    extraSettings: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' },
  })
  onOldest = await createTestWarehouse({ serverUrl: oldServer.adminUrl })
  onNewest = await createTestWarehouse()
  const rateLimitPerMinute = null
  simulator = await startSimulator({ shipments: 16, startAt: START, speed: 0, rateLimitPerMinute })
  holdOldest(simulator)
})

afterAll(async () => {
  await simulator.close()
  await onNewest.drop()
  await onOldest.drop()
  await oldServer.stop()
  await rm(dirname(oldServer.dataDirectory), { recursive: true, force: true })
  await rm(homeDirectory, { recursive: true, force: true })
})

it('the oldest and the newest PostgreSQL end alike', { tags: ['G13'] }, async () => {
  const [oldest, newest] = [onOldest.warehouse, onNewest.warehouse]
  const [version] = await oldest.query(
    'read the version',
    sql<{ major: string }>`select split_part(current_setting('server_version'), '.', 1) as major`,
  )
  expect(version?.major).toBe(OLDEST_MAJOR)
  const [newer] = await newest.query(
    'read the version',
    sql<{ major: string }>`select split_part(current_setting('server_version'), '.', 1) as major`,
  )
  // Against itself it would prove nothing; another server is chosen only for `npm run
  // test:matrix` and by hand.
  const chosen = process.env.TEST_POSTGRES_PACKAGE ?? process.env.TEST_DATABASE_URL ?? ''
  if (chosen === '') expect(newer?.major).toBe(NEWEST_MAJOR)
  expect(await describeSchema(oldest)).toBe(await describeSchema(newest))
  for (const hours of [0, 30, 50]) {
    simulator.clock.advance(hours * HOUR)
    for (const warehouse of [oldest, newest]) {
      const report = await runTestSync({ warehouse, source: simulator })
      expect(report).toMatchObject({ outcome: 'complete', exitCode: 0, problems: [] })
    }
    // When a migration was applied or a capability found out is real time.
    const contents = {
      hasVersions: false,
      without: ['applied_at', 'begun_at', 'checked_at', 'finished_at', 'installed_at'],
    }
    expect(await snapshotRows(oldest, contents)).toEqual(await snapshotRows(newest, contents))
    expect(await compareWarehouse(oldest, simulator.world, simulator.clock.now())).toEqual([])

    const before = await snapshotRows(oldest, { hasVersions: true })
    await runTestSync({ warehouse: oldest, source: simulator, command: 'sync' })
    await runTestSync({ warehouse: newest, source: simulator, command: 'sync' })
    expect(await snapshotRows(oldest, { hasVersions: true })).toEqual(before)
  }
  expect(await countViewRows(oldest)).toEqual(await countViewRows(newest))
})
