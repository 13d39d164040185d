import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { silentLogger } from '../../src/base/logger.js'
import {
  startEmbeddedDatabase,
  type EmbeddedDatabase,
} from '../../src/extensions/embedded-postgres/embedded-database.js'
import { settingsOf } from '../support/call-cli.js'
import { makeFreshHome, removeFreshHomes } from '../support/fresh-home.js'
import { differencesFrom } from '../support/look-at-cli-rows.js'
import { endPrograms, repositoryDirectory, runCli } from '../support/run-cli.js'
import { startSameWorld } from '../support/simulate-cli.js'

let server: EmbeddedDatabase
let restored: EmbeddedDatabase

// Of a server that is older than any `pg_dump` in use: a newer one it would refuse.
beforeAll(async () => {
  const { homeDirectory } = await makeFreshHome()
  const options = { homeDirectory, logger: silentLogger, packageName: 'embedded-postgres-14' }
  server = await startEmbeddedDatabase(options)
  restored = await startEmbeddedDatabase({ ...options, databaseName: 'restored' })
}, 120_000)

afterAll(async () => {
  await endPrograms()
  await restored.stop()
  await server.stop()
  await removeFreshHomes()
})

/** The commands that the page shows, in their order. */
const COMMANDS = [
  ...readFileSync(join(repositoryDirectory, 'docs', 'operating.md'), 'utf8').matchAll(
    /```bash\n([\s\S]*?)\n```/g,
  ),
].map(([, command]) => command!)

if (spawnSync('pg_dump', ['--version']).error !== undefined) {
  it('WAS NOT TRIED WITH PG_DUMP: install the PostgreSQL client', () => {
    expect(spawnSync('pg_dump').error).toBeDefined()
    process.stderr.write('PG_DUMP IS NOT INSTALLED: no backup was made and restored.\n')
  })
} else {
  it('a warehouse comes back from its backup', { tags: ['C20', 'release'] }, backUpAndRestore)
}

async function backUpAndRestore(): Promise<void> {
  expect(COMMANDS.map((command) => command.split(' ')[0])).toEqual(['pg_dump', 'pg_restore'])
  const simulator = await startSameWorld()
  const { directory } = await makeFreshHome()
  const settings = (database: EmbeddedDatabase) => ({
    ...settingsOf(simulator, database.url),
    TRACKING_RATE_LIMIT_PER_MINUTE: '100000',
    TRACKING_LOG_LEVEL: 'error',
  })
  try {
    const backfill = await runCli(['backfill'], { directory, env: settings(server) })
    expect(backfill).toMatchObject({ exitCode: 0 })
    for (const [at, command] of COMMANDS.entries()) {
      const { hostname, port, username, password, pathname } = new URL(
        at === 0 ? server.url : restored.url,
      )
      const run = spawnSync('sh', ['-c', command], {
        cwd: directory,
        encoding: 'utf8',
        env: {
          PATH: process.env.PATH ?? '',
          PGHOST: hostname,
          PGPORT: port,
          PGUSER: username,
          PGPASSWORD: password,
          PGDATABASE: pathname.slice(1),
        },
      })
      expect([command, run.status, run.stderr]).toEqual([command, 0, ''])
    }
    const now = simulator.clock.now()
    expect(await differencesFrom(simulator.world, now, restored.url)).toEqual([])
    for (const args of [['check'], ['sync', '--full'], ['sync']]) {
      const done = await runCli(args, { directory, env: settings(restored) })
      expect([args, done.exitCode]).toEqual([args, 0])
      if (args[0] === 'sync') expect(done.stdout).toMatch(/\nsync complete: 0 rows written/)
    }
  } finally {
    await simulator.close()
  }
}
